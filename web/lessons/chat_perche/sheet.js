// The rule sheet of Chat perché.

import { solidityToken, turnedUp } from "../../games/chat_perche/parts.js";

const CARD = { width: 84, height: 116 };
const TOKEN = 52;
// The numbers of these cards: "one own cat, 4 steps", "two own cats, 5", "the opponent's cat falls", "bird", "dogs, 2".
const SHOWN = [8, 27, 4, 2, 1];

/** @type {import("../sheet.js").Sheet<"chatPerche">} */
export const sheet = {
  pictures: {
    turn: ({ details }) =>
      SHOWN.map((number) => {
        const card = details.cards?.[number] ?? {};
        return { ...CARD, drawn: turnedUp(card, 0, CARD.width, String(card.value ?? "")) };
      }),
    specials: () =>
      [1, 2, 3, 4].map((solidity) => ({
        width: TOKEN,
        height: TOKEN,
        drawn: solidityToken(0, String(solidity), TOKEN),
      })),
  },
};
