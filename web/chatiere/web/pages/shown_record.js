// The record that is shown and is no sample: kept as long as the page's window is open.

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
 * Return the record that was given to show. Throws Error if there is none.
 * @returns {GameRecordJson}
 */
export function shownRecord() {
  const text = sessionStorage.getItem(KEY);
  if (text === null) {
    throw new Error(t("no-record"));
  }
  return JSON.parse(text);
}
