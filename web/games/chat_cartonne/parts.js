// The parts of Chat Cartonne's drawing: cartons with walls and toys, cats, labels of boxes. Sizes are in pixels.

import { seatMark } from "../../art/cards.js";
import { catCurled, catFace, catSitting } from "../../art/cats.js";
import { ball, crown, fish, mouse, princess, sprayer } from "../../art/pieces.js";
import { at, box, group, line, middleBox, placed, raised, shape } from "../../art/shapes.js";
import { roundBadge, slot } from "../../art/table_pieces.js";
import { widthOf, write } from "../../art/text.js";
import { s } from "../../dom.js";

/** @typedef {import("../../dom.js").Child} Child */
/** @typedef {{wallNorth?: boolean, wallEast?: boolean, wallSouth?: boolean, wallWest?: boolean}} Walls */
/** @typedef {{mice?: number, balls?: number, fish?: number, sprayers?: number}} Toys */
/** @typedef {{seats: readonly number[], text: string}} Entry */

/** The side of a cell of the board, in the board's coordinates. */
export const CELL = 90;

const HALF = CELL / 2;
const WALL = 11;
// The width of a seat's mark on the label of a box, including the space after it.
const MARK = 17;

/**
 * Return the walls and toys of a card as a string. Two cards look alike if these strings are equal.
 * @param {Walls & Toys} card
 */
export function faceOf(card) {
  const walls = [card.wallNorth, card.wallEast, card.wallSouth, card.wallWest].map((is) => (is ? 1 : 0));
  return [...walls, card.mice ?? 0, card.balls ?? 0, card.fish ?? 0, card.sprayers ?? 0].join("");
}

/**
 * Return a card with its walls as they lie when the card is turned by 180 degrees.
 * @template {Walls} T
 * @param {T} card
 * @returns {T}
 */
export function turnedCard(card) {
  return {
    ...card,
    wallNorth: card.wallSouth ?? false,
    wallEast: card.wallWest ?? false,
    wallSouth: card.wallNorth ?? false,
    wallWest: card.wallEast ?? false,
  };
}

/**
 * Draw a carton of the board.
 * @param {Walls & Toys} card
 * @param {{tints?: readonly number[], isClosed?: boolean, radius?: number, upsideDown?: boolean}} [options] `tints` are
 *   the seats that have the majority in the carton's closed box, `radius` is the radius of the carton's corners; if
 *   `upsideDown` is true, the drawing will be turned by 180 degrees and the toys are drawn upright for that
 */
export function carton(card, { tints = [], isClosed = false, radius = 0, upsideDown = false } = {}) {
  const sides = [card.wallNorth, card.wallEast, card.wallSouth, card.wallWest];
  return group(
    floor(tints, isClosed, radius),
    seams([0, 1, 2, 3].filter((side) => !sides[side])),
    sides.map((isWall, side) => isWall && placed(0, 0, 1, 90 * side, wall())),
    placed(0, 0, 1, upsideDown ? 180 : 0, toys(card, 46)),
  );
}

/**
 * Draw a carton as a loose card.
 * @param {number} size the side, in pixels
 * @param {Walls & Toys} card
 * @param {boolean} [upsideDown]
 */
export function cartonCard(size, card, upsideDown = false) {
  return looseCard(size, carton(card, { radius: 7, upsideDown }));
}

/**
 * Draw a cat on its blanket in a cell, asleep or woken.
 * @param {number} seat
 * @param {{tints?: readonly number[], isClosed?: boolean, radius?: number, isWoken?: boolean}} [options]
 */
export function sleeper(seat, { tints = [], isClosed = false, radius = 0, isWoken = false } = {}) {
  return group(
    floor(tints, isClosed, radius),
    seams([0, 1, 2, 3]),
    cushion(9, 38, 27, `var(--seat-${seat % 6})`),
    s("ellipse", {
      cy: 9,
      rx: 32,
      ry: 21.5,
      fill: "none",
      stroke: `var(--seat-ink-${seat % 6})`,
      "stroke-width": 1.4,
      "stroke-dasharray": "4 4",
      opacity: 0.55,
    }),
    catCurled(seat, 68, isWoken ? "calm" : "sleepy"),
  );
}

