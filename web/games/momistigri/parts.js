// The parts of Momistigri's drawing: cards in two sizes, pictograms of effects, plates of players, the mat with its
// ring. Sizes are in pixels.

import { cardFace, suitColours, suitSymbol, tab, twice } from "../../art/cards.js";
import { catFace } from "../../art/cats.js";
import { crown, momistigri } from "../../art/pieces.js";
import {
  at,
  box,
  disc,
  drawing,
  group,
  line,
  middleBox,
  outlined,
  placed,
  raised,
  shape,
} from "../../art/shapes.js";
import { plate, roundBadge, slot } from "../../art/table_pieces.js";
import { write, writeLines } from "../../art/text.js";
import { s } from "../../dom.js";

/** @typedef {import("../../game.js").Box} Box */
/** @typedef {import("./view.js").Effect} Effect */
/**
 * The look of a kind of card. The Momistigri has no `colour`.
 * @typedef {{name: string, value: number, colour?: number | undefined}} Look
 */
/** @typedef {{x: number, y: number, turn: number, at: number}} Step */

const STAR = "M0-44L12-15 43-13 19 7 27 38 0 21-27 38-19 7-43-13-12-15Z";
// The colours of the Momistigri's rags, as those of a suit.
const RAGS = { band: "#7b2f4d", bandInk: "#ffffff", soft: "#7b2f4d40" };
/** The coats of the cats by colour, and their moods by value. */
const COAT_OF_COLOUR = [3, 5, 0, 4, 1];
/** @type {readonly import("../../art/cats.js").Mood[]} */
const MOODS = ["calm", "happy", "sleepy", "startled", "cross"];

/** @param {number | undefined} colour */
function coloursOf(colour) {
  return colour === undefined ? RAGS : suitColours(colour);
}

/** @param {boolean} isNew */
function edgeOf(isNew) {
  return isNew
    ? { stroke: "var(--accent)", "stroke-width": 2.5 }
    : { stroke: "var(--card-line)", "stroke-width": 1 };
}

/**
 * @param {Look} look
 * @param {number} size
 */
function symbolOf({ colour }, size) {
  return colour === undefined ? momistigri(size) : suitSymbol(colour, size);
}

/**
 * Draw a card of the hand at the bottom.
 * @param {Look} look
 * @param {number} width
 * @param {number} height
 * @param {Effect | undefined} effect the effect of a pair of this value
 * @param {{isNew?: boolean, isDim?: boolean}} [options] `isNew` is true for a card that has just arrived, `isDim` for a
 *   card that goes with no picked card
 */
export function handCard(look, width, height, effect, { isNew, isDim } = {}) {
  const { name, value, colour } = look;
  const unit = width / 100;
  const { band, bandInk, soft } = coloursOf(colour);
  const strip = -width / 2 + 20 * unit;
  const top = -height / 2;
  const text = colour === undefined ? String(value) : name;
  const motif =
    colour === undefined
      ? at(10 * unit, 8 * unit, momistigri(72 * unit))
      : at(15 * unit, 5 * unit, [
          disc(0, 0, 31 * unit, "var(--card)"),
          catFace(COAT_OF_COLOUR[colour % 5] ?? 0, 52 * unit, MOODS[value % MOODS.length]),
        ]);
  const corner = group(
    placed(-width / 2, top, 1, 0, tab(42, 34, unit, band)),
    write(text, -width / 2 + 21 * unit, top + 17 * unit, Math.max(13, 24 * unit), {
      fill: bandInk,
    }),
  );
  return group(
    s("title", {}, name),
    cardFace(width, height, { band, soft, motif }),
    twice(corner),
    colour !== undefined && at(strip, top + 50 * unit, suitSymbol(colour, 24 * unit)),
    effect && at(strip, top + 84 * unit, effectBadge(effect, 30 * unit)),
    // Dim the card with a veil. If the card were transparent, the card below would be visible.
    isDim && middleBox(width + 1, height + 1, 9 * unit, { fill: "var(--table)", opacity: 0.6 }),
    isNew && at(strip, top - 5, star(20)),
  );
}

/**
 * Draw a small card, as on the mat.
 * @param {Look} look
 * @param {number} width
 * @param {number} height
 * @param {{isLeft?: boolean, count?: number, isNew?: boolean}} [options] if `isLeft` is true, the signs are at the
 *   left, where an overlapping card does not cover them
 */
