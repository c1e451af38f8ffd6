// The facts that the service tells of its games, asked once a language.

import { call } from "./api.js";
import { fieldOf, GAMES, loadGame } from "./game.js";
import { callOrKept } from "./kept.js";
import { Phrases } from "./phrases.js";
import { filled, language, t } from "./settings.js";

/** @import { ListGamesRequestJson } from "#api/chatiere/v1/game_service_pb.js" */
/** @typedef {import("./game.js").GameInfo} GameInfo */
/** @typedef {import("./game.js").Game} Game */
/**
 * A game, ready to be drawn.
 * @typedef {object} Room
 * @property {string} name
 * @property {import("./game.js").Field} field  Its name in messages.
 * @property {GameInfo} info
 * @property {import("./game.js").Details<import("./game.js").Field>} details  What is printed on its pieces.
 * @property {Phrases} phrases
 * @property {Game} game
 * @property {import("./game.js").Translate} t
 */

/** @type {Map<string, Promise<unknown>>} */
const asked = new Map();

/** Return the shelf on which the facts about games are kept, in the present language. */
export function shelfOfGames() {
  return `games-${language()}`;
}

/**
 * Ask for facts about games, which are kept.
 * @param {ListGamesRequestJson} request
 */
export function askGames(request) {
  return callOrKept(shelfOfGames(), "GameService/ListGames", request);
}

/**
 * Return the request for all facts about a game that a drawing takes.
 * @param {string} name
 */
export function factsOf(name) {
  return { games: [name], phrases: true, pieces: true };
}

/** List all games: names, numbers of players. */
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
 * Return a game, ready to be drawn.
 * @param {string} name
 * @returns {Promise<Room>}
 */
export function roomOf(name) {
  const spoken = language();
  return once(`room ${name} ${spoken}`, async () => {
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