/**
 * @param {number} cy
 * @param {number} rx
 * @param {number} ry
 * @param {string} fill
 */
function cushion(cy, rx, ry, fill) {
  return s("ellipse", { cy, rx, ry, fill, stroke: "var(--cat-line)", "stroke-width": 1.5 });
}

/**
 * Draw a sleeping cat as a loose card.
 * @param {number} size the side, in pixels
 * @param {number} seat
 * @param {boolean} [isThere] false to show that no cat is left
 */
export function sleeperCard(size, seat, isThere = true) {
  return s("g", { opacity: isThere ? 1 : 0.35 }, looseCard(size, sleeper(seat, { radius: 7 })));
}

/**
 * Draw the Princess in a cell.
 * @param {{tints?: readonly number[], isClosed?: boolean}} [options]
 */
export function princessInCell({ tints = [], isClosed = false } = {}) {
  return group(
    floor(tints, isClosed, 0),
    seams([0, 1, 2, 3]),
    cushion(26, 34, 14, "#d94a78"),
    at(0, -2, princess(68)),
  );
}

/**
 * Draw the Princess as a card of a hand.
 * @param {number} size the side, in pixels
 */
export function princessCard(size) {
  return looseCard(
    size,
    middleBox(CELL, CELL, 7, { fill: "var(--card)" }),
    middleBox(CELL - 10, CELL - 10, 5, { fill: "none", stroke: "#d94a78", "stroke-width": 2.5 }),
    at(0, 2, princess(66)),
  );
}

/**
 * Draw a toy card on a joint.
 * @param {Toys} card
 */
export function toyOnJoint(card) {
  return group(
    raised(-27, -27, 54, 54, 27, { fill: "var(--card)", stroke: "var(--card-line)", "stroke-width": 1.5 }),
    placed(0, 0, 0.62, 0, toys(card, 50)),
  );
}

/**
 * Draw an awake cat on a joint.
 * @param {number} seat
 */
export function awakeCat(seat) {
  return group(ground(), at(0, -5, catSitting(seat, 64)));
}

/** Draw the Princess on a joint. */
export function princessOnJoint() {
  return group(ground(), at(0, -5, princess(66)));
}

/**
 * Draw a cell that can be picked, with a preview.
 * @param {Child} preview the picked piece, as it would lie there
 */
export function ghost(preview) {
  const side = CELL - 6;
  const edge = { radius: 9, line: "var(--pickable)", thickness: 3, dash: "9 6" };
  return shownUnderPointer(0.4, preview, (inside) => [
    middleBox(side, side, 9, { fill: "var(--surface)", "fill-opacity": 0.7 }),
    inside,
    slot(side, side, edge),
  ]);
}

/**
 * Draw a joint that can be picked, with a preview.
 * @param {Child} preview the picked piece, as it would lie there
 */
export function jointGhost(preview) {
  const edge = { stroke: "var(--pickable)", "stroke-width": 3, "stroke-dasharray": "9 6" };
  return shownUnderPointer(0.65, preview, (inside) => [
    middleBox(68, 68, 34, { fill: "var(--surface)", "fill-opacity": 0.85, ...edge }),
    inside,
  ]);
}

/**
 * Draw a faint preview that becomes solid while the pointer is over the drawing.
 * @param {number} opacity the opacity while the pointer is elsewhere, from 0 to 1
 * @param {Child} preview
 * @param {(inside: SVGElement) => Child} draw draws the place around the preview
 */
function shownUnderPointer(opacity, preview, draw) {
  const inside = s("g", { opacity }, preview);
  const show = (/** @type {number} */ shown) => () => inside.setAttribute("opacity", String(shown));
  return s("g", { onpointerenter: show(1), onpointerleave: show(opacity) }, draw(inside));
}

