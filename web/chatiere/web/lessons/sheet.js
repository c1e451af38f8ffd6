// The rule sheet of a game: what a host at the table would explain, with pictures made by the drawings.

import { h } from "../dom.js";
import { roomOf, shelfOfGames } from "../games.js";
import { callOrKept } from "../kept.js";
import { scoreTable } from "../result.js";
import { nameOfSeat } from "../seat_names.js";
import { filled, language } from "../settings.js";
import { readRecord } from "../shared/records.js";
import { stillContext, stillRow, stillTable } from "./still.js";
import { words } from "./words.js";

/** @typedef {import("../game.js").Context} Context */
/** @typedef {import("../games.js").Room} Room */
/** @typedef {(typeof SECTIONS)[number]} Section */
/**
 * The sheet of a game. `words`: its texts by language, `aim-1`, `aim-2`, `turn-1` and so on, and `turn-picture` for what a picture
 * shows; `pictures`: the things in the picture of a section.
 * @template {import("../game.js").Field} [F=import("../game.js").Field]
 * @typedef {object} Sheet
 * @property {Record<string, Record<string, string>>} words
 * @property {Partial<Record<Section, (context: import("../game.js").Context<F>) => import("./still.js").Thing[]>>} pictures
 */

/** The sections in the order in which they are explained. */
const SECTIONS = /** @type {const} */ (["aim", "turn", "specials", "end", "score", "example"]);

/**
 * Return a text that all sheets share.
 * @param {keyof typeof words.en} key
 * @param {Record<string, string>} [values]
 */
export function said(key, values) {
  return filled(words[language()][key], values);
}

/**
 * Make the rule sheet of a game.
 * @param {string} name
 * @returns {Promise<HTMLElement>}
 */
export async function sheetOf(name) {
  const [room, { sheet }, update] = await Promise.all([
    roomOf(name),
    /** @type {Promise<{sheet: Sheet}>} */ (import(`./${name}/sheet.js`)),
    endOfSample(name),
  ]);
  const context = stillContext(room, update);
  const values = exampleValues(room, context);
  const texts = sheet.words[language()] ?? {};
  const section = (/** @type {Section} */ each) => {
    const lines = Object.entries(texts).filter(([key]) => new RegExp(`^${each}-\\d$`).test(key));
    const things = sheet.pictures[each]?.(context);
    const shown = texts[`${each}-picture`];
    return h(
      "section",
      { "data-section": each },
      h("h2", {}, said(each)),
      each === "example" && h("p", {}, said("example-of")),
      each === "example" && stillTable(room.game.draw(context), said("example")),
      lines.map(([, text]) => h("p", {}, filled(text, values))),
      things && h("figure", {}, stillRow(things), h("figcaption", {}, shown)),
      each === "example" && scoreTable(context, room, undefined),
    );
  };
  const title = said("sheet", { game: room.phrases.title });
  return h("article", { class: "rule-sheet" }, h("h1", {}, title), SECTIONS.map(section));
}

/**
 * Return the end of a game's sample as a spectator sees it.
 * @param {string} name
 */
export async function endOfSample(name) {
  const record = readRecord(await (await fetch(`samples/${name}.chatiere`)).text());
  const fromPly = record.actions?.length ?? 0;
  const include = { score: true, spectator: true };
  const { positions = [] } = await callOrKept(shelfOfGames(), "GameService/Replay", {
    record,
    fromPly,
    include,
  });
  return positions[0]?.updates?.[0] ?? {};
}

/**
 * Return who has won, the total and its parts, from 1, as values of texts.
 * @param {Room} room
 * @param {Context} context
 */
function exampleValues({ field, game }, context) {
  const { winners = [], totals = [], detail } = context.update.score ?? {};
  const [seat = 0] = winners;
  const parts = game.breakdown(seat, detail?.[field]?.seats?.[seat] ?? {}, context);
  return {
    name: nameOfSeat(seat),
    total: totals[seat]?.total ?? 0,
    ...Object.fromEntries(parts.map(([, points], index) => [String(index + 1), points])),
  };
}
