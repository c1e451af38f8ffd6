// The layout of Chat Cartonne's drawing.

import { seatsFrom } from "../../art/table_pieces.js";
import { fitted, middleOf } from "../../boxes.js";
import { CELL } from "./parts.js";
import { cardsOn, heldBy, phaseOf } from "./view.js";

/** @typedef {import("../../game.js").Box} Box */
/** @typedef {import("./view.js").Context} Context */
/** @typedef {import("../../game.js").Part<Context, Layout>} Part */
/** @typedef {{x: number, y: number}} Point */
/**
 * The panel of a seat.
 * @typedef {Box & {seat: number}} Place
 */
/**
 * The layout of the drawing, in pixels.
 * @typedef {object} Layout
 * @property {number} width
 * @property {number} height
 * @property {boolean} isWide true if the plates stand in a column left of the board
 * @property {boolean} isSmall true on a narrow screen
 * @property {number} pad the space at the edges
 * @property {number} gap the space between two cards of the hand
 * @property {number} tile the side of a card that is not on the board
 * @property {number} bottom the seat at the bottom
 * @property {Place[]} others the plates of the other seats
 * @property {Box} board
 * @property {Box} free the part of the board that no plate covers
 * @property {Box} extent the part of the board that is shown, in the board's coordinates
 * @property {ReturnType<typeof boardPoints>} toBoard
 * @property {Box} tray the area of the seat at the bottom
 * @property {number} head the height of the line above the hand
 * @property {Point} pile the middle of the draw pile
 * @property {Point} cats the middle of the supply of cats
 * @property {Point[]} hand the middle of each place for a card of the hand
 * @property {Point[]} seats the middle of each seat's panel, by seat
 */

// The space that the zoom buttons need: next to the board, or in the line above the hand on a narrow screen.
const ZOOM = { width: 60, height: 54 };
const COLUMN = 232;

/**
 * Lay the table out.
 * @param {Context} context
 * @returns {Layout}
 */
export function layoutOf(context) {
  const { width, players } = context;
  const height = Math.max(context.height, 420);
  const isWide = width >= 760 && width > height * 1.12;
  const isSmall = width < 560;
  const bottom = context.me ?? 0;
  const seats = seatsFrom(players, bottom).slice(1);
  const room = { height, isWide, isSmall, pad: isSmall ? 8 : 14, gap: isSmall ? 8 : 14 };
  const tray = trayOf(context, bottom, room);
  const others = othersOf(context, seats, room);
  const top = isWide || seats.length === 0 ? 0 : room.pad + 62;
  const left = isWide ? COLUMN : 0;
  const board = { x: 0, y: 0, width, height: tray.tray.y + (isSmall ? ZOOM.height - 1 : 0) };
  const free = {
    x: left,
    y: top,
    width: width - left - (isSmall ? 0 : ZOOM.width),
    height: tray.tray.y - top,
  };
  const extent = extentOf(context, { board, free });
  const places = [];
  places[bottom] = { x: tray.tray.x + tray.tray.width / 2, y: tray.pile.y };
  for (const each of others) {
    places[each.seat] = middleOf(each);
  }
  const toBoard = boardPoints(board, extent);
  return { width, ...room, ...tray, bottom, others, board, free, extent, toBoard, seats: places };
}

/**
 * Lay out the area of the seat at the bottom: the draw pile, the hand and the cats.
 * @param {Context} context
 * @param {number} bottom
 * @param {{height: number, isWide: boolean, isSmall: boolean, pad: number, gap: number}} room
 */
