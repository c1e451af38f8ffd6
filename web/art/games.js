// The pictures of the games on the start page, 320 × 180 pixels, made from the same drawings as the games.

import { s } from "../dom.js";
import { cardFace, suitColours, suitSymbol } from "./cards.js";
import { catCurled, catFace, catPeeking, catPerched, catSitting } from "./cats.js";
import {
  arrowDown,
  arrowUp,
  ball,
  bird,
  cardboardBox,
  dog,
  fish,
  momistigri,
  mouse,
  tower,
} from "./pieces.js";
import { at, group, placed } from "./shapes.js";

/** @type {Record<string, () => SVGElement[]>} */
const PICTURES = {
  chatpentiers: () => [
    ground("var(--suit-soft-1)"),
    at(70, 96, tower(130)),
    at(250, 106, tower(104)),
    at(72, 34, catSitting(0, 56)),
    at(252, 58, catSitting(3, 44)),
    ...[0, 1, 2].map((suit) =>
      placed(
        136 + 28 * suit,
        112 - 6 * (suit % 2),
        1,
        -14 + 14 * suit,
        cardFace(46, 66, {
          corner: String(3 + 2 * suit),
          ...suitColours(suit),
          soft: "var(--card)",
          motif: suitSymbol(suit, 24),
        }),
      ),
    ),
  ],
  momistigri: () => [
    ground("var(--suit-soft-3)"),
    ...[0, 1, 2, 3, 4].map((suit) =>
      placed(
        64 + 48 * suit,
        112 + 7 * Math.abs(suit - 2),
        1,
        -20 + 10 * suit,
        cardFace(64, 92, {
          corner: suit === 2 ? "M" : String(suit + 1),
          ...suitColours(suit),
          soft: "var(--card)",
          motif: suit === 2 ? momistigri(54) : suitSymbol(suit, 30),
        }),
      ),
    ),
  ],
  discat: () => [
    ground("var(--suit-soft-0)"),
    placed(92, 98, 1, -8, cardFace(84, 118, { big: "18", motif: at(0, 38, arrowDown(24)) })),
    placed(206, 94, 1, 7, cardFace(84, 118, { big: "33", motif: at(0, 38, arrowUp(24)) })),
    at(276, 140, catSitting(1, 72)),
  ],
  chat_cartonne: () => [
    ground("var(--suit-soft-4)"),
    at(96, 112, cardboardBox(120)),
    at(96, 62, catPeeking(4, 76)),
    at(222, 118, catCurled(0, 84)),
    at(180, 50, mouse(34)),
    at(246, 50, ball(34)),
    at(294, 84, fish(34)),
  ],
  chat_perche: () => [
    ground("var(--suit-soft-2)"),
    s("path", { d: "M150 180 C156 130 150 70 158 0 H182 C176 70 186 130 190 180Z", fill: "var(--bark)" }),
    s("path", { d: "M160 96 C120 90 80 84 40 88 L40 96 C84 94 124 104 162 110Z", fill: "var(--bark)" }),
    s("path", { d: "M178 66 C220 56 260 56 296 62 L296 69 C258 66 222 70 180 82Z", fill: "var(--bark)" }),
    at(84, 66, catPerched(0, 62)),
    at(240, 38, catPerched(1, 62)),
    at(284, 46, bird(30)),
    at(54, 150, dog(58)),
  ],
};

/**
 * Return the picture of a game.
 * @param {string} name
 */
export function pictureOf(name) {
  return group(PICTURES[name]?.() ?? [ground("var(--surface-2)"), at(160, 90, catFace(0, 100))]);
}

/** @param {string} fill */
function ground(fill) {
  return s("rect", { width: 320, height: 180, fill });
}
