// Still pictures of a table, or of some of the table's items, made by the game's drawing.

import { s } from "../dom.js";

/** @typedef {import("../game.js").Drawing} Drawing */
/** @typedef {import("../game.js").Item} Item */
/**
 * A thing in a picture, drawn around its middle. Sizes are in pixels.
 * @typedef {{width: number, height: number, drawn: SVGElement}} Thing
 */

const GAP = 12;

/**
 * Draw a whole table.
 * @param {Drawing} drawing
 * @param {string} label the description for screen readers
 */
export function stillTable({ width, height, items, board, extent }, label) {
  const isOnBoard = ({ board: is = false }) => is;
  const onBoard =
    board &&
    extent &&
    s(
      "svg",
      { ...board, viewBox: `${extent.x} ${extent.y} ${extent.width} ${extent.height}` },
      laid(items.filter(isOnBoard)),
    );
  return s(
    "svg",
    { class: "drawing still", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label },
    onBoard,
    laid(items.filter((item) => !isOnBoard(item))),
  );
}

/** @param {readonly Item[]} items */
function laid(items) {
  return items
    .toSorted((a, b) => (a.layer ?? 0) - (b.layer ?? 0))
    .map(({ x, y, turn = 0, scale = 1, draw }) =>
      s("g", { transform: `translate(${x} ${y}) rotate(${turn}) scale(${scale})` }, draw()),
    );
}

/**
 * Draw some things side by side.
 * @param {readonly Thing[]} things
 */
export function stillRow(things) {
  const width = things.reduce((sum, thing) => sum + thing.width + GAP, GAP);
  const height = Math.max(...things.map((thing) => thing.height)) + 2 * GAP;
  let x = GAP;
  const placed = things.map((thing) => {
    x += thing.width + GAP;
    const middle = x - GAP - thing.width / 2;
    return s("g", { transform: `translate(${middle} ${height / 2})` }, thing.drawn);
  });
  const size = { width, height, viewBox: `0 0 ${width} ${height}` };
  return s("svg", { class: "drawing row", ...size, "aria-hidden": "true" }, placed);
}
