// The layout of Chat Cartonne's drawing, and the keys by which things are picked.

import { fitted } from "../../camera.js";
import { CELL } from "./parts.js";

/** @typedef {import("../../game.js").Context} Context */
/** @typedef {import("../../game.js").Box} Box */
/** @typedef {{x: number, y: number}} Point */
/** @typedef {{kind: number, key: string, isDrawn: boolean}} Held */

/**
 * Where things stand. `seats`: the middle of each player's place; `others`: the plates of all but the one at the
 * bottom.
 * @typedef {object} Layout
 * @property {number} width @property {number} height @property {number} pad @property {number} gap
 * @property {number} tile the side of a card beside the board
 * @property {number} bottom the seat at the bottom
 * @property {{seat: number, x: number, y: number, width: number, height: number}[]} others
 * @property {Box} board @property {Box} free the part of the board that nothing covers
 * @property {Box} tray @property {Point} pile @property {Point} cats
 * @property {Point[]} hand @property {Point[]} seats @property {boolean} isWide @property {boolean} isSmall
 * @property {number} head the height of the line over the hand
 */

// What the buttons that zoom need: beside the board, or on a narrow screen in the line over the hand.
const ZOOM = { width: 60, height: 54 };
const PHASE = "CHAT_CARTONNE_PHASE_";

/** @param {import("../../game.js").Action} action @returns {any} */
export function partOf(action) {
  return /** @type {any} */ (action).chatCartonne ?? {};
}

/** @param {any} view @returns {string} */
export function phaseOf(view) {
  return (view.phase ?? "").slice(PHASE.length);
}

/** @param {string} what @param {number} kind @param {boolean | undefined} turned */
export function formKey(what, kind, turned) {
  return `${what}:${kind}${turned ? ":turned" : ""}`;
}

/** @param {number | undefined} cell */
export function cellKey(cell) {
  return `cell:${cell ?? 0}`;
}

/** @param {number | undefined} joint */
export function jointKey(joint) {
  return `joint:${joint ?? 0}`;
}

/** Whether only the cell of the starting carton is to be chosen. @param {Context} context */
export function hasOneForm({ view, actions }) {
  return view.startingCarton !== undefined && !actions.some((action) => partOf(action).placeCarton?.turned);
}

/** @param {Context} context @returns {any[]} */
export function boxesOf({ update }) {
  return /** @type {any} */ (update.score?.detail)?.chatCartonne?.boxes ?? [];
}

/** Keep which cards of the hand are turned. @param {Context} context */
export function remember({ picked, ui }) {
  const [what, kind, turned] = (picked[0] ?? "").split(":");
  if (what === "card") {
    ui[`turned:${kind}`] = turned !== undefined;
  }
}

/** @param {Context} context @returns {Layout} */
export function layoutOf(context) {
  const { width, players, details } = context;
  const height = Math.max(context.height, 420);
  const isWide = width >= 760 && width > height * 1.12;
  const isSmall = width < 560;
  const pad = isSmall ? 8 : 14;
  const gap = isSmall ? 8 : 14;
  const bottom = context.me ?? 0;
  const seats = Array.from({ length: players - 1 }, (_, index) => (bottom + 1 + index) % players);
  const slots = Math.max(details.largestHand ?? 0, heldBy(context, bottom).length);
  const columns = slots + (isWide ? 1 : 2);
  const column = isWide ? 232 : 0;
  const room = width - column - 2 * pad - (columns - 1) * gap;
  const tile = Math.min(isSmall ? 76 : 86, Math.floor(room / columns));
  const under = 26;
  const head = isSmall ? ZOOM.height : 30;
  const trayHeight = head + tile + under + pad;
  const tray = { x: column, y: height - trayHeight, width: width - column, height: trayHeight };
  const plateHeight = isWide ? 84 : 62;
  const plateGap = isSmall ? 6 : 10;
  const plateWidth = isWide
    ? column - pad
    : Math.min(300, (width - 2 * pad - plateGap * (seats.length - 1)) / Math.max(1, seats.length));
  const rowLeft = (width - plateWidth * seats.length - plateGap * (seats.length - 1)) / 2;
  const others = seats.map((seat, index) => ({
    seat,
    x: isWide ? pad : rowLeft + index * (plateWidth + plateGap),
    y: isWide ? pad + index * (plateHeight + plateGap) : pad,
    width: plateWidth,
    height: plateHeight,
  }));
  const top = isWide || seats.length === 0 ? 0 : pad + plateHeight;
  const board = { x: 0, y: 0, width, height: tray.y + (isSmall ? ZOOM.height - 1 : 0) };
  const free = {
    x: column,
    y: top,
    width: width - column - (isSmall ? 0 : ZOOM.width),
    height: tray.y - top,
  };
  const tileY = tray.y + head + tile / 2;
  const used = columns * tile + (columns - 1) * gap;
  const left = tray.x + (tray.width - used) / 2 + tile / 2;
  const at = (/** @type {number} */ index) => ({ x: left + index * (tile + gap), y: tileY });
  const pile = isWide ? { x: pad + 8 + tile / 2, y: tileY } : at(0);
  const first = isWide ? 0 : 1;
  const places = [];
  places[bottom] = { x: tray.x + tray.width / 2, y: tileY };
  for (const each of others) {
    places[each.seat] = { x: each.x + each.width / 2, y: each.y + each.height / 2 };
  }
  return {
    width,
    height,
    pad,
    gap,
    tile,
    bottom,
    others,
    board,
    free,
    head,
    isSmall,
    tray,
    pile,
    isWide,
    hand: Array.from({ length: slots }, (_, index) => at(first + index)),
    cats: at(first + slots),
    seats: places,
  };
}

