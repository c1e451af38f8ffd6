// Explains each item of Chatpentiers' table.

import { numberOf } from "../../picks.js";

/** @type {import("../../game.js").Game<"chatpentiers">["does"]} */
export function does({ key }, { view, details, t }) {
  const [kind, , zone] = key.split(":");
  switch (kind) {
    case "card":
      return t(cardDoes(numberOf(key), view));
    case "zone": {
      const which = (details.zones ?? []).find((each) => (each.zone ?? 0) === Number(zone));
      return t(which?.section ? "does-zone" : "does-zero");
    }
    case "plate":
      return t("does-plate");
    case "slot":
      return t("does-slot");
    case "discards":
      return t("does-out");
    default:
      return undefined;
  }
}

/**
 * Return the key of the text that explains a card at its place.
 * @param {number} card
 * @param {import("./view.js").View} view
 */
function cardDoes(card, { extraCard, tableCards = [], discards = [], seats = [] }) {
  if (card === extraCard) {
    return "does-extra";
  }
  if (tableCards.includes(card)) {
    return "does-trick";
  }
  if (discards.includes(card)) {
    return "does-out";
  }
  const isBuilt = seats.some(({ zones = [] }) => zones.some(({ cards = [] }) => cards.includes(card)));
  return isBuilt ? "does-zone" : "does-hand";
}
