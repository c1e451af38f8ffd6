// The rule sheet of Chatpentiers.

import { s } from "../../dom.js";
import { card } from "../../games/chatpentiers/parts.js";

const CARD = { width: 84, height: 118 };
// The rulebook's trick in the order of rank: red 2, grey 12, green 9 and grey 9.
const TRICK = [25, 11, 20, 8];
// Five cards of a section whose limit is three.
const CROWDED = [24, 25, 26, 27, 28];

/**
 * Return things that show cards.
 * @param {import("../../game.js").Context<"chatpentiers">} context
 * @param {readonly number[]} numbers
 */
function cards(context, numbers) {
  const how = { x: 0, y: 0, width: CARD.width, layer: 0, label: "", pick: false };
  return numbers.map((number) => {
    const { draw, scale = 1 } = card(context, number, how);
    return { ...CARD, drawn: s("g", { transform: `scale(${scale})` }, draw()) };
  });
}

/** @type {import("../sheet.js").Sheet<"chatpentiers">} */
export const sheet = {
  pictures: {
    turn: (context) => cards(context, TRICK),
    score: (context) => cards(context, CROWDED),
  },
};
