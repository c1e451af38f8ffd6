// The parts of Discat's drawing: cards with digits and an arrow, the sign of the constraint, a number line.

import { cardBack, cardFace, chip } from "../../art/cards.js";
import { arrowDown, arrowUp, paw } from "../../art/pieces.js";
import { s } from "../../dom.js";
import { keyOf } from "./picks.js";
import { digitsOf, pointsUp } from "./view.js";

/** @typedef {import("../../game.js").Item} Item */
/** @typedef {import("../../game.js").Box} Box */
/** @typedef {import("./layout.js").Spot} Spot */
/** @typedef {import("./view.js").Context} Context */

/**
 * What a card looks like. `strip`: the pixels of its left side that another card leaves to be seen;
 * `shares…`: a digit in common with what is picked.
 * @typedef {{strip?: number, sharesTens?: boolean, sharesUnits?: boolean}} Look
 */

/** The size in which cards are drawn, before they are scaled. */
export const CARD = { width: 100, height: 142, ratio: 1.42 };

// The least size of text.
const LEAST = 12;

/** @param {boolean} isUp */
function coloursOf(isUp) {
  const suit = isUp ? 2 : 4;
  return { solid: `var(--suit-${suit})`, soft: `var(--suit-soft-${suit})`, ink: `var(--suit-ink-${suit})` };
}

/**
 * Text in the middle of (x, y); `wrap`: the width at which it is broken into lines.
 * @param {string} text
 * @param {number} x
 * @param {number} y
 * @param {{size?: number, fill?: string, anchor?: string, wrap?: number}} [options]
 */
export function write(
  text,
  x,
  y,
  { size = 14, fill = "var(--ink)", anchor = "middle", wrap = Infinity } = {},
) {
  /** @type {string[]} */
  const lines = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && widthOf(`${last} ${word}`, size) <= wrap) {
      lines[lines.length - 1] = `${last} ${word}`;
    } else {
      lines.push(word);
    }
  }
  const written = s(
    "text",
    { "font-size": size, "font-weight": 700, "text-anchor": anchor },
    lines.map((line, index) =>
      s("tspan", { x, y: y + (index - (lines.length - 1) / 2) * size * 1.25, dy: "0.36em" }, line),
    ),
  );
  // The page's own colour of text would win over an attribute.
  written.style.setProperty("fill", fill);
  return written;
}

/**
 * The width of a text, roughly.
 * @param {string} text
 * @param {number} size
 */
export function widthOf(text, size) {
  return text.length * size * 0.6;
}

/**
 * A text, shortened to fit into a width.
 * @param {string} text
 * @param {number} size
 * @param {number} width
 */
export function fitted(text, size, width) {
  const most = Math.floor(width / (size * 0.66));
  return text.length <= most ? text : `${text.slice(0, Math.max(1, most - 1))}…`;
}

/**
 * A card's face. `size`: the width at which it will be seen.
 * @param {number} card
 * @param {Look & {size: number, isUp: boolean, tens: number, units: number}} look
 */
export function face(card, { size, isUp, tens, units, strip, sharesTens = false, sharesUnits = false }) {
  const { solid, soft } = coloursOf(isUp);
  const least = (LEAST * CARD.width) / size;
  const number = String(card);
  const blank = cardFace(CARD.width, CARD.height, { soft, band: solid });
  const arrow = isUp ? arrowUp : arrowDown;
  if (strip !== undefined && strip < LEAST) {
    return blank;
  }
  if (size < 36) {
    return s(
      "g",
      {},
      blank,
      at(0, isUp ? -40 : 40, arrow(44, solid)),
      write(number, 0, isUp ? 22 : -22, { size: Math.max(least, 60), fill: "var(--card-ink)" }),
    );
  }
  if (strip !== undefined) {
    const corner = cornerSize(size, strip);
    const cornerX = -CARD.width / 2 + 2 + (strip * CARD.width) / size / 2;
    return s(
      "g",
      {},
      blank,
      write(number, cornerX, -50, { size: corner, fill: "var(--card-ink)" }),
      at(cornerX, -50 + corner * 1.05, arrow(corner * 0.95, solid)),
      at(18, 16, s("g", { opacity: 0.35 }, arrow(56, solid))),
    );
  }
  const y = isUp ? 26 : -26;
  return s(
    "g",
    {},
    blank,
    at(0, isUp ? -34 : 34, arrow(52, solid)),
    tile(-20.5, y, tens, sharesTens, tens === 0),
    tile(20.5, y, units, sharesUnits, false),
  );
}

/**
 * The size of a number in the corner of a card.
 * @param {number} size
 * @param {number} strip
 */
