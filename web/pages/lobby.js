// The start page: the games, the tables of this browser, links and records from elsewhere.

import { button, h, s } from "../dom.js";
import { GAMES } from "../game.js";
import { listGames } from "../games.js";
import { languageNames } from "../header.js";
import { pictureOf } from "../art/games.js";
import { language, locale, speak, t } from "../settings.js";
import {
  forgetInvitation,
  forgetRoom,
  forgetTable,
  listInvitations,
  listRooms,
  listTables,
} from "../store.js";
import { pasteLink } from "../links.js";
import { rulesLink } from "../rules.js";
import { show } from "./shown_record.js";

/** @typedef {import("../game.js").GameInfo} GameInfo */

/** Return the start page. */
export async function open() {
  const games = await listGames();
  const titles = new Map(games.map(({ name, title }) => [name, title]));
  const known = games.filter(({ name }) => GAMES.some((each) => each === name));
  const element = h(
    "div",
    { class: "lobby" },
    h("section", { class: "hero" }, h("h1", {}, t("welcome")), h("p", {}, t("welcome-more")), languages()),
    today(),
    h("ul", { class: "games" }, known.map(card), elsewhere()),
    tables(titles),
  );
  return { element, title: "" };
}

/** Return the buttons that choose a language. */
function languages() {
  const buttons = Object.entries(languageNames()).map(([each, name]) =>
    button(name, () => speak(each), { lang: each, "aria-pressed": each === language() ? "true" : "false" }),
  );
  return h("p", { class: "choices languages", role: "group", "aria-label": t("language") }, buttons);
}

/**
 * Return the card of a game.
 * @param {GameInfo} info
 */
function card({ name = "", title = "", minPlayers = 0, maxPlayers = 0 }) {
  const players =
    minPlayers === maxPlayers
      ? t("players-exactly", { most: maxPlayers })
      : t("players-range", { least: minPlayers, most: maxPlayers });
  const play = {
    class: "button primary",
    href: `#/new/${name}`,
    "aria-label": t("play-game", { game: title }),
  };
  const learn = { class: "button", href: `#/learn/${name}`, "aria-label": t("learn-game", { game: title }) };
  const sample = {
    class: "button",
    href: `#/record/${name}/play`,
    "aria-label": t("sample-of", { game: title }),
  };
  return h(
    "li",
    { class: "sheet", "data-game": name },
    s("svg", { viewBox: "0 0 320 180", "aria-hidden": "true" }, pictureOf(name)),
    h("h2", {}, title),
    h("p", {}, t(/** @type {"about-discat"} */ (`about-${name}`))),
    h("p", {}, players, " · ", rulesLink(name, t("rules-of", { game: title }))),
    h(
      "p",
      { class: "choices" },
      h("a", play, t("play")),
      h("a", learn, t("learn")),
      h("a", sample, t("sample")),
    ),
  );
}

/** Return the section of the day and of the player's results. */
function today() {
  return h(
    "section",
    { class: "sheet today" },
    h("h2", {}, t("today")),
    h("p", {}, t("today-more")),
    h("a", { class: "button", href: "#/today" }, t("today-open")),
    h("a", { class: "button", href: "#/yours" }, t("yours")),
  );
}

/** Return the section for links and records from elsewhere. */
function elsewhere() {
  return h(
    "li",
    { class: "sheet elsewhere" },
    h("h2", {}, t("elsewhere")),
    pasteLink(),
    h(
      "label",
      {},
      h("span", {}, t("open-record")),
      h("input", { type: "file", accept: ".chatiere,.json", onchange: openRecord }),
    ),
    h("p", { class: "refusal", role: "alert" }),
  );
}

/** @param {Map<string | undefined, string | undefined>} titles */
function tables(titles) {
  const rows = [
    ...listInvitations().map(({ id, game }) =>
      h(
        "li",
        {},
        h("a", { href: `#/invitation/${id}` }, titles.get(game)),
        h("small", {}, t("invitation-open")),
        forget(titles.get(game), () => forgetInvitation(id)),
      ),
    ),
    ...listRooms()
      .filter(({ tables, role, isHost }) => tables.length === 0 && (isHost || role !== undefined))
      .map(({ id, game, players }) =>
        h(
          "li",
          {},
          h("a", { href: `#/room/${id}/${game}/${players}` }, titles.get(game)),
          h("small", {}, t("room-open")),
          forget(titles.get(game), () => forgetRoom(id)),
        ),
      ),
    ...listTables().map(({ id, game, newest, isOver, changed }) =>
      h(
        "li",
        {},
        h("a", { href: `#/play/${id}` }, titles.get(game)),
        h(
          "small",
          {},
          [
            isOver ? t("over") : t("ply-at", { ply: newest }),
            new Date(changed).toLocaleString(locale()),
          ].join(" · "),
        ),
        forget(titles.get(game), () => forgetPlayed(id)),
      ),
    ),
  ];
  return (
    rows.length > 0 &&
    h("section", { class: "sheet tables" }, h("h2", {}, t("your-tables")), h("ul", {}, rows))
  );
}

/**
 * Delete a table from this browser, and its room if this was the room's newest table.
 * @param {string} id
 */
function forgetPlayed(id) {
  forgetTable(id);
  listRooms()
    .filter(({ tables }) => tables.at(-1) === id)
    .forEach((room) => forgetRoom(room.id));
}

/**
 * @param {string | undefined} game
 * @param {() => void} work
 */
function forget(game, work) {
  const clicked = (/** @type {Event} */ event) => {
    if (confirm(t("forget-sure"))) {
      work();
      /** @type {Element} */ (event.currentTarget).closest("li")?.remove();
    }
  };
  const label = t("forget", { game: game ?? "" });
  return button("×", clicked, { "aria-label": label, title: label });
}

/** @param {Event} event */
async function openRecord(event) {
  const input = /** @type {HTMLInputElement} */ (event.currentTarget);
  const refusal = input.closest("label")?.nextElementSibling;
  try {
    const text = (await input.files?.[0]?.text()) ?? "";
    // Most visits do not need this module.
    const { readRecord } = await import("../shared/records.js");
    // The record of a sealed table contains the game's record.
    const read = text.trimStart().startsWith("{") ? JSON.parse(text) : readRecord(text);
    show(read.record ?? read);
  } catch (error) {
    refusal?.replaceChildren(t("not-a-record", { why: error instanceof Error ? error.message : "" }));
  }
}
