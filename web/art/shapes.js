// The shapes of the drawings. A drawing is made in a box of 100 by 100 around (0, 0).

import { s } from "../dom.js";

/** @typedef {import("../dom.js").Child} Child */
/** @typedef {import("../dom.js").Attributes} Attributes */

/** The colour of eyes, noses and mouths. */
export const INK = "#2b201d";

/**
 * Return an image of a drawing around (0, 0), for the text of the page. Screen readers ignore it.
 * @param {number} size the width and height, in pixels
 * @param {SVGElement} drawn
 * @param {string} [name] the image's class
 */
export function icon(size, drawn, name) {
  const viewBox = [-size / 2, -size / 2, size, size].join(" ");
  return s("svg", { class: name, viewBox, "aria-hidden": "true" }, drawn);
}

/**
 * Scale a drawing of 100 by 100.
 * @param {number} size the width and height, in pixels
 * @param {...Child} children
 */
export function drawing(size, ...children) {
  return s("g", { transform: `scale(${Math.round(size * 10) / 1000})` }, ...children);
}

/**
 * Draw children, moved, turned and scaled.
 * @param {number} x
 * @param {number} y
 * @param {number} scale
 * @param {number} turn in degrees clockwise
 * @param {...Child} children
 */
export function placed(x, y, scale, turn, ...children) {
  return s("g", { transform: `translate(${x} ${y}) rotate(${turn}) scale(${scale})` }, ...children);
}

/**
 * Combine children into one drawing.
 * @param {...Child} children
 */
export function group(...children) {
  return s("g", {}, ...children);
}

/**
 * Draw children, moved.
 * @param {number} x
 * @param {number} y
 * @param {...Child} children
 */
export function at(x, y, ...children) {
  return s("g", { transform: `translate(${round(x)} ${round(y)})` }, ...children);
}

/**
 * Draw a rectangle with rounded corners, from its upper left corner.
 * @param {number} x
 * @param {number} y
 * @param {number} width
 * @param {number} height
 * @param {number} rx the radius of the corners
 * @param {Attributes} look
 */
export function box(x, y, width, height, rx, look) {
  return s("rect", { x, y, width, height, rx, ...look });
}

/**
 * Draw a rectangle with rounded corners, around (0, 0).
 * @param {number} width
 * @param {number} height
 * @param {number} rx the radius of the corners
 * @param {Attributes} look
 */
export function middleBox(width, height, rx, look) {
  return box(-width / 2, -height / 2, width, height, rx, look);
}

/**
 * Draw a rectangle with rounded corners and a shadow below it.
 * @param {number} x
 * @param {number} y
 * @param {number} width
 * @param {number} height
 * @param {number} radius
 * @param {Attributes} look
 * @param {number} [depth] the depth of the shadow, in pixels
 */
export function raised(x, y, width, height, radius, look, depth = 2) {
  return [
    box(x, y + depth, width, height, radius, { fill: "var(--card-shadow)" }),
    box(x, y, width, height, radius, look),
  ];
}

/**
 * Draw children, mirrored left to right.
 * @param {...Child} children
 */
export function flipped(...children) {
  return s("g", { transform: "scale(-1 1)" }, ...children);
}

/**
 * Draw something and its mirror image.
 * @param {() => Child} draw draws the left half
 */
export function mirrored(draw) {
  return group(draw(), flipped(draw()));
}

/**
 * Draw a filled path.
 * @param {string} d
 * @param {string} fill
 * @param {Attributes} [attributes]
 */
export function shape(d, fill, attributes = {}) {
  return s("path", { d, fill, ...attributes });
}

/**
 * Draw the stroke of a path, with round ends.
 * @param {string} d
 * @param {string} stroke
 * @param {number} width
 */
export function line(d, stroke, width) {
  return s("path", { d, stroke, ...pen, "stroke-width": width, fill: "none" });
}

/**
 * Draw a filled path with an outline.
 * @param {string} d
 * @param {string} fill
 * @param {number} width the width of the outline
 * @param {string} [stroke]
 */
export function outlined(d, fill, width, stroke = "var(--cat-line)") {
  return s("path", { d, fill, stroke, ...pen, "stroke-width": width });
}

/**
 * Draw a thick line with an outline, for example a tail.
 * @param {string} d
 * @param {string} colour
 * @param {number} thickness
 * @param {number} width the width of the outline
 * @param {string} [stroke]
 */
export function limb(d, colour, thickness, width, stroke = "var(--cat-line)") {
  return group(line(d, stroke, thickness + 2 * width), line(d, colour, thickness));
}

/**
 * Draw a disc, or an ellipse if there is a second radius.
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
 * Return the width of outlines, in units of a drawing of 100 by 100. Small drawings need thicker ones.
 * @param {number} size the width and height of the drawing, in pixels
 */
export function outlineWidth(size) {
  return Math.min(6, Math.max(2.4, Math.round(1100 / size) / 10));
}

const pen = { "stroke-linecap": "round", "stroke-linejoin": "round" };

/**
 * Round to one decimal.
 * @param {number} number
 */
export function round(number) {
  return Math.round(number * 10) / 10;
}

/**
 * Return a part of a path, as a tagged template that rounds its numbers.
 * @param {TemplateStringsArray} strings
 * @param {...(string | number)} values
 */
export function path(strings, ...values) {
  return String.raw(
    { raw: strings },
    ...values.map((value) => (typeof value === "number" ? round(value) : value)),
  );
}
