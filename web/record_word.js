// A record in the form used in links. It consists of the game and its beginning in JSON, and of lists of moves. All
// numbers in a list have as many bits as the largest number needs. The form contains neither names nor the date.

import { fromText, toText } from "./shared/bytes.js";

/** @import { GameRecordJson } from "#api/chatiere/v1/record_pb.js" */

const MARK = "~";
// The number of bits that hold the size of a list's numbers.
const SIZE = 6;
// The number of bits that hold the length of a list.
const LENGTH = 16;

/**
 * Return a record in the form used in links.
 * @param {GameRecordJson} record
 */
export function recordWord({ game, rulesVersion, players, options, stream, outcomes, actions = [] }) {
  const begun = new TextEncoder().encode(
    JSON.stringify({ game, rulesVersion, players, options, stream, ...(outcomes && { outcomes: {} }) }),
  );
  const bits = [actions, outcomes?.outcomes ?? []].map(bitsOf).join("");
  const padded = bits.padEnd(Math.ceil(bits.length / 8) * 8, "0");
  const moves = (padded.match(/.{8}/g) ?? []).map((each) => Number.parseInt(each, 2));
  return MARK + toText(Uint8Array.from([begun.length >> 8, begun.length & 255, ...begun, ...moves]));
}

/** @param {string} word */
export function isRecordWord(word) {
  return word.startsWith(MARK);
}

/**
 * Read a string written by `recordWord`. Throws Error if the string is damaged.
 * @param {string} word
 * @returns {GameRecordJson}
 */
export function recordInWord(word) {
  const [high = 0, low = 0, ...bytes] = fromText(word.slice(MARK.length));
  const end = (high << 8) | low;
  const begun = JSON.parse(
    new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(bytes.slice(0, end))),
  );
  const bits = bytes
    .slice(end)
    .map((byte) => byte.toString(2).padStart(8, "0"))
    .join("");
  const [actions, afterActions] = listIn(bits, 0);
  const [outcomes] = listIn(bits, afterActions);
  return { ...begun, ...(begun.outcomes && { outcomes: { outcomes } }), actions };
}

/** @param {readonly number[]} list */
function bitsOf(list) {
  const size = Math.max(...list, 1).toString(2).length;
  const number = (/** @type {number} */ value, /** @type {number} */ bits) =>
    value.toString(2).padStart(bits, "0");
  return number(size, SIZE) + number(list.length, LENGTH) + list.map((each) => number(each, size)).join("");
}

/**
 * Read a list from bits. Throws RangeError if the list is incomplete.
 * @param {string} bits
 * @param {number} begin the position of the list's first bit
 * @returns {[number[], number]} the list, and the position after its last bit
 */
function listIn(bits, begin) {
  let place = begin;
  const next = (/** @type {number} */ size) => {
    const digits = bits.slice(place, place + size);
    if (size === 0 || digits.length < size) {
      throw new RangeError("cut short");
    }
    place += size;
    return Number.parseInt(digits, 2);
  };
  const size = next(SIZE);
  const length = next(LENGTH);
  return [Array.from({ length }, () => next(size)), place];
}
