// The keys of Chatpentiers' cards and zones, and how actions are picked.

/**
 * Return the key of a card.
 * @param {number} card
 */
export function keyOf(card) {
  return `card:${card}`;
}

/**
 * Return the key of a zone of the viewer's castle.
 * @param {number} zone
 */
export function zoneKey(zone) {
  return `zone:${zone}`;
}

/**
 * Return the number of the card or zone of a key.
 * @param {string} key
 */
export function numberOf(key) {
  return Number(key.replace(/\D+/, ""));
}

/** @type {import("../../game.js").Game<"chatpentiers">["picks"]} */
export function picks({ chatpentiers = {} }) {
  const { playCard, takeCard = {} } = chatpentiers;
  return playCard
    ? { keys: [keyOf(playCard.card ?? 0)] }
    : { keys: [keyOf(takeCard.card ?? 0), zoneKey(takeCard.zone ?? 0)], ordered: true };
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
