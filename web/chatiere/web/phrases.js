// The service's phrases, written with the names of the players instead of the numbers of their seats.

import { NAMES } from "./seat_names.js";
import { Words } from "./shared/phrases.js";

/** @typedef {import("#api/chatiere/v1/game_pb.js").PhraseJson} Phrase */
/** @typedef {import("./game.js").GameInfo} GameInfo */

/** Writes the phrases of a game. */
export class Phrases {
  #words;

  /**
   * `info`: of ListGames with phrases and pieces.
   * @param {GameInfo} info
   */
  constructor(info) {
    /** The game's title. */
    this.title = info.title ?? "";
    this.#words = new Words(info, { seatNames: NAMES });
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
   * Return the first seat that a phrase speaks of.
   * @param {Phrase | undefined} phrase
   */
  seatOf(phrase) {
    return this.#words.seatOf(phrase ?? {});
  }
}
