// The layout of Chatpentiers' table.

import { widthOf } from "../../art/text.js";
import { playersInfo, seatOf } from "../../views.js";
import { RATIO } from "./parts.js";
import { suitOf } from "./view.js";

/** @typedef {import("../../game.js").Box} Box */
/** @typedef {import("./parts.js").Plate} Plate */
/** @typedef {import("./view.js").Context} Context */
/** @typedef {import("../../game.js").Part<Context, Layout>} Part */
/**
 * The sizes of a castle, in pixels.
 * @typedef {object} Style
 * @property {number} step the height of a stone
 * @property {number} head the height of the battlements
 * @property {number} foot the height of the ground wall
 * @property {number} tower the largest width of a tower
 */
/**
 * The class of the screen's width.
 * @typedef {"small" | "middle" | "large"} Size
 */
/**
 * The layout of the table, in pixels.
 * @typedef {object} Layout
 * @property {Size} size
 * @property {number} height the height of the drawing
 * @property {number} bottom the seat at the bottom
 * @property {Box[]} others the panels of the other seats
 * @property {Box} mine the panel of the seat at the bottom
 * @property {Box} trick the box of the trick and of the discarded cards
 * @property {Box} hand
 * @property {number} rows the number of stones for which a castle has room
 * @property {Style} theirs the sizes of the other seats' castles
 * @property {Style} own the sizes of the castle at the bottom
 * @property {Plate["kind"]} kind the arrangement of the other seats' plates
 * @property {number} card the width of a card of the trick
 * @property {number} handCard the width of a card of the hand
 * @property {number} handRows the number of rows of the hand
 * @property {number} discards the height of the discarded cards, at the bottom of the trick's box
 */

/**
 * Lay the table out as large as the screen allows.
 * @param {Context} context
 * @returns {Layout}
 */
export function layoutOf(context) {
  const least = grown(context, 1);
  return grown(context, Math.min(1.4, Math.max(1, context.height / least.height)));
}

/**
 * Lay the table out at a given size.
 * @param {Context} context
 * @param {number} grow the size relative to the smallest one
 * @returns {Layout}
 */
function grown(context, grow) {
  const { width, view } = context;
  const bottom = context.me ?? 0;
  const size = width < 560 ? "small" : width < 820 ? "middle" : "large";
  const isSmall = size === "small";
  const gap = isSmall ? 6 : 10;
  const rows = Math.max(...(view.sectionLimits ?? [0])) + 1;
  const { theirs, own } = stylesOf(isSmall, grow);
  const castle = (/** @type {Style} */ { step, head, foot }) => rows * step + head + foot;
  const { others, bottom: top, kind } = othersOf(context, { bottom, gap, isSmall, castle: castle(theirs) });
  const trickWidth = size === "large" ? Math.round((width - 3 * gap) * 0.54) : width - 2 * gap;
  const { card, discards, height: trickHeight } = trickOf(context, { size, width: trickWidth, grow });
  const ownHeight = size === "middle" ? castle(own) + 20 : castle(own) + (isSmall ? 46 : 68);
  const middle = Math.max(trickHeight, ownHeight);
  const trick = { x: gap, y: top, width: trickWidth, height: size === "large" ? middle : trickHeight };
  const mine =
    size === "large"
      ? { x: 2 * gap + trickWidth, y: top, width: width - 3 * gap - trickWidth, height: middle }
      : { x: gap, y: top + trickHeight + gap, width: width - 2 * gap, height: ownHeight };
  const { hand, handCard, handRows } = handOf(context, {
    bottom,
    isSmall,
    grow,
    top: mine.y + mine.height + gap,
  });
  const height = Math.round(hand.y + hand.height);
  return {
    size,
    height,
    bottom,
    others,
    mine,
    trick,
    hand,
    rows,
    theirs,
    own,
    card,
    handCard,
    handRows,
    discards,
    kind,
  };
}

/**
 * Return the sizes of the other seats' castles and of the castle at the bottom.
 * @param {boolean} isSmall
 * @param {number} grow the size relative to the smallest one
 */
