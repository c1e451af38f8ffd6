// What must hold of all updates at a position, whatever the game.

import type { View, ViewerUpdate } from "../generated/chatiere/v1/game_pb.js";
import { at, given } from "./given.js";
import type { Host } from "./host.js";

/** A seat's hand as a viewer sees it: its size, and how many of its cards (or tokens) the viewer knows. */
interface SeenHand {
  readonly size: number;
  readonly known: number;
}

/** Throw unless the updates agree with the position, and tell nobody of more than there is. */
export function checkUpdates(host: Host): void {
  const players = host.updates.length - 1;
  host.updates.forEach((update, viewer) => {
    const seat = viewer < players ? viewer : undefined;
    const view = given(update.view, "view");
    hold(update.seat === seat && view.seat === seat, "the updates are in the order of the seats");
    hold(view.ply === host.ply && view.turn?.seat === host.seat, "a view is of the host's position");
    hold(update.legalActions.length > 0 === (seat !== undefined && seat === host.seat), "who decides, chooses");
    hold((view.end === undefined) === (host.seat !== undefined), "an end has a reason");
    hold((view.prompt === undefined) === (host.seat === undefined), "who decides, is told what");
    checkScore(update, host.seat === undefined);
    checkHands(seenHands(view), seat, players);
  });
}

function checkScore(update: ViewerUpdate, over: boolean): void {
  const { final, totals, winners, ranks } = given(update.score, "score");
  hold(final === over, "the score is final when the game is over");
  if (over) {
    hold(
      totals.every(({ total }) => total !== undefined),
      "everybody knows the final totals",
    );
    hold(winners.length > 0 && winners.every((seat) => ranks[seat] === 1), "the winners are first");
  }
}

function checkHands(hands: SeenHand[], seat: number | undefined, players: number): void {
  hold(hands.length === players, "a view shows every seat");
  hold(
    hands.every(({ size, known }) => known <= size),
    "nobody knows more cards than there are",
  );
  if (seat !== undefined) {
    const { size, known } = at(hands, seat);
    hold(size === known, "a seat knows its own hand");
  }
}

function seenHands({ game }: View): SeenHand[] {
  switch (game.case) {
    case "discat":
    case "momistigri":
    case "chatpentiers":
    case "chatCartonne":
      return game.value.seats.map(({ handSize, handCards }) => ({ size: handSize, known: handCards.length }));
    case "chatPerche":
      return game.value.seats.map(({ unplacedTokens, unplacedSolidity }) => ({ size: unplacedTokens, known: unplacedSolidity.length }));
    case undefined:
      throw new Error("a view of a game that this program does not know");
  }
}

function hold(condition: boolean, promise: string): void {
  if (!condition) {
    throw new Error(`this does not hold: ${promise}`);
  }
}
