// Discat's drawing: chains of cards with two digits, and the sign that shows the constraint.

import { does } from "./captions.js";
import { layoutOf } from "./layout.js";
import { attempt, picks, touched } from "./picks.js";
import { handItems, seatItems } from "./seats.js";
import { tableItems } from "./table.js";
import { breakdown, isMoment, prompt, summary } from "./text.js";
import { words } from "./words.js";

/** @type {import("../../game.js").Game<"discat">["draw"]} */
function draw(context) {
  const layout = layoutOf(context);
  const items = [tableItems, handItems, seatItems].flatMap((itemsOf) => itemsOf(context, layout));
  return { width: context.width, height: layout.height, items };
}

/** @type {import("../../game.js").Game<"discat">} */
export const game = {
  words,
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
