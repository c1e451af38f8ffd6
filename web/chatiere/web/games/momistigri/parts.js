// The pieces of Momistigri's table: cards in two sizes, pictograms of effects, plates of players, the mat with its ring.

import { cardBack, cardFace, seatMark, suitSymbol, twice } from "../../art/cards.js";
import { catFace } from "../../art/cats.js";
import { crown, momistigri, paw } from "../../art/pieces.js";
import { disc, drawing, line, outlined, placed, shape } from "../../art/shapes.js";
import { s } from "../../dom.js";

/** @typedef {import("../../art/shapes.js").Child} Child */
/** @typedef {import("../../game.js").Box} Box */
/** @typedef {import("./view.js").Effect} Effect */
/**
 * A kind of cards as it looks; without `colour` it is the Momistigri.
 * @typedef {{name: string, value: number, colour?: number | undefined}} Look
 */
/** @typedef {{x: number, y: number, turn: number, at: number}} Step */

const RAGS = "#7b2f4d";
const RAGS_INK = "#ffffff";
const RAGS_SOFT = "#7b2f4d40";
/** Which coat the cats of a colour have, and their moods by value. */
const COAT_OF_COLOUR = [3, 5, 0, 4, 1];
/** @type {readonly import("../../art/cats.js").Mood[]} */
const MOODS = ["calm", "happy", "sleepy", "startled", "cross"];

/**
 * Text; `anchor` is start, middle or end. Its first character is a space, which is not drawn: it parts texts that are read
 * one after the other.
 * @param {string} content
 * @param {number} x
 * @param {number} y the middle of its height
 * @param {number} size
 * @param {{ink?: string, anchor?: string, bold?: boolean}} [options]
 */
export function write(content, x, y, size, { ink = "var(--ink)", anchor = "middle", bold = false } = {}) {
  const weight = bold ? 700 : 500;
  const text = s(
    "text",
    { x, y, dy: "0.36em", "font-size": size, "font-weight": weight, "text-anchor": anchor },
    ` ${content}`,
  );
  text.style.fill = ink;
  return text;
}

/**
 * The width of a text, nearly.
 * @param {string} content
 * @param {number} size
 * @param {boolean} [bold]
 */
export function widthOf(content, size, bold = false) {
  return content.length * size * (bold ? 0.66 : 0.58);
}

/**
 * Break a text into lines; what doesn't fit the last one is cut.
 * @param {string} content
 * @param {number} size
 * @param {number} width
 * @param {number} most
 */
export function wrapped(content, size, width, most) {
  /** @type {string[]} */
  const lines = [];
  for (const word of content.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && (widthOf(`${last} ${word}`, size) <= width || lines.length === most)) {
      lines[lines.length - 1] = `${last} ${word}`;
    } else {
      lines.push(word);
    }
  }
  return lines.map((each) => (widthOf(each, size) <= width ? each : cut(each, size, width)));
}

/**
 * @param {string} content
 * @param {number} size
 * @param {number} width
 */
function cut(content, size, width) {
  return `${content.slice(0, Math.max(1, Math.floor(width / size / 0.58) - 1)).trimEnd()}…`;
}

/**
 * @param {number} x
 * @param {number} y
 * @param {number} width
 * @param {number} height
 * @param {number} rx
 * @param {object} rest
 */
export function box(x, y, width, height, rx, rest) {
  return s("rect", { x, y, width, height, rx, ...rest });
}

/** @param {number | undefined} colour */
function bandOf(colour) {
  return colour === undefined ? RAGS : `var(--suit-${colour % 5})`;
}

/** @param {number | undefined} colour */
function inkOf(colour) {
  return colour === undefined ? RAGS_INK : `var(--suit-ink-${colour % 5})`;
}

/**
 * @param {Look} look
 * @param {number} size
 */
function symbolOf({ colour }, size) {
  return colour === undefined ? momistigri(size) : suitSymbol(colour, size);
}

/**
 * A card of the viewer's hand.
 * @param {Look} look
 * @param {number} width
 * @param {number} height
 * @param {Effect | undefined} effect
 * @param {{isNew?: boolean, isDim?: boolean}} [options]
 */
