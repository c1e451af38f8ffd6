// The layout of a table on the page: the stage and what can be done, beside it the score and the log.

import { h } from "./dom.js";
import { rulesLink } from "./rules.js";
import { t } from "./settings.js";

/**
 * Lay a table out. `below`: what stands under the stage; `aside`: what stands over the log.
 * @param {import("./table_view.js").TableView} view
 * @param {{title: string, game: string, below?: HTMLElement, aside: (HTMLElement | false)[]}} parts
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
