// Text in drawings: functions that measure, fit and draw it. Sizes are in pixels.

import { s } from "../dom.js";
import { round } from "./shapes.js";

/** @typedef {{context: CanvasRenderingContext2D, family: string}} Ruler */

/** @type {Ruler | undefined} */
let ruler;

/** @returns {Ruler} */
function newRuler() {
  const context = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));
  const family = getComputedStyle(document.documentElement).getPropertyValue("--font-heading");
  return { context, family };
}

/**
 * Return the width of a string in the font of drawings.
 * @param {string} text
 * @param {number} size
 * @param {number} [weight]
 */
export function widthOf(text, size, weight = 700) {
  ruler ??= newRuler();
  ruler.context.font = `${weight} ${size}px ${ruler.family}`;
  return ruler.context.measureText(text).width;
}

/**
 * Shorten a string to fit into a width. Characters that joiners connect stay together.
 * @param {string} text
 * @param {number} width
 * @param {number} size
 * @param {number} [weight]
 */
export function cut(text, width, size, weight) {
  if (widthOf(text, size, weight) <= width) {
    return text;
  }
  const letters = Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment);
  let shown = text;
  while (letters.length > 1 && widthOf(shown, size, weight) > width) {
    letters.pop();
    shown = `${letters.join("").trimEnd()}…`;
  }
  return shown;
}

/**
 * Choose the largest size at which a string fits into a width. If it does not fit at the smallest size, it is also
 * shortened.
 * @param {string} text
 * @param {number} width
 * @param {number} least the smallest size
 * @param {number} most the largest size
 * @param {number} [weight]
 */
export function fit(text, width, least, most, weight) {
  const size = Math.max(least, round(Math.min(1, width / widthOf(text, most, weight)) * most));
  return { text: cut(text, width, size, weight), size };
}

/**
 * Arrange parts of a string in lines that fit into a width.
 * @param {readonly string[]} parts
 * @param {string} between the text between two parts of a line
 * @param {number} width
 * @param {number} size
 * @param {{weight?: number, most?: number}} [options] `most` is the maximum number of lines
 * @returns the parts of each line
 */
export function fill(parts, between, width, size, { weight, most = Infinity } = {}) {
  /** @type {string[][]} */
  const lines = [];
  for (const part of parts) {
    const longer = [...(lines.at(-1) ?? []), part];
    if (lines.length > 0 && (lines.length === most || widthOf(longer.join(between), size, weight) <= width)) {
      lines[lines.length - 1] = longer;
    } else {
      lines.push([part]);
    }
  }
  return lines;
}

/**
 * Break a string into lines that fit into a width, and shorten lines that are still too long.
 * @param {string} text
 * @param {number} width
 * @param {number} size
 * @param {Parameters<typeof fill>[4]} [options]
 */
export function wrap(text, width, size, options) {
  const lines = fill(text.split(" "), " ", width, size, options);
  return lines.map((words) => cut(words.join(" "), width, size, options?.weight));
}

/**
 * Write a line of text. It begins with a space, which is not drawn, so that screen readers separate it from the text
 * before it.
 * @param {string} text
 * @param {number} x the end or the middle of the text, as given by `anchor`
 * @param {number} y the middle of its height
 * @param {number} size
 * @param {{anchor?: "start" | "middle" | "end", weight?: number, fill?: string, joins?: boolean}} [options] `joins` is
 *   true if the text is read together with the text before it, such as the digits of a number
 */
export function write(text, x, y, size, options = {}) {
  const { anchor = "middle", weight = 700, fill = "var(--ink)", joins = false } = options;
  const place = { x: round(x), y: round(y), dy: "0.36em", "text-anchor": anchor };
  const font = { "font-family": "var(--font-heading)", "font-size": round(size), "font-weight": weight };
  return s("text", { ...place, ...font, fill }, joins ? text : ` ${text}`);
}

/**
 * Write lines of text.
 * @param {readonly string[]} lines
 * @param {number} x
 * @param {number} y the middle of the first line's height
 * @param {number} size
 * @param {number} step the distance between two lines
 * @param {Parameters<typeof write>[4]} [options]
 */
export function writeLines(lines, x, y, size, step, options) {
  return s(
    "g",
    {},
    lines.map((line, index) => write(line, x, y + step * index, size, options)),
  );
}
