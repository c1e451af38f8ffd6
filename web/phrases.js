// The service's phrases, written with the names of the players instead of the numbers of their seats.

import { nameOfSeat } from "./seat_names.js";

/** @typedef {import("#api/chatiere/v1/game_pb.js").PhraseJson} Phrase */
/** @typedef {import("./game.js").GameInfo} GameInfo */

// The service's templates say "seat 2" and « le joueur 2 »; a name needs no such word before it.
/** @type {readonly [RegExp, string][]} */
const BEFORE_NAMES = [
  [/\b[Ss]eat \{/g, "{"],
  [/\b[Ll]e joueur \{/g, "{"],
  [/\bdu joueur \{/g, "de {"],
  [/\bau joueur \{/g, "à {"],
  [/\bjoueur \{/g, "{"],
  [/ (seat|joueur) $/, " "],
];

// The key of the text between the parts of a list.
const SEPARATOR = "list.separator";

/** Writes the phrases of a game. */
export class Phrases {
  /** @type {Map<string, string>} */
  #kinds = new Map();
  /** @type {Map<string, string>} */
  #names = new Map();
  /** @type {Map<string, string>} */
  #texts = new Map();

  /**
   * `info`: of ListGames with words and pieces.
   * @param {GameInfo} info
   */
  constructor(info) {
    /** The game's title. */
    this.title = info.title ?? "";
    for (const { key = "", text = "", arguments: named = [] } of info.phrases ?? []) {
      for (const { name, kind } of named) {
        this.#kinds.set(`${key} ${name}`, kind ?? "");
      }
      const namesPlayers = key === SEPARATOR || named.some(({ kind }) => kind === "seat");
      this.#texts.set(
        key,
        namesPlayers ? BEFORE_NAMES.reduce((said, [from, to]) => said.replace(from, to), text) : text,
      );
    }
    for (const { kind, number = 0, name = "" } of info.pieces ?? []) {
      this.#names.set(`${kind} ${number}`, name);
    }
  }

  /**
   * Return the name of a piece.
   * @param {string} kind @param {number} number
   */
  nameOf(kind, number) {
    return this.#names.get(`${kind} ${number}`) ?? String(number);
  }

  /**
   * Return a phrase as text; `label` is the text if it is a phrase of another game.
   * @param {{phrase?: Phrase, label?: string}} said
   */
  write({ phrase, label = "" }) {
    const key = phrase?.key ?? "";
    const text = this.#texts.get(key);
    if (text === undefined) {
      return label;
    }
    /** @type {Record<string, string>} */
    const values = {};
    for (const { name = "", numbers = [] } of phrase?.arguments ?? []) {
      values[name] = numbers
        .map((number) => this.#written(key, name, number))
        .join(this.#texts.get(SEPARATOR));
    }
    const written = text.replace(/\{(\w+)\}/g, (place, name) => values[name] ?? place);
    return written.charAt(0).toUpperCase() + written.slice(1);
  }

  /**
   * Return the first seat that a phrase speaks of.
   * @param {Phrase | undefined} phrase
   */
  seatOf(phrase) {
    const found = phrase?.arguments?.find(({ name }) => this.#kinds.get(`${phrase.key} ${name}`) === "seat");
    return found?.numbers?.[0];
  }

  /** @param {string} key @param {string} name @param {number} number */
  #written(key, name, number) {
    const kind = this.#kinds.get(`${key} ${name}`) ?? "";
    return kind === "seat" ? nameOfSeat(number) : kind === "" ? String(number) : this.nameOf(kind, number);
  }
}
