// The record to show if it is not a sample. It is stored as long as the browser's tab is open.

import { t } from "../settings.js";

/** @import { GameRecordJson } from "#api/chatiere/v1/record_pb.js" */

const KEY = "record";

/**
 * Show a record.
 * @param {GameRecordJson} record
 */
export function show(record) {
  sessionStorage.setItem(KEY, JSON.stringify(record));
  location.hash = "#/record/own";
}

/**
 * Return the record given to `show`. Throws Error if the record does not exist.
 * @returns {GameRecordJson}
 */
export function shownRecord() {
  const text = sessionStorage.getItem(KEY);
  if (text === null) {
    throw new Error(t("no-record"));
  }
  return JSON.parse(text);
}
