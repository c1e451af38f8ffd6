// The bots that a player is offered, by strength.

/**
 * A bot that is offered: as the service names it, and what it is called.
 * @typedef {{bot: string, name: string}} Strength
 */
/** @typedef {import("#api/chatiere/v1/bot_service_pb.js").ListBotsResponseJson} ListedBots */

// In seconds.
const HINT_TIME = 0.5;

/**
 * List the bots for a table: the game's ladder, weakest first, then the others that have no parameters.
 * @param {ListedBots} listed
 * @returns {Strength[]}
 */
export function strengthsOf({ ladder = [], bots = [] }) {
  const rungs = new Set(ladder.map(({ bot }) => bot));
  const plain = bots.filter(({ name, parameters = [] }) => parameters.length === 0 && !rungs.has(name));
  return [
    ...ladder.map(({ bot = "", title = "" }) => ({ bot, name: title })),
    ...plain.map(({ name: bot = "", title = "" }) => ({ bot, name: title })),
  ];
}

/**
 * Choose who gives hints: the strongest of the ladder that takes half a second at most.
 * @param {ListedBots} listed
 * @returns {Strength}
 */
export function adviserOf({ ladder = [] }) {
  const found = ladder.findLast(({ typicalTime = "0s" }) => Number.parseFloat(typicalTime) <= HINT_TIME);
  const { bot = "random", title = "" } = found ?? {};
  return { bot, name: title };
}
