// The keys of Momistigri's cards and seats, and how actions are picked.

import { keysOf, numberOf } from "../../picks.js";
import { seatOf } from "../../views.js";
import { kindOf, phaseOf, TO_PILE } from "./view.js";

/** @typedef {import("./view.js").Context} Context */
/** @typedef {import("#api/chatiere/v1/momistigri_pb.js").MomistigriActionJson} MomistigriAction */

/** Return the key of a kind of card in the viewer's hand. */
export const handKey = keysOf("hand");

/** Return the key of a kind of card on the pile. */
export const pileKey = keysOf("pile");

/** Return the key of a seat. */
export const seatKey = keysOf("seat");

/**
 * Return the numbers of the keys that begin with a prefix.
 * @param {readonly string[]} keys
 * @param {"hand" | "pile" | "seat"} place
 */
export function numbersOf(keys, place) {
  return keys.filter((key) => key.startsWith(`${place}:`)).map(numberOf);
}

/** @type {import("../../game.js").Game<"momistigri">["picks"]} */
export function picks({ momistigri = {} }) {
  const { discardPair, give, nameCard, swapOut, handOut, swapIn } = momistigri;
  if (discardPair) {
    return { keys: (discardPair.cards ?? []).map(handKey) };
  }
  if (give) {
    return { keys: [handKey(give.card), seatKey(give.seat)] };
  }
  const own = nameCard ?? swapOut;
  const piled = handOut ?? swapIn;
  return { keys: own ? [handKey(own.card)] : piled ? [pileKey(piled.card)] : [] };
}

/**
 * @param {readonly string[]} keys
 * @param {Context} context
 * @returns {MomistigriAction | undefined}
 */
export function attempt(keys, context) {
  const cards = numbersOf(keys, "hand");
  const [card] = cards;
  const seat = numbersOf(keys, "seat").at(-1);
  const [piled] = numbersOf(keys, "pile");
  const hand = seatOf(context, context.me ?? 0).handCards ?? [];
  switch (phaseOf(context.view)) {
    case "DISCARD":
    case "AGAIN": {
      // A card that forms no pair is tried with any other card, so that the service explains why.
      const pair =
        cards.length > 1 ? cards.slice(-2) : [...cards, ...hand.filter((kind) => kind !== card).slice(0, 1)];
      return card === undefined || pair.length < 2 ? undefined : { discardPair: { cards: pair } };
    }
    case "NAME":
      return card === undefined ? undefined : { nameCard: { card } };
    case "GIVE":
      return seat === undefined ? undefined : { give: { card: card ?? hand[0] ?? 0, seat } };
    case "SWAP_OUT":
      return card === undefined ? undefined : { swapOut: { card } };
    case "SWAP_IN":
      return piled === undefined ? undefined : { swapIn: { card: piled } };
    case "HAND_OUT":
      return piled === undefined ? undefined : { handOut: { card: piled } };
    default:
      return undefined;
  }
}

/** @type {import("../../game.js").Game<"momistigri", import("./view.js").Remembered>["touched"]} */
export function touched({ momistigri = {} }) {
  return TO_PILE.has(kindOf(momistigri)) ? (momistigri.cards ?? []).map(pileKey) : [];
}
