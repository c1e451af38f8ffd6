// Chatpentiers' drawing: castles built of the cards that are taken in tricks.

import { does } from "./captions.js";
import { layoutOf } from "./layout.js";
import { attempt, picks, touched } from "./picks.js";
import { handItems, seatItems } from "./seats.js";
import { tableItems } from "./table.js";
import { breakdown, isMoment, prompt, summary } from "./text.js";
import { words } from "./words.js";

/** @type {import("../../game.js").Game<"chatpentiers">["draw"]} */
function draw(context) {
  const layout = layoutOf(context);
  const items = [seatItems, tableItems, handItems].flatMap((itemsOf) => itemsOf(context, layout));
  return { width: context.width, height: layout.height, items };
}

/** @type {import("../../game.js").Game<"chatpentiers">} */
export const game = {
  words,
  does,
  draw,
  picks,
  attempt,
  touched,
  prompt,
  summary,
  breakdown,
  isMoment,
};
