// The page of everything that opens without a connection: rule sheets, and records that were shown before.

import { button, h } from "../dom.js";
import { GAMES } from "../game.js";
import { listGames } from "../games.js";
import { forgetShelf } from "../kept.js";
import { keptRecords } from "../kept_records.js";
import { listOf } from "../lists.js";
import { rulesLink } from "../rules.js";
import { t } from "../settings.js";
import { show } from "./shown_record.js";

/** @import { GameRecordJson } from "#api/chatiere/v1/record_pb.js" */

/** Return the page of everything that opens without a connection. */
export async function open() {
  const [games, records] = await Promise.all([listGames(), keptRecords()]);
  const titles = new Map(games.map(({ name, title = "" }) => [name, title]));
  const title = t("kept");
  const element = h(
    "section",
    { class: "sheet tables" },
    h("h1", {}, title),
    h("h2", {}, t("rules")),
    h(
      "ul",
      {},
      GAMES.map((game) => {
        const name = titles.get(game) ?? game;
        return h("li", {}, h("span", {}, name), rulesLink(game, t("rules-of", { game: name })));
      }),
    ),
    h("h2", {}, t("kept-records")),
    records.length === 0
      ? h("p", {}, t("no-kept"))
      : h(
          "ul",
          {},
          records.map(({ shelf, record }) => row(shelf, record, titles.get(record.game) ?? "")),
        ),
  );
  return { element, title };
}

/**
 * Return the row of a record.
 * @param {string} shelf the name of the record's store
 * @param {GameRecordJson} record
 * @param {string} title the title of the record's game
 */
function row(shelf, record, title) {
  const { players = 0, seatNames = [], actions = [], date = "" } = record;
  const look = (/** @type {Event} */ event) => {
    event.preventDefault();
    show(record);
  };
  const forget = (/** @type {Event} */ event) => {
    forgetShelf(shelf);
    /** @type {Element} */ (event.currentTarget).closest("li")?.remove();
  };
  const who = seatNames.length > 0 ? listOf(seatNames) : t("players-exactly", { most: players });
  const facts = [who, t("ply-at", { ply: actions.length }), date].filter(Boolean).join(" · ");
  const label = t("forget-record", { game: title });
  return h(
    "li",
    {},
    h("a", { href: "#/record/own", onclick: look }, title),
    h("small", {}, facts),
    button("×", forget, { "aria-label": label, title: label }),
  );
}