/**
 * Draw the button that turns a card.
 * @param {number} size the diameter, in pixels
 */
export function turnButton(size) {
  const turned = (/** @type {number} */ turn) =>
    placed(
      0,
      0,
      (size * 1.5) / CELL,
      turn,
      line("M-16-2A16 16 0 0 1 12-10", "var(--ink)", 5),
      shape("M5-6L19-3 17-18Z", "var(--ink)"),
    );
  const badge = roundBadge(
    size / 2,
    { fill: "var(--surface)", stroke: "var(--line)" },
    turned(0),
    turned(180),
  );
  // A fingertip is larger than the button.
  return group(s("circle", { r: size / 2 + 4, fill: "transparent" }), badge);
}

/**
 * Draw the label of a box: the seats that have the majority and the points. A closed box has a solid frame.
 * @param {readonly Entry[]} entries
 * @param {boolean} isClosed
 */
export function boxLabel(entries, isClosed) {
  const width = labelWidth(entries);
  const look = isClosed
    ? { stroke: "var(--ink)", "stroke-width": 2.5 }
    : { stroke: "var(--ink-soft)", "stroke-dasharray": "3 3" };
  let x = 6 - width / 2;
  return s(
    "g",
    { "pointer-events": "none" },
    raised(-width / 2, -12.5, width, 25, 12.5, { fill: "var(--surface)", ...look }, 1),
    entries.map((entry) => {
      const { seats, text } = entry;
      const left = x;
      x += entryWidth(entry) + 8;
      return [
        seats.map((seat, place) => at(left + MARK * (place + 0.5), 0, seatMark(seat, MARK - 1))),
        write(text, left + seats.length * MARK + 4, 0, 14, { anchor: "start" }),
      ];
    }),
  );
}

/**
 * Return the width of a box's label.
 * @param {readonly Entry[]} entries
 */
export function labelWidth(entries) {
  return entries.reduce((sum, entry) => sum + entryWidth(entry) + 8, 4);
}

/** @param {Entry} entry */
function entryWidth({ seats, text }) {
  return seats.length * MARK + 4 + widthOf(text, 14);
}

/**
 * Draw the supply of a seat's cats: the cats left, and a circle for each cat that is on the table.
 * @param {number} seat
 * @param {number} supply the number of cats left
 * @param {number} cats the number of cats that a seat has at the beginning
 * @param {number} step the distance between two cats, in pixels
 */
export function supplyRow(seat, supply, cats, step) {
  return group(
    Array.from({ length: cats }, (_, index) =>
      at(
        step * index,
        0,
        index < supply
          ? catFace(seat, step - 1)
          : s("circle", { r: step * 0.2, fill: "none", stroke: "var(--ink-soft)", "stroke-width": 1.3 }),
      ),
    ),
  );
}

/**
 * Draw the cards left in each part of the draw pile as bars, from the top of the pile.
 * @param {readonly {left: number, size: number, hasCrown: boolean}[]} parts
 * @param {number} width in pixels
 * @param {boolean} hasNumbers true to write the number of cards on each bar
 */
export function pileBars(parts, width, hasNumbers) {
  const whole = parts.reduce((sum, { size }) => sum + size, 0) || 1;
  const gap = 3;
  const room = width - gap * (parts.length - 1);
  let x = -width / 2;
  return group(
    parts.map(({ left, size, hasCrown }) => {
      const length = (room * size) / whole;
      const from = x;
      x += length + gap;
      return [
        box(from, -4, length, 8, 3, { fill: "var(--line)" }),
        left > 0 &&
          box(from + length * (1 - left / size), -4, (length * left) / size, 8, 3, {
            fill: "var(--card-back)",
          }),
        hasCrown && at(from + length / 2, hasNumbers ? -11 : 0, crown(15)),
        hasNumbers &&
          write(String(left), from + length / 2, 15, 12.5, { fill: "var(--ink-soft)", weight: 600 }),
      ];
    }),
  );
}

