// The bots that a player is offered, by strength.

/**
 * A bot that is offered: as the service names it, and what it is called.
 * @typedef {{bot: string, name: string}} Strength
 */
/** @typedef {import("#api/chatiere/v1/bot_service_pb.js").ListBotsResponseJson} ListedBots */
/** @typedef {import("#api/chatiere/v1/bot_service_pb.js").LadderRungJson} LadderRung */

// In seconds.
const HINT_TIME = 0.5;

/**
 * List the bots for a table: the game's ladder, weakest first, then the others that have no parameters.
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
 * Choose who gives hints: the strongest of the ladder that takes half a second at most.
 * @param {ListedBots} listed
 * @param {number} players
 * @returns {Strength}
 */
export function adviserOf({ ladder = [] }, players) {
  const found = ladder.findLast(({ typicalTime = "0s" }) => Number.parseFloat(typicalTime) <= HINT_TIME);
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