export function handCard(look, width, height, effect, { isNew, isDim } = {}) {
  const { name, value, colour } = look;
  const unit = width / 100;
  const band = bandOf(colour);
  const strip = -width / 2 + 20 * unit;
  const top = -height / 2;
  const text = colour === undefined ? String(value) : name;
  const motif =
    colour === undefined
      ? placed(10 * unit, 8 * unit, 1, 0, momistigri(72 * unit))
      : placed(15 * unit, 5 * unit, 1, 0, [
          disc(0, 0, 31 * unit, "var(--card)"),
          catFace(COAT_OF_COLOUR[colour % 5] ?? 0, 52 * unit, MOODS[value % MOODS.length]),
        ]);
  const corner = s(
    "g",
    {},
    shape(tabPath(-width / 2, top, unit), band),
    write(text, -width / 2 + 21 * unit, top + 17 * unit, Math.max(13, 24 * unit), {
      ink: inkOf(colour),
      bold: true,
    }),
  );
  return s(
    "g",
    {},
    s("title", {}, name),
    cardFace(width, height, {
      band,
      soft: colour === undefined ? RAGS_SOFT : `var(--suit-soft-${colour % 5})`,
      motif,
    }),
    twice(corner),
    colour !== undefined && placed(strip, top + 50 * unit, 1, 0, suitSymbol(colour, 24 * unit)),
    effect && placed(strip, top + 84 * unit, 1, 0, badge(effect, 30 * unit)),
    // A veil, as the card below must not shine through.
    isDim &&
      box(-width / 2 - 0.5, top - 0.5, width + 1, height + 1, 9 * unit, {
        fill: "var(--table)",
        opacity: 0.6,
      }),
    isNew && placed(strip, top - 5, 1, 0, star(20)),
  );
}

/**
 * @param {number} x
 * @param {number} y
 * @param {number} unit
 */
function tabPath(x, y, unit) {
  const [round, wide, deep, corner] = [9 * unit, 33 * unit, 22 * unit, 12 * unit];
  return [
    `M${x} ${y + round}q0-${round} ${round}-${round}h${wide}v${deep}`,
    `q0 ${corner}-${corner} ${corner}h${corner - wide - round}z`,
  ].join("");
}

/**
 * The back of a card.
 * @param {number} width
 * @param {number} height
 */
export function back(width, height) {
  if (width > 50) {
    return cardBack(width, height);
  }
  return s(
    "g",
    {},
    box(-width / 2, -height / 2 + 1, width, height, 4, { fill: "var(--card-shadow)" }),
    box(-width / 2, -height / 2, width, height, 4, { fill: "var(--card-back)", stroke: "var(--card-line)" }),
    box(-width / 2 + 2.5, -height / 2 + 2.5, width - 5, height - 5, 2.5, {
      fill: "none",
      stroke: "var(--card-back-2)",
    }),
    paw(width * 0.5, "var(--card-back-2)"),
  );
}

/**
 * A small card, as on the mat. `isLeft`: its signs stand at the left, where cards overlap.
 * @param {Look} look
 * @param {number} width
 * @param {number} height
 * @param {{isLeft?: boolean, count?: number, isNew?: boolean}} [options]
 */
