// The player's own results: games, bots beaten, best totals, and losses found by analyses.

import { nameOfBot } from "../amendments.js";
import { button, h, s } from "../dom.js";
import { GAMES } from "../game.js";
import { listBots, listGames } from "../games.js";
import { language, loadWords, textIn } from "../settings.js";
import { strengthsOf } from "../strengths.js";
import { add, exported, forget, results } from "../yours/results.js";

/** @typedef {import("../game.js").GameInfo} GameInfo */
/** @typedef {import("../strengths.js").ListedBots} ListedBots */
/** @typedef {import("../yours/results.js").Result} Result */

// The size of a curve, in its own pixels.
const WIDTH = 240;
const HEIGHT = 60;
const EDGE = 4;

/**
 * Return text in the player's language.
 * @param {keyof typeof import("../yours/words.js").words.en} key
 * @param {Record<string, string | number>} [values]
 */
function said(key, values) {
  return textIn("yours", key, values);
}

/** Open the page of the player's own results. */
export async function open() {
  const [infos] = await Promise.all([listGames(), loadWords("yours")]);
  const element = h("section", { class: "sheet yours" });
  await fill(element, infos);
  return { element, title: said("yours") };
}

/**
 * Show the results that are stored now.
 * @param {HTMLElement} element
 * @param {readonly GameInfo[]} infos
 * @param {string} [told] the result of the player's last action
 */
async function fill(element, infos, told = "") {
  const { games } = results();
  const played = GAMES.filter((name) => games.some(({ game }) => game === name));
  const parts = await Promise.all(
    played.map(async (name) =>
      partOf(
        infos.find((each) => each.name === name) ?? {},
        await listBots(name),
        games.filter(({ game }) => game === name),
      ),
    ),
  );
  element.replaceChildren(
    h("h1", {}, said("yours")),
    h("p", {}, said("kept-here")),
    h("p", {}, h("a", { href: "#/today" }, said("today"))),
    ...(played.length > 0 ? parts : [h("p", {}, said("none-yet"))]),
    tools(element, infos, told),
  );
}

/**
 * Return the section of a game.
 * @param {GameInfo} info
 * @param {ListedBots} listed
 * @param {readonly Result[]} games the results, the oldest first
 */
function partOf({ title = "", lowestTotalWins = false }, listed, games) {
  const totals = games.map(({ total }) => total);
  const best = lowestTotalWins ? Math.min(...totals) : Math.max(...totals);
  const won = games.filter((each) => each.won).length;
  const opponents = opponentsOf(listed, games);
  return h(
    "section",
    {},
    h("h2", {}, title),
    h(
      "p",
      {},
      `${said("games", { count: games.length })} ${said("games-won", { count: won })} ${said("best", { best })}`,
    ),
    h(
      "table",
      { class: "opponents" },
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          [said("opponent"), said("games-head"), said("won-head")].map((each) =>
            h("th", { scope: "col" }, each),
          ),
        ),
      ),
      h("tbody", {}, opponents.map(opponentRow)),
    ),
    curve(games),
  );
}

/** @param {{name: string, count: number, won: number}} opponent */
function opponentRow({ name, count, won }) {
  const isBeaten = won > 0;
  return h(
    "tr",
    { class: isBeaten && "beaten" },
    h("th", { scope: "row" }, name, isBeaten && [" ", h("span", { "aria-hidden": "true" }, "✓")]),
    h("td", {}, String(count)),
    h("td", {}, String(won)),
  );
}

/**
 * Return the numbers of games against each bot of the ladder, from the weakest, and against all others. A game counts
 * for the weakest of its bots.
 * @param {ListedBots} listed
 * @param {readonly Result[]} games
 */
function opponentsOf(listed, games) {
  const { ladder = [] } = listed;
  const found = new Map(ladder.map(({ title = "" }) => [title, { name: title, count: 0, won: 0 }]));
  for (const { seats, seat, won } of games) {
    const strengths = strengthsOf(listed, seats.length);
    const others = seats.filter((_, each) => each !== seat);
    const rank = (/** @type {string | null} */ bot) =>
      strengths.findIndex((each, place) => each.bot === bot && place < ladder.length);
    const [weakest = null] = others.toSorted((one, other) => rank(one) - rank(other));
    const name = others.includes(null) ? said("people") : nameOfBot(weakest ?? "", strengths);
    const row = found.get(name) ?? { name, count: 0, won: 0 };
    row.count += 1;
    row.won += won ? 1 : 0;
    found.set(name, row);
  }
  return [...found.values()];
}

/**
 * Return the curve of the mean loss of a move, game by game. Without two analyses there is no curve.
 * @param {readonly Result[]} games
 */
function curve(games) {
  const losses = games.flatMap(({ lost }) => (lost === undefined ? [] : [lost]));
  if (losses.length < 2) {
    return h("p", { class: "soft" }, said("no-curve"));
  }
  const most = Math.max(...losses, Number.EPSILON);
  const points = losses.map((lost, place) => {
    const x = EDGE + (place / (losses.length - 1)) * (WIDTH - 2 * EDGE);
    const y = HEIGHT - EDGE - (lost / most) * (HEIGHT - 2 * EDGE);
    return `${x.toFixed(1)},${y.toFixed(1)}`;
  });
  const percent = (/** @type {number | undefined} */ share = 0) =>
    share.toLocaleString(language(), { style: "percent", maximumFractionDigits: 1 });
  const label = said("curve", {
    first: percent(losses[0]),
    last: percent(losses.at(-1)),
    count: losses.length,
  });
  return h(
    "figure",
    {},
    s(
      "svg",
      { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, "aria-hidden": "true" },
      s("polyline", { points: points.join(" ") }),
    ),
    h("figcaption", {}, label),
  );
}

/**
 * Return the buttons that save, add and delete results.
 * @param {HTMLElement} element
 * @param {readonly GameInfo[]} infos
 * @param {string} told
 */
function tools(element, infos, told) {
  const save = () => {
    const url = URL.createObjectURL(new Blob([exported()], { type: "application/json" }));
    h("a", { href: url, download: "chatiere-results.json" }).click();
    URL.revokeObjectURL(url);
  };
  const onchange = async () => {
    const text = (await file.files?.[0]?.text()) ?? "";
    let note = "";
    try {
      note = said("added", { count: add(text) });
    } catch {
      note = said("not-results");
    }
    await fill(element, infos, note);
  };
  const file = h("input", { type: "file", accept: ".json", onchange });
  const remove = () => {
    if (confirm(said("delete-sure"))) {
      forget();
      fill(element, infos, said("deleted"));
    }
  };
  return h(
    "section",
    {},
    h("h2", {}, said("file")),
    h("p", {}, said("file-more")),
    h("p", { class: "choices" }, button(said("save"), save), button(said("delete"), remove)),
    h("label", {}, h("span", {}, said("add")), file),
    h("p", { role: "status" }, told),
  );
}
