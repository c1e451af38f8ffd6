// Functions that read a view of Discat.

import { numberOf } from "../../picks.js";
import { keyOf } from "./picks.js";

/** @import { DiscatViewJson } from "#api/chatiere/v1/discat_pb.js" */

/** @typedef {DiscatViewJson} View */
/** @typedef {import("../../game.js").Context<"discat">} Context */

/**
 * Return the digits of a card.
 * @param {Context["details"]} details
 * @param {number} card
 */
export function digitsOf({ cards = [] }, card) {
  const { tens = 0, units = 0 } = cards[card - 1] ?? {};
  return { tens, units };
}

/**
 * Return true if a card's arrow points up in this game.
 * @param {View} view
 * @param {number} card
 */
export function pointsUp({ upArrows }, card) {
  return (upArrows?.cards ?? []).includes(card);
}

/**
 * Return the seats that have passed since the last play.
 * @param {View} view
 */
export function passedSeats({ passes = 0, turns = [] }) {
  return new Set(passes > 0 ? turns.slice(-passes).map(({ seat }) => seat ?? 0) : []);
}

/**
 * Return the card that would be on top of the pile if the picked cards were played; undefined if they cannot be played.
 * @param {Context} context
 */
export function topOf({ actions, picked }) {
  const tops = actions.flatMap(({ discat }) => {
    const keys = discat?.play?.cards?.map(keyOf) ?? [];
    return keys.length === picked.length && keys.every((key) => picked.includes(key)) ? keys.slice(-1) : [];
  });
  const top = tops.find((key) => key === picked.at(-1)) ?? tops[0];
  return top === undefined ? undefined : numberOf(top);
}
