// The service's phrases, written with the names of the players instead of the numbers of their seats.

import { NAMES } from "./seat_names.js";
import { Words } from "./shared/phrases.js";

/** @typedef {import("#api/chatiere/v1/game_pb.js").PhraseJson} Phrase */
/** @typedef {import("./game.js").GameInfo} GameInfo */

// The keys of the events of a deal begin so, in every game.
const DEAL = "event.card_dealt";

/** Writes the phrases of a game. */
export class Phrases {
  #words;

  /**
   * `info`: of ListGames with phrases and pieces; `nameOf`: what a piece is called, if not as there.
   * @param {GameInfo} info
   * @param {(piece: import("#api/chatiere/v1/game_pb.js").PieceInfoJson) => string} [nameOf]
   */
  constructor(info, nameOf = ({ name = "" }) => name) {
    /** The game's title. */
    this.title = info.title ?? "";
    this.#words = new Words(info, { seatNames: NAMES, nameOf });
  }

  /**
   * Return the name of a piece.
   * @param {string} kind
   * @param {number} number
   */
  nameOf(kind, number) {
    return this.#words.nameOf(kind, number) ?? String(number);
  }

  /**
   * Return a phrase as a sentence; `label` is the text if it is a phrase of another game.
   * @param {{phrase?: Phrase, label?: string}} said
   */
  write({ phrase = {}, label = "" }) {
    const text = this.#words.has(phrase) ? this.#words.write(phrase) : label;
    return text.charAt(0).toUpperCase() + text.slice(1);
  }

  /**
   * Return the cards that a deal gives a seat as its player sees it; undefined for what is no deal.
   * @param {Phrase | undefined} phrase
   * @param {number | undefined} seat
   */
  dealtTo({ key = "", arguments: said = [] } = {}, seat) {
    const numbersOf = (/** @type {string} */ wanted) =>
      said.find(({ name }) => name === wanted)?.numbers ?? [];
    return !key.startsWith(DEAL)
      ? undefined
      : numbersOf("seat")[0] === seat
        ? numbersOf("card").map((card) => this.nameOf("card", card))
        : [];
  }

  /**
   * Return the first seat that a phrase speaks of.
   * @param {Phrase | undefined} phrase
   */
  seatOf(phrase) {
    return this.#words.seatOf(phrase ?? {});
  }
}