export function tile(look, width, height, { isLeft = false, count = 1, isNew = false } = {}) {
  const { name, value, colour } = look;
  const sign = colour === undefined ? String(value) : name;
  if (height < 28) {
    return flatTile(look, sign, width, height, count, isNew);
  }
  const { band, bandInk, soft } = coloursOf(colour);
  const bandHeight = Math.max(15, height * 0.4);
  const size = Math.min(width * 0.62, height - bandHeight - 3);
  const [left, top] = [-width / 2, -height / 2];
  return group(
    s("title", {}, name),
    raised(left, top, width, height, 4, { fill: "var(--card)" }, 1.2),
    middleBox(width, height, 4, { fill: soft }),
    shape(`M${left} ${top + 4}q0-4 4-4h${width - 8}q4 0 4 4v${bandHeight - 4}h${-width}z`, band),
    middleBox(width, height, 4, { fill: "none", ...edgeOf(isNew) }),
    write(
      sign,
      isLeft ? left + 3 : 0,
      top + bandHeight / 2 + 0.5,
      isLeft ? Math.min(14, Math.max(12, bandHeight * 0.8)) : Math.max(12, bandHeight * 0.82),
      { fill: bandInk, anchor: isLeft ? "start" : "middle" },
    ),
    at(
      isLeft ? left + 4 + Math.min(18, size) / 2 : 0,
      top + (bandHeight + height) / 2,
      symbolOf(look, isLeft ? Math.min(18, size) : size),
    ),
    count > 1 && countOf(count, width, height),
  );
}

/**
 * @param {number} count
 * @param {number} width
 * @param {number} height
 */
function countOf(count, width, height) {
  const number = write(String(count), 0, 0, 12, { fill: "var(--surface)" });
  return at(width / 2 - 4, height / 2 - 4, roundBadge(8, { fill: "var(--ink)" }, number));
}

/**
 * Draw a card, with its name only, for a mat with little height.
 * @param {Look} look
 * @param {string} sign
 * @param {number} width
 * @param {number} height
 * @param {number} count
 * @param {boolean} isNew
 */
function flatTile({ name, colour }, sign, width, height, count, isNew) {
  const [left, top] = [-width / 2, -height / 2];
  const { band, bandInk } = coloursOf(colour);
  const style = { fill: bandInk };
  return group(
    s("title", {}, name),
    raised(left, top, width, height, 4, { fill: band, ...edgeOf(isNew) }, 1.2),
    // The sign leaves room for the count.
    count > 1
      ? [write(sign, left + 3, 0, 13, { ...style, anchor: "start" }), countOf(count, width + 4, height)]
      : write(sign, 0, 0, 14, style),
  );
}

/**
 * Draw an empty cell of the mat, with a faint sign of its kind of card.
 * @param {Look} look
 * @param {number} width
 * @param {number} height
 */
export function emptyCell({ colour }, width, height) {
  const size = Math.min(width, height);
  return s(
    "g",
    { opacity: 0.75 },
    slot(width, height, { radius: 4, thickness: 1.4, dash: "3 3" }),
    colour === undefined
      ? s("g", { opacity: 0.3 }, momistigri(size * 0.7))
      : suitSymbol(colour, size * 0.42, "var(--table-line)"),
  );
}

/** @param {number} size */
function star(size) {
  return drawing(size, outlined(STAR, "var(--pickable)", 5, "var(--card)"));
}

/**
 * Draw the pictogram of an effect on a disc.
 * @param {Effect} effect
 * @param {number} size
 */
export function effectBadge(effect, size) {
  const look = { fill: "var(--surface)", stroke: "var(--ink-soft)", "stroke-width": 1 };
  return roundBadge(size / 2, look, pictogram(effect, size * 0.72));
}

const CARD = "M-17-27H17V27H-17Z";

/**
 * Draw the pictogram of an effect.
 * @param {Effect} effect
 * @param {number} size
 * @param {string} [ink] the colour of its lines
 */
