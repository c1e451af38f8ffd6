// Describes errors to players.

import { Refusal } from "./api.js";
import { h } from "./dom.js";
import { t } from "./settings.js";
import { ForkError } from "./shared/fork_error.js";
import { StorageFull } from "./store.js";
import { sentence } from "./texts.js";

// The time without a response after which the page says that it is sending, in milliseconds.
const SLOW = 1000;

/**
 * Call a function if a request takes long.
 * @param {() => void} say
 * @returns {() => void} the function to call when the response has arrived
 */
export function ifSlow(say) {
  const timer = setTimeout(say, SLOW);
  return () => clearTimeout(timer);
}

/**
 * Return the text of an error for players.
 * @param {unknown} error
 */
export function whyOf(error) {
  if (error instanceof Refusal) {
    return error.reason === "INVALID_TABLE" ? t("other-keys") : sentence(error.localized);
  }
  if (error instanceof ForkError) {
    return t("fork", { ply: error.ply });
  }
  if (error instanceof StorageFull) {
    return t("storage-full");
  }
  return error instanceof Error ? error.message : String(error);
}

/**
 * Return true if the service will never accept the table of a refused call, because the service has other keys or the
 * table is too old.
 * @param {unknown} error
 */
export function isClosedFor(error) {
  return error instanceof Refusal && (error.reason === "INVALID_TABLE" || error.reason === "TABLE_EXPIRED");
}

/**
 * Return the part of the page that shows an error.
 * @param {unknown} error
 * @param {...import("./dom.js").Child} next the elements to continue with
 */
export function failed(error, ...next) {
  const title = t("failed");
  const element = h("section", { class: "sheet failed" }, h("h1", {}, title), h("p", {}, whyOf(error)), next);
  return { element, title };
}

/**
 * Return links to continue with if a table cannot be opened.
 * @param {string} href the address of the form for a new game
 */
export function elsewhere(href) {
  return h(
    "p",
    { class: "choices" },
    h("a", { class: "button primary", href }, t("new-game")),
    h("a", { class: "button", href: "#/" }, t("home")),
  );
}

/**
 * Run the action of a button or form, and show its error. The button or form is disabled during the action.
 * @param {Event} event
 * @param {HTMLElement} refusal the element that shows the error
 * @param {() => Promise<void>} work
 */
export async function doing(event, refusal, work) {
  const source = /** @type {HTMLElement} */ (event.currentTarget);
  const button = source instanceof HTMLButtonElement ? source : source.querySelector("button.primary");
  refusal.textContent = "";
  button?.setAttribute("disabled", "");
  const isThere = ifSlow(() => (refusal.textContent = t("sending")));
  try {
    await work();
    refusal.textContent = refusal.textContent === t("sending") ? "" : refusal.textContent;
  } catch (error) {
    refusal.textContent = whyOf(error);
  } finally {
    isThere();
    button?.removeAttribute("disabled");
  }
}
