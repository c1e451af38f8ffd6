// Records of games as text: docs/records.md has the form. The service checks the game itself when it replays a record.

import { SetOptions } from "./fields.js";

const TAGS = new Set(["game", "rules_version", "players", "chance", "seed", "game_number", "date"]);
/** The options that are sets, as game.option: of each the field of its message that lists what is in it. */
const SETS = new Map(Object.entries(SetOptions));
const NUMBERS = new Set(["rules_version", "players", "seed", "game_number"]);

/**
 * A record, in the form that GameRecord has in JSON: chance has a stream, or outcomes where it was explicit.
 * @typedef {object} GameRecord
 * @property {string} game
 * @property {number} rulesVersion
 * @property {number} players
 * @property {Record<string, Record<string, unknown>>} [options] by game, then by name
 * @property {{seed: string, gameNumber: string}} [stream]
 * @property {{outcomes: number[]}} [outcomes]
 * @property {number[]} actions
 * @property {string[]} seatNames
 * @property {string} date
 */

/**
 * Read a record. Throws RangeError, which names the line, for another text.
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
  const [, tag = "", kind = "", value = ""] = /^((\w+)(?: \w+)?): (.+)$/.exec(line) ?? [];
  if (tags.has(tag) || !isSound(tag, kind, value)) {
    return false;
  }
  tags.set(tag, value);
  return true;
}

/**
 * @param {string} tag
 * @param {string} kind
 * @param {string} value
 */
function isSound(tag, kind, value) {
  if (/^(name \d+|option [a-z_0-9]+)$/.test(tag)) {
    const found = read(value);
    return kind === "name" ? typeof found === "string" : found !== undefined && found !== null;
  }
  return TAGS.has(tag) && (!NUMBERS.has(tag) || /^\d+$/.test(value));
}

/**
 * Return what a JSON text says; undefined for another text.
 * @param {string} text
 * @returns {unknown}
 */
function read(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Return the options, by name. Throws RangeError for a set that is none.
 * @param {string} game
 * @param {ReadonlyMap<string, string>} tags
 */
function optionsOf(game, tags) {
  return Object.fromEntries(
    [...tags].flatMap(([tag, value]) => {
      const [kind, name = ""] = tag.split(" ");
      const list = SETS.get(`${game}.${name}`);
      const found = list === undefined ? read(value) : { [list]: inSet(tag, value) };
      return kind === "option" ? [[inJson(name), found]] : [];
    }),
  );
}

/**
 * Return the name that a field has in JSON.
 * @param {string} field
 */
function inJson(field) {
  return field.replace(/_(.)/g, (_, /** @type {string} */ letter) => letter.toUpperCase());
}

/**
 * Return the numbers in a set, ascending: those from 1 on whose bits are set, the lowest for 1.
 * @param {string} tag
 * @param {string} value
 */
function inSet(tag, value) {
  if (!/^\d+$/.test(value)) {
    throw new RangeError(`'${tag}' must be an integer whose bits are a set`);
  }
  const bits = [...BigInt(value).toString(2)].reverse();
  return bits.flatMap((bit, index) => (bit === "1" ? [index + 1] : []));
}

/**
 * @param {ReadonlyMap<string, string>} tags
 * @param {{actions: number[], outcomes: number[]}} lists
 * @returns {GameRecord}
 */
function recordOf(tags, { actions, outcomes }) {
  const game = tags.get("game") ?? "";
  const options = optionsOf(game, tags);
  const seed = tags.get("seed");
  const players = Number(tags.get("players"));
  return {
    game,
    rulesVersion: Number(tags.get("rules_version")),
    players,
    ...(Object.keys(options).length > 0 && { options: { [inJson(game)]: options } }),
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
