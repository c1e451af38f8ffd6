// The layouts of Momistigri's table: for phones, for upright screens, and for wide screens.

import { seatsFrom } from "../../art/table_pieces.js";
import { seatOf, sumOf, usedBy } from "../../views.js";
import { cardsOf, phaseOf } from "./view.js";

/** @typedef {import("../../game.js").Box} Box */
/** @typedef {import("./view.js").Card} Card */
/** @typedef {import("./view.js").Context} Context */
/** @typedef {import("../../game.js").Part<Context, Layout>} Part */
/** @typedef {ReturnType<typeof gridOf>} Grid */
/**
 * The areas of a seat's plate and hand.
 * @typedef {{seat: number, plate: Box, hand: Box}} Place
 */
/**
 * The layout of the table, in pixels.
 * @typedef {object} Layout
 * @property {boolean} isNarrow true on a phone
 * @property {Place[]} others the areas of the other seats
 * @property {number} below the seat at the bottom
 * @property {Box} plate the plate of the seat at the bottom
 * @property {Box} status the text of the current situation
 * @property {Box} hand the hand at the bottom
 * @property {Box} mat
 * @property {number} ring the width of the ring at the edge of the mat
 * @property {{width: number, height: number, x: number, y: number}} cell the size of a cell of the mat, and the middle
 *   of the first one
 * @property {number} height the height of the drawing
 * @property {Grid} grid
 * @property {Card[]} cards
 */
/** @typedef {Omit<Layout, "below" | "grid" | "cards">} Places */
/** @typedef {{width: number, height: number}} Size */
/** @typedef {{ring: number, edge: number, title: number}} MatLook the ring, the edge inside it, and the title's height */

/** The smallest visible width of a card of the hand on a phone, in pixels. */
export const LEAST_STEP = 40;

/**
 * Lay the table out.
 * @param {Context} context
 * @returns {Layout}
 */
export function layoutOf(context) {
  const grid = gridOf(context);
  const [below = 0, ...seats] = seatsFrom(context.players, context.me ?? 0);
  const places = context.width < 600 ? narrowLayout(context, seats, grid) : wideLayout(context, seats, grid);
  return { ...places, below, grid, cards: cardsOf(context) };
}

/**
 * Return true if the action to choose takes a card from the pile.
 * @param {Context} context
 */
export function choosesFromPile({ view }) {
  return phaseOf(view) === "HAND_OUT" || phaseOf(view) === "SWAP_IN";
}

/**
 * Return the cells of this game's kinds of card. A row has the cards of a colour, a column the cards of a value.
 * @param {Context} context
 */
function gridOf(context) {
  const copies = context.view.copies ?? [];
  const used = usedBy(context.details.cards, context.players).map(
    ({ card: kind = 0, value = 0, colour }) => ({ kind, value, colour }),
  );
  const values = [
    ...new Set(used.filter(({ colour }) => colour !== undefined).map(({ value }) => value)),
  ].sort((a, b) => a - b);
  const rows = 1 + Math.max(0, ...used.map(({ colour = 0 }) => colour));
  /** @type {Map<number, {row: number, column: number}>} */
  const cells = new Map();
  for (const { kind, value, colour } of used) {
    if (colour !== undefined && (copies[kind] ?? 0) > 0) {
      cells.set(kind, { row: colour, column: values.indexOf(value) });
    }
  }
  // The card without a colour takes an unused cell, as far to the lower right as possible.
  const taken = new Set([...cells.values()].map(({ row, column }) => `${row} ${column}`));
  let columns = values.length;
  for (const { kind, colour } of used) {
    if (colour === undefined) {
      const free = Array.from({ length: rows }, (_, row) => rows - 1 - row).find(
        (row) => !taken.has(`${row} ${values.length - 1}`),
      );
      columns = Math.max(columns, free === undefined ? values.length + 1 : 0);
      cells.set(kind, {
        row: free ?? rows - 1,
        column: free === undefined ? values.length : values.length - 1,
      });
    }
  }
  return { values, rows, columns, cells };
}

/**
 * @param {Context} context
 * @param {readonly number[]} seats
 * @param {Grid} grid
 * @returns {Places}
 */