export function tile(look, width, height, { isLeft = false, count = 1, isNew = false } = {}) {
  const { name, value, colour } = look;
  const sign = colour === undefined ? String(value) : name;
  if (height < 28) {
    return flatTile(look, sign, width, height, count, isNew);
  }
  const bandHeight = Math.max(15, height * 0.4);
  const size = Math.min(width * 0.62, height - bandHeight - 3);
  const [left, top] = [-width / 2, -height / 2];
  return s(
    "g",
    {},
    s("title", {}, name),
    box(left, top + 1.2, width, height, 4, { fill: "var(--card-shadow)" }),
    box(left, top, width, height, 4, { fill: "var(--card)" }),
    box(left, top, width, height, 4, {
      fill: colour === undefined ? RAGS_SOFT : `var(--suit-soft-${colour % 5})`,
    }),
    shape(`M${left} ${top + 4}q0-4 4-4h${width - 8}q4 0 4 4v${bandHeight - 4}h${-width}z`, bandOf(colour)),
    box(left, top, width, height, 4, {
      fill: "none",
      stroke: isNew ? "var(--accent)" : "var(--card-line)",
      "stroke-width": isNew ? 2.5 : 1,
    }),
    write(
      sign,
      isLeft ? left + 3 : 0,
      top + bandHeight / 2 + 0.5,
      isLeft ? Math.min(14, Math.max(12, bandHeight * 0.8)) : Math.max(12, bandHeight * 0.82),
      { ink: inkOf(colour), bold: true, anchor: isLeft ? "start" : "middle" },
    ),
    placed(
      isLeft ? left + 4 + Math.min(18, size) / 2 : 0,
      top + (bandHeight + height) / 2,
      1,
      0,
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
  return placed(
    width / 2 - 4,
    height / 2 - 4,
    1,
    0,
    s("circle", { r: 8, fill: "var(--ink)" }),
    write(String(count), 0, 0, 12, { ink: "var(--surface)", bold: true }),
  );
}

/**
 * A card on a mat that has little height: its name alone.
 * @param {Look} look
 * @param {string} sign
 * @param {number} width
 * @param {number} height
 * @param {number} count
 * @param {boolean} isNew
 */
function flatTile({ name, colour }, sign, width, height, count, isNew) {
  const [left, top] = [-width / 2, -height / 2];
  const style = { ink: inkOf(colour), bold: true };
  return s(
    "g",
    {},
    s("title", {}, name),
    box(left, top + 1.2, width, height, 4, { fill: "var(--card-shadow)" }),
    box(left, top, width, height, 4, {
      fill: bandOf(colour),
      stroke: isNew ? "var(--accent)" : "var(--card-line)",
      "stroke-width": isNew ? 2.5 : 1,
    }),
    // Beside the count, if there is one.
    count > 1
      ? [write(sign, left + 3, 0, 13, { ...style, anchor: "start" }), countOf(count, width + 4, height)]
      : write(sign, 0, 0, 14, style),
  );
}

/**
 * The place on the mat of cards that aren't there.
 * @param {Look} look
 * @param {number} width
 * @param {number} height
 */
export function slot(look, width, height) {
  return s(
    "g",
    { opacity: 0.75 },
    box(-width / 2, -height / 2, width, height, 4, {
      fill: "none",
      stroke: "var(--table-line)",
      "stroke-width": 1.4,
      "stroke-dasharray": "3 3",
    }),
    look.colour === undefined
      ? s("g", { opacity: 0.3 }, momistigri(Math.min(width, height) * 0.7))
      : suitSymbol(look.colour, Math.min(width, height) * 0.42, "var(--table-line)"),
  );
}

/** @param {number} size */
function star(size) {
  return drawing(
    size,
    outlined(
      "M0-44L12-15 43-13 19 7 27 38 0 21-27 38-19 7-43-13-12-15Z",
      "var(--pickable)",
      5,
      "var(--card)",
    ),
  );
}

/**
 * The pictogram of an effect on a disc.
 * @param {Effect} effect
 * @param {number} size
 */
export function badge(effect, size) {
  return s(
    "g",
    {},
    s("circle", { r: size / 2, fill: "var(--surface)", stroke: "var(--ink-soft)", "stroke-width": 1 }),
    pictogram(effect, size * 0.72),
  );
}

const CARD = "M-17-27H17V27H-17Z";

/**
 * What an effect does, as a sign.
 * @param {Effect} effect
 * @param {number} size
 * @param {string} [ink]
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
        write(String(value), -18, -6, 48, { ink, bold: true }),
        stroke("M28-34V34M12 18L28 36 44 18"),
      );
    case "MOMISTIGRI_EFFECT_NAME_CARD":
      return drawing(
        size,
        placed(0, 0, 1.5, 0, outlined(CARD, "var(--surface)", 6, ink)),
        placed(0, 0, 0.42, 0, shape("M0-44L12-15 43-13 19 7 27 38 0 21-27 38-19 7-43-13-12-15Z", ink)),
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
 * The sign of a reversal.
 * @param {number} size
 * @param {string} [ink]
 */
export function reversal(size, ink = "var(--ink)") {
  return drawing(size, line("M-32 16A35 35 0 1 0-28-22M-30-44L-30-20-6-20", ink, 9));
}

/**
 * Who sits at a place. `lines`: what else is to be said of them.
 * @typedef {object} PlateLook
 * @property {number} seat
 * @property {string} name
 * @property {string} count
 * @property {string[]} lines
 * @property {boolean} isActive
 * @property {boolean} isReceiver
 * @property {boolean} isOut
 * @property {boolean} hasPassed
 * @property {boolean} isWinner
 */

/**
 * A plate. From 140 wide the texts stand beside the mark, otherwise below.
 * @param {PlateLook} look
 * @param {number} width
 * @param {number} height
 */
export function plate(look, width, height) {
  const { seat, name, count, lines, isActive, isReceiver, isOut, hasPassed, isWinner } = look;
  const isWide = width >= 140;
  const size = isWide ? Math.min(height - 12, width * 0.26) : 32;
  const [left, top] = [-width / 2, -height / 2];
  const markX = isWide ? left + size / 2 + 6 : left + size / 2 + 4;
  const lift = isWide || lines.length > 0 ? 0 : 6;
  const markY = isWide ? 0 : top + size / 2 + 4 + lift;
  const textX = isWide ? markX + size / 2 + 8 : 0;
  const anchor = isWide ? "start" : "middle";
  const free = isWide ? width / 2 - textX - (count ? 32 : 6) : width - 4;
  const nameSize = Math.min(isWide ? 15 : 13, Math.max(12, free / widthOf(name, 1, true)));
  const nameY = isWide ? (lines.length > 0 ? -height / 2 + 17 : 0) : markY + size / 2 + 8;
  return s(
    "g",
    {},
    box(left, top + 2, width, height, 12, { fill: "var(--card-shadow)" }),
    box(left, top, width, height, 12, {
      fill: "var(--surface)",
      stroke: isActive ? "var(--accent)" : isReceiver ? "var(--picked)" : "var(--line)",
      "stroke-width": isActive || isReceiver ? 3 : 1,
      "stroke-dasharray": isReceiver ? "6 4" : null,
    }),
    s(
      "g",
      { opacity: isOut ? 0.55 : null },
      placed(markX, markY, 1, 0, seatMark(seat, size)),
      write(name, textX, nameY, nameSize, { anchor, bold: true }),
    ),
    lines.map((each, index) =>
      write(each, textX, nameY + (isWide ? 17 : 14) + 14 * index, 12, { anchor, ink: "var(--ink-soft)" }),
    ),
    count &&
      placed(-left - 17, isWide ? 0 : markY, 1, 0, [
        box(-11, -15, 22, 30, 4, { fill: "var(--card-back)", stroke: "var(--card-back-2)" }),
        write(count, 0, 0, 13, { ink: "#ffffff", bold: true }),
      ]),
    hasPassed &&
      placed(markX + size / 2 - 4, markY - size / 2 + 7, 1, 0, [
        s("circle", { r: 9, fill: "var(--ink)" }),
        line("M-3.5-4V4M3.5-4V4", "var(--surface)", 2.6),
      ]),
    isWinner && placed(markX, markY - size / 2 - 2, 1, -8, crown(26)),
  );
}

/**
 * The steps along a ring around a mat, clockwise from the middle of the lower edge, `gap` apart.
 * @param {Box} mat
 * @param {number} inset
 * @param {number} radius
 * @param {number} gap
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
 * The mat with its ring; `marked`: the steps between who is drawn from and who draws.
 * @param {Box} mat
 * @param {number} ring
 * @param {readonly Step[]} steps
 * @param {ReadonlySet<number>} marked
 * @param {boolean} isReversed
 */
export function matWithRing({ x, y, width, height }, ring, steps, marked, isReversed) {
  return s(
    "g",
    {},
    box(x, y + 3, width, height, 22, { fill: "var(--card-shadow)" }),
    box(x, y, width, height, 22, { fill: "var(--surface-2)", stroke: "var(--table-line)" }),
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
