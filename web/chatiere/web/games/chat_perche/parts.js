// The things around the tree of Chat perché: rugs, plates, the dogs' track, cards and decks.

import { catFace, catFalling } from "../../art/cats.js";
import { cardFace, seatMark } from "../../art/cards.js";
import { bird, dog, paw } from "../../art/pieces.js";
import { disc, line, outlined, placed } from "../../art/shapes.js";
import { s } from "../../dom.js";

/** @typedef {import("../../dom.js").Child} Child */
/** @typedef {import("#api/chatiere/v1/chat_perche_pb.js").ChatPercheCardInfoJson} CardInfo */

/** Round to a decimal. @param {number} number */
export function round(number) {
  return Math.round(number * 10) / 10;
}

/**
 * A piece of a path, as a tagged template: its numbers are rounded.
 * @param {TemplateStringsArray} strings @param {...(string | number)} values
 */
export function path(strings, ...values) {
  return String.raw(
    { raw: strings },
    ...values.map((value) => (typeof value === "number" ? round(value) : value)),
  );
}

/**
 * A text.
 * @param {string} said @param {number} x @param {number} y
 * @param {{size?: number, fill?: string, anchor?: "start" | "middle" | "end", weight?: number}} [options]
 */
export function text(said, x, y, { size = 13, fill = "var(--ink)", anchor = "middle", weight = 600 } = {}) {
  const place = { x: round(x), y: round(y), dy: "0.36em", "text-anchor": anchor };
  return s("text", { ...place, fill, "font-size": size, "font-weight": weight }, said);
}

/**
 * Shorten a text so that it fits a width. `letter`: how wide a letter is.
 * @param {string} said @param {number} width @param {number} letter
 */
function fitted(said, width, letter) {
  const most = Math.floor(width / letter);
  return said.length <= most ? said : `${said.slice(0, Math.max(1, most - 1))}…`;
}

/**
 * The rug on which a seat's cats wait, around its middle.
 * @param {number} seat @param {number} width @param {number} height @param {string} [ring]
 */
export function rug(seat, width, height, ring) {
  return s(
    "g",
    {},
    s("rect", {
      x: -width / 2,
      y: -height / 2,
      width,
      height,
      rx: 14,
      fill: `var(--seat-${seat})`,
      opacity: 0.34,
    }),
    s("rect", {
      x: -width / 2 + 3.5,
      y: -height / 2 + 3.5,
      width: width - 7,
      height: height - 7,
      rx: 11,
      fill: "none",
      stroke: ring ?? `var(--seat-${seat})`,
      "stroke-width": ring ? 3 : 1.6,
      "stroke-dasharray": ring ? null : "7 4",
    }),
  );
}

/**
 * How many, on a round mark.
 * @param {number} count
 */
export function tally(count) {
  return s(
    "g",
    { "pointer-events": "none" },
    s("circle", { r: 12, fill: "var(--surface)", stroke: "var(--line)" }),
    text(String(count), 0, 0, { size: 13, weight: 700 }),
  );
}

/**
 * Who sits where: mark, name and a line more, around the left of its middle.
 * @param {number} seat @param {string} name @param {string} more
 * @param {number} width @param {boolean} isActive
 */
export function plate(seat, name, more, width, isActive) {
  return s(
    "g",
    {},
    s("rect", {
      x: 0,
      y: -18,
      width,
      height: 36,
      rx: 18,
      fill: "var(--surface)",
      stroke: isActive ? "var(--accent)" : "var(--line)",
      "stroke-width": isActive ? 2.4 : 1,
    }),
    placed(17, 0, 1, 0, seatMark(seat, 28)),
    text(fitted(name, width - 36, 8.8), 33, -7, { anchor: "start", weight: 700 }),
    text(fitted(more, width - 36, 7), 33, 8, {
      anchor: "start",
      size: 12,
      fill: "var(--ink-soft)",
      weight: 500,
    }),
  );
}

/**
 * The way of the dogs, around its beginning.
 * @param {number} step @param {number} steps @param {number} dogs
 */
export function track(step, steps, dogs) {
  const r = Math.min(4.5, step * 0.32);
  const end = step * steps;
  const marks = Array.from({ length: steps }, (_, index) =>
    index < dogs && step >= 14
      ? placed(round(index * step), 0, 1, 90, paw(11, "var(--bark-2)"))
      : disc(round(index * step), 0, round(r), index < dogs ? "var(--bark-2)" : "var(--surface)"),
  );
  return s(
    "g",
    {},
    line(path`M0 0H${end}`, "var(--carton-2)", 26),
    line(path`M0 0H${end}`, "var(--carton)", 22),
    marks,
    placed(
      round(end),
      0,
      0.22,
      -24,
      outlined(
        "M-34-12C-62-34-72 4-46 0C-72 4-58 38-34 12H34C58 38 72 4 46 0C72-34 62-34 34-12Z",
        "#fff7e8",
        6,
      ),
    ),
  );
}

/**
 * The wire on which birds wait, from its left end.
 * @param {number} length
 */
export function wire(length) {
  return line(path`M0 0Q${length * 0.5} 5 ${length} -2`, "var(--ink-soft)", 1.6);
}

/**
 * The dogs, around their middle.
 * @param {number} size
 */
export function pack(size) {
  return s(
    "g",
    {},
    placed(round(-size * 0.5), round(-size * 0.1), 1, 0, dog(size * 0.82, "#8d8378")),
    dog(size),
  );
}

/**
 * A card's motif, around its middle.
 * @param {CardInfo} card @param {number} seat whose card it is @param {number} size
 * @returns {Child}
 */
