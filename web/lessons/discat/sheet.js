// The rule sheet of Discat.

import { back, CARD, constraintSign, face } from "../../games/discat/parts.js";
import { digitsOf, pointsUp } from "../../games/discat/view.js";

const SIGN = 150;

/**
 * Return a picture of a card, face up.
 * @param {import("../../games/discat/view.js").Context} context
 * @param {number} card
 */
function open({ view, details }, card) {
  const look = { size: CARD.width, isUp: pointsUp(view, card), ...digitsOf(details, card) };
  return { ...CARD, drawn: face(card, look) };
}

/** @type {import("../sheet.js").Sheet<"discat">} */
export const sheet = {
  pictures: {
    turn: (context) => [
      ...[27, 22].map((card) => open(context, card)),
      { width: SIGN, height: SIGN, drawn: constraintSign(SIGN, "22", context.t("lower"), false) },
    ],
    specials: (context) => [
      { ...CARD, drawn: back(CARD.width, 28) },
      ...[38, 58, 18].map((card) => open(context, card)),
    ],
  },
};
