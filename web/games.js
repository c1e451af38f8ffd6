// The service's descriptions of its games. They are requested once for each language.

import { call } from "./api.js";
import { fieldOf, GAMES, loadGame } from "./game.js";
import { callOrKept } from "./kept.js";
import { Phrases } from "./phrases.js";
import { filled, language, t } from "./settings.js";

/** @import { ListGamesRequestJson } from "#api/chatiere/v1/game_service_pb.js" */
/** @typedef {import("./game.js").GameInfo} GameInfo */
/** @typedef {import("./game.js").Game} Game */
/**
 * Everything needed to draw a game and to describe it in words.
 * @typedef {object} GameKit
 * @property {string} name the service's name of the game
 * @property {import("./game.js").Field} field the name of the game's field in messages
 * @property {GameInfo} info
 * @property {import("./game.js").Details<import("./game.js").Field>} details the facts printed on the game's pieces
 * @property {Phrases} phrases
 * @property {Game} game the drawing
 * @property {import("./game.js").Translate} t returns text from the game's `words`
 */

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
    const [game, { games = [] }] = await Promise.all([loadGame(name), askGames(factsOf(name))]);
    const info = games[0] ?? {};
    const field = fieldOf(name);
    const details = info.pieceDetails?.[field] ?? {};
    const say = (/** @type {string} */ key, /** @type {Record<string, string | number>} */ values = {}) =>
      filled(game.words[spoken]?.[key] ?? key, values);
    const phrases = new Phrases(info, (piece) => game.nameOf?.(piece, details, say) ?? piece.name ?? "");
    return { name, field, info, details, phrases, game, t: say };
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
