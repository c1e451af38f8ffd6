// The rules of a game, over whatever is shown.

import { h } from "./dom.js";
import { t } from "./settings.js";

/**
 * Return a link to the rules of a game, which are shown over whatever is shown.
 * @param {string} game
 */
export function rulesLink(game) {
  const onclick = (/** @type {Event} */ event) => showRules(event, game);
  return h("a", { href: `rules/${game}.html`, target: "_blank", onclick }, t("rules"));
}

/**
 * Show the rules of a game in a dialog instead of following a link to them.
 * @param {Event} event
 * @param {string} game
 */
async function showRules(event, game) {
  const { ctrlKey, metaKey, shiftKey } = /** @type {MouseEvent} */ (event);
  if (ctrlKey || metaKey || shiftKey) {
    return;
  }
  event.preventDefault();
  const response = await fetch(`rules/${game}.html`);
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const text = page.querySelector("main") ?? page.body;
  for (const link of text.querySelectorAll("a[href]")) {
    // From here they would lead elsewhere.
    link.setAttribute("href", new URL(link.getAttribute("href") ?? "", response.url).href);
    link.setAttribute("target", "_blank");
  }
  const dialog = h(
    "dialog",
    { class: "rules", "aria-label": t("rules"), onclose: () => dialog.remove() },
    h("form", { method: "dialog" }, h("button", { class: "close", "aria-label": t("close") }, "×")),
    h("div", { class: "text", lang: "en", tabindex: "0" }, ...text.childNodes),
    h("p", {}, h("a", { href: `guide/${game}.html`, target: "_blank" }, t("guide"))),
  );
  document.body.append(dialog);
  dialog.showModal();
}
