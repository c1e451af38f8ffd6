// The service's phrases with the players' names instead of the numbers of their seats.

import { NAMES } from "./seat_names.js";
import { Words } from "./shared/phrases.js";

/** @typedef {import("#api/chatiere/v1/game_pb.js").PhraseJson} Phrase */
/** @typedef {import("./game.js").GameInfo} GameInfo */

// The beginning of the keys of a deal's events, in all games.
const DEAL = "event.card_dealt";

/** Writes the phrases of a game. */
export class Phrases {
  #words;

  /**
   * @param {GameInfo} info the game's info from ListGames, with phrases and pieces
   * @param {(piece: import("#api/chatiere/v1/game_pb.js").PieceInfoJson) => string} [nameOf] returns the players' name
   *   for a piece; by default its name in `info`
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
   * Return a phrase as a sentence.
   * @param {{phrase?: Phrase, label?: string}} said `label` is the text to use if the phrase belongs to another game
   */
  write({ phrase = {}, label = "" }) {
    const text = this.#words.has(phrase) ? this.#words.write(phrase) : label;
    return text.charAt(0).toUpperCase() + text.slice(1);
  }

  /**
   * Return the names of the cards that a deal gives to a seat, as its player sees them; undefined if the phrase is not
   * a deal.
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
   * Return the first seat that a phrase names, or undefined if it names no seat.
   * @param {Phrase | undefined} phrase
   */
  seatOf(phrase) {
    return this.#words.seatOf(phrase ?? {});
  }
}
