// The puzzle of the day: by the date here, so the same for everybody who has that date.

import { GAMES } from "./game.js";

const DAY = 24 * 60 * 60 * 1000;

/** Return the number of today's date. */
export function today() {
  const now = new Date();
  return Date.UTC(now.getFullYear(), now.getMonth(), now.getDate()) / DAY;
}

/** Return the game of today's puzzle. */
export function gameOfDay() {
  return GAMES[today() % GAMES.length] ?? GAMES[0];
}