function stylesOf(isSmall, grow) {
  return isSmall
    ? {
        theirs: { step: 7 * grow, head: 14, foot: 8, tower: 30 },
        own: { step: 15 * grow, head: 16, foot: 21, tower: 68 },
      }
    : {
        theirs: { step: 15 * grow, head: 18, foot: 21, tower: 84 },
        own: { step: 20 * grow, head: 22, foot: 26, tower: 96 },
      };
}

/**
 * Lay out the panels of the other seats at the top.
 * @param {Context} context
 * @param {{bottom: number, gap: number, isSmall: boolean, castle: number}} room `castle` is the height of a castle
 */
function othersOf(context, { bottom, gap, isSmall, castle }) {
  const { width, players } = context;
  /** @type {Plate["kind"]} */
  const kind = isSmall ? (players === 4 ? "above" : "side") : "full";
  const columns = isSmall && players > 4 ? 2 : players - 1;
  const boxWidth = (width - gap * (columns + 1)) / columns;
  const hasVoids = (context.view.seats ?? []).some(
    ({ shownVoids = [] }, seat) => seat !== bottom && shownVoids.length > 0,
  );
  const isTall = hasVoids && (kind === "above" || (kind === "full" && boxWidth < 206));
  const height =
    kind === "side" ? Math.max(70, castle + 12) : castle + (isSmall ? 52 : 58) + (isTall ? 22 : 0);
  const others = Array.from({ length: players - 1 }, (_, index) => ({
    x: gap + (index % columns) * (boxWidth + gap),
    y: gap + Math.floor(index / columns) * (height + gap),
    width: boxWidth,
    height,
  }));
  return {
    others,
    bottom: Math.ceil((players - 1) / columns) * (height + gap) + gap,
    kind: isTall && kind === "full" ? /** @type {const} */ ("tall") : kind,
  };
}

/**
 * Return the sizes of the trick and of the discarded cards under it.
 * @param {Context} context
 * @param {{size: Size, width: number, grow: number}} room `grow` is the size relative to the smallest one
 */
function trickOf(context, { size, width, grow }) {
  const isSmall = size === "small";
  const slots = context.players + (playersInfo(context).extraCards ?? 0);
  const discards = (isSmall ? 4 : 8) + 22 * flow(context, size, width).rows;
  const card = Math.min((isSmall ? 50 : 84) * grow, (width - (isSmall ? 22 : 44) - (slots - 1) * 12) / slots);
  const height = (isSmall ? 28 : 44) + card * RATIO + (isSmall ? 20 : 30) + discards + 10;
  return { card, discards, height };
}

/**
 * Lay out the hand at the bottom.
 * @param {Context} context
 * @param {{bottom: number, isSmall: boolean, grow: number, top: number}} room `top`: the hand's upper edge
 */
function handOf(context, { bottom, isSmall, grow, top }) {
  const gap = isSmall ? 6 : 10;
  const width = context.width - 2 * gap;
  const count = seatOf(context, bottom).handSize ?? 0;
  const handRows = count * (isSmall ? 44 : 48) > width ? 2 : 1;
  const handCard = isSmall ? 54 : Math.min(92, 82 * grow);
  const height = count === 0 ? 0 : handCard * RATIO + (handRows - 1) * handCard * 1.12 + gap + 4;
  return { hand: { x: gap, y: top, width, height }, handCard, handRows };
}

/**
 * Arrange the discarded cards in rows by colour, each colour after its symbol.
 * @param {Context} context
 * @param {Size} size
 * @param {number} width
 */
export function flow({ view, details, t }, size, width) {
  const title = size === "small" ? "" : t("discards");
  const start = title === "" ? 32 : 42 + widthOf(title, 13, 600);
  const symbol = 22;
  const stone = 23;
  /** @type {{suit: number, card?: number, x: number, row: number}[]} */
  const spots = [];
  let [x, row, last] = [start, 0, -1];
  for (const card of view.discards ?? []) {
    const suit = suitOf(details, card);
    if (x + stone + (suit === last ? 0 : symbol) > width - 6) {
      [x, row, last] = [start, row + 1, -1];
    }
    if (suit !== last) {
      spots.push({ suit, x: x + symbol / 2, row });
      x += symbol;
    }
    spots.push({ suit, card, x: x + stone / 2, row });
    x += stone;
    last = suit;
  }
  return { title, spots, rows: row + 1, stone };
}