function narrowLayout(context, seats, grid) {
  const { width, height } = context;
  const each = (width - 4) / seats.length;
  const plateHeight = each >= 146 ? 52 : 72;
  const isCrowded = seats.some((seat) => 26 + 19 * (seatOf(context, seat).handCards?.length ?? 0) > each);
  const topHand = isCrowded ? 54 : 38;
  const others = seats.map((seat, index) => ({
    seat,
    plate: { x: 2 + each * index + 2, y: 5, width: each - 4, height: plateHeight },
    hand: { x: 2 + each * index + 4, y: plateHeight + 9, width: each - 8, height: topHand },
  }));
  const look = { ring: 11, edge: 1, title: 22 };
  const matY = plateHeight + 9 + topHand + 3;
  const cellWidth = Math.min(52, (width - 4 - 2 * look.ring - 2) / grid.columns);
  // Cards that can be picked must be large enough for a finger. The hand then has a single row.
  const picksFromPile = choosesFromPile(context) && context.actions.length > 0;
  const cellHeight = picksFromPile ? 47 : 27;
  const cell = { width: cellWidth, height: cellHeight };
  const size = matSize(grid, cell, look);
  const mat = { x: (width - size.width) / 2, y: matY, ...size };
  const rowY = mat.y + mat.height + 6;
  const handY = rowY + 46;
  const { handSize = 0 } = seatOf(context, context.me ?? 0);
  const rowsOfHand = picksFromPile
    ? 1
    : Math.ceil(handSize / (1 + Math.floor((width - 12 - 58) / LEAST_STEP)));
  const least = picksFromPile ? 100 : 100 + 44 * Math.max(1, rowsOfHand - 1);
  const handHeight = Math.max(least, Math.min(170, height - handY));
  return {
    isNarrow: true,
    others,
    mat,
    ring: look.ring,
    cell: firstCell(mat, cell, look),
    plate: { x: 4, y: rowY, width: 142, height: 44 },
    status: { x: 152, y: rowY, width: width - 158, height: 44 },
    hand: { x: 6, y: handY, width: width - 12, height: handHeight },
    height: handY + handHeight,
  };
}

/**
 * @param {Context} context
 * @param {readonly number[]} seats
 * @param {Grid} grid
 * @returns {Places}
 */
function wideLayout({ width, height }, seats, grid) {
  const isTall = width < 820;
  const corner = Math.min(200, width * 0.21);
  const side = isTall ? 16 : Math.min(230, width * 0.23);
  const topHeight = isTall ? 146 : seats.length > 2 ? 80 : 14;
  const look = { ring: 20, edge: 4, title: 30 };
  const handHeight = Math.min(210, Math.max(170, height * 0.28));
  const cellWidth = Math.min(isTall ? 64 : 66, (width - 2 * side - 2 * look.ring - 8) / grid.columns);
  const room = Math.max(height, 560) - topHeight - handHeight - 40 - 2 * look.ring;
  const cellHeight = Math.max(42, Math.min(cellWidth * 1.2, room / grid.rows));
  const cell = { width: cellWidth, height: cellHeight };
  const size = matSize(grid, cell, look);
  const full = Math.max(topHeight + size.height + handHeight + 10, Math.min(height, 860));
  const matY = topHeight + Math.max(0, (full - topHeight - handHeight - 10 - size.height) / 2);
  const mat = { x: (width - size.width) / 2, y: matY, ...size };
  const others = isTall
    ? uprightPlaces(width, seats)
    : widePlaces(width, seats, { middle: mat.y + mat.height / 2, side, beside: mat.x });
  const handY = full - handHeight;
  return {
    isNarrow: false,
    others,
    mat,
    ring: look.ring,
    cell: firstCell(mat, cell, look),
    plate: { x: 10, y: handY + handHeight - 76, width: corner, height: 62 },
    status: { x: width - corner - 10, y: handY + handHeight - 96, width: corner, height: 84 },
    hand: { x: corner + 20, y: handY, width: width - 2 * corner - 40, height: handHeight },
    height: full,
  };
}

