// The rule sheet of Momistigri.

import { handCard } from "../../games/momistigri/parts.js";
import { effectOf, lookOf } from "../../games/momistigri/view.js";

const CARD = { width: 84, height: 118 };
// Numbers of kinds of card (9 × colour + value − 1): a 3 and a 6 of one colour, two 4s of different colours, and the
// Momistigri.
const [OF_COLOUR, OF_VALUE, MOMISTIGRI] = [[2, 5], [3, 21], [45]];

/**
 * Return things that show cards.
 * @param {import("../../game.js").Context<"momistigri">} context
 * @param {readonly number[]} kinds
 */
function cards(context, kinds) {
  return kinds.map((kind) => {
    const look = lookOf(context, kind);
    const drawn = handCard(look, CARD.width, CARD.height, effectOf(context, look.value));
    return { ...CARD, drawn };
  });
}

/** @type {import("../sheet.js").Sheet<"momistigri">} */
export const sheet = {
  pictures: {
    turn: (context) => cards(context, [...OF_COLOUR, ...OF_VALUE]),
    specials: (context) => cards(context, MOMISTIGRI),
  },
};