export function pictogram({ effect, value = 0, draws = 1 }, size, ink = "var(--ink)") {
  const card = (/** @type {number} */ x, /** @type {number} */ y, /** @type {number} */ turn) =>
    placed(x, y, 1, turn, outlined(CARD, "var(--surface)", 7, ink));
  const stroke = (/** @type {string} */ d) => line(d, ink, 9);
  switch (effect) {
    case "MOMISTIGRI_EFFECT_DISCARD_ONES":
      return drawing(
        size,
        placed(-18, -6, 1.25, 0, outlined(CARD, "var(--surface)", 6, ink)),
        write(String(value), -18, -6, 48, { fill: ink }),
        stroke("M28-34V34M12 18L28 36 44 18"),
      );
    case "MOMISTIGRI_EFFECT_NAME_CARD":
      return drawing(
        size,
        placed(0, 0, 1.5, 0, outlined(CARD, "var(--surface)", 6, ink)),
        placed(0, 0, 0.42, 0, shape(STAR, ink)),
      );
    case "MOMISTIGRI_EFFECT_SWAP":
      return drawing(size, stroke("M-38-18H36M20-36L38-18 20 0M38 20H-36M-20 2L-38 20-20 38"));
    case "MOMISTIGRI_EFFECT_GIVE":
      return drawing(
        size,
        outlined("M-34-6H34V42H-34Z", "var(--surface)", 8, ink),
        stroke("M0-6V42M-42-8H42"),
        stroke("M0-10C-34-14-30-48-12-40Q-2-34 0-10C34-14 30-48 12-40Q2-34 0-10"),
      );
    case "MOMISTIGRI_EFFECT_HAND_OUT":
      return drawing(
        size,
        stroke("M0 14V-40M-14-26L0-42 14-26M-12 24L-40 4M-40 22V3H-20M12 24L40 4M40 22V3H20"),
        disc(0, 34, 11, ink),
      );
    case "MOMISTIGRI_EFFECT_AGAIN":
      return drawing(size, card(-24, 4, -12), card(-4, 4, 8), stroke("M32-38V-2M14-20H50"));
    case "MOMISTIGRI_EFFECT_DRAW_MORE":
      return drawing(
        size,
        Array.from({ length: draws }, (_, index) => {
          const offset = index - (draws - 1) / 2;
          return card(offset * 26, Math.abs(offset) * 5, offset * 16);
        }),
      );
    default:
      return s("g", {});
  }
}

/**
 * Draw the sign of a reversal.
 * @param {number} size
 * @param {string} [ink] the colour of its lines
 */
export function reversal(size, ink = "var(--ink)") {
  return drawing(size, line("M-32 16A35 35 0 1 0-28-22M-30-44L-30-20-6-20", ink, 9));
}

/**
 * The contents of a player's plate.
 * @typedef {object} PlateLook
 * @property {number} seat
 * @property {string} name
 * @property {string} count the number of cards in hand, or ""
 * @property {string[]} lines further texts
 * @property {boolean} isActive true if it is the seat's turn
 * @property {boolean} isReceiver true if the seat receives a card
 * @property {boolean} isOut true if the seat has left the round
 * @property {boolean} hasPassed
 * @property {boolean} isWinner
 */

/**
 * Draw a plate. From a width of 140 pixels the texts stand next to the mark, otherwise below it.
 * @param {PlateLook} look
 * @param {number} width
 * @param {number} height
 */
export function seatPlate(look, width, height) {
  const { seat, name, count, lines, isActive, isReceiver, isOut, hasPassed, isWinner } = look;
  const isWide = width >= 140;
  const size = isWide ? Math.min(height - 12, width * 0.26) : 32;
  const [left, top] = [-width / 2, -height / 2];
  const markX = left + size / 2 + (isWide ? 6 : 4);
  const markY = isWide ? 0 : top + size / 2 + (lines.length > 0 ? 4 : 10);
  const textX = isWide ? markX + size / 2 + 8 : 0;
  const anchor = isWide ? "start" : "middle";
  const room = isWide ? width / 2 - textX - (count ? 32 : 6) : width - 4;
  const nameY = isWide ? (lines.length > 0 ? top + 17 : 0) : markY + size / 2 + 8;
  return group(
    raised(left, top, width, height, 12, {
      fill: "var(--surface)",
      stroke: isActive ? "var(--accent)" : isReceiver ? "var(--picked)" : "var(--line)",
      "stroke-width": isActive || isReceiver ? 3 : 1,
      "stroke-dasharray": isReceiver ? "6 4" : null,
    }),
    s(
      "g",
      { opacity: isOut ? 0.55 : null },
      plate(seat, name, {
        mark: [markX, markY, size],
        text: [textX, nameY, isWide ? 15 : 13],
        room,
        least: 12,
        anchor,
      }),
    ),
    writeLines(lines, textX, nameY + (isWide ? 17 : 14), 12, 14, {
      anchor,
      fill: "var(--ink-soft)",
      weight: 500,
    }),
    count &&
      at(-left - 17, isWide ? 0 : markY, [
        middleBox(22, 30, 4, { fill: "var(--card-back)", stroke: "var(--card-back-2)" }),
        write(count, 0, 0, 13, { fill: "#ffffff" }),
      ]),
    hasPassed &&
      at(
        markX + size / 2 - 4,
        markY - size / 2 + 7,
        roundBadge(9, { fill: "var(--ink)" }, line("M-3.5-4V4M3.5-4V4", "var(--surface)", 2.6)),
      ),
    isWinner && placed(markX, markY - size / 2 - 2, 1, -8, crown(26)),
  );
}

