// The kit of a game: everything needed to draw it and to describe it in words.

import { fieldOf } from "./game.js";
import { Phrases } from "./phrases.js";
import { filledIn } from "./texts.js";

/**
 * @typedef {object} GameKit
 * @property {string} name the service's name of the game
 * @property {import("./game.js").Field} field the name of the game's field in messages
 * @property {import("./game.js").GameInfo} info
 * @property {import("./game.js").Details<import("./game.js").Field>} details the facts printed on the game's pieces
 * @property {Phrases} phrases
 * @property {import("./game.js").Game} game the drawing
 * @property {import("./game.js").Translate} t returns text from the catalogue in the game's folder
 */

/**
 * Return the kit of a game.
 * @param {string} name
 * @param {import("./game.js").Game} game
 * @param {import("./game.js").GameInfo} info the service's facts, with phrases and pieces
 * @param {Readonly<Record<string, import("./texts.js").Text>>} texts the texts that the service does not provide
 * @param {string} language
 * @returns {GameKit}
 */
export function gameKit(name, game, info, texts, language) {
  const field = fieldOf(name);
  const details = info.pieceDetails?.[field] ?? {};
  /** @type {GameKit["t"]} */
  const t = (key, values) => filledIn(language, texts[key] ?? key, values);
  const phrases = new Phrases(info, (piece) => game.nameOf?.(piece, details, t) ?? piece.name ?? "");
  return { name, field, info, details, phrases, game, t };
}
