import type { MomistigriPieces, MomistigriView } from "../../generated/chatiere/v1/momistigri_pb.js";
import type { Pieces } from "../pieces.js";
import { ColouredCards } from "./cards.js";

/** Draw the known cards of the hands, the penalties and the discard pile. */
export function drawMomistigri(view: MomistigriView, pieces: Pieces, details: MomistigriPieces): string[] {
  const cards = new ColouredCards(details.cards, pieces);
  const way = view.reversed ? "counter-clockwise" : "clockwise";
  const seats = view.seats.map(({ handCards, handSize, inRound, passMark, roundPoints }, seat) => {
    const hand = inRound ? cards.list(handCards, handSize - handCards.length) : "out of the round";
    return `seat ${seat}${passMark ? " (passed)" : ""}: ${hand} | penalties ${roundPoints.join(" + ") || "-"}`;
  });
  const effect = details.effects.find(({ value }) => value === view.pairValue);
  return [
    `round ${view.round}, turn ${view.turn} of at most ${details.lastTurn}, ${way}`,
    ...seats,
    `pile ${cards.list(view.discards)}`,
    ...(effect === undefined ? [] : [`a pair of ${effect.value}: ${effect.description}, or turn round`]),
  ];
}
