// The layout of a table's page: the drawing and the buttons, next to them the score and the log.

import { h } from "./dom.js";
import { rulesLink } from "./rules.js";
import { t } from "./settings.js";

/**
 * Return the page of a table.
 * @param {import("./table_view.js").TableView} view
 * @param {{title: string, game: string, below?: HTMLElement, aside: (HTMLElement | false)[]}} parts `below` is an
 *   element under the drawing, `aside` are elements above the log
 */
export function tableLayout(view, { title, game, below, aside }) {
  return h(
    "div",
    { class: "table-page", "data-game": game },
    h("div", { class: "title" }, h("h1", {}, title), rulesLink(game)),
    h("div", { class: "play" }, view.scene.element, view.bar, below),
    h("aside", {}, view.scores, aside, h("section", {}, h("h2", {}, t("log")), view.log)),
    view.summary,
  );
}
