// Cards as text.

import { given } from "../given.js";
import type { Pieces } from "../pieces.js";

/** A card with a value. In some games, it also has a colour. */
interface ColouredCard {
  readonly card: number;
  readonly colour?: number | undefined;
  readonly value: number;
}

/** Cards of several colours, by number. */
export class ColouredCards {
  private readonly printed: ReadonlyMap<number, ColouredCard>;

  constructor(
    cards: readonly ColouredCard[],
    private readonly pieces: Pieces,
  ) {
    this.printed = new Map(cards.map((each) => [each.card, each]));
  }

  /** Return cards as text, grouped by colour, followed by `unknown` question marks. */
  list(cards: readonly number[], unknown = 0): string {
    const groups = new Map<string, number[]>();
    for (const card of cards) {
      const { colour, value } = given(this.printed.get(card), `card ${card}`);
      const group = colour === undefined ? this.pieces.name("card", card) : this.pieces.name("colour", colour);
      groups.set(group, [...(groups.get(group) ?? []), value]);
    }
    const known = [...groups].map(([group, values]) => `${group} ${values.join(" ")}`);
    return spread(known, unknown, ", ");
  }
}

/** Return the cards that a viewer knows, followed by `unknown` question marks. Return "-" if there are no cards. */
export function spread(known: readonly string[], unknown: number, separator = " "): string {
  return [...known, ...Array<string>(unknown).fill("?")].join(separator) || "-";
}
