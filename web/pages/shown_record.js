// The record to show if it is not a sample. It is stored as long as the browser's tab is open.

import { t } from "../settings.js";
import { read, remember } from "../storage.js";

/** @import { GameRecordJson } from "#api/chatiere/v1/record_pb.js" */

/**
 * A game of this browser's player: the id of its result, and the player's seat.
 * @typedef {{id: string, seat: number}} OwnGame
 */

const KEY = "record";
const KEY_OF_GAME = "record of";

/**
 * Show a record.
 * @param {GameRecordJson} record
 * @param {OwnGame} [own] present if the record is of a game of this browser's player
 */
export function show(record, own) {
  remember(KEY, JSON.stringify(record), "sessionStorage");
  remember(KEY_OF_GAME, JSON.stringify(own ?? null), "sessionStorage");
  location.hash = "#/record/own";
}

/**
 * Return the record given to `show`. Throws Error if the record does not exist.
 * @returns {GameRecordJson}
 */
export function shownRecord() {
  const text = read(KEY, "sessionStorage");
  if (text === undefined) {
    throw new Error(t("no-record"));
  }
  return JSON.parse(text);
}

/**
 * Return the player's game whose record was given to `show`, or undefined if it is another game.
 * @returns {OwnGame | undefined}
 */
export function shownGame() {
  return JSON.parse(read(KEY_OF_GAME, "sessionStorage") ?? "null") ?? undefined;
}
