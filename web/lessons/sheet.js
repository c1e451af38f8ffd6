// The rule sheet of a game: an explanation as a host at the table would give it, with pictures made by the game's
// drawing.

import { h } from "../dom.js";
import { kitOf, shelfOfGames } from "../games.js";
import { callOrKept } from "../kept.js";
import { scoreTable } from "../result.js";
import { nameOfSeat } from "../seat_names.js";
import { filled, language, loadWords, textIn } from "../settings.js";
import { readRecord } from "../shared/records.js";
import { loadTexts } from "../texts.js";
import { contextOf } from "../views.js";
import { stillRow, stillTable } from "./still.js";

/** @typedef {import("../game.js").Context} Context */
/** @typedef {import("../games.js").GameKit} GameKit */
/** @typedef {(typeof SECTIONS)[number]} Section */
/**
 * The sheet of a game. The keys of its texts are `aim-1`, `aim-2`, `turn-1` and so on, and `turn-picture` for the
 * description of a picture.
 * @template {import("../game.js").Field} [F=import("../game.js").Field]
 * @typedef {object} Sheet
 * @property {Partial<Record<Section, (context: import("../game.js").Context<F>) => import("./still.js").Thing[]>>} pictures
 *   the things in the picture of a section
 */

// The size of the picture of a whole table, in pixels.
const SIZE = { width: 640, height: 480 };
/** The sections in the order in which they are explained. */
const SECTIONS = /** @type {const} */ (["aim", "turn", "specials", "end", "score", "example"]);

/**
 * Return a string that all sheets use.
 * @param {keyof typeof import("./words.js").words.en} key
 * @param {Record<string, string>} [values]
 */
export function said(key, values) {
  return textIn("lessons", key, values);
}

/**
 * Return the rule sheet of a game.
 * @param {string} name
 * @returns {Promise<HTMLElement>}
 */
export async function sheetOf(name) {
  const [kit, { sheet }, update, texts] = await Promise.all([
    kitOf(name),
    /** @type {Promise<{sheet: Sheet}>} */ (import(`./${name}/sheet.js`)),
    endOfSample(name),
    loadTexts(`lessons/${name}`, language()),
    loadWords("lessons"),
  ]);
  const context = contextOf(kit, update, SIZE);
  const values = exampleValues(kit, context);
  const section = (/** @type {Section} */ each) => {
    const lines = Object.entries(texts).filter(([key]) => new RegExp(`^${each}-\\d$`).test(key));
    const things = sheet.pictures[each]?.(context);
    const shown = filled(texts[`${each}-picture`] ?? "");
    return h(
      "section",
      { "data-section": each },
      h("h2", {}, said(each)),
      each === "example" && h("p", {}, said("example-of")),
      each === "example" && stillTable(kit.game.draw(context), said("example")),
      lines.map(([, text]) => h("p", {}, filled(text, values))),
      things && h("figure", {}, stillRow(things), h("figcaption", {}, shown)),
      each === "example" && scoreTable(context, kit, undefined),
    );
  };
  const title = said("sheet", { game: kit.phrases.title });
  return h("article", { class: "rule-sheet" }, h("h1", {}, title), SECTIONS.map(section));
}

/**
 * Return a spectator's view of the end of a game's sample record.
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
 * Return the values for the example's text: the winner, the total, and its parts from 1.
 * @param {GameKit} kit
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
