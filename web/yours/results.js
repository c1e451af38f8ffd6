// The results of this browser's player: the games that are over, and the puzzles and games of each day. They are in
// local storage, and can be moved to another browser as a file.

import { GAMES } from "../game.js";
import { read, remember, remove } from "../storage.js";

/**
 * The result of a game.
 * @typedef {object} Result
 * @property {string} id the id of its table, or the name given by `idOfDay`
 * @property {string} game
 * @property {(string | null)[]} seats the bot of each seat, or null for a person
 * @property {number} seat the player's seat
 * @property {boolean} won
 * @property {number} total the player's total
 * @property {number} time the time of the end, in milliseconds since 1970
 * @property {number} [lost] the mean share of the win that the player's moves lost, if the game was analysed
 */
/**
 * The results of a day. For each puzzle: the number of moves tried, or 0 if the player looked at the answer. For the
 * game of the day, under "game": the player's place.
 * @typedef {Record<string, number>} DayResults
 */
/**
 * @typedef {{games: Result[], days: Record<string, DayResults>}} Results
 */
/** @typedef {{day: number, actions: number[]}} GameOfDay */

const KEY = "chatiere results";
const KEY_OF_DAY = "chatiere game of the day";
const FORMAT = "chatiere results 1";
// The maximum number of games. The oldest results are deleted.
const MOST = 2000;

/**
 * Return all results, the oldest game first.
 * @returns {Results}
 */
export function results() {
  try {
    return checked(JSON.parse(read(KEY) ?? "{}"));
  } catch {
    return { games: [], days: {} };
  }
}

/**
 * Store the result of a game, unless it is stored already.
 * @param {Result} result
 */
export function keepGame(result) {
  keep({ games: [result], days: {} });
}

/**
 * Store a result of a day, unless there is one already.
 * @param {number} day
 * @param {string} name the game of a puzzle, or "game" for the game of the day
 * @param {number} value
 */
export function keepDay(day, name, value) {
  keep({ games: [], days: { [day]: { [name]: value } } });
}

/**
 * Store the analysis of a game. An analysis of a game that has no result is ignored.
 * @param {string} id
 * @param {number} lost
 */
export function keepLoss(id, lost) {
  const { games, days } = results();
  put({ games: games.map((each) => (each.id === id ? { ...each, lost } : each)), days });
}

/**
 * Store the result of a table that is over, if only one player is at this screen.
 * @param {import("../session.js").Session} session
 * @param {import("../game.js").ViewerUpdate} update the player's last update
 */
export function keepTable({ id, kept, table, mine }, { score }) {
  const [seat] = mine;
  if (seat !== undefined && mine.length === 1 && score) {
    keepGame({
      id,
      game: kept.game,
      seats: table.seats.map(({ bot }) => bot ?? null),
      seat,
      won: score.winners?.includes(seat) ?? false,
      total: score.totals?.[seat]?.total ?? 0,
      time: Date.now(),
    });
  }
}

/**
 * Return the id of the result of a day's game.
 * @param {number} day
 */
export function idOfDay(day) {
  return `day ${day}`;
}

/**
 * Return the moves made so far in a day's game.
 * @param {number} day
 * @returns {number[]}
 */
export function movesOfDay(day) {
  const kept = /** @type {Partial<GameOfDay> | undefined} */ (parsed(read(KEY_OF_DAY) ?? ""));
  return kept?.day === day && Array.isArray(kept.actions) ? kept.actions : [];
}

/**
 * Store the moves of a day's game. They replace the moves of other days.
 * @param {number} day
 * @param {readonly number[]} actions
 */
export function keepMovesOfDay(day, actions) {
  remember(KEY_OF_DAY, JSON.stringify({ day, actions }));
}

/**
 * Return the number of successive days with results, up to today or yesterday.
 * @param {Results["days"]} days
 * @param {number} today
 */
export function streak(days, today) {
  const last = today in days ? today : today - 1;
  let day = last;
  while (day in days) {
    day -= 1;
  }
  return last - day;
}

/** Return all results as the text of a file. */
export function exported() {
  return JSON.stringify({ format: FORMAT, ...results() });
}

/**
 * Add the results of a file. Throws Error if the text is not such a file.
 * @param {string} text
 * @returns {number} the number of games in the file
 */
export function add(text) {
  const found = JSON.parse(text);
  if (found?.format !== FORMAT) {
    throw new RangeError("format");
  }
  const more = checked(found);
  keep(more);
  return more.games.length;
}

/** Delete all results. */
export function forget() {
  remove(KEY);
  remove(KEY_OF_DAY);
}

/**
 * Add results. Results that are stored already remain, except that an analysis may be added to a game.
 * @param {Results} more
 */
function keep(more) {
  const { games, days } = results();
  const byId = new Map(games.map((each) => [each.id, each]));
  for (const each of more.games) {
    byId.set(each.id, { ...each, ...byId.get(each.id) });
  }
  for (const [day, found] of Object.entries(more.days)) {
    days[day] = { ...found, ...days[day] };
  }
  const all = [...byId.values()].sort((a, b) => a.time - b.time);
  put({ games: all.slice(-MOST), days });
}

/** @param {Results} all */
function put(all) {
  remember(KEY, JSON.stringify(all));
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Check results from local storage or from a file. Throws RangeError.
 * @param {{games?: unknown, days?: unknown}} found
 * @returns {Results}
 */
function checked({ games = [], days = {} }) {
  if (!Array.isArray(games) || !games.every(isResult)) {
    throw new RangeError("games");
  }
  if (
    !isObject(days) ||
    !Object.entries(/** @type {object} */ (days)).every(([day, each]) => /^\d+$/.test(day) && isDay(each))
  ) {
    throw new RangeError("days");
  }
  return { games, days: /** @type {Results["days"]} */ (days) };
}

/** @param {Partial<Record<keyof Result, unknown>> | null} found */
function isResult(found) {
  const { id, game, seats, seat, won, total, time, lost = 0 } = found ?? {};
  return (
    typeof id === "string" &&
    GAMES.some((known) => known === game) &&
    Array.isArray(seats) &&
    seats.every((bot) => bot === null || typeof bot === "string") &&
    typeof seat === "number" &&
    seats[seat] === null &&
    typeof won === "boolean" &&
    [total, time, lost].every(Number.isFinite)
  );
}

/** @param {unknown} found */
function isDay(found) {
  return isObject(found) && Object.values(/** @type {object} */ (found)).every(Number.isInteger);
}

/** @param {unknown} value */
function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
