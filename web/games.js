// The service's descriptions of its games. They are requested once for each language.

import { call } from "./api.js";
import { GAMES, loadGame } from "./game.js";
import { callOrKept } from "./kept.js";
import { language, t } from "./settings.js";
import { loadTexts } from "./texts.js";

/** @import { ListGamesRequestJson } from "#api/chatiere/v1/game_service_pb.js" */
/** @typedef {import("./kit.js").GameKit} GameKit */

/** @type {Map<string, Promise<unknown>>} */
const asked = new Map();

/** Return the name of the store for facts about games in the player's language. */
export function shelfOfGames() {
  return `games-${language()}`;
}

/**
 * Request facts about games. The response is stored for use without a connection.
 * @param {ListGamesRequestJson} request
 */
export function askGames(request) {
  return callOrKept(shelfOfGames(), "GameService/ListGames", request);
}

/**
 * Return the request for the facts about a game that its drawing needs.
 * @param {string} name
 */
export function factsOf(name) {
  return { games: [name], phrases: true, pieces: true };
}

/** List all games with their names and numbers of players. */
export async function listGames() {
  const { games = [] } = await once(`games ${language()}`, () => askGames({}));
  return games;
}

/**
 * List the bots of a game.
 * @param {string} game
 */
export function listBots(game) {
  return once(`bots ${game}`, () => call("BotService/ListBots", { game }));
}

/**
 * Check that this page can draw a game. Throws Error.
 * @param {string} name
 */
export function checkGame(name) {
  if (!GAMES.some((known) => known === name)) {
    throw new Error(t("unknown-game", { name }));
  }
}

/**
 * Return the kit of a game.
 * @param {string} name
 * @returns {Promise<GameKit>}
 */
export function kitOf(name) {
  const spoken = language();
  return once(`kit ${name} ${spoken}`, async () => {
    checkGame(name);
    // The start page does not need this module.
    const [{ gameKit }, game, { games = [] }, texts] = await Promise.all([
      import("./kit.js"),
      loadGame(name),
      askGames(factsOf(name)),
      loadTexts(`games/${name}`, spoken),
    ]);
    return gameKit(name, game, games[0] ?? {}, texts, spoken);
  });
}

/**
 * @template T
 * @param {string} key
 * @param {() => Promise<T>} ask
 * @returns {Promise<T>}
 */
function once(key, ask) {
  const kept = asked.get(key);
  if (kept) {
    return /** @type {Promise<T>} */ (kept);
  }
  const made = ask();
  asked.set(key, made);
  made.catch(() => asked.delete(key));
  return made;
}
