// Momistigri's drawing: hands, and the mat of discarded cards with a ring that shows who draws from whom.

import { drawerOf } from "../../game.js";
import { does } from "./captions.js";
import { layoutOf } from "./layout.js";
import { attempt, picks, touched } from "./picks.js";
import { handItems, seatItems } from "./seats.js";
import { tableItems } from "./table.js";
import { breakdown, isMoment, prompt, summary } from "./text.js";

/** @typedef {import("./view.js").Remembered} Remembered */

const draw = drawerOf(layoutOf, [tableItems, handItems, seatItems]);

/** @type {import("../../game.js").Game<"momistigri", Remembered>} */
export const game = { does, draw, picks, attempt, touched, prompt, summary, breakdown, isMoment };
