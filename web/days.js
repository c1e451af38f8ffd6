// The schedule of puzzles and games. It depends on the local date, so that it is the same for all players on that date.

import { GAMES } from "./game.js";
import { locale } from "./settings.js";

const DAY = 24 * 60 * 60 * 1000;
// The distance between the puzzles of successive days, as a share of all puzzles.
const STRIDE = 0.4;

/** Return the number of days from 1 January 1970 to today. */
export function today() {
  const now = new Date();
  return Date.UTC(now.getFullYear(), now.getMonth(), now.getDate()) / DAY;
}

/**
 * Return the day in a link, or today if the link has no day or a day in the future.
 * @param {string} [word]
 */
export function dayIn(word = "") {
  return /^\d+$/.test(word) ? Math.min(Number(word), today()) : today();
}

/**
 * Return the date of a day, for players.
 * @param {number} day
 */
export function dateOf(day) {
  return new Date(day * DAY).toLocaleDateString(locale(), { dateStyle: "long", timeZone: "UTC" });
}

/**
 * Return the game that all players play on a day.
 * @param {number} day
 */
export function gameOfDay(day) {
  return GAMES[day % GAMES.length] ?? GAMES[0];
}

/**
 * Return the number of a day's puzzle, from 0. Each puzzle is shown once before any puzzle is shown again.
 * @param {number} day
 * @param {number} count the number of puzzles of the game
 */
export function puzzleOfDay(day, count) {
  let step = Math.ceil(count * STRIDE);
  while (commonDivisor(step, count) > 1) {
    step += 1;
  }
  return (day * step) % count;
}

/**
 * @param {number} a
 * @param {number} b
 * @returns {number}
 */
function commonDivisor(a, b) {
  return b === 0 ? a : commonDivisor(b, a % b);
}
