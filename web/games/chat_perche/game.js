// Chat perché's drawing: a tree, its branches with their tokens, cats, birds, the dogs below and both decks.

import { drawerOf } from "../../game.js";
import { does } from "./captions.js";
import { layoutOf } from "./layout.js";
import { attempt, picks, touched } from "./picks.js";
import { handItems, seatItems } from "./seats.js";
import { tableItems } from "./table.js";
import { breakdown, isMoment, prompt, summary } from "./text.js";

/** @typedef {import("./view.js").Remembered} Remembered */

const draw = drawerOf(layoutOf, [tableItems, handItems, seatItems]);

/** @type {import("../../game.js").Game<"chatPerche", Remembered>} */
export const game = { does, draw, picks, attempt, touched, prompt, summary, breakdown, isMoment };
