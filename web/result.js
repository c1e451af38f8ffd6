// The result of a game: the winners, and the parts of each total.

import { seatMark } from "./art/cards.js";
import { icon } from "./art/shapes.js";
import { h } from "./dom.js";
import { listOf, namesOf } from "./lists.js";
import { nameOfSeat } from "./seat_names.js";
import { t } from "./settings.js";

/** @typedef {import("./game.js").Context} Context */
/** @typedef {import("./games.js").GameKit} GameKit */

/**
 * Return the text that names the winners.
 * @param {readonly number[]} winners
 * @param {number | undefined} me the player's own seat, or undefined for a spectator, or if several players are at this
 *   screen
 */
export function wonText(winners, me) {
  const others = winners.filter((seat) => seat !== me);
  if (others.length === winners.length) {
    return t(winners.length > 1 ? "winners" : "winner", { names: namesOf(winners) });
  }
  return others.length > 0
    ? t("you-win-too", { names: listOf([t("you-first"), ...others.map(nameOfSeat)]) })
    : t("you-win");
}

/**
 * Return the table of the totals and their parts, beginning with the best seat.
 * @param {Context} context
 * @param {GameKit} kit
 * @param {number | undefined} me
 */
export function scoreTable(context, { field, game }, me) {
  const { totals = [], ranks = [], winners = [], detail } = context.update.score ?? {};
  const scores = detail?.[field]?.seats ?? [];
  const parts = totals.map((_, seat) => new Map(game.breakdown(seat, scores[seat] ?? {}, context)));
  const names = [...new Set(parts.flatMap((part) => [...part.keys()]))];
  const seats = totals.map((_, seat) => seat).sort((a, b) => (ranks[a] ?? 0) - (ranks[b] ?? 0));
  const heads = [t("player"), ...names, t("total")].map((name) =>
    h("th", { scope: "col", role: "columnheader" }, name),
  );
  const rows = seats.map((seat) =>
    h(
      "tr",
      { role: "row", class: winners.includes(seat) ? "won" : null },
      h(
        "th",
        { scope: "row", role: "rowheader" },
        icon(20, seatMark(seat, 20)),
        seat === me ? `${nameOfSeat(seat)} (${t("you")})` : nameOfSeat(seat),
      ),
      names.map((name) => h("td", { role: "cell", "data-part": name }, parts[seat]?.get(name) ?? "–")),
      h("td", { role: "cell", class: "total" }, totals[seat]?.total ?? "–"),
    ),
  );
  // The table can have the focus, so that the keyboard scrolls it if it is wider than the screen.
  return h(
    "div",
    { class: "totals", tabindex: "0", role: "group", "aria-label": t("score") },
    // The roles remain if a narrow screen shows the rows as blocks.
    h(
      "table",
      { role: "table" },
      h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, heads)),
      h("tbody", { role: "rowgroup" }, rows),
    ),
  );
}