/**
 * The cards of a seat that are seen, and the one that it has drawn and must play.
 * @param {Context} context @param {number} seat @returns {Held[]}
 */
export function heldBy({ view }, seat) {
  const hand = view.seats?.[seat]?.handCards ?? [];
  const drawn = view.activeSeat === seat ? (view.toy ?? view.startingCarton) : undefined;
  const times = new Map();
  const held = hand.map((/** @type {number} */ kind) => {
    const before = times.get(kind) ?? 0;
    times.set(kind, before + 1);
    return { kind, key: `hand:${kind}:${before}`, isDrawn: false };
  });
  return drawn === undefined ? held : [...held, { kind: drawn, key: `hand:${drawn}:0`, isDrawn: true }];
}

/** @param {Context} context @param {number} cell @returns {Point} */
export function centreOf({ details }, cell) {
  const { row = 0, column = 0 } = details.cells[cell] ?? {};
  return { x: (column + 0.5) * CELL, y: (row + 0.5) * CELL };
}

/** @param {Context} context @param {number} joint @returns {Point} */
export function jointOf(context, joint) {
  const { x, y } = centreOf(context, joint);
  return { x: x + CELL / 2, y };
}

/**
 * The part of the board that matters: all cards, and while the game goes on the cells around them; with what the
 * plates cover, so that they hide no card.
 * @param {Context} context @param {Layout} layout @returns {Box}
 */
export function extentOf(context, { board, free }) {
  const { view, details } = context;
  const cells = (view.table ?? []).map((/** @type {any} */ { laid }) => laid.cell ?? 0);
  const points = (cells.length > 0 ? cells : [details.firstCell ?? 0]).map((/** @type {number} */ cell) =>
    centreOf(context, cell),
  );
  const margin = phaseOf(view) === "OVER" ? CELL * 0.8 : CELL * 1.5;
  const xs = points.map((/** @type {Point} */ { x }) => x);
  const ys = points.map((/** @type {Point} */ { y }) => y);
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
 * What brings a point beside the board to the board, and how large a pixel is there.
 * @param {Layout} layout @param {Box} extent
 */
export function boardPoints({ board }, extent) {
  const seen = fitted(extent, board);
  const scale = seen.width / board.width;
  const at = (/** @type {Point | undefined} */ point) =>
    point && { x: seen.x + (point.x - board.x) * scale, y: seen.y + (point.y - board.y) * scale };
  return { at, scale };
}

/** The empty cells beside the cards of the table. @param {Context} context */
export function rimOf({ view, details }) {
  const { rows = 0, columns = 0, cells = [] } = details;
  const taken = new Set((view.table ?? []).map((/** @type {any} */ { laid }) => laid.cell ?? 0));
  /** @type {Set<number>} */
  const rim = new Set();
  for (const cell of taken) {
    const { row = 0, column = 0 } = cells[cell] ?? {};
    const beside = [
      row > 0 && cell - columns,
      row < rows - 1 && cell + columns,
      column > 0 && cell - 1,
      column < columns - 1 && cell + 1,
    ];
    for (const each of beside) {
      if (each !== false && !taken.has(each)) {
        rim.add(each);
      }
    }
  }
  return rim;
}
