// Discat's drawing: chains of cards with two digits, and the sign that shows the constraint.

import { drawerOf } from "../../game.js";
import { does } from "./captions.js";
import { layoutOf } from "./layout.js";
import { attempt, picks, touched } from "./picks.js";
import { handItems, seatItems } from "./seats.js";
import { tableItems } from "./table.js";
import { breakdown, isMoment, prompt, summary } from "./text.js";

const draw = drawerOf(layoutOf, [tableItems, handItems, seatItems]);

/** @type {import("../../game.js").Game<"discat">} */
export const game = {
  does,
  draw,
  picks,
  confirms: true,
  attempt,
  touched,
  prompt,
  summary,
  breakdown,
  isMoment,
};
