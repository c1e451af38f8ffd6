import type { MomistigriPieces, MomistigriView } from "../../generated/chatiere/v1/momistigri_pb.js";
import type { Pieces } from "../pieces.js";
import { ColouredCards } from "./cards.js";

/** Draw the hands as far as they are known, the penalties and the discard pile. */
export function drawMomistigri(view: MomistigriView, pieces: Pieces, details: MomistigriPieces): string[] {
  const cards = new ColouredCards(details.cards, pieces);
  const way = view.reversed ? "counter-clockwise" : "clockwise";
  const seats = view.seats.map(({ knownCards, handSize, inRound, passed, penalties }, seat) => {
    const hand = inRound ? cards.list(knownCards, handSize - knownCards.length) : "out of the round";
    return `seat ${seat}${passed ? " (passed)" : ""}: ${hand} | penalties ${penalties.join(" + ") || "-"}`;
  });
  const effect = details.effects.find(({ value }) => value === view.effect);
  return [
    `round ${view.round}, turn ${view.turn} of at most ${details.lastTurn}, ${way}`,
    ...seats,
    `pile ${cards.list(view.pile)}`,
    ...(effect === undefined ? [] : [`a pair of ${effect.value}: ${effect.name}, or turn round`]),
  ];
}
