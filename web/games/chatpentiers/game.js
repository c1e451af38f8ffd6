// Chatpentiers' drawing: castles built of the cards that are taken in tricks.

import { drawerOf } from "../../game.js";
import { does } from "./captions.js";
import { layoutOf } from "./layout.js";
import { attempt, picks, touched } from "./picks.js";
import { handItems, seatItems } from "./seats.js";
import { tableItems } from "./table.js";
import { breakdown, isMoment, prompt, summary } from "./text.js";

const draw = drawerOf(layoutOf, [seatItems, tableItems, handItems]);

/** @type {import("../../game.js").Game<"chatpentiers">} */
export const game = { does, draw, picks, attempt, touched, prompt, summary, breakdown, isMoment };
