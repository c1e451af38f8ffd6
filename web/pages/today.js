// The page of a day: a puzzle of each game, the game of the day, and the player's results to share.

import { dateOf, dayIn, gameOfDay, today } from "../days.js";
import { h } from "../dom.js";
import { GAMES } from "../game.js";
import { listGames } from "../games.js";
import { linkTo, sharing } from "../links.js";
import { loadWords, textIn } from "../settings.js";
import { idOfDay, movesOfDay, results, streak } from "../yours/results.js";

/** @typedef {import("../yours/results.js").DayResults} DayResults */

// The most moves that the text to share shows for a puzzle.
const MOST_TRIES = 6;

/**
 * Return text in the player's language.
 * @param {keyof typeof import("../yours/words.js").words.en} key
 * @param {Record<string, string | number>} [values]
 */
function said(key, values) {
  return textIn("yours", key, values);
}

/**
 * Open the page of a day.
 * @param {string} _
 * @param {string} [word] the day; by default today
 */
export async function open(_, word) {
  const day = dayIn(word);
  const [infos] = await Promise.all([listGames(), loadWords("yours")]);
  const titles = new Map(infos.map(({ name = "", title = "" }) => [name, title]));
  const { days, games } = results();
  const found = days[day] ?? {};
  const game = gameOfDay(day);
  const isToday = day === today();
  const row = (/** @type {string} */ href, /** @type {string} */ name, /** @type {string} */ told) =>
    h("li", {}, h("a", { href }, name), h("small", {}, told));
  const total = games.find(({ id }) => id === idOfDay(day))?.total ?? 0;
  const count = streak(days, today());
  const puzzles = GAMES.map((each) =>
    row(`#/puzzle/${each}/on/${day}`, titles.get(each) ?? each, triedIn(found[each])),
  );
  const hasBegun = movesOfDay(day).length > 0;
  const place = found["game"];
  const told =
    place === undefined ? said(hasBegun ? "game-begun" : "game-open") : said("game-result", { place, total });
  const shown = Object.keys(found).length > 0 && textToShare(day, found, titles);
  const title = isToday ? said("today") : dateOf(day);
  const element = h(
    "section",
    { class: "sheet tables" },
    h("h1", {}, title),
    h("p", {}, isToday ? dateOf(day) : said("past")),
    !isToday && h("p", {}, h("a", { href: "#/today" }, said("to-today"))),
    h("h2", {}, said("puzzles")),
    h("ul", {}, puzzles),
    h("h2", {}, said("game")),
    h("p", {}, said("game-more")),
    h("ul", {}, row(`#/day/${day}`, titles.get(game) ?? game, told)),
    h("h2", {}, said("streak")),
    h("p", {}, count > 0 ? said("streak-days", { count }) : said("no-streak")),
    h("p", {}, h("a", { href: "#/yours" }, said("yours"))),
    shown && [h("h2", {}, said("share")), toShare(shown)],
  );
  return { element, title };
}

/**
 * Return the result of a puzzle.
 * @param {number | undefined} tries
 */
function triedIn(tries) {
  return tries === undefined
    ? said("unsolved")
    : tries === 0
      ? said("answer-seen")
      : said("solved", { count: tries });
}

/**
 * Return a day's results as text with a link. It contains no move.
 * @param {number} day
 * @param {DayResults} found
 * @param {Map<string, string>} titles
 */
function textToShare(day, found, titles) {
  const puzzles = GAMES.filter((each) => each in found).map((each) => {
    const tries = found[each] ?? 0;
    const wrong = "✗".repeat(Math.max(0, Math.min(tries, MOST_TRIES) - 1));
    return `${titles.get(each)} ${tries === 0 ? "–" : wrong + (tries > MOST_TRIES ? "…" : "") + "✓"}`;
  });
  const game = titles.get(gameOfDay(day)) ?? "";
  const place = found["game"];
  const played = place === undefined ? [] : [said("share-game", { game, place })];
  return [`Chatière · ${dateOf(day)}`, ...puzzles, ...played, linkTo(`today/${day}`)].join("\n");
}

/** @param {string} text */
function toShare(text) {
  // A long line may take two rows.
  const rows = text.split("\n").length + 2;
  return sharing(said("share-text"), h("textarea", { readonly: true, rows }, text), { text });
}
