// The keys of Discat's cards, and how actions are picked.

import { keysOf, numberOf } from "../../picks.js";

/** Return the key of a card. */
export const keyOf = keysOf("card");

/** @type {import("../../game.js").Game<"discat">["picks"]} */
export function picks({ discat }) {
  if (discat?.play) {
    return { keys: (discat.play.cards ?? []).map(keyOf) };
  }
  return { keys: discat?.exchange ? [keyOf(discat.exchange.card)] : [] };
}

/** @type {import("../../game.js").Game<"discat">["attempt"]} */
export function attempt(keys, { view }) {
  const cards = keys.map(numberOf);
  const [last = 0] = cards.slice(-1);
  return view.phase === "DISCAT_PHASE_PASS" ? { exchange: { card: last } } : { play: { cards } };
}

/** @type {import("../../game.js").Game<"discat">["touched"]} */
export function touched({ discat: { kind, cards = [] } = {} }) {
  return kind === "DISCAT_EVENT_KIND_CARDS_PLAYED" ? cards.map(keyOf) : [];
}
