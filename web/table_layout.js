// The layout of a table's page: the drawing and the buttons, next to them the score and the log.

import { h } from "./dom.js";
import { rulesLink } from "./rules.js";
import { t } from "./settings.js";

/**
 * Return the page of a table.
 * @param {import("./table_view.js").TableView} view
 * @param {{above?: HTMLElement, below?: HTMLElement, aside?: HTMLElement[]}} parts elements above and below the drawing,
 *   and above the log
 */
export function tableLayout(view, { above, below = h("div"), aside = [] }) {
  const { name, phrases } = view.kit;
  return h(
    "div",
    { class: "table-page", "data-game": name },
    h("div", { class: "title" }, h("h1", {}, phrases.title), rulesLink(name)),
    h("div", { class: "play" }, above, view.scene.element, view.bar, below),
    h("aside", {}, view.scores, aside, h("section", {}, h("h2", {}, t("log")), view.log.element)),
    view.summary,
  );
}
