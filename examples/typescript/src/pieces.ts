// A game's pieces, from ListGames.

import type { GameInfo, Pieces as PieceDetails } from "../generated/chatiere/v1/game_pb.js";
import { given } from "./given.js";

/** The languages of the service. */
export const LANGUAGES = ["en", "fr"] as const;
export type Language = (typeof LANGUAGES)[number];

type Details = PieceDetails["game"];
type DetailsOf<Game> = Extract<Details, { case: Game }>["value"];

/** The pieces of a game, named in the language of `info`. */
export class Pieces {
  private readonly names = new Map<string, string>();
  private readonly printed: Details;

  constructor(info: GameInfo) {
    for (const { kind, number, name } of info.pieces) {
      this.names.set(`${kind} ${number}`, name);
    }
    this.printed = given(info.pieceDetails, `pieceDetails of ${info.name}`).game;
  }

  /** Return the name of the piece with a number. Throws if no piece has this number. */
  name(kind: string, number: number): string {
    return given(this.names.get(`${kind} ${number}`), `${kind} ${number}`);
  }

  /** Return the values printed on the pieces. Throws if the pieces belong to a game other than `game`. */
  details<Game extends Details["case"]>(game: Game): DetailsOf<Game> {
    if (this.printed.case !== game) {
      throw new Error(`these are the pieces of ${this.printed.case}, not of ${game}`);
    }
    // The compiler cannot narrow the value's type by comparing a type parameter.
    return this.printed.value as DetailsOf<Game>;
  }
}
