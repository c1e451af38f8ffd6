// The rules of a game, in a dialog over the page.

import { h } from "./dom.js";
import { language, t } from "./settings.js";

/**
 * Return a link that shows the rule sheet of a game in a dialog.
 * @param {string} game
 * @param {string} [label] the link's label for screen readers, if there are several such links
 */
export function rulesLink(game, label) {
  const onclick = (/** @type {Event} */ event) => showRules(event, game);
  return h("a", { href: `rules/${game}.html`, target: "_blank", onclick, "aria-label": label }, t("rules"));
}

/**
 * Show the rule sheet of a game in a dialog instead of opening the page of the exact rules.
 * @param {Event} event
 * @param {string} game
 */
async function showRules(event, game) {
  const { ctrlKey, metaKey, shiftKey } = /** @type {MouseEvent} */ (event);
  if (ctrlKey || metaKey || shiftKey) {
    return;
  }
  event.preventDefault();
  const { said, sheetOf } = await import("./lessons/sheet.js");
  const sheet = await sheetOf(game);
  const dialog = h(
    "dialog",
    { class: "rules", "aria-label": t("rules"), onclose: () => dialog.remove() },
    h("form", { method: "dialog" }, h("button", { class: "close", "aria-label": t("close") }, "×")),
    h("div", { class: "text", lang: language(), tabindex: "0" }, sheet),
    h(
      "p",
      { class: "more" },
      h("a", { href: `rules/${game}.html`, target: "_blank" }, said("exact")),
      h("a", { href: `guide/${game}.html`, target: "_blank" }, t("guide")),
    ),
  );
  document.body.append(dialog);
  dialog.showModal();
}
