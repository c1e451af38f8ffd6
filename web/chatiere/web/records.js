// Records of games as text: docs/records.md has the form. The service checks all of it when it replays a record.

/** @typedef {import("#api/chatiere/v1/record_pb.js").GameRecordJson} GameRecord */

/**
 * Read a record that leaves all options at their defaults. Throws RangeError for a line that is none of it.
 * @param {string} text @returns {GameRecord}
 */
export function readRecord(text) {
  /** @type {any} */
  const record = { actions: [], seatNames: [] };
  /** @type {Record<string, string>} */
  const tags = {};
  /** @type {number[]} */
  const outcomes = [];
  for (const [index, whole] of text.split(/\r?\n/).entries()) {
    const line = whole.trim();
    const move = /^\d+\. seat \d+: (\d+)/.exec(line);
    const outcome = /^chance: (\d+)/.exec(line);
    const name = /^name \d+: (.*)$/.exec(line);
    const tag = /^(\w+): (.*)$/.exec(line);
    if (/^(#|over\b|so far\b|$)/.test(line)) {
      continue;
    } else if (move) {
      record.actions.push(Number(move[1]));
    } else if (outcome) {
      outcomes.push(Number(outcome[1]));
    } else if (name) {
      record.seatNames.push(JSON.parse(name[1] ?? ""));
    } else if (tag) {
      tags[tag[1] ?? ""] = tag[2] ?? "";
    } else {
      throw new RangeError(`line ${index + 1}`);
    }
  }
  const { game = "", rules_version, players, seed, game_number = "0", date } = tags;
  record.game = game;
  record.rulesVersion = Number(rules_version);
  record.players = Number(players);
  if (date !== undefined) {
    record.date = date;
  }
  if (tags["chance"] === "explicit") {
    record.outcomes = { outcomes };
  } else {
    record.stream = { seed, gameNumber: game_number };
  }
  return record;
}
