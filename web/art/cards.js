// Cards, and small marks on cards and on the table: marks of seats, symbols of suits. Sizes are in pixels.

import { s } from "../dom.js";
import { catFace } from "./cats.js";
import { paw } from "./pieces.js";
import {
  at,
  disc,
  drawing,
  group,
  line,
  middleBox,
  mirrored,
  outlineWidth,
  placed,
  raised,
  shape,
} from "./shapes.js";
import { write } from "./text.js";

/** @typedef {import("./shapes.js").Child} Child */

/** The number of drawings copied so far. It makes the ids of copies unique. */
let copies = 0;

/**
 * The contents of a card's face.
 * @typedef {object} FaceOptions
 * @property {string} [band] the colour of the frame and the corners
 * @property {string} [bandInk] the colour of text in the corners
 * @property {string} [soft] the tint of the background
 * @property {string} [corner] the text at the top left and, upside down, at the bottom right
 * @property {string} [big] the text in the middle
 * @property {Child} [motif] a drawing around (0, 0), put in the middle
 */

/**
 * Draw a card's face, around its middle.
 * @param {number} width
 * @param {number} height
 * @param {FaceOptions} [options]
 */
export function cardFace(width, height, options = {}) {
  const { band, bandInk = "var(--card-ink)", soft = "var(--card)", corner, big, motif } = options;
  const unit = Math.min(width, height * 0.72) / 100;
  const inset = band ? 5 * unit : 0;
  const cornerMark =
    corner !== undefined &&
    at(
      -width / 2,
      -height / 2,
      band && tab(18 + 11 * corner.length, 30, unit, band),
      write(corner, (9.5 + 5.5 * corner.length) * unit, (band ? 15.5 : 17) * unit, 19 * unit, {
        fill: bandInk,
      }),
    );
  return group(
    sheet(width, height, unit, "var(--card)"),
    band &&
      middleBox(width - inset, height - inset, 8 * unit, {
        fill: "none",
        stroke: band,
        "stroke-width": inset,
      }),
    soft !== "var(--card)" &&
      middleBox(width - 2 * (inset + unit), height - 2 * (inset + unit), 6 * unit, { fill: soft }),
    motif,
    big !== undefined && write(big, 0, 0, bigSize(big, unit), { fill: "var(--card-ink)" }),
    cornerMark && twice(cornerMark),
  );
}

/**
 * Draw something twice, the second time turned by 180 degrees. Screen readers read the text of the first drawing
 * only.
 * @param {SVGElement} drawn
 */
export function twice(drawn) {
  copies += 1;
  const id = `copied-${copies}`;
  return [s("g", { id }, drawn), s("use", { href: `#${id}`, transform: "rotate(180)" })];
}

/**
 * Draw a card's back, around its middle: a cat flap among paws.
 * @param {number} width
 * @param {number} height
 */
export function cardBack(width, height) {
  const unit = Math.min(width, height * 0.72) / 100;
  return group(
    sheet(width, height, unit, "var(--card-back)"),
    middleBox(width - 12 * unit, height - 12 * unit, 6 * unit, {
      fill: "none",
      stroke: "var(--card-back-2)",
      "stroke-width": 1.6 * unit,
    }),
    paws(width, height, unit),
    placed(
      0,
      0,
      unit,
      0,
      shape("M-25 31V-9C-25-41 25-41 25-9V31Q25 35 21 35H-21Q-25 35-25 31Z", "var(--card-back-2)"),
      shape("M-20 30V-9C-20-34 20-34 20-9V30Z", "var(--card-back)"),
      shape("M-15 30V8L-17-9Q-17-13-13-11L-6-6H6L13-11Q17-13 17-9L15 8V30Z", "var(--card-back-2)"),
      mirrored(() => disc(-6.5, 6, 2.8, "var(--card-back)", 3.6)),
      shape("M-2.5 13H2.5L0 16Z", "var(--card-back)"),
    ),
  );
}

/**
 * Draw a seat's mark: a disc with the seat's colour and shape and, from a size of 24 pixels, the seat's cat.
 * @param {number} seat
 * @param {number} size
 */
export function seatMark(seat, size) {
  const number = seat % SEAT_SHAPES.length;
  const form = shape(/** @type {string} */ (SEAT_SHAPES[number]), `var(--seat-ink-${number})`);
  const round = s("circle", {
    r: 47,
    fill: `var(--seat-${number})`,
    stroke: "var(--cat-line)",
    "stroke-width": outlineWidth(size),
  });
  if (size < 24) {
    return drawing(size, round, form);
  }
  return group(
    drawing(size, round),
    s("g", { transform: `translate(0 ${-size * 0.04})` }, catFace(number, size * 0.7)),
    drawing(
      size,
      placed(
        33,
        33,
        0.34,
        0,
        s("circle", { r: 50, fill: `var(--seat-${number})`, stroke: "var(--cat-line)", "stroke-width": 7 }),
        form,
      ),
    ),
  );
}