function cornerSize(size, strip) {
  return (Math.max(LEAST, Math.min(size * 0.22, strip * 0.56)) * CARD.width) / size;
}

/**
 * A digit of a card.
 * @param {number} x
 * @param {number} y
 * @param {number} digit
 * @param {boolean} isShared
 * @param {boolean} isZero it stands before the number, and is no part of it
 */
function tile(x, y, digit, isShared, isZero) {
  const fill = isShared ? "var(--surface)" : "var(--card-ink)";
  return s(
    "g",
    {},
    s("rect", {
      x: x - 19,
      y: y - 28,
      width: 38,
      height: 56,
      rx: 7,
      fill: isShared ? "var(--picked)" : "var(--card)",
      stroke: isShared ? "var(--picked)" : "var(--card-line)",
    }),
    s(
      "g",
      isZero && !isShared ? { opacity: 0.3 } : {},
      isZero ? zero(x, y, fill) : write(String(digit), x, y, { size: 50, fill }),
    ),
  );
}

/**
 * A zero that is drawn, not written: nobody calls card 7 "07".
 * @param {number} x
 * @param {number} y
 * @param {string} stroke
 */
function zero(x, y, stroke) {
  return s("ellipse", { cx: x, cy: y, rx: 11, ry: 15.5, fill: "none", stroke, "stroke-width": 6.5 });
}

/**
 * A card's back, with its number on it where that is known.
 * @param {number} size the width at which it will be seen
 * @param {number} [card]
 * @param {number} [strip] the pixels of its left side that can be seen
 */
export function back(size, card, strip = size) {
  const blank = cardBack(CARD.width, CARD.height);
  if (card === undefined || strip < LEAST) {
    return blank;
  }
  const text = cornerSize(size, strip);
  const y = -64 + text * 0.72;
  const x = (strip < size ? -47 : -44) + text * 0.76;
  return s(
    "g",
    {},
    blank,
    s("rect", {
      x: x - text * 0.72,
      y: y - text * 0.62,
      width: text * 1.44,
      height: text * 1.24,
      rx: 6,
      fill: "var(--card)",
    }),
    write(String(card), x, y, { size: text, fill: "var(--card-ink)" }),
  );
}

/**
 * A place where a card could lie.
 * @param {string} text
 * @param {number} scale
 */
export function slot(text, scale) {
  return s(
    "g",
    {},
    s("rect", {
      x: -CARD.width / 2,
      y: -CARD.height / 2,
      width: CARD.width,
      height: CARD.height,
      rx: 9,
      fill: "none",
      stroke: "var(--table-line)",
      "stroke-width": 3,
      "stroke-dasharray": "8 7",
    }),
    text !== "" && write(text, 0, 0, { size: 13 / scale, fill: "var(--ink-soft)" }),
  );
}

/**
 * What lies under the things of a seat.
 * @param {number} width
 * @param {number} height
 * @param {boolean} isActive
 */
export function panel(width, height, isActive) {
  return s("rect", {
    width,
    height,
    rx: 14,
    fill: "var(--surface)",
    "fill-opacity": isActive ? 0.95 : 0.5,
    stroke: isActive ? "var(--accent)" : "var(--table-line)",
    "stroke-width": isActive ? 3 : 1,
  });
}

/**
 * The constraint: a big arrow with the number that must be passed.
 * @param {number} size
 * @param {string} number
 * @param {string} than
 * @param {boolean} isHigher
 */
export function constraintSign(size, number, than, isHigher) {
  const { solid, ink } = coloursOf(isHigher);
  const text = Math.max(LEAST, size * 0.085);
  const turned = isHigher ? 1 : -1;
  return s(
    "g",
    {},
    s("path", {
      d: "M-4-46Q0-50 4-46L48-6Q51-1 46 0H36V44Q36 49 31 49H-31Q-36 49-36 44V0H-46Q-51-1-48-6Z",
      transform: `scale(${size / 100} ${(turned * size) / 100})`,
      fill: solid,
    }),
    write(than, 0, turned * -size * 0.13, { size: text, fill: ink }),
    write(number, 0, turned * size * 0.16, { size: size * 0.4, fill: ink }),
  );
}

/**
 * No constraint.
 * @param {number} size
 * @param {readonly string[]} words
 */
export function freeSign(size, [big = "", small = ""]) {
  return s(
    "g",
    {},
    s("circle", {
      r: size * 0.44,
      fill: "var(--surface)",
      stroke: "var(--good)",
      "stroke-width": size * 0.035,
    }),
    at(0, -size * 0.17, paw(size * 0.26, "var(--good)")),
    write(big, 0, size * 0.1, { size: size * 0.16, fill: "var(--good)" }),
    write(small, 0, size * 0.25, { size: Math.max(LEAST, size * 0.075), fill: "var(--ink-soft)" }),
  );
}

