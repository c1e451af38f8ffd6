// The bots that players can choose, by strength.

/**
 * A bot that players can choose: the service's name of the bot, and the name for players.
 * @typedef {{bot: string, name: string}} Strength
 */
/** @typedef {import("#api/chatiere/v1/bot_service_pb.js").ListBotsResponseJson} ListedBots */
/** @typedef {import("#api/chatiere/v1/bot_service_pb.js").LadderRungJson} LadderRung */

// The maximum time for a bot's hint, in seconds.
const HINT_TIME = 0.5;

/**
 * List the bots for a table: the game's ladder from the weakest to the strongest, then the other bots without
 * parameters.
 * @param {ListedBots} listed
 * @param {number} players
 * @returns {Strength[]}
 */
export function strengthsOf({ ladder = [], bots = [] }, players) {
  const rungs = ladder.map((rung) => strengthOf(rung, players));
  const plain = bots.filter(
    ({ name, parameters = [] }) => parameters.length === 0 && !rungs.some(({ bot }) => bot === name),
  );
  return [...rungs, ...plain.map(({ name: bot = "", title = "" }) => ({ bot, name: title }))];
}

/**
 * Return the bot that gives hints: the strongest bot of the ladder whose decisions take at most HINT_TIME.
 * @param {ListedBots} listed
 * @param {number} players
 * @returns {Strength}
 */
export function adviserOf({ ladder = [] }, players) {
  const found = ladder.findLast(({ typicalTime = "0s" }) => Number.parseFloat(typicalTime) <= HINT_TIME);
  return found ? strengthOf(found, players) : { bot: "random", name: "" };
}

/**
 * Return the bot of the game of the day: the middle of the ladder.
 * @param {ListedBots} listed
 * @param {number} players
 * @returns {Strength}
 */
export function middleOf({ ladder = [] }, players) {
  const found = ladder[ladder.length >> 1];
  return found ? strengthOf(found, players) : { bot: "random", name: "" };
}

/**
 * @param {LadderRung} rung
 * @param {number} players
 * @returns {Strength}
 */
function strengthOf({ bot = "", title = "", botsByPlayers = {} }, players) {
  return { bot: botsByPlayers[players] ?? bot, name: title };
}
