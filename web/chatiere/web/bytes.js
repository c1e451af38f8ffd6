// Values as text for links.

import { fromText, toText } from "./shared/bytes.js";

/**
 * Write a value as text for a link.
 * @param {unknown} value
 */
export function packed(value) {
  return toText(new TextEncoder().encode(JSON.stringify(value)));
}

/**
 * Read what packed wrote.
 * @param {string} text
 * @returns {unknown}
 */
export function unpacked(text) {
  return JSON.parse(new TextDecoder().decode(fromText(text)));
}

/**
 * Return n random bytes.
 * @param {number} n
 */
export function random(n) {
  return crypto.getRandomValues(new Uint8Array(n));
}
