// The parts of Chat Cartonne's drawing: cartons with walls and toys, cats, labels of boxes.

import { cardBack, seatMark } from "../../art/cards.js";
import { catCurled, catFace, catSitting } from "../../art/cats.js";
import { ball, crown, fish, mouse, princess, sprayer } from "../../art/pieces.js";
import { placed } from "../../art/shapes.js";
import { s } from "../../dom.js";

/** @typedef {import("../../dom.js").Child} Child */
/** @typedef {{wallNorth?: boolean, wallEast?: boolean, wallSouth?: boolean, wallWest?: boolean}} Walls */
/** @typedef {{mice?: number, balls?: number, fish?: number, sprayers?: number}} Toys */
/** @typedef {{seats: readonly number[], text: string}} Entry */

/** The side of a cell of the board. */
export const CELL = 90;

const HALF = CELL / 2;
const WALL = 11;
const LETTER = 0.56;
const DIGIT = 0.68;

/**
 * Walls and toys as text, for stamps.
 * @param {Walls & Toys} card
 */
export function faceOf(card) {
  const walls = [card.wallNorth, card.wallEast, card.wallSouth, card.wallWest].map((is) => (is ? 1 : 0));
  return [...walls, card.mice ?? 0, card.balls ?? 0, card.fish ?? 0, card.sprayers ?? 0].join("");
}

/**
 * Walls as they lie when the card is turned.
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
 * A carton of the board. `tints`: the seats whose closed box it is in; `radius`: of its corners; `upsideDown`: it is
 * shown turned by 180 degrees, so that its toys are drawn the other way round.
 * @param {Walls & Toys} card
 * @param {{tints?: readonly number[], isClosed?: boolean, radius?: number, upsideDown?: boolean}} [options]
 */
export function carton(card, { tints = [], isClosed = false, radius = 0, upsideDown = false } = {}) {
  const sides = [card.wallNorth, card.wallEast, card.wallSouth, card.wallWest];
  return s(
    "g",
    {},
    floor(tints, isClosed, radius),
    sides.map((isWall, side) => !isWall && placed(0, 0, 1, 90 * side, seam())),
    sides.map((isWall, side) => isWall && placed(0, 0, 1, 90 * side, wall())),
    placed(0, 0, 1, upsideDown ? 180 : 0, toys(card, 46)),
  );
}

/**
 * A carton as a card of `size` that lies on its own.
 * @param {number} size
 * @param {Walls & Toys} card
 * @param {boolean} [upsideDown]
 */
export function cartonCard(size, card, upsideDown = false) {
  return s("g", {}, shadow(size), scaled(size, carton(card, { radius: 7, upsideDown }), rim()));
}

/**
 * A cat on its blanket, in a cell: asleep, or woken.
 * @param {number} seat
 * @param {{tints?: readonly number[], isClosed?: boolean, radius?: number, isWoken?: boolean}} [options]
 */
