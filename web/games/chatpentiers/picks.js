// The keys of Chatpentiers' cards and zones, and how actions are picked.

import { keysOf, numberOf } from "../../picks.js";

/** Return the key of a card. */
export const keyOf = keysOf("card");

/** Return the key of a zone of the viewer's castle. */
export const zoneKey = keysOf("zone");

/** @type {import("../../game.js").Game<"chatpentiers">["picks"]} */
export function picks({ chatpentiers = {} }) {
  const { playCard, takeCard = {} } = chatpentiers;
  return playCard
    ? { keys: [keyOf(playCard.card)] }
    : { keys: [keyOf(takeCard.card), zoneKey(takeCard.zone)], ordered: true };
}

/** @type {import("../../game.js").Game<"chatpentiers">["attempt"]} */
export function attempt(keys) {
  const [last = 0, card] = keys.map(numberOf).reverse();
  if (keys.at(-1)?.startsWith("card:")) {
    return { playCard: { card: last } };
  }
  return card === undefined ? undefined : { takeCard: { card, zone: last } };
}

/** @type {import("../../game.js").Game<"chatpentiers">["touched"]} */
export function touched({ chatpentiers: { kind, cards = [] } = {} }) {
  return kind === "CHATPENTIERS_EVENT_KIND_CARD_PLAYED" || kind === "CHATPENTIERS_EVENT_KIND_CARD_TAKEN"
    ? cards.map(keyOf)
    : [];
}
