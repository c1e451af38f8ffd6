// The record to show if it is not a sample. It is stored as long as the browser's tab is open.

import { t } from "../settings.js";
import { read, remember } from "../storage.js";

/** @import { GameRecordJson } from "#api/chatiere/v1/record_pb.js" */

const KEY = "record";

/**
 * Show a record.
 * @param {GameRecordJson} record
 */
export function show(record) {
  remember(KEY, JSON.stringify(record), "sessionStorage");
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