/**
 * All numbers in a line: those that the constraint allows, and the viewer's own cards.
 * @param {{least: number, most: number, card?: number | undefined, higher: boolean, hand: readonly number[], width: number}} of
 */
export function scaleOfNumbers({ least, most, card, higher, hand, width }) {
  const { solid } = coloursOf(higher);
  const left = -width / 2 + 28;
  const length = width - 56;
  const y = 18;
  const place = (/** @type {number} */ number) => left + ((number - least) / (most - least)) * length;
  const from = card === undefined || !higher ? left : place(card);
  const to = card === undefined || higher ? left + length : place(card);
  return s(
    "g",
    {},
    s("rect", {
      x: left,
      y: y - 4,
      width: length,
      height: 8,
      rx: 4,
      fill: "var(--surface)",
      stroke: "var(--table-line)",
    }),
    s("rect", {
      x: from,
      y: y - 4,
      width: Math.max(0, to - from),
      height: 8,
      rx: 4,
      fill: card === undefined ? "var(--good)" : solid,
    }),
    write(String(least), left - 17, y, { size: LEAST, fill: "var(--ink-soft)" }),
    write(String(most), left + length + 18, y, { size: LEAST, fill: "var(--ink-soft)" }),
    hand.map((each) =>
      s("rect", {
        x: place(each) - 4,
        y: y - 8,
        width: 8,
        height: 16,
        rx: 2.5,
        fill: "var(--card)",
        stroke: "var(--ink)",
        "stroke-width": 1.5,
        opacity: card === undefined || (higher ? each > card : each < card) ? 1 : 0.4,
      }),
    ),
    card !== undefined &&
      at(place(card), y, s("circle", { r: 7, fill: solid, stroke: "var(--surface)", "stroke-width": 2 })),
  );
}

/**
 * @param {number} x
 * @param {number} y
 * @param {import("../../dom.js").Child} child
 */
function at(x, y, child) {
  return s("g", { transform: `translate(${Math.round(x * 10) / 10} ${Math.round(y * 10) / 10})` }, child);
}

/**
 * A card that lies open.
 * @param {Context} context
 * @param {number} card
 * @param {Spot} spot
 * @param {Partial<Item>} item
 * @param {Look} [look]
 * @returns {Item}
 */
export function openCard({ view, details }, card, spot, item, look = {}) {
  const isUp = pointsUp(view, card);
  const size = Math.round(CARD.width * spot.scale);
  const drawn = { ...look, size, isUp, ...digitsOf(details, card) };
  return {
    key: keyOf(card),
    ...spot,
    stamp: JSON.stringify(["open", card, drawn]),
    draw: () => face(card, drawn),
    ...item,
  };
}

/**
 * A card that lies face down; `card`: its number, where everybody knows it; `strip`: the pixels of its width
 * that can be seen.
 * @param {string} key
 * @param {Spot} spot
 * @param {Partial<Item>} item
 * @param {number} [card]
 * @param {number} [strip]
 * @returns {Item}
 */
export function hiddenCard(key, spot, item, card, strip = CARD.width) {
  const size = Math.round(CARD.width * spot.scale);
  return {
    key,
    ...spot,
    stamp: `back ${card ?? ""} ${size} ${strip}`,
    draw: () => back(size, card, strip),
    ...item,
  };
}

/**
 * A small label with a fixed place.
 * @param {string} key
 * @param {number} x
 * @param {number} y
 * @param {string} text
 * @param {{fill?: string, ink?: string, stroke?: string, size?: number, label?: string}} [options]
 * @returns {Item}
 */
export function badge(key, x, y, text, { label, ...look } = {}) {
  const draw = () => {
    const drawn = chip(text, { size: 12, ...look });
    // The page's own colour of text would win over the attribute.
    drawn.querySelector("text")?.style.setProperty("fill", look.ink ?? "var(--ink)");
    return drawn;
  };
  return { key, x, y, layer: 6, stamp: `${text} ${JSON.stringify(look)}`, draw, ...(label ? { label } : {}) };
}

/**
 * The ground of a place.
 * @param {string} key
 * @param {Box} box
 * @param {boolean} isActive
 * @returns {Item}
 */
export function panelItem(key, { x, y, width, height }, isActive) {
  return {
    key,
    x,
    y,
    layer: -2,
    stamp: `${width} ${height} ${isActive}`,
    draw: () => panel(width, height, isActive),
  };
}
