// The parts of Discat's drawing: cards with digits and an arrow, the constraint's sign, the number line.

import { cardBack, cardFace, suitColours } from "../../art/cards.js";
import { arrowDown, arrowUp, paw } from "../../art/pieces.js";
import { at, box, group, middleBox } from "../../art/shapes.js";
import { drawnBy, slot } from "../../art/table_pieces.js";
import { write } from "../../art/text.js";
import { s } from "../../dom.js";
import { keyOf } from "./picks.js";
import { digitsOf, pointsUp } from "./view.js";

/** @typedef {import("../../game.js").Item} Item */
/** @typedef {import("./layout.js").Spot} Spot */
/** @typedef {import("./view.js").Context} Context */

/**
 * How a card looks.
 * @typedef {object} Look
 * @property {number} [strip] the width of the visible part at the left, in pixels; absent if no other card covers
 *   the card
 * @property {boolean} [sharesTens] true if all picked cards have this card's tens digit
 * @property {boolean} [sharesUnits] true if all picked cards have this card's units digit
 */

/** The size at which cards are drawn before they are scaled. */
export const CARD = { width: 100, height: 142, ratio: 1.42 };

/** The look of panels. */
export const PANEL = { radius: 14, line: "var(--table-line)", opacity: 0.5 };

// The smallest size of text, in pixels.
const LEAST = 12;

/** @param {boolean} isUp */
function coloursOf(isUp) {
  return suitColours(isUp ? 2 : 4);
}

/**
 * Draw the face of a card.
 * @param {number} card
 * @param {Look & {size: number, isUp: boolean, tens: number, units: number}} look `size` is the width of the card on
 *   the screen, in pixels
 */
export function face(card, { size, isUp, tens, units, strip, sharesTens = false, sharesUnits = false }) {
  const { band, soft } = coloursOf(isUp);
  const least = (LEAST * CARD.width) / size;
  const number = String(card);
  const blank = cardFace(CARD.width, CARD.height, { soft, band });
  const arrow = isUp ? arrowUp : arrowDown;
  if (strip !== undefined && strip < LEAST) {
    return blank;
  }
  if (size < 36) {
    return group(
      blank,
      at(0, isUp ? -40 : 40, arrow(44, band)),
      write(number, 0, isUp ? 22 : -22, Math.max(least, 60), { fill: "var(--card-ink)" }),
    );
  }
  if (strip !== undefined) {
    const corner = cornerSize(size, strip);
    const cornerX = -CARD.width / 2 + 2 + (strip * CARD.width) / size / 2;
    return group(
      blank,
      write(number, cornerX, -50, corner, { fill: "var(--card-ink)" }),
      at(cornerX, -50 + corner * 1.05, arrow(corner * 0.95, band)),
      at(18, 16, s("g", { opacity: 0.35 }, arrow(56, band))),
    );
  }
  const y = isUp ? 26 : -26;
  return group(
    blank,
    at(0, isUp ? -34 : 34, arrow(52, band)),
    tile(-20.5, y, tens, sharesTens, tens === 0),
    tile(20.5, y, units, sharesUnits, false),
  );
}

/**
 * Return the size of the number in a card's corner, in units of the unscaled card.
 * @param {number} size the width of the card on the screen, in pixels
 * @param {number} strip the visible part of this width, in pixels
 */
function cornerSize(size, strip) {
  return (Math.max(LEAST, Math.min(size * 0.22, strip * 0.56)) * CARD.width) / size;
}

/**
 * Draw a digit of a card.
 * @param {number} x
 * @param {number} y
 * @param {number} digit
 * @param {boolean} isShared true if the picked cards have this digit, too
 * @param {boolean} isZero true for the leading zero of a number below 10
 */
function tile(x, y, digit, isShared, isZero) {
  const fill = isShared ? "var(--surface)" : "var(--card-ink)";
  const look = isShared
    ? { fill: "var(--picked)", stroke: "var(--picked)" }
    : { fill: "var(--card)", stroke: "var(--card-line)" };
  return at(
    x,
    y,
    middleBox(38, 56, 7, look),
    s(
      "g",
      isZero && !isShared ? { opacity: 0.3 } : {},
      isZero ? zero(fill) : write(String(digit), 0, 0, 50, { fill, joins: true }),
    ),
  );
}

/**
 * Draw a leading zero. It is a shape instead of text, so that a screen reader does not read card 7 as "07".
 * @param {string} stroke
 */
function zero(stroke) {
  return s("ellipse", { rx: 11, ry: 15.5, fill: "none", stroke, "stroke-width": 6.5 });
}

/**
 * Draw the back of a card, with the card's number if it is known.
 * @param {number} size the width of the card on the screen, in pixels
 * @param {number} [card] the number, if it is known
 * @param {number} [strip] the visible part of the width at the left, in pixels
 */
export function back(size, card, strip = size) {
  const blank = cardBack(CARD.width, CARD.height);
  if (card === undefined || strip < LEAST) {
    return blank;
  }
  const corner = cornerSize(size, strip);
  const x = (strip < size ? -47 : -44) + corner * 0.76;
  return group(
    blank,
    at(
      x,
      -64 + corner * 0.72,
      middleBox(corner * 1.44, corner * 1.24, 6, { fill: "var(--card)" }),
      write(String(card), 0, 0, corner, { fill: "var(--card-ink)" }),
    ),
  );
}

