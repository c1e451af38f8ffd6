// Records in links.

import { linkTo } from "../links.js";
import { recordInWord, recordWord } from "../record_word.js";
import { t } from "../settings.js";

/** @import { GameRecordJson } from "#api/chatiere/v1/record_pb.js" */

export { isRecordWord, recordWord } from "../record_word.js";

/** The maximum length of a link that programs transmit reliably, in characters. */
const MAX_LENGTH = 2000;

/**
 * Return the link to a record, or undefined if the record is too long for a link.
 * @param {GameRecordJson} record
 */
export function recordLink(record) {
  const link = linkTo(`record/${recordWord(record)}`);
  return link.length <= MAX_LENGTH ? link : undefined;
}

/**
 * Read a record from a link. Throws Error with a message for players if the link is damaged.
 * @param {string} word
 */
export function recordIn(word) {
  try {
    return recordInWord(word);
  } catch (error) {
    throw new Error(t("no-record"), { cause: error });
  }
}
