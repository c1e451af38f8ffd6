// Views as text, using only data from the API.

import type { View } from "../../generated/chatiere/v1/game_pb.js";
import type { Pieces } from "../pieces.js";
import { drawChatCartonne } from "./chat_cartonne.js";
import { drawChatPerche } from "./chat_perche.js";
import { drawChatpentiers } from "./chatpentiers.js";
import { drawDiscat } from "./discat.js";
import { drawMomistigri } from "./momistigri.js";

/** Return a view as lines of text. */
export function draw({ game }: View, pieces: Pieces): string[] {
  switch (game.case) {
    case "discat":
      return drawDiscat(game.value);
    case "chatpentiers":
      return drawChatpentiers(game.value, pieces, pieces.details(game.case));
    case "momistigri":
      return drawMomistigri(game.value, pieces, pieces.details(game.case));
    case "chatCartonne":
      return drawChatCartonne(game.value, pieces, pieces.details(game.case));
    case "chatPerche":
      return drawChatPerche(game.value, pieces, pieces.details(game.case));
    case undefined:
      throw new Error("the view is of a game that this program does not know");
  }
}