/**
 * Draw an empty place for a card.
 * @param {string} text a text in the middle, or ""
 * @param {number} scale the scale at which the place will be shown, which the text's size compensates
 */
export function emptyPlace(text, scale) {
  return group(
    slot(CARD.width, CARD.height, { radius: 9, thickness: 3, dash: "8 7" }),
    text !== "" && write(text, 0, 0, 13 / scale, { fill: "var(--ink-soft)" }),
  );
}

/**
 * Draw the constraint: a big arrow that contains the number to exceed or to stay below.
 * @param {number} size the height, in pixels
 * @param {string} number the number as players call it
 * @param {string} than the text that precedes the number: "higher than" or "lower than"
 * @param {boolean} isHigher true if higher cards are allowed
 */
export function constraintSign(size, number, than, isHigher) {
  const { band, bandInk } = coloursOf(isHigher);
  const text = Math.max(LEAST, size * 0.085);
  const turned = isHigher ? 1 : -1;
  return group(
    s("path", {
      d: "M-4-46Q0-50 4-46L48-6Q51-1 46 0H36V44Q36 49 31 49H-31Q-36 49-36 44V0H-46Q-51-1-48-6Z",
      transform: `scale(${size / 100} ${(turned * size) / 100})`,
      fill: band,
    }),
    write(than, 0, turned * -size * 0.13, text, { fill: bandInk }),
    write(number, 0, turned * size * 0.16, size * 0.4, { fill: bandInk }),
  );
}

/**
 * Draw the sign that there is no constraint.
 * @param {number} size the height, in pixels
 * @param {readonly string[]} words a title, and a line of small text
 */
export function freeSign(size, [big = "", small = ""]) {
  return group(
    s("circle", {
      r: size * 0.44,
      fill: "var(--surface)",
      stroke: "var(--good)",
      "stroke-width": size * 0.035,
    }),
    at(0, -size * 0.17, paw(size * 0.26, "var(--good)")),
    write(big, 0, size * 0.1, size * 0.16, { fill: "var(--good)" }),
    write(small, 0, size * 0.25, Math.max(LEAST, size * 0.075), { fill: "var(--ink-soft)" }),
  );
}

/**
 * Draw the number line. It marks the numbers that the constraint allows and the viewer's cards.
 * @param {{least: number, most: number, card?: number | undefined, higher: boolean, hand: readonly number[], width: number}} of
 *   `least` and `most` are the ends of the line, `card` and `higher` the constraint; `card` is undefined if there is no
 *   constraint
 */
export function scaleOfNumbers({ least, most, card, higher, hand, width }) {
  const { band } = coloursOf(higher);
  const left = -width / 2 + 28;
  const length = width - 56;
  const y = 18;
  const place = (/** @type {number} */ number) => left + ((number - least) / (most - least)) * length;
  const from = card === undefined || !higher ? left : place(card);
  const to = card === undefined || higher ? left + length : place(card);
  return group(
    box(left, y - 4, length, 8, 4, { fill: "var(--surface)", stroke: "var(--table-line)" }),
    box(from, y - 4, Math.max(0, to - from), 8, 4, { fill: card === undefined ? "var(--good)" : band }),
    write(String(least), left - 17, y, LEAST, { fill: "var(--ink-soft)" }),
    write(String(most), left + length + 18, y, LEAST, { fill: "var(--ink-soft)" }),
    hand.map((each) =>
      box(place(each) - 4, y - 8, 8, 16, 2.5, {
        fill: "var(--card)",
        stroke: "var(--ink)",
        "stroke-width": 1.5,
        opacity: card === undefined || (higher ? each > card : each < card) ? 1 : 0.4,
      }),
    ),
    card !== undefined &&
      at(place(card), y, s("circle", { r: 7, fill: band, stroke: "var(--surface)", "stroke-width": 2 })),
  );
}

/**
 * Return the item of a card that lies face up.
 * @param {Context} context
 * @param {number} card
 * @param {Spot} spot
 * @param {Partial<Item>} item further properties of the item
 * @param {Look} [look]
 * @returns {Item}
 */
export function openCard({ view, details }, card, spot, item, look = {}) {
  const isUp = pointsUp(view, card);
  const size = Math.round(CARD.width * spot.scale);
  return {
    key: keyOf(card),
    ...spot,
    ...drawnBy(face, card, { ...look, size, isUp, ...digitsOf(details, card) }),
    ...item,
  };
}

/**
 * Return the item of a card that lies face down.
 * @param {string} key
 * @param {Spot} spot
 * @param {Partial<Item>} item further properties of the item
 * @param {number} [card] the card's number, if all players know it
 * @param {number} [strip] the visible part of the unscaled card's width
 * @returns {Item}
 */
export function hiddenCard(key, spot, item, card, strip = CARD.width) {
  const size = Math.round(CARD.width * spot.scale);
  return { key, ...spot, ...drawnBy(back, size, card, strip), ...item };
}
