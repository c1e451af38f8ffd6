// Explains each item of Discat's table.

import { numberOf } from "../../picks.js";
import { pointsUp } from "./view.js";

/** @type {Readonly<Record<string, string>>} */
const DOES = { draw: "does-draw", sign: "does-sign", queue: "does-queue", panel: "does-panel" };

/** @type {import("../../game.js").Game<"discat">["does"]} */
export function does({ key }, { view, t }) {
  const [kind = ""] = key.split(":");
  if (kind !== "card") {
    const word = DOES[kind];
    return word && t(word);
  }
  const card = numberOf(key);
  const isBonus = (view.seats ?? []).some(({ bonusPile = [] }) => bonusPile.includes(card));
  return t(isBonus ? "does-bonus" : pointsUp(view, card) ? "does-up" : "does-down");
}