/**
 * Draw a small open box; it is crossed out if `is` is false.
 * @param {number} size in pixels
 * @param {boolean} is
 */
export function boxSign(size, is) {
  return s(
    "g",
    {
      transform: `scale(${size / 24})`,
      fill: "none",
      stroke: is ? "var(--ink)" : "var(--ink-soft)",
      "stroke-width": 2,
      "stroke-linejoin": "round",
      "stroke-linecap": "round",
      opacity: is ? 1 : 0.7,
    },
    s("path", { d: "M-8-3H8V8H-8ZM-8-3L-11-8M8-3L11-8", fill: is ? "var(--carton)" : "none" }),
    !is && s("path", { d: "M-10 10L10-10" }),
  );
}

/**
 * @param {readonly number[]} tints
 * @param {boolean} isClosed
 * @param {number} radius
 */
function floor(tints, isClosed, radius) {
  const width = CELL / tints.length;
  return [
    middleBox(CELL, CELL, radius, { fill: "var(--carton)" }),
    s("path", {
      d: "M-27-45V45M-9-45V45M9-45V45M27-45V45",
      stroke: "var(--carton-2)",
      "stroke-width": 1.2,
      opacity: 0.35,
    }),
    tints.map((seat, index) =>
      box(width * index - HALF, -HALF, width, CELL, 0, { fill: `var(--seat-${seat % 6})`, opacity: 0.72 }),
    ),
    isClosed && tints.length === 0 && middleBox(CELL, CELL, 0, { fill: "var(--wall)", opacity: 0.25 }),
  ];
}

/**
 * Draw the open edges of a cell.
 * @param {readonly number[]} sides the edges; 0 is north, then clockwise
 */
function seams(sides) {
  const look = { stroke: "var(--wall)", "stroke-width": 1.2, "stroke-dasharray": "4 5", opacity: 0.4 };
  return sides.map((side) =>
    placed(0, 0, 1, 90 * side, s("path", { d: `M${-HALF} ${-HALF}H${HALF}`, ...look })),
  );
}

/** Draw a wall at the north edge, as corrugated cardboard with its shadow. */
function wall() {
  return [
    box(-HALF, -HALF + WALL, CELL, 4, 0, { fill: "#000", opacity: 0.16 }),
    box(-HALF, -HALF, CELL, WALL, 2, { fill: "var(--wall)" }),
    s("path", {
      d: `M${-HALF + 3} ${-HALF + WALL / 2}H${HALF - 3}`,
      stroke: "var(--carton)",
      "stroke-width": 4,
      "stroke-dasharray": "2 3",
    }),
  ];
}

/**
 * @param {Toys} card
 * @param {number} size
 * @returns {Child}
 */
function toys(card, size) {
  const all = [
    ...Array(card.mice ?? 0).fill(mouse),
    ...Array(card.balls ?? 0).fill(ball),
    ...Array(card.fish ?? 0).fill(fish),
    ...Array(card.sprayers ?? 0).fill(sprayer),
  ];
  const part = all.length > 1 ? 0.8 : 1;
  return all.map((draw, index) => {
    const off = (index - (all.length - 1) / 2) * size * 0.72;
    return at(off * 0.62, off, draw(size * part));
  });
}

/**
 * Draw a loose card: it is drawn as large as a cell, and scaled.
 * @param {number} size the side, in pixels
 * @param {...Child} face
 */
function looseCard(size, ...face) {
  const rim = { fill: "none", stroke: "var(--wall)", "stroke-width": 1.2, opacity: 0.55 };
  return group(
    at(0, 2.5, middleBox(size, size, 6, { fill: "var(--card-shadow)" })),
    placed(0, 0, Math.round((size / CELL) * 1000) / 1000, 0, face, middleBox(CELL, CELL, 7, rim)),
  );
}

function ground() {
  return s("ellipse", { cy: 26, rx: 25, ry: 7, fill: "#000", opacity: 0.22 });
}
