// Where everything lies on Discat's table.

import { CARD } from "./parts.js";

/** @typedef {import("../../game.js").Box} Box */
/** @typedef {import("./view.js").Context} Context */
/** @typedef {{x: number, y: number, scale: number, turn?: number}} Spot */
/**
 * The place of a seat. `card`: the width of its cards; `spot`: where its hand is; `alignment`: what that is of the hand, 0: its
 * beginning, 0.5: its middle, 1: its end.
 * @typedef {{seat: number, box: Box, spot: Spot, card: number, isTight: boolean, alignment: number}} Place
 */
/**
 * Where everything lies. `pile`: the draw pile's place; `sign`, `line`: the upper edges of the constraint and of the number line,
 * which is left out where there is no room for it.
 * @typedef {object} Layout
 * @property {number} height
 * @property {boolean} isNarrow
 * @property {{box: Box, spot: Spot}} pile
 * @property {{x: number, y: number, size: number}} sign
 * @property {{x: number, y: number, width: number} | undefined} line
 * @property {Place} own  Of the seat at the bottom.
 * @property {number} handRoom  The width for the hand at the bottom.
 * @property {Place[]} others
 */

/**
 * Lay the table out.
 * @param {Context} context
 * @returns {Layout}
 */
export function layoutOf(context) {
  const { width, height, players, details, me } = context;
  const isNarrow = width < 560;
  const margin = isNarrow ? 8 : 16;
  const gap = isNarrow ? 6 : 12;
  const room = width - 2 * margin;
  const others = othersOf(context, { top: margin + (isNarrow ? 6 : 0), room, gap });
  const rowTop = others.bottom + (isNarrow ? 14 : 18);
  const sign = within(116, Math.min(height * 0.26, width * 0.4), 210);
  const side = Math.min((room - sign) / 2 - gap, 300);
  const rowHeight = Math.max(sign + 34, isNarrow ? 158 : 0);
  const pileWidth = isNarrow ? 56 : (rowHeight - 70) / CARD.ratio;
  const lineTop = rowTop + rowHeight + (isNarrow ? 4 : 10);
  const hasLine = height > 560;
  const handTop = lineTop + (hasLine ? 34 : 0) + 24;
  const most = details.largestHand ?? 1;
  const cardRoom = isNarrow ? (room * 1.08) / most : room / most - 8;
  const handWidth = within(52, Math.min(height * 0.155, cardRoom), 120) * (me === undefined ? 0.7 : 1);
  const handHeight = handWidth * CARD.ratio;
  const row = { y: rowTop, width: side, height: rowHeight };
  return {
    height: handTop + handHeight + margin + 4,
    isNarrow,
    pile: pileOf(context, { x: margin, ...row }, pileWidth, isNarrow),
    sign: { x: width / 2, y: rowTop, size: sign },
    line: hasLine ? { x: width / 2, y: lineTop, width: Math.min(room, 720) } : undefined,
    own: {
      seat: me ?? 0,
      box: { x: width - margin - side, ...row },
      spot: { x: width / 2, y: handTop + handHeight / 2, scale: handWidth / CARD.width },
      card: pileWidth,
      isTight: side < 130,
      alignment: 0.5,
    },
    handRoom: room,
    others: placesOf(players, me ?? 0, others),
  };
}

/**
 * Return the sizes of the row of the other seats.
 * @param {Context} context
 * @param {{top: number, room: number, gap: number}} row
 */
function othersOf({ width, height, players }, { top, room, gap }) {
  const count = players - 1;
  const cell = Math.min((room - gap * (count - 1)) / Math.max(1, count), 440);
  const isTight = cell < 130;
  const card = isTight ? within(36, cell - 22, 46) : within(48, height * 0.105, 84);
  const rowHeight = (isTight ? 92 : 70) + card * CARD.ratio + 18;
  const left = width / 2 - (cell * count + gap * (count - 1)) / 2;
  return { top, bottom: top + rowHeight, left, gap, cell, card, isTight, isWide: cell > 260 };
}

/**
 * Return the places of the other seats.
 * @param {number} players
 * @param {number} bottom
 * @param {ReturnType<typeof othersOf>} row
 * @returns {Place[]}
 */
function placesOf(players, bottom, { top, bottom: end, left, gap, cell, card, isTight, isWide }) {
  return Array.from({ length: players - 1 }, (_, index) => {
    const box = { x: left + index * (cell + gap), y: top, width: cell, height: end - top };
    const spot = isTight
      ? { x: box.x + cell / 2, y: box.y + 76, scale: 0.17 }
      : isWide
        ? { x: box.x + cell - 14 - 17, y: box.y + 36, scale: 0.34 }
        : { x: box.x + 60, y: box.y + 46, scale: 0.22 };
    const alignment = isTight ? 0.5 : isWide ? 1 : 0;
    return { seat: (bottom + 1 + index) % players, box, spot, card, isTight, alignment };
  });
}

/**
 * Return the place of the draw pile.
 * @param {Context} context
 * @param {Box} box
 * @param {number} pileWidth
 * @param {boolean} isNarrow
 */
function pileOf({ view }, box, pileWidth, isNarrow) {
  const isUnqueued = isNarrow || (view.queue ?? []).length === 0;
  const width = isNarrow ? 48 : pileWidth;
  const spot = {
    x: isUnqueued ? box.x + box.width / 2 : box.x + 20 + width / 2,
    y: isNarrow
      ? box.y + 10 + (width * CARD.ratio) / 2
      : box.y + box.height - 18 - (pileWidth * CARD.ratio) / 2,
    scale: width / CARD.width,
  };
  return { box, spot };
}

/**
 * Return a value between two bounds, rounded.
 * @param {number} low
 * @param {number} value
 * @param {number} high
 */
export function within(low, value, high) {
  return Math.round(Math.max(low, Math.min(high, value)));
}
