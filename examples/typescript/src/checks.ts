// Checks of all updates at a position, in every game.

import type { View, ViewerUpdate } from "../generated/chatiere/v1/game_pb.js";
import { at, given } from "./given.js";
import type { Host } from "./host.js";

/** A seat's hand as a viewer sees it: the number of cards (or tokens), and how many of them the viewer knows. */
interface SeenHand {
  readonly size: number;
  readonly known: number;
}

/** Throw an error if an update does not match the position, or if a view shows more cards than a hand has. */
export function checkUpdates(host: Host): void {
  const players = host.updates.length - 1;
  host.updates.forEach((update, viewer) => {
    const seat = viewer < players ? viewer : undefined;
    const view = given(update.view, "view");
    hold(update.seat === seat && view.seat === seat, "updates are in the order of the seats");
    hold(view.ply === host.ply && view.turn?.seat === host.seat, "a view is of the host's position");
    hold(update.legalActions.length > 0 === (seat !== undefined && seat === host.seat), "only the seat to act has legal actions");
    hold((view.end === undefined) === (host.seat !== undefined), "a view has an end if and only if the game is over");
    hold((view.prompt === undefined) === (host.seat === undefined), "a view has a prompt if and only if a seat is to act");
    checkScore(update, host.seat === undefined);
    checkHands(seenHands(view), seat, players);
  });
}

function checkScore(update: ViewerUpdate, over: boolean): void {
  const { final, totals, winners, ranks } = given(update.score, "score");
  hold(final === over, "the score is final if and only if the game is over");
  if (over) {
    hold(
      totals.every(({ total }) => total !== undefined),
      "all viewers know the final totals",
    );
    hold(winners.length > 0 && winners.every((seat) => ranks[seat] === 1), "the winners are first");
  }
}

function checkHands(hands: SeenHand[], seat: number | undefined, players: number): void {
  hold(hands.length === players, "a view shows every seat");
  hold(
    hands.every(({ size, known }) => known <= size),
    "no viewer knows more cards than the hand has",
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
      throw new Error("the view is of a game that this program does not know");
  }
}

function hold(condition: boolean, promise: string): void {
  if (!condition) {
    throw new Error(`violated: ${promise}`);
  }
}