export function sleeper(seat, { tints = [], isClosed = false, radius = 0, isWoken = false } = {}) {
  return s(
    "g",
    {},
    floor(tints, isClosed, radius),
    [0, 1, 2, 3].map((side) => placed(0, 0, 1, 90 * side, seam())),
    s("ellipse", {
      cy: 9,
      rx: 38,
      ry: 27,
      fill: `var(--seat-${seat % 6})`,
      stroke: "var(--cat-line)",
      "stroke-width": 1.5,
    }),
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
 * A sleeping cat as a card that lies on its own.
 * @param {number} size
 * @param {number} seat
 */
export function sleeperCard(size, seat) {
  return s("g", {}, shadow(size), scaled(size, sleeper(seat, { radius: 7 }), rim()));
}

/**
 * The Princess in a cell.
 * @param {{tints?: readonly number[], isClosed?: boolean}} [options]
 */
export function princessInCell({ tints = [], isClosed = false } = {}) {
  return s(
    "g",
    {},
    floor(tints, isClosed, 0),
    [0, 1, 2, 3].map((side) => placed(0, 0, 1, 90 * side, seam())),
    s("ellipse", { cy: 26, rx: 34, ry: 14, fill: "#d94a78", stroke: "var(--cat-line)", "stroke-width": 1.5 }),
    placed(0, -2, 1, 0, princess(68)),
  );
}

/**
 * The Princess as a card in a hand.
 * @param {number} size
 */
export function princessCard(size) {
  return s(
    "g",
    {},
    shadow(size),
    scaled(
      size,
      s("rect", { x: -HALF, y: -HALF, width: CELL, height: CELL, rx: 7, fill: "var(--card)" }),
      s("rect", {
        x: -HALF + 5,
        y: -HALF + 5,
        width: CELL - 10,
        height: CELL - 10,
        rx: 5,
        fill: "none",
        stroke: "#d94a78",
        "stroke-width": 2.5,
      }),
      placed(0, 2, 1, 0, princess(66)),
      rim(),
    ),
  );
}

/**
 * A toy card on a joint.
 * @param {Toys} card
 */
export function toyOnJoint(card) {
  return s(
    "g",
    {},
    s("circle", { cy: 2, r: 27, fill: "var(--card-shadow)" }),
    s("circle", { r: 27, fill: "var(--card)", stroke: "var(--card-line)", "stroke-width": 1.5 }),
    placed(0, 0, 0.62, 0, toys(card, 50)),
  );
}

/**
 * An awake cat on a joint.
 * @param {number} seat
 */
export function awakeCat(seat) {
  return s("g", {}, ground(), placed(0, -5, 1, 0, catSitting(seat, 64)));
}

/** The Princess on a joint. */
export function princessOnJoint() {
  return s("g", {}, ground(), placed(0, -5, 1, 0, princess(66)));
}

/**
 * The back of a card of `size`.
 * @param {number} size
 */
export function back(size) {
  return cardBack(size, size);
}

/**
 * A place that can be chosen, with what would lie there.
 * @param {Child} preview
 */
export function ghost(preview) {
  const inside = s("g", { opacity: 0.4 }, preview);
  return s(
    "g",
    {
      onpointerenter: () => inside.setAttribute("opacity", "1"),
      onpointerleave: () => inside.setAttribute("opacity", "0.4"),
    },
    s("rect", {
      x: -HALF + 3,
      y: -HALF + 3,
      width: CELL - 6,
      height: CELL - 6,
      rx: 9,
      fill: "var(--surface)",
      "fill-opacity": 0.7,
    }),
    inside,
    s("rect", {
      x: -HALF + 3,
      y: -HALF + 3,
      width: CELL - 6,
      height: CELL - 6,
      rx: 9,
      fill: "none",
      stroke: "var(--pickable)",
      "stroke-width": 3,
      "stroke-dasharray": "9 6",
    }),
  );
}

/**
 * A joint that can be chosen, with what would lie there.
 * @param {Child} preview
 */
export function jointGhost(preview) {
  const inside = s("g", { opacity: 0.65 }, preview);
  return s(
    "g",
    {
      onpointerenter: () => inside.setAttribute("opacity", "1"),
      onpointerleave: () => inside.setAttribute("opacity", "0.65"),
    },
    s("circle", {
      r: 34,
      fill: "var(--surface)",
      "fill-opacity": 0.85,
      stroke: "var(--pickable)",
      "stroke-width": 3,
      "stroke-dasharray": "9 6",
    }),
    inside,
  );
}

/**
 * A button that turns a card.
 * @param {number} size
 */
export function turnButton(size) {
  return s(
    "g",
    {},
    s("circle", { r: size / 2, fill: "var(--surface)", stroke: "var(--line)" }),
    scaled(
      size * 1.5,
      ...[0, 180].map((turn) =>
        placed(
          0,
          0,
          1,
          turn,
          s("path", {
            d: "M-16-2A16 16 0 0 1 12-10",
            fill: "none",
            stroke: "var(--ink)",
            "stroke-width": 5,
            "stroke-linecap": "round",
          }),
          s("path", { d: "M5-6L19-3 17-18Z", fill: "var(--ink)" }),
        ),
      ),
    ),
  );
}

/**
 * The label of a box: who has the majority there and what it is worth; a closed one has a full frame.
 * @param {readonly Entry[]} entries
 * @param {boolean} isClosed
 */
export function boxLabel(entries, isClosed) {
  const mark = 17;
  const widths = entries.map(({ seats, text }) => seats.length * mark + 4 + text.length * 14 * DIGIT);
  const width = widths.reduce((sum, each) => sum + each, 0) + 8 * (entries.length - 1) + 12;
  let x = -width / 2 + 6;
  return s(
    "g",
    { "pointer-events": "none" },
    s("rect", { x: -width / 2, y: -11.5, width, height: 25, rx: 12.5, fill: "var(--card-shadow)" }),
    s("rect", {
      x: -width / 2,
      y: -12.5,
      width,
      height: 25,
      rx: 12.5,
      fill: "var(--surface)",
      stroke: isClosed ? "var(--ink)" : "var(--ink-soft)",
      "stroke-width": isClosed ? 2.5 : 1,
      "stroke-dasharray": isClosed ? undefined : "3 3",
    }),
    entries.map(({ seats, text }, index) => {
      const left = x;
      x += /** @type {number} */ (widths[index]) + 8;
      return [
        seats.map((seat, place) => placed(left + mark * (place + 0.5), 0, 1, 0, seatMark(seat, mark - 1))),
        words(text, left + seats.length * mark + 4, 0, 14, { anchor: "start", weight: 700 }),
      ];
    }),
  );
}

/**
 * The label's width, as boxLabel draws it.
 * @param {readonly Entry[]} entries
 */
export function labelWidth(entries) {
  return entries.reduce((sum, { seats, text }) => sum + seats.length * 17 + 12 + text.length * 14 * DIGIT, 4);
}

/**
 * The cats of a seat that wait beside the table, and the places of those that don't.
 * @param {number} seat
 * @param {number} supply
 * @param {number} cats
 * @param {number} step
 */
export function supplyRow(seat, supply, cats, step) {
  return s(
    "g",
    {},
    Array.from({ length: cats }, (_, index) =>
      placed(
        step * index,
        0,
        1,
        0,
        index < supply
          ? catFace(seat, step - 1)
          : s("circle", { r: step * 0.2, fill: "none", stroke: "var(--ink-soft)", "stroke-width": 1.3 }),
      ),
    ),
  );
}

/**
 * What is left of the parts of the pile, the uppermost first, as bars.
 * @param {readonly {left: number, size: number, hasCrown: boolean}[]} parts
 * @param {number} width
 * @param {boolean} hasNumbers
 */
export function pileBars(parts, width, hasNumbers) {
  const whole = parts.reduce((sum, { size }) => sum + size, 0) || 1;
  const gap = 3;
  const room = width - gap * (parts.length - 1);
  let x = -width / 2;
  return s(
    "g",
    {},
    parts.map(({ left, size, hasCrown }) => {
      const length = (room * size) / whole;
      const from = x;
      x += length + gap;
      return [
        s("rect", { x: from, y: -4, width: length, height: 8, rx: 3, fill: "var(--line)" }),
        left > 0 &&
          s("rect", {
            x: from + length * (1 - left / size),
            y: -4,
            width: (length * left) / size,
            height: 8,
            rx: 3,
            fill: "var(--card-back)",
          }),
        hasCrown && placed(from + length / 2, hasNumbers ? -11 : 0, 1, 0, crown(15)),
        hasNumbers && words(String(left), from + length / 2, 15, 12.5, { fill: "var(--ink-soft)" }),
      ];
    }),
  );
}

/**
 * A text.
 * @param {string} text
 * @param {number} x
 * @param {number} y
 * @param {number} size
 * @param {{anchor?: "start" | "middle" | "end", weight?: number, fill?: string}} [options]
 */
export function words(text, x, y, size, { anchor = "middle", weight = 600, fill = "var(--ink)" } = {}) {
  const style = s(
    "text",
    { x, y, dy: "0.35em", "font-size": size, "font-weight": weight, "text-anchor": anchor },
    text,
  );
  style.style.fill = fill;
  return style;
}

/**
 * A text, cut off where there is no room.
 * @param {string} text
 * @param {number} size
 * @param {number} room
 */
export function cut(text, size, room) {
  const most = Math.floor(room / (size * LETTER));
  return text.length <= most ? text : `${text.slice(0, Math.max(1, most - 2))}…`;
}

/**
 * A panel.
 * @param {number} width
 * @param {number} height
 * @param {boolean} isActive
 */
export function panel(width, height, isActive) {
  return s(
    "g",
    {},
    s("rect", { y: 1.5, width, height, rx: 12, fill: "var(--card-shadow)" }),
    s("rect", {
      width,
      height,
      rx: 12,
      fill: "var(--surface)",
      stroke: isActive ? "var(--accent)" : "var(--line)",
      "stroke-width": isActive ? 3 : 1,
    }),
  );
}

/**
 * A small open box, or one that is crossed out.
 * @param {number} size
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
  const side = { y: -HALF, height: CELL };
  return [
    s("rect", { x: -HALF, width: CELL, ...side, rx: radius, fill: "var(--carton)" }),
    s("path", {
      d: "M-27-45V45M-9-45V45M9-45V45M27-45V45",
      stroke: "var(--carton-2)",
      "stroke-width": 1.2,
      opacity: 0.35,
    }),
    tints.map((seat, index) =>
      s("rect", {
        x: -HALF + (CELL / tints.length) * index,
        width: CELL / tints.length,
        ...side,
        fill: `var(--seat-${seat % 6})`,
        opacity: 0.72,
      }),
    ),
    isClosed &&
      tints.length === 0 &&
      s("rect", { x: -HALF, width: CELL, ...side, fill: "var(--wall)", opacity: 0.25 }),
  ];
}

/** An open edge in the north. */
function seam() {
  return s("path", {
    d: `M${-HALF} ${-HALF}H${HALF}`,
    stroke: "var(--wall)",
    "stroke-width": 1.2,
    "stroke-dasharray": "4 5",
    opacity: 0.4,
  });
}

/** A wall in the north: the edge of corrugated cardboard, and its shadow. */
function wall() {
  return [
    s("rect", { x: -HALF, y: -HALF + WALL, width: CELL, height: 4, fill: "#000", opacity: 0.16 }),
    s("rect", { x: -HALF, y: -HALF, width: CELL, height: WALL, rx: 2, fill: "var(--wall)" }),
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
    return placed(off * 0.62, off, 1, 0, draw(size * part));
  });
}

/**
 * @param {number} size
 * @param {...Child} children
 */
function scaled(size, ...children) {
  return s("g", { transform: `scale(${Math.round((size / CELL) * 1000) / 1000})` }, ...children);
}

/** @param {number} size */
function shadow(size) {
  return s("rect", {
    x: -size / 2,
    y: -size / 2 + 2.5,
    width: size,
    height: size,
    rx: 6,
    fill: "var(--card-shadow)",
  });
}

function rim() {
  return s("rect", {
    x: -HALF,
    y: -HALF,
    width: CELL,
    height: CELL,
    rx: 7,
    fill: "none",
    stroke: "var(--wall)",
    "stroke-width": 1.2,
    opacity: 0.55,
  });
}

function ground() {
  return s("ellipse", { cy: 26, rx: 25, ry: 7, fill: "#000", opacity: 0.22 });
}