/**
 * Return evenly spaced points along the ring of a mat, clockwise from the middle of the lower edge.
 * @param {Box} mat
 * @param {number} inset the distance of the points from the mat's edge, in pixels
 * @param {number} radius the radius of the corners
 * @param {number} gap the approximate distance between two points
 * @returns {Step[]}
 */
export function stepsAround({ x, y, width, height }, inset, radius, gap) {
  const [left, top, right, bottom] = [x + inset, y + inset, x + width - inset, y + height - inset];
  /** @type {[number, number][]} */
  const points = [[(left + right) / 2, bottom]];
  const corner = (/** @type {number} */ cx, /** @type {number} */ cy, /** @type {number} */ from) => {
    for (let degrees = from; degrees <= from + 90; degrees += 15) {
      points.push([
        cx + radius * Math.cos((degrees * Math.PI) / 180),
        cy + radius * Math.sin((degrees * Math.PI) / 180),
      ]);
    }
  };
  corner(left + radius, bottom - radius, 90);
  corner(left + radius, top + radius, 180);
  corner(right - radius, top + radius, 270);
  corner(right - radius, bottom - radius, 0);
  points.push([(left + right) / 2, bottom]);
  /** @type {{ax: number, ay: number, bx: number, by: number, length: number}[]} */
  const edges = [];
  for (const [index, [bx, by]] of points.entries()) {
    const [ax, ay] = points[index - 1] ?? [bx, by];
    edges.push({ ax, ay, bx, by, length: Math.hypot(bx - ax, by - ay) });
  }
  const total = edges.reduce((sum, { length }) => sum + length, 0);
  const count = Math.max(8, Math.round(total / gap));
  /** @type {Step[]} */
  const steps = [];
  let passed = 0;
  for (const { ax, ay, bx, by, length } of edges) {
    for (let at = ((steps.length + 0.5) * total) / count; at < passed + length; at += total / count) {
      const part = (at - passed) / length;
      const turn = (Math.atan2(by - ay, bx - ax) * 180) / Math.PI;
      steps.push({ x: ax + (bx - ax) * part, y: ay + (by - ay) * part, turn, at: steps.length });
    }
    passed += length;
  }
  return steps;
}

/**
 * Draw the mat with its ring.
 * @param {Box} mat
 * @param {number} ring the width of the ring
 * @param {readonly Step[]} steps all points of the ring
 * @param {ReadonlySet<number>} marked the numbers of the points between the seat from which cards are drawn and the
 *   seat that draws
 * @param {boolean} isReversed
 */
export function matWithRing({ x, y, width, height }, ring, steps, marked, isReversed) {
  return group(
    raised(x, y, width, height, 22, { fill: "var(--surface-2)", stroke: "var(--table-line)" }, 3),
    box(x + ring, y + ring, width - 2 * ring, height - 2 * ring, 14, {
      fill: "var(--table)",
      stroke: "var(--table-line)",
    }),
    steps.map((step) => {
      const isMarked = marked.has(step.at);
      return placed(
        step.x,
        step.y,
        Math.max(0.8, ring / 18),
        step.turn + (isReversed ? 180 : 0),
        line("M-3-5L3 0-3 5", isMarked ? "var(--accent)" : "var(--ink-soft)", isMarked ? 4 : 1.6),
      );
    }),
  );
}
