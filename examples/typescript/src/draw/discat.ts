import type { DiscatPileCard, DiscatView } from "../../generated/chatiere/v1/discat_pb.js";
import { spread } from "./cards.js";

/** Draw hands, personal piles and the draw pile. A card is drawn as its number and the direction of its arrows. */
export function drawDiscat(view: DiscatView): string[] {
  const up = new Set(view.upArrows?.cards);
  const card = (number: number) => `${number}${up.has(number) ? "↑" : "↓"}`;
  const topOf = (pile: readonly DiscatPileCard[]) => {
    const top = pile.at(-1);
    return top === undefined ? "-" : top.faceDown ? "face down" : card(top.card);
  };
  const lines = view.seats.map(({ handSize, handCards, pile, bonusPile }, seat) => {
    const hand = spread(handCards.map(card), handSize - handCards.length);
    return `seat ${seat}: ${hand} | pile of ${pile.length}: ${topOf(pile)} | bonus pile of ${bonusPile.length}`;
  });
  const queue = view.queue.map((queued) => (queued.card === undefined ? "?" : card(queued.card)));
  lines.push(`draw pile of ${view.drawPileSize}, under it ${spread(queue, 0)}`);
  if (view.constraint !== undefined) {
    const { card: number, higher, creator } = view.constraint;
    lines.push(`to be ${higher ? "higher" : "lower"} than ${card(number)} of seat ${creator}`);
  }
  return lines;
}
