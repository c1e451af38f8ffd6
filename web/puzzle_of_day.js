// The puzzle of the day. It depends on the local date, so that it is the same for all players on that date.

import { GAMES } from "./game.js";

const DAY = 24 * 60 * 60 * 1000;

/** Return the number of days from 1 January 1970 to today. */
export function today() {
  const now = new Date();
  return Date.UTC(now.getFullYear(), now.getMonth(), now.getDate()) / DAY;
}

/** Return the game of today's puzzle. */
export function gameOfDay() {
  return GAMES[today() % GAMES.length] ?? GAMES[0];
}
