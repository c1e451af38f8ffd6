// Draws QR codes (ISO/IEC 18004) of one size: version 6 with error correction L and mask 0.

import { s } from "../dom.js";

const SIZE = 41;
const QUIET = 4;
const DATA = 136;
const BLOCKS = 2;
const CHECKS = 18;
const MAX_BYTES = 134;
// The level and the mask, with the check bits of this format information.
const FORMAT = 0b111011111000100;
/** The centres of the finder patterns and of the alignment pattern. */
const FINDERS = [
  [3, 3],
  [SIZE - 4, 3],
  [3, SIZE - 4],
];
const ALIGNED = SIZE - 7;

/**
 * Draw a string as a QR code. Returns undefined if the string is too long.
 * @param {string} text
 */
export function qrCode(text) {
  const modules = modulesOf(text);
  const path = modules?.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : "")));
  const whole = SIZE + 2 * QUIET;
  return (
    path &&
    s(
      "svg",
      { class: "qr", viewBox: `${-QUIET} ${-QUIET} ${whole} ${whole}`, "shape-rendering": "crispEdges" },
      s("rect", { x: -QUIET, y: -QUIET, width: whole, height: whole, fill: "#fff" }),
      s("path", { d: path.join(""), fill: "#000" }),
    )
  );
}

/**
 * Return the rows of a QR code, with true for dark modules, or undefined if the text is too long.
 * @param {string} text
 * @returns {boolean[][] | undefined}
 */
export function modulesOf(text) {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length > MAX_BYTES) {
    return undefined;
  }
  const fixed = patterns();
  const bits = interleaved(dataOf(bytes)).flatMap((byte) => bitsOf(byte, 8));
  const rows = fixed.map((row) => row.map((isDark) => isDark ?? false));
  let next = 0;
  for (const [x, y] of places()) {
    if (fixed[y]?.[x] === undefined) {
      const bit = bits[next++] ?? false;
      set(rows, x, y, (x + y) % 2 === 0 ? !bit : bit);
    }
  }
  return rows;
}

/** Return the modules that are the same in all codes. The places of data are undefined. */
function patterns() {
  /** @type {(boolean | undefined)[][]} */
  const rows = Array.from({ length: SIZE }, () => Array(SIZE).fill(undefined));
  for (let at = 0; at < SIZE; at++) {
    set(rows, at, 6, at % 2 === 0);
    set(rows, 6, at, at % 2 === 0);
  }
  for (const [x = 0, y = 0] of FINDERS) {
    square(rows, x, y, 4, (distance) => distance !== 2 && distance !== 4);
  }
  square(rows, ALIGNED, ALIGNED, 2, (distance) => distance !== 1);
  bitsOf(FORMAT, 15)
    .reverse()
    .forEach((bit, at) => {
      // Both copies of the format information skip the timing patterns.
      const [x, y] = at < 8 ? [8, at < 6 ? at : at + 1] : [at === 8 ? 7 : 14 - at, 8];
      set(rows, x, y, bit);
      set(rows, at < 8 ? SIZE - 1 - at : 8, at < 8 ? 8 : SIZE - 15 + at, bit);
    });
  set(rows, 8, SIZE - 8, true);
  return rows;
}

/**
 * @param {(boolean | undefined)[][]} rows
 * @param {number} x
 * @param {number} y
 * @param {number} reach
 * @param {(distance: number) => boolean} isDark
 */
function square(rows, x, y, reach, isDark) {
  for (let down = -reach; down <= reach; down++) {
    for (let across = -reach; across <= reach; across++) {
      set(rows, x + across, y + down, isDark(Math.max(Math.abs(across), Math.abs(down))));
    }
  }
}

/**
 * @param {(boolean | undefined)[][]} rows
 * @param {number} x
 * @param {number} y
 * @param {boolean} isDark
 */
function set(rows, x, y, isDark) {
  const row = rows[y];
  if (row !== undefined && x >= 0 && x < SIZE) {
    row[x] = isDark;
  }
}

/** Yield the places of data in order: pairs of columns from the right, alternately upward and downward. */
function* places() {
  for (let right = SIZE - 1; right > 0; right -= right === 8 ? 3 : 2) {
    const isUpward = ((right + 1) & 2) === 0;
    for (let at = 0; at < SIZE; at++) {
      const y = isUpward ? SIZE - 1 - at : at;
      yield /** @type {const} */ ([right, y]);
      yield /** @type {const} */ ([right - 1, y]);
    }
  }
}

/** @param {Uint8Array} bytes */
function dataOf(bytes) {
  const bits = [...bitsOf(0b0100, 4), ...bitsOf(bytes.length, 8)];
  bytes.forEach((byte) => bits.push(...bitsOf(byte, 8)));
  bits.push(...bitsOf(0, 4));
  const data = Array.from({ length: bits.length / 8 }, (_, at) =>
    bits.slice(8 * at, 8 * at + 8).reduce((byte, bit) => 2 * byte + Number(bit), 0),
  );
  for (let isOdd = false; data.length < DATA; isOdd = !isOdd) {
    data.push(isOdd ? 0x11 : 0xec);
  }
  return data;
}

/** @param {readonly number[]} data */
function interleaved(data) {
  const size = DATA / BLOCKS;
  const blocks = Array.from({ length: BLOCKS }, (_, at) => data.slice(size * at, size * (at + 1)));
  const checks = blocks.map(checksOf);
  return [...across(blocks), ...across(checks)];
}

/** @param {readonly (readonly number[])[]} blocks */
function across(blocks) {
  return (blocks[0] ?? []).flatMap((_, at) => blocks.map((block) => block[at] ?? 0));
}

/**
 * Return the Reed–Solomon code of a block.
 * @param {readonly number[]} block
 */
function checksOf(block) {
  /** @type {number[]} */
  let divisor = [1];
  for (let degree = 0, root = 1; degree < CHECKS; degree++, root = product(root, 2)) {
    divisor = [...divisor, 0].map((factor, at) => factor ^ product(divisor[at - 1] ?? 0, root));
  }
  /** @type {number[]} */
  let rest = Array(CHECKS).fill(0);
  for (const byte of block) {
    const factor = byte ^ (rest[0] ?? 0);
    rest = [...rest.slice(1), 0].map((each, at) => each ^ product(divisor[at + 1] ?? 0, factor));
  }
  return rest;
}

/**
 * Multiply in GF(2⁸), modulo x⁸ + x⁴ + x³ + x² + 1.
 * @param {number} one
 * @param {number} other
 */
function product(one, other) {
  let found = 0;
  for (let bit = 7; bit >= 0; bit--) {
    found = (found << 1) ^ (found >> 7 ? 0x11d : 0) ^ ((other >> bit) & 1 ? one : 0);
  }
  return found;
}

/**
 * Return the lowest bits of a number, beginning with the highest of them.
 * @param {number} number
 * @param {number} count
 */
function bitsOf(number, count) {
  return Array.from({ length: count }, (_, at) => ((number >> (count - 1 - at)) & 1) === 1);
}
