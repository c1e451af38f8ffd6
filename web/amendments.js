// Describes amendments of a table: new holders of seats, and decisions taken back.

import { nameOfSeat } from "./seat_names.js";
import { t } from "./settings.js";

/** @typedef {import("./shared/sealed_table.js").Amendment} Amendment */
/** @typedef {import("./strengths.js").Strength} Strength */

/**
 * Return true if the holder of a seat gives the seat to a bot.
 * @param {Amendment | undefined} amendment
 */
export function isResignation(amendment) {
  const { asker, replacement } = amendment ?? {};
  return replacement !== undefined && replacement.seat === asker && replacement.holder.bot !== undefined;
}

/**
 * Return the text of an amendment: a sentence that does not begin with a capital letter.
 * @param {Amendment} amendment
 * @param {readonly Strength[]} strengths
 * @param {Record<string, string>} names the names of persons, by the SHA-256 of their secrets
 */
export function amendmentText(amendment, strengths, names = {}) {
  const { replacement, takeBack } = amendment;
  if (!replacement) {
    return t("goes-back", { ply: takeBack?.ply ?? 0 });
  }
  const { seat, holder, before } = replacement;
  const name = names[before.secretSha256 ?? ""] ?? nameOfSeat(seat);
  if (holder.bot === undefined) {
    const returns = before.bot === undefined ? undefined : names[holder.secretSha256 ?? ""];
    return returns === undefined ? t("person-replaces", { name }) : t("plays-again", { name: returns });
  }
  return t(isResignation(amendment) ? "resigns" : "bot-replaces", {
    name,
    bot: nameOfBot(holder.bot, strengths),
  });
}

/**
 * Return the name of a bot.
 * @param {string} bot
 * @param {readonly Strength[]} strengths
 */
export function nameOfBot(bot, strengths) {
  return strengths.find((each) => each.bot === bot)?.name ?? bot;
}
