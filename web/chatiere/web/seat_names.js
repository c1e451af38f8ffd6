// The names of the players: a cat for each seat, the same for everybody, as a sealed table holds no names.

import { t } from "./settings.js";

/** By seat. */
export const NAMES = /** @type {const} */ (["Moustache", "Griffe", "Velours", "Mistral", "Ronron", "Pelote"]);

/**
 * Return the name of the player of a seat.
 * @param {number} seat
 */
export function nameOfSeat(seat) {
  return NAMES[seat] ?? String(seat);
}

/**
 * Return the names of the players of some seats: "X and Y".
 * @param {readonly number[]} seats
 */
export function namesOf(seats) {
  return listOf(seats.map(nameOfSeat));
}

/**
 * Join words: "X, Y and Z".
 * @param {readonly string[]} words
 */
export function listOf(words) {
  return [words.slice(0, -1).join(", "), ...words.slice(-1)].filter(Boolean).join(t("and"));
}
