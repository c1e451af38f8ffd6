// Functions that read the views and the pieces of all games.

import { nameOfSeat } from "./seat_names.js";

/**
 * Return the input of a drawing. No player can act in the drawing.
 * @param {import("./games.js").GameKit} kit
 * @param {import("./game.js").ViewerUpdate} update
 * @param {{width: number, height: number}} size
 * @returns {import("./game.js").Context}
 */
export function contextOf(kit, update, { width, height }) {
  return {
    view: update.view?.[kit.field] ?? {},
    update,
    details: kit.details,
    players: update.score?.totals?.length ?? 0,
    me: undefined,
    turn: undefined,
    actions: [],
    width,
    height,
    picked: [],
    candidates: new Set(),
    ui: {},
    redraw: () => undefined,
    nameOf: (kind, number) => kit.phrases.nameOf(kind, number),
    seatName: nameOfSeat,
    t: kit.t,
  };
}

/**
 * Return the deciding seat, or undefined if no seat has to decide.
 * @param {import("./game.js").ViewerUpdate} update
 */
export function seatToDecide({ view }) {
  return view?.turn?.kind === "TURN_KIND_DECISION" ? (view.turn.seat ?? 0) : undefined;
}

/**
 * Return the view of a seat.
 * @template {object} S
 * @param {{view: {seats?: readonly S[]}}} context
 * @param {number} seat
 * @returns {Partial<S>}
 */
export function seatOf({ view }, seat) {
  return view.seats?.[seat] ?? {};
}

/**
 * Return the facts that depend on the number of players.
 * @template {{players?: number}} T
 * @param {{details: {byPlayers?: readonly T[]}, players: number}} context
 * @returns {Partial<T>}
 */
export function playersInfo({ details, players }) {
  return details.byPlayers?.find((each) => each.players === players) ?? {};
}

/**
 * Return the pieces that games with this number of players use.
 * @template {{minPlayers?: number}} T
 * @param {readonly T[] | undefined} pieces
 * @param {number} players
 */
export function usedBy(pieces = [], players) {
  return pieces.filter(({ minPlayers = 0 }) => minPlayers <= players);
}

/**
 * Return the sum of numbers.
 * @param {readonly number[]} numbers
 */
export function sumOf(numbers) {
  return numbers.reduce((sum, number) => sum + number, 0);
}
