// Still pictures of a table, or of some of the table's items, made by the game's drawing.

import { s } from "../dom.js";
import { nameOfSeat } from "../seat_names.js";

/** @typedef {import("../game.js").Context} Context */
/** @typedef {import("../game.js").Drawing} Drawing */
/** @typedef {import("../game.js").Item} Item */
/** @typedef {import("../games.js").GameKit} GameKit */
/**
 * A thing in a picture, drawn around its middle. Sizes are in pixels.
 * @typedef {{width: number, height: number, drawn: SVGElement}} Thing
 */

const GAP = 12;
const WIDTH = 640;
const HEIGHT = 480;

/**
 * Return the context of a still drawing. No player can act in it.
 * @param {GameKit} kit
 * @param {import("../game.js").ViewerUpdate} update
 * @param {number} [me] the viewer's seat; absent for a spectator
 * @returns {Context}
 */
export function stillContext(kit, update, me) {
  return {
    view: update.view?.[kit.field] ?? {},
    update,
    details: kit.details,
    players: update.score?.totals?.length ?? 0,
    me,
    turn: undefined,
    actions: [],
    width: WIDTH,
    height: HEIGHT,
    picked: [],
    candidates: new Set(),
    ui: {},
    redraw: () => undefined,
    nameOf: (kind, number) => kit.phrases.nameOf(kind, number),
    seatName: nameOfSeat,
    t: kit.t,
  };
}

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
