// Chat Cartonne's drawing: cardboard boxes that grow on a board, and the cats in them.

import { drawerOf } from "../../game.js";
import { does } from "./captions.js";
import { layoutOf } from "./layout.js";
import { attempt, picks, touched } from "./picks.js";
import { handItems, seatItems } from "./seats.js";
import { tableItems } from "./table.js";
import { breakdown, isMoment, nameOf, prompt, summary } from "./text.js";

/** @typedef {import("./view.js").Remembered} Remembered */

const draw = drawerOf(layoutOf, [tableItems, seatItems, handItems]);

/** @type {import("../../game.js").Game<"chatCartonne", Remembered>} */
export const game = {
  does,
  draw,
  picks,
  attempt,
  touched,
  prompt,
  summary,
  breakdown,
  isMoment,
  nameOf,
};
