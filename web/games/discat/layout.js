// The layout of Discat's table.

import { seatsFrom } from "../../art/table_pieces.js";
import { CARD } from "./parts.js";

/** @typedef {import("../../game.js").Box} Box */
/** @typedef {import("./view.js").Context} Context */
/** @typedef {import("../../game.js").Part<Context, Layout>} Part */
/**
 * The position of an item.
 * @typedef {object} Spot
 * @property {number} x in pixels
 * @property {number} y in pixels
 * @property {number} scale relative to the size in `CARD`
 * @property {number} [turn] the rotation, in degrees clockwise
 */
/**
 * The area of a seat.
 * @typedef {object} Place
 * @property {number} seat
 * @property {Box} box the panel
 * @property {Spot} spot the position of the hand
 * @property {number} card the width of the seat's cards, in pixels
 * @property {boolean} isTight true if the panel has room for its essentials only
 * @property {number} alignment the point of the hand that lies at `spot`: 0 for its left end, 0.5 for its middle, 1 for
 *   its right end
 */
/**
 * The layout of the table, in pixels.
 * @typedef {object} Layout
 * @property {number} height the height of the drawing
 * @property {boolean} isNarrow true on a narrow screen
 * @property {{box: Box, spot: Spot}} pile the panel of the draw pile, and the pile's position
 * @property {{x: number, y: number, size: number}} sign the middle of the upper edge of the constraint's sign, and its
 *   size
 * @property {{x: number, y: number, width: number} | undefined} line the middle of the upper edge of the number line;
 *   undefined if there is no room for it
 * @property {Place} own the area of the seat at the bottom
 * @property {number} handRoom the width available for the hand at the bottom
 * @property {Place[]} others the areas of the other seats
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
 * Return the position and the sizes of the row of the other seats.
 * @param {Context} context
 * @param {{top: number, room: number, gap: number}} row the row's upper edge, its width and the gap between two seats,
 *   in pixels
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
 * Return the areas of the other seats.
 * @param {number} players
 * @param {number} bottom the seat at the bottom of the table
 * @param {ReturnType<typeof othersOf>} row
 * @returns {Place[]}
 */
function placesOf(players, bottom, { top, bottom: end, left, gap, cell, card, isTight, isWide }) {
  const others = seatsFrom(players, bottom).slice(1);
  return others.map((seat, index) => {
    const box = { x: left + index * (cell + gap), y: top, width: cell, height: end - top };
    const spot = isTight
      ? { x: box.x + cell / 2, y: box.y + 76, scale: 0.17 }
      : isWide
        ? { x: box.x + cell - 14 - 17, y: box.y + 36, scale: 0.34 }
        : { x: box.x + 60, y: box.y + 46, scale: 0.22 };
    const alignment = isTight ? 0.5 : isWide ? 1 : 0;
    return { seat, box, spot, card, isTight, alignment };
  });
}

/**
 * Return the layout of the draw pile.
 * @param {Context} context
 * @param {Box} box the panel
 * @param {number} pileWidth the width of a card of the pile, in pixels
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
 * Clamp a value to a range, and round the result.
 * @param {number} low the lower bound
 * @param {number} value
 * @param {number} high the upper bound
 */
export function within(low, value, high) {
  return Math.round(Math.max(low, Math.min(high, value)));
}
