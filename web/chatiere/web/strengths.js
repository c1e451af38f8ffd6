// The bots that a player is offered, by strength.

import { t } from "./settings.js";

/**
 * A bot that is offered: as the service names it, what it is called, and both.
 * @typedef {{bot: string, name: string, label: string}} Strength
 */
/** @typedef {import("#api/chatiere/v1/bot_service_pb.js").BotInfoJson} BotInfo */

// For bots that search: a quick one and a strong one, both within what a table allows.
const SIMULATIONS = [100, 2000];
/** @type {readonly ("kitten" | "house-cat" | "hunter" | "tiger")[]} */
const RANKS = ["kitten", "house-cat", "hunter", "tiger"];

/**
 * List the bots for a table, weakest first: those without a budget, then those that search.
 * @param {readonly BotInfo[]} bots
 * @returns {Strength[]}
 */
export function strengthsOf(bots) {
  const plain = bots.filter(({ parameters = [] }) => parameters.length === 0);
  const searching = bots.filter(({ parameters = [] }) =>
    parameters.some(({ name }) => name === "simulations"),
  );
  const found = [
    ...plain.map(({ name: bot = "", title = "" }) => ({ bot, title })),
    ...searching.flatMap(({ name, title }) =>
      SIMULATIONS.map((count) => ({ bot: `${name}:simulations=${count}`, title: `${title} ${count}` })),
    ),
  ];
  return found.map(({ bot, title }, index) => {
    const rank = RANKS[index];
    const name = rank ? t(rank) : title;
    return { bot, name, label: rank ? `${name} · ${title}` : title };
  });
}