/**
 * Return the colours of a suit in the form for `cardFace`.
 * @param {number} suit
 */
export function suitColours(suit) {
  const number = suit % 5;
  return {
    band: `var(--suit-${number})`,
    bandInk: `var(--suit-ink-${number})`,
    soft: `var(--suit-soft-${number})`,
  };
}

/**
 * Draw a suit's symbol: paw, fish, bell, yarn or bowl of milk.
 * @param {number} suit
 * @param {number} size
 * @param {string} [colour]
 */
export function suitSymbol(suit, size, colour = `var(--suit-${suit % 5})`) {
  return drawing(size, suitShapes(suit % 5, colour));
}

/** The seats' shapes: circle, triangle, square, diamond, star and hexagon. */
const SEAT_SHAPES = [
  "M0-26A26 26 0 0 1 0 26A26 26 0 0 1 0-26Z",
  "M0-31L30 22H-30Z",
  "M-24-24H24V24H-24Z",
  "M0-34L30 0 0 34-30 0Z",
  "M0-35L9-11 34-10 14 6 21 30 0 16-21 30-14 6-34-10-9-11Z",
  "M-16-28H16L32 0 16 28H-16L-32 0Z",
];

/**
 * @param {number} suit
 * @param {string} colour
 * @returns {Child}
 */
function suitShapes(suit, colour) {
  const gap = "var(--card)";
  switch (suit) {
    case 0:
      return paw(100, colour);
    case 1:
      return [
        shape(
          "M-47 0C-34-28 0-32 20-9L42-25Q48-27 46-20L41 0 46 20Q48 27 42 25L20 9C0 32-34 28-47 0Z",
          colour,
        ),
        disc(-27, -5, 5.5, gap),
        line("M-8-15Q2 0-8 15", gap, 5),
      ];
    case 2:
      return [
        line("M-9-35A9 9 0 0 1 9-35", colour, 7),
        shape("M0-33C26-33 27-8 31 8Q33 16 42 22V28H-42V22Q-33 16-31 8C-27-8-26-33 0-33Z", colour),
        shape("M-12 33H12Q11 45 0 45Q-11 45-12 33Z", colour),
        line("M-20 12H20", gap, 5),
      ];
    case 3:
      return [
        disc(-2, -4, 41, colour),
        line("M8 37C24 46 38 44 46 36", colour, 7),
        line(
          "M-36-6C-20-28 8-34 26-24M-34 14C-16-12 16-18 34-6M-12 34C-16 18-6 6 4 2M8 33C6 24 12 12 20 9",
          gap,
          5,
        ),
      ];
    default:
      return [
        shape("M-46-10H46C46 14 39 30 29 36V43H-29V36C-39 30-46 14-46-10Z", colour),
        disc(0, -11, 46, colour, 14),
        disc(0, -11, 38, gap, 8),
        shape("M0-47C4-39 7-36 7-32Q7-25 0-25Q-7-25-7-32C-7-36-4-39 0-47Z", colour),
        placed(0, 22, 0.26, 0, paw(100, gap)),
      ];
  }
}

/**
 * @param {string} label
 * @param {number} unit
 */
function bigSize(label, unit) {
  return Math.min(54, 140 / Math.max(1, label.length)) * unit;
}

/**
 * Draw the coloured corner of a card, from its upper left point.
 * @param {number} width
 * @param {number} height
 * @param {number} unit the scale
 * @param {string} fill
 */
export function tab(width, height, unit, fill) {
  const d = `M0 9Q0 0 9 0H${width}V${height - 12}Q${width} ${height} ${width - 12} ${height}H0Z`;
  return placed(0, 0, unit, 0, shape(d, fill));
}

/**
 * Draw a blank card.
 * @param {number} width
 * @param {number} height
 * @param {number} unit
 * @param {string} fill
 */
function sheet(width, height, unit, fill) {
  const look = { fill, stroke: "var(--card-line)", "stroke-width": 1 };
  return raised(-width / 2, -height / 2, width, height, 9 * unit, look, 2.5 * unit);
}

/**
 * @param {number} width
 * @param {number} height
 * @param {number} unit
 */
function paws(width, height, unit) {
  const step = 15 * unit;
  const columns = Math.floor((width - 24 * unit) / step / 2);
  const rows = Math.floor((height - 24 * unit) / step / 2);
  const prints = [];
  for (let row = -rows; row <= rows; row++) {
    for (let column = -columns; column <= columns; column++) {
      const x = column * step;
      const y = row * step;
      const free = Math.abs(x) > 29 * unit || Math.abs(y) > 44 * unit;
      if (free && (row + column) % 2 === 0) {
        prints.push(placed(x, y, 1, row % 2 ? 20 : -20, paw(8 * unit, "var(--card-back-2)")));
      }
    }
  }
  return s("g", { opacity: 0.55 }, prints);
}
