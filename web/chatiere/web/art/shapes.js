// Shapes of which the drawings are made, in a box of 100 around (0, 0).

import { s } from "../dom.js";

/** @typedef {import("../dom.js").Child} Child */
/** @typedef {import("../dom.js").Attributes} Attributes */

/**
 * A drawing of 100 by 100, brought to `size`.
 * @param {number} size
 * @param {...Child} children
 */
export function drawing(size, ...children) {
  return s("g", { transform: `scale(${Math.round(size * 10) / 1000})` }, ...children);
}

/**
 * Children, moved, scaled and turned by degrees.
 * @param {number} x
 * @param {number} y
 * @param {number} scale
 * @param {number} turn
 * @param {...Child} children
 */
export function placed(x, y, scale, turn, ...children) {
  return s("g", { transform: `translate(${x} ${y}) rotate(${turn}) scale(${scale})` }, ...children);
}

/**
 * Children, left and right swapped.
 * @param {...Child} children
 */
export function flipped(...children) {
  return s("g", { transform: "scale(-1 1)" }, ...children);
}

/**
 * What `draw` draws on the left, and its mirror image.
 * @param {() => Child} draw
 */
export function mirrored(draw) {
  return s("g", {}, draw(), flipped(draw()));
}

/**
 * A filled path.
 * @param {string} d
 * @param {string} fill
 * @param {Attributes} [attributes]
 */
export function shape(d, fill, attributes = {}) {
  return s("path", { d, fill, ...attributes });
}

/**
 * A path that is only drawn along, with round ends.
 * @param {string} d
 * @param {string} stroke
 * @param {number} width
 */
export function line(d, stroke, width) {
  return s("path", { d, stroke, ...pen, "stroke-width": width, fill: "none" });
}

/**
 * A filled path with an outline.
 * @param {string} d
 * @param {string} fill
 * @param {number} width
 * @param {string} [stroke]
 */
export function outlined(d, fill, width, stroke = "var(--cat-line)") {
  return s("path", { d, fill, stroke, ...pen, "stroke-width": width });
}

/**
 * A thick line with an outline, such as a tail.
 * @param {string} d
 * @param {string} colour
 * @param {number} thickness
 * @param {number} width
 * @param {string} [stroke]
 */
export function limb(d, colour, thickness, width, stroke = "var(--cat-line)") {
  return s("g", {}, line(d, stroke, thickness + 2 * width), line(d, colour, thickness));
}

/**
 * A disc, or an ellipse if there are two radii.
 * @param {number} x
 * @param {number} y
 * @param {number} r
 * @param {string} fill
 * @param {number} [ry]
 */
export function disc(x, y, r, fill, ry = r) {
  return s("ellipse", { cx: x, cy: y, rx: r, ry, fill });
}

/**
 * The width of outlines: small drawings need thicker ones.
 * @param {number} size
 */
export function outlineWidth(size) {
  return Math.min(6, Math.max(2.4, Math.round(1100 / size) / 10));
}

const pen = { "stroke-linecap": "round", "stroke-linejoin": "round" };

/**
 * Round to a decimal.
 * @param {number} number
 */
export function round(number) {
  return Math.round(number * 10) / 10;
}

/**
 * A piece of a path, as a tagged template: its numbers are rounded.
 * @param {TemplateStringsArray} strings
 * @param {...(string | number)} values
 */
export function path(strings, ...values) {
  return String.raw(
    { raw: strings },
    ...values.map((value) => (typeof value === "number" ? round(value) : value)),
  );
}
