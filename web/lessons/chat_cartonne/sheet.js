// The rule sheet of Chat Cartonne.

import { group } from "../../art/shapes.js";
import { s } from "../../dom.js";
import {
  awakeCat,
  cartonCard,
  princessCard,
  sleeperCard,
  toyOnJoint,
} from "../../games/chat_cartonne/parts.js";
import { cardOf } from "../../games/chat_cartonne/view.js";

const SIZE = 100;
// The numbers of three kinds of card: a wall in the north and a mouse, walls around a mouse and a ball, and two mice as
// toys.
const [LEFT, RIGHT, TOYS] = [11, 68, 72];

/** @type {import("../sheet.js").Sheet<"chatCartonne">} */
export const sheet = {
  pictures: {
    turn: (context) => {
      const card = (/** @type {number} */ kind) => cardOf(context, kind);
      const beside = (/** @type {number} */ side, /** @type {SVGElement} */ drawn) =>
        s("g", { transform: `translate(${(side * SIZE) / 2} 0)` }, drawn);
      const both = [
        beside(-1, cartonCard(SIZE, card(LEFT))),
        beside(1, cartonCard(SIZE, card(RIGHT))),
        awakeCat(0),
      ];
      return [{ width: 2 * SIZE, height: SIZE, drawn: group(both) }];
    },
    specials: (context) => [
      { width: SIZE, height: SIZE, drawn: sleeperCard(SIZE, 0) },
      { width: SIZE, height: SIZE, drawn: toyOnJoint(cardOf(context, TOYS)) },
      { width: SIZE, height: SIZE, drawn: princessCard(SIZE) },
    ],
  },
};