function motif({ kind, ownCats }, seat, size) {
  const coat = ownCats ? seat : 1 - seat;
  switch (kind) {
    case "CHAT_PERCHE_CARD_KIND_DOGS":
      return dog(size);
    case "CHAT_PERCHE_CARD_KIND_BIRD":
      return bird(size);
    case "CHAT_PERCHE_CARD_KIND_FALL":
      return catFalling(coat, size);
    case "CHAT_PERCHE_CARD_KIND_TWO_CATS":
      return [
        placed(round(size * 0.24), round(-size * 0.16), 1, 0, catFace(coat, size * 0.74)),
        placed(round(-size * 0.22), round(size * 0.14), 1, 0, catFace(coat, size * 0.74)),
      ];
    default:
      return catFace(coat, size);
  }
}

/**
 * The card that is turned up. `left`: what is left of its steps, as text.
 * @param {CardInfo} card @param {number} seat @param {number} width @param {string} left
 */
export function turnedUp(card, seat, width, left) {
  const height = width * 1.38;
  const pill = Math.max(40, left.length * 7.6 + 30);
  return s(
    "g",
    {},
    cardFace(width, height, {
      band: `var(--seat-${seat})`,
      motif: placed(0, round(-height * 0.02), 1, 0, motif(card, seat, width * 0.62)),
    }),
    left &&
      placed(
        0,
        round(height / 2 - 5),
        1,
        0,
        s("rect", {
          x: -pill / 2,
          y: -12,
          width: pill,
          height: 24,
          rx: 12,
          fill: "var(--surface)",
          stroke: "var(--accent)",
          "stroke-width": 1.6,
        }),
        placed(-pill / 2 + 14, 0, 1, 0, paw(13, "var(--accent)")),
        text(left, 9, 0, { size: 14, weight: 700 }),
      ),
  );
}

const ICON = 24;

/** The measures of a deck's small cards in a panel. @param {number} width */
function chipsOf(width) {
  return { width: width < 180 ? 13.6 : 16, height: 20, gap: width < 180 ? 1.4 : 2 };
}

/**
 * The rows of a deck: the cards of one kind, about the same cats, and which copies are left.
 * @param {readonly CardInfo[]} cards @param {readonly number[]} copies of each card in a full deck
 * @param {readonly number[]} left the cards left in it
 */
export function deckRows(cards, copies, left) {
  /** @type {Map<string, {card: CardInfo, chips: {value: number, isLeft: boolean}[]}>} */
  const rows = new Map();
  for (const card of cards) {
    const number = card.card ?? 0;
    const stay = left.filter((card) => card === number).length;
    const key = `${card.kind} ${card.ownCats}`;
    for (let copy = 0; copy < (copies[number] ?? 0); copy++) {
      const row = rows.get(key) ?? { card, chips: [] };
      row.chips.push({ value: card.value ?? 0, isLeft: copy < stay });
      rows.set(key, row);
    }
  }
  return [...rows.values()];
}

/**
 * Where the rows of a deck lie in a panel of a width: how many chips a line has, each row's column and line.
 * @param {ReturnType<typeof deckRows>} rows @param {number} width
 */
export function deckLines(rows, width) {
  const chips = chipsOf(width);
  const columns = width >= 310 ? 2 : 1;
  const most = Math.max(1, Math.floor((width / columns - ICON - 14) / (chips.width + chips.gap)));
  const lines = Array(columns).fill(0);
  const firsts = rows.map((row, index) => {
    const column = Math.floor((index * columns) / rows.length);
    const first = lines[column];
    lines[column] += Math.ceil(row.chips.length / most);
    return { column, first };
  });
  return { most, columns, firsts, lines: Math.max(...lines) };
}

/**
 * A seat's deck, from the upper left corner: what is left of it is bright.
 * @param {number} seat @param {string} title @param {ReturnType<typeof deckRows>} rows
 * @param {number} width @param {number} height
 */
export function deckPanel(seat, title, rows, width, height) {
  const { most, columns, firsts, lines } = deckLines(rows, width);
  const size = chipsOf(width);
  const head = 34;
  const pitch = (height - head - 6) / lines;
  return s(
    "g",
    {},
    s("rect", { width, height, rx: 12, fill: "var(--surface)", stroke: "var(--line)", opacity: 0.92 }),
    placed(18, 19, 1, 0, seatMark(seat, 20)),
    text(title, 34, 19, { anchor: "start", size: 13, weight: 700 }),
    rows.map(({ card, chips }, index) => {
      const { column = 0, first = 0 } = firsts[index] ?? {};
      const x = (column * width) / columns;
      const y = head + (first + 0.5) * pitch;
      return [
        placed(x + 17, round(y), 1, 0, motif(card, seat, 20)),
        chips.map((each, at) =>
          placed(
            round(x + ICON + 8 + (at % most) * (size.width + size.gap) + size.width / 2),
            round(y + Math.floor(at / most) * pitch),
            1,
            0,
            deckChip(each, size),
          ),
        ),
      ];
    }),
  );
}

/** @param {{value: number, isLeft: boolean}} chip @param {{width: number, height: number}} size */
function deckChip({ value, isLeft }, { width, height }) {
  const box = { x: -width / 2, y: -height / 2, width, height, rx: 3.5 };
  return [
    s(
      "rect",
      isLeft
        ? { ...box, fill: "var(--card)", stroke: "var(--ink-soft)", "stroke-width": 1.2 }
        : { ...box, fill: "none", stroke: "var(--line)", "stroke-dasharray": "2.5 2" },
    ),
    value > 0 &&
      text(String(value), 0, 0, {
        size: 12,
        fill: isLeft ? "var(--ink)" : "var(--ink-soft)",
        weight: isLeft ? 700 : 400,
      }),
    value === 0 && isLeft && disc(0, 0, 3, "var(--ink-soft)"),
    !isLeft && line("M-6 7L6-7", "var(--ink-soft)", 1.1),
  ];
}
