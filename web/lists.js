// Lists in sentences.

import { nameOfSeat } from "./seat_names.js";
import { t } from "./settings.js";

/**
 * Return the names of some seats' players, for example "X and Y".
 * @param {readonly number[]} seats
 */
export function namesOf(seats) {
  return listOf(seats.map(nameOfSeat));
}

/**
 * Join words into a list, for example "X, Y and Z".
 * @param {readonly string[]} words
 */
export function listOf(words) {
  return [words.slice(0, -1).join(", "), ...words.slice(-1)].filter(Boolean).join(t("and"));
}