/**
 * Return the size of the mat around a grid of cells.
 * @param {Grid} grid
 * @param {Size} cell
 * @param {MatLook} look
 * @returns {Size}
 */
function matSize({ columns, rows }, cell, { ring, edge, title }) {
  const border = 2 * (ring + edge);
  return { width: cell.width * columns + border, height: cell.height * rows + title + border };
}

/**
 * Return the size of the cells, and the middle of the first one.
 * @param {Box} mat
 * @param {Size} cell
 * @param {MatLook} look
 * @returns {Box}
 */
function firstCell(mat, { width, height }, { ring, edge, title }) {
  const border = ring + edge;
  return { width, height, x: mat.x + border + width / 2, y: mat.y + border + title + height / 2 };
}

/**
 * Return the areas of the other seats, in a row at the top.
 * @param {number} width
 * @param {readonly number[]} seats
 * @returns {Place[]}
 */
function uprightPlaces(width, seats) {
  const each = (width - 12) / seats.length;
  const own = Math.min(190, each - 8);
  return seats.map((seat, index) => {
    const x = 6 + each * index;
    return {
      seat,
      plate: { x: x + (each - own) / 2, y: 10, width: own, height: 58 },
      hand: { x: x + 10, y: 76, width: each - 20, height: 62 },
    };
  });
}

/**
 * Return the areas of the other seats: the first and the last next to the mat, the remaining ones above it.
 * @param {number} width
 * @param {readonly number[]} seats
 * @param {{middle: number, side: number, beside: number}} mat
 * @returns {Place[]}
 */
function widePlaces(width, seats, { middle, side, beside }) {
  const plateWidth = Math.min(190, side - 12);
  const handWidth = Math.min(beside - 20, 240);
  const each = (width - 24) / (seats.length - 2);
  const block = Math.min(each - 16, 460);
  const own = Math.min(190, block * 0.45);
  return seats.map((seat, index) => {
    if (index > 0 && index < seats.length - 1) {
      const x = 12 + each * (index - 0.5) - block / 2;
      return {
        seat,
        plate: { x, y: 10, width: own, height: 58 },
        hand: { x: x + own + 10, y: 8, width: block - own - 10, height: 62 },
      };
    }
    const centre = index === 0 ? beside / 2 : width - beside / 2;
    return {
      seat,
      plate: { x: centre - plateWidth / 2, y: middle - 84, width: plateWidth, height: 58 },
      hand: { x: centre - handWidth / 2, y: middle - 12, width: handWidth, height: 128 },
    };
  });
}

/**
 * Arrange overlapping cards in as few rows as possible.
 * @param {readonly {least: number, wish: number}[]} cards the smallest and the desired distance from each card to the
 *   next one, in pixels
 * @param {Box} room
 * @param {number} width the width of a card
 * @param {number} lift the distance between two rows
 * @returns {{x: number, row: number, index: number, count: number}[]} for each card its x, its row, its index in the
 *   row and the row's number of cards
 */
export function spread(cards, room, width, lift) {
  const most = Math.max(1, Math.floor((room.height - 1) / lift));
  for (let rows = 1; ; rows++) {
    const perRow = Math.ceil(cards.length / rows);
    const parts = Array.from({ length: rows }, (_, row) => cards.slice(row * perRow, (row + 1) * perRow));
    const fits = parts.every(
      (part) => sumOf(part.slice(0, -1).map(({ least }) => least)) <= room.width - width,
    );
    if (fits || rows >= most) {
      return parts.flatMap((part, row) => {
        const gaps = part.slice(0, -1);
        const [least, wish] = [sumOf(gaps.map((gap) => gap.least)), sumOf(gaps.map((gap) => gap.wish))];
        const free = room.width - width;
        const share = wish > least ? Math.max(0, Math.min(1, (free - least) / (wish - least))) : 0;
        const squeeze = Math.min(1, free / Math.max(1, least));
        const steps = gaps.map((gap) => (gap.least + share * (gap.wish - gap.least)) * squeeze);
        let x = room.x + room.width / 2 - sumOf(steps) / 2;
        return part.map((_, index) => {
          const at = { x, row, index, count: part.length };
          x += steps[index] ?? 0;
          return at;
        });
      });
    }
  }
}
