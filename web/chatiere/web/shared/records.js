// Records of games as text: docs/records.md has the form. The service checks the game itself when it replays a record.

const TAGS = new Set(["game", "rules_version", "players", "chance", "seed", "game_number", "date"]);
const NUMBERS = new Set(["rules_version", "players", "seed", "game_number"]);

/**
 * A record, in the form that GameRecord has in JSON: chance has a stream, or outcomes where it was explicit.
 * @typedef {object} GameRecord
 * @property {string} game
 * @property {number} rulesVersion
 * @property {number} players
 * @property {{seed: string, gameNumber: string}} [stream]
 * @property {{outcomes: number[]}} [outcomes]
 * @property {number[]} actions
 * @property {string[]} seatNames
 * @property {string} date
 */

/**
 * Read a record that leaves all options at their defaults. Throws RangeError, which names the line, for another text.
 * @param {string} text
 * @returns {GameRecord}
 */
export function readRecord(text) {
  /** @type {Map<string, string>} */
  const tags = new Map();
  /** @type {{actions: number[], outcomes: number[]}} */
  const lists = { actions: [], outcomes: [] };
  let isEnded = false;
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line === "" || line.startsWith("#")) {
      continue;
    }
    const isEnd = /^(over|so far)( *#.*)?$/.test(line);
    if (isEnded || !(isEnd || readMove(line, lists) || readTag(line, tags))) {
      throw new RangeError(`line ${index + 1}`);
    }
    isEnded = isEnd;
  }
  for (const tag of [
    "game",
    "rules_version",
    "players",
    tags.get("chance") === "explicit" ? "game" : "seed",
  ]) {
    if (!tags.has(tag)) {
      throw new RangeError(`no line '${tag}: …'`);
    }
  }
  if (!isEnded) {
    throw new RangeError("cut short: the last line is 'over' or 'so far'");
  }
  return recordOf(tags, lists);
}

/**
 * Read a decision or an outcome; return whether the line is one.
 * @param {string} line
 * @param {{actions: number[], outcomes: number[]}} lists
 */
function readMove(line, { actions, outcomes }) {
  const [, number, action] = /^(\d+)\. seat \d+: (\d+)( *#.*)?$/.exec(line) ?? [];
  const [, outcome] = /^chance: (\d+)( *#.*)?$/.exec(line) ?? [];
  if (outcome !== undefined) {
    outcomes.push(Number(outcome));
  } else if (Number(number) === actions.length + 1) {
    actions.push(Number(action));
  } else {
    return false;
  }
  return true;
}

/**
 * Read a tag; return whether the line is one.
 * @param {string} line
 * @param {Map<string, string>} tags
 */
function readTag(line, tags) {
  const [, tag = "", value = ""] = /^(\w+(?: \d+)?): (.+)$/.exec(line) ?? [];
  const isName = tag.startsWith("name ");
  const isSound = isName ? isQuoted(value) : TAGS.has(tag) && (!NUMBERS.has(tag) || /^\d+$/.test(value));
  if (tags.has(tag) || !isSound) {
    return false;
  }
  tags.set(tag, value);
  return true;
}

/** @param {string} text */
function isQuoted(text) {
  try {
    return typeof JSON.parse(text) === "string";
  } catch {
    return false;
  }
}

/**
 * @param {ReadonlyMap<string, string>} tags
 * @param {{actions: number[], outcomes: number[]}} lists
 * @returns {GameRecord}
 */
function recordOf(tags, { actions, outcomes }) {
  const seed = tags.get("seed");
  const players = Number(tags.get("players"));
  return {
    game: tags.get("game") ?? "",
    rulesVersion: Number(tags.get("rules_version")),
    players,
    ...(seed === undefined
      ? { outcomes: { outcomes } }
      : { stream: { seed, gameNumber: tags.get("game_number") ?? "0" } }),
    actions,
    seatNames: Array.from({ length: players }, (_, seat) => tags.get(`name ${seat}`)).flatMap((name) =>
      name === undefined ? [] : [JSON.parse(name)],
    ),
    date: tags.get("date") ?? "",
  };
}
