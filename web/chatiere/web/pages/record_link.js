// A record in a link.

import { linkTo } from "../links.js";
import { recordInWord, recordWord } from "../record_word.js";
import { t } from "../settings.js";

/** @import { GameRecordJson } from "#api/chatiere/v1/record_pb.js" */

export { isRecordWord, recordWord } from "../record_word.js";

/** The characters that a link may have, so that every program sends it whole. */
const MAX_LENGTH = 2000;

/**
 * Return the link to a record; undefined if it is too long for one.
 * @param {GameRecordJson} record
 */
export function recordLink(record) {
  const link = linkTo(`record/${recordWord(record)}`);
  return link.length <= MAX_LENGTH ? link : undefined;
}

/**
 * Read the word of a link. Throws Error, for people, if it is no record.
 * @param {string} word
 */
export function recordIn(word) {
  try {
    return recordInWord(word);
  } catch (error) {
    throw new Error(t("no-record"), { cause: error });
  }
}
