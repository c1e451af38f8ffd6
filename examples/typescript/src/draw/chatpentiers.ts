import type { ChatpentiersPieces, ChatpentiersView } from "../../generated/chatiere/v1/chatpentiers_pb.js";
import { at } from "../given.js";
import type { Pieces } from "../pieces.js";
import { ColouredCards } from "./cards.js";

/** Draw the trick, and each seat's hand and board. */
export function drawChatpentiers(view: ChatpentiersView, pieces: Pieces, details: ChatpentiersPieces): string[] {
  const cards = new ColouredCards(details.cards, pieces);
  const tricks = details.byPlayers.find(({ players }) => players === view.seats.length)?.cardsDealt;
  const left = new Set(view.tableCards);
  const shown = (who: string, card: number) => `${who} ${cards.list([card])}${left.has(card) ? "" : " (taken)"}`;
  const trick = view.plays.map(({ seat, card }) => shown(`seat ${seat}:`, card));
  if (view.extraCard !== undefined) {
    trick.push(shown("extra:", view.extraCard));
  }
  const zones = details.zones.filter(({ minPlayers }) => minPlayers <= view.seats.length);
  const boards = view.seats.flatMap(({ handCards, handSize, zones: occupied }, seat) => {
    const board = zones.map(({ zone, section }) => {
      const lying = occupied.find((each) => each.zone === zone)?.cards ?? [];
      const limit = section ? ` of ${at(view.sectionLimits, zone)}` : "";
      return `${pieces.name("zone", zone)}: ${cards.list(lying)} (${lying.length}${limit})`;
    });
    return [`seat ${seat}: ${cards.list(handCards, handSize - handCards.length)}`, `  ${board.join(" | ")}`];
  });
  const leads = view.leader === undefined ? "" : `, led by seat ${view.leader}`;
  return [
    `round ${view.round} of ${details.rounds}, trick ${view.trick} of ${tricks}${leads}`,
    `table ${trick.join(" | ") || "-"}`,
    ...boards,
  ];
}