function trayOf(context, bottom, { height, isWide, isSmall, pad, gap }) {
  const { width, details } = context;
  const slots = Math.max(details.largestHand ?? 0, heldBy(context, bottom).length);
  const columns = slots + (isWide ? 1 : 2);
  const left = isWide ? COLUMN : 0;
  const room = width - left - 2 * pad - (columns - 1) * gap;
  const tile = Math.min(isSmall ? 76 : 86, Math.floor(room / columns));
  const head = isSmall ? ZOOM.height : 30;
  const trayHeight = head + tile + 26 + pad;
  const tray = { x: left, y: height - trayHeight, width: width - left, height: trayHeight };
  const y = tray.y + head + tile / 2;
  const used = columns * tile + (columns - 1) * gap;
  const start = tray.x + (tray.width - used) / 2 + tile / 2;
  const at = (/** @type {number} */ index) => ({ x: start + index * (tile + gap), y });
  const first = isWide ? 0 : 1;
  return {
    tile,
    head,
    tray,
    pile: isWide ? { x: pad + 8 + tile / 2, y } : at(0),
    hand: Array.from({ length: slots }, (_, index) => at(first + index)),
    cats: at(first + slots),
  };
}

/**
 * Lay out the plates of the other seats.
 * @param {Context} context
 * @param {readonly number[]} seats
 * @param {{isWide: boolean, isSmall: boolean, pad: number}} room
 * @returns {Place[]}
 */
function othersOf({ width }, seats, { isWide, isSmall, pad }) {
  const height = isWide ? 84 : 62;
  const gap = isSmall ? 6 : 10;
  const own = isWide
    ? COLUMN - pad
    : Math.min(300, (width - 2 * pad - gap * (seats.length - 1)) / Math.max(1, seats.length));
  const left = (width - own * seats.length - gap * (seats.length - 1)) / 2;
  return seats.map((seat, index) => ({
    seat,
    x: isWide ? pad : left + index * (own + gap),
    y: isWide ? pad + index * (height + gap) : pad,
    width: own,
    height,
  }));
}

/**
 * Return the middle of a cell in the board's coordinates.
 * @param {Context} context
 * @param {number} cell
 * @returns {Point}
 */
export function centreOf({ details }, cell) {
  const { row = 0, column = 0 } = details.cells?.[cell] ?? {};
  return { x: (column + 0.5) * CELL, y: (row + 0.5) * CELL };
}

/**
 * Return the middle of a joint in the board's coordinates.
 * @param {Context} context
 * @param {number} joint the number of the cell west of the joint
 * @returns {Point}
 */
export function jointOf(context, joint) {
  const { x, y } = centreOf(context, joint);
  return { x: x + CELL / 2, y };
}

/**
 * Return the part of the board to show: all cards, the cells around them until the game is over, and the space under
 * the plates, so that they hide no card.
 * @param {Context} context
 * @param {{board: Box, free: Box}} boxes
 * @returns {Box}
 */
function extentOf(context, { board, free }) {
  const { view, details } = context;
  const cells = cardsOn(view).map(({ cell }) => cell);
  const points = (cells.length > 0 ? cells : [details.firstCell ?? 0]).map((cell) => centreOf(context, cell));
  const margin = phaseOf(view) === "OVER" ? CELL * 0.8 : CELL * 1.5;
  const xs = points.map(({ x }) => x);
  const ys = points.map(({ y }) => y);
  const [x, y] = [Math.min(...xs) - margin, Math.min(...ys) - margin];
  const seen = fitted(
    { x, y, width: Math.max(...xs) + margin - x, height: Math.max(...ys) + margin - y },
    free,
  );
  const scale = seen.width / free.width;
  return {
    x: seen.x - (free.x - board.x) * scale,
    y: seen.y - (free.y - board.y) * scale,
    width: board.width * scale,
    height: board.height * scale,
  };
}

/**
 * Return the conversion from the drawing's to the board's coordinates, and the size of a pixel in the board's
 * coordinates.
 * @param {Box} board
 * @param {Box} extent
 */
function boardPoints(board, extent) {
  const seen = fitted(extent, board);
  const scale = seen.width / board.width;
  const at = (/** @type {Point | undefined} */ point) =>
    point && { x: seen.x + (point.x - board.x) * scale, y: seen.y + (point.y - board.y) * scale };
  return { at, scale };
}
