// What a click on the table means: a pick, an action, an attempt or an explanation. This module needs no document.

import { follow, pick } from "./picks.js";
import { nameOfSeat } from "./seat_names.js";
import { t } from "./settings.js";
import { sentence } from "./texts.js";

/** @typedef {import("./game.js").Action} Action */
/** @typedef {import("./game.js").Context} Context */
/** @typedef {import("./game.js").Item} Item */
/** @typedef {import("./kit.js").GameKit} GameKit */
/** @typedef {import("./picks.js").Option} Option */
/**
 * The meaning of a click on a key: further keys are picked, a legal action is chosen, an illegal action is tried so that
 * the service explains why it is illegal, or a text says what to do first. Undefined if the item has to be explained.
 * @typedef {{picked: string[]} | {picked: string[], action: Action} | {tried: Action} | {told: string} | undefined} Click
 */

/**
 * Return the legal actions that can be picked, with their keys.
 * @param {GameKit} kit
 * @param {Context} context
 * @returns {Option[]}
 */
export function optionsOf(kit, context) {
  return context.actions.flatMap((action) => {
    const picks = kit.game.picks(action, context);
    return picks ? [{ action, picks }] : [];
  });
}

/**
 * Return the meaning of a click on a key.
 * @param {GameKit} kit
 * @param {Context} context
 * @param {readonly Option[]} options
 * @param {string} key
 * @returns {Click}
 */
export function clicked(kit, context, options, key) {
  const before = context.picked;
  const picked = pick(options, before, key);
  if (picked !== undefined) {
    const { complete, hasMore } = follow(options, picked);
    const [action] = complete;
    return action && picked.length > 0 && !hasMore && !kit.game.confirms ? { picked, action } : { picked };
  }
  if (before.length === 0 && isLater(options, key)) {
    return { told: kit.t("pick-first") };
  }
  const part = kit.game.attempt([...before, key], context);
  return part && { tried: { [kit.field]: part } };
}

/**
 * Return true if actions need a key, but only after another one.
 * @param {readonly Option[]} options
 * @param {string} key
 */
function isLater(options, key) {
  return options.some(({ picks: { keys, ordered } }) => ordered && keys.indexOf(key) > 0);
}

/**
 * Return the name and the purpose of an item; undefined for an ornament.
 * @param {GameKit} kit
 * @param {Context} context
 * @param {Item | undefined} item
 */
export function captionOf(kit, context, item) {
  return item?.label ? { name: item.label, does: kit.game.does(item, context) } : undefined;
}

/**
 * Explain why an item cannot be picked. The explanation names the item and its purpose, and repeats the prompt.
 * @param {GameKit} kit
 * @param {Context} context
 * @param {Item | undefined} item the item, or undefined for an empty place
 */
export function explained(kit, context, item) {
  const { name, does } = captionOf(kit, context, item) ?? { name: undefined, does: undefined };
  const why = name === undefined ? t("nothing-here") : t("not-now", { name });
  return [why, does, promptOf(kit, context)].flatMap((text) => (text ? sentence(text) : [])).join(" ");
}

/**
 * Return the prompt: whose turn it is and what to do, or the end of the game.
 * @param {GameKit} kit
 * @param {Context} context
 */
export function promptOf({ game, phrases }, context) {
  const { end, prompt = {} } = context.update.view ?? {};
  if (end) {
    return phrases.write(end);
  }
  if (context.actions.length > 0) {
    return game.prompt(context) ?? t("your-turn", { what: phrases.write(prompt) });
  }
  return context.turn === undefined ? "" : t("turn-of", { name: nameOfSeat(context.turn) });
}
