// The service's phrases, written with the names of the players instead of the numbers of their seats.

import { nameOfSeat } from "./seat_names.js";

/** @typedef {import("#api/chatiere/v1/game_pb.js").PhraseJson} Phrase */
/** @typedef {import("./game.js").GameInfo} GameInfo */

/** Writes the phrases of a game. */
export class Phrases {
  /** @type {Map<string, import("#api/chatiere/v1/game_pb.js").PhraseInfoJson>} */
  #phrases;
  /** @type {Map<string, string>} */
  #names;
  /** @type {Intl.PluralRules} */
  #plurals;

  /**
   * `info`: of ListGames with phrases and pieces.
   * @param {GameInfo} info
   */
  constructor(info) {
    /** The game's title. */
    this.title = info.title ?? "";
    this.#phrases = new Map((info.phrases ?? []).map((phrase) => [phrase.key ?? "", phrase]));
    this.#names = new Map(
      (info.pieces ?? []).map(({ kind, number = 0, name = "" }) => [`${kind} ${number}`, name]),
    );
    this.#plurals = new Intl.PluralRules(info.language);
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
    const info = this.#phrases.get(phrase?.key ?? "");
    if (!info) {
      return label;
    }
    /** @type {Record<string, string>} */
    const values = {};
    let text = info.text ?? "";
    for (const { name = "", numbers = [] } of phrase?.arguments ?? []) {
      const kind = this.#kindOf(info, name);
      values[name] = this.#list(numbers.map((number) => this.#written(kind, number)));
      if (name === info.pluralArgument) {
        const category = this.#plurals.select(kind === "" ? Math.abs(numbers[0] ?? 0) : numbers.length);
        text = info.forms?.find((form) => form.category === category)?.text ?? text;
      }
    }
    const written = text.replace(/\{(\w+)\}/g, (place, name) => values[name] ?? place);
    return written.charAt(0).toUpperCase() + written.slice(1);
  }

  /**
   * Return the first seat that a phrase speaks of.
   * @param {Phrase | undefined} phrase
   */
  seatOf(phrase) {
    const info = this.#phrases.get(phrase?.key ?? "");
    const found = phrase?.arguments?.find(({ name }) => info && this.#kindOf(info, name) === "seat");
    return found?.numbers?.[0];
  }

  /** @param {import("#api/chatiere/v1/game_pb.js").PhraseInfoJson} info @param {string | undefined} argument */
  #kindOf(info, argument) {
    return info.arguments?.find(({ name }) => name === argument)?.kind ?? "";
  }

  /** @param {readonly string[]} parts */
  #list(parts) {
    const between = (/** @type {string} */ place) => this.#phrases.get(`list.${place}`)?.text;
    if (parts.length < 3) {
      return parts.join(between("two"));
    }
    return [parts.slice(0, -1).join(between("middle")), ...parts.slice(-1)].join(between("last"));
  }

  /** @param {string} kind @param {number} number */
  #written(kind, number) {
    return kind === "seat" ? nameOfSeat(number) : kind === "" ? String(number) : this.nameOf(kind, number);
  }
}
