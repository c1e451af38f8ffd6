// Errors in words for players.

import { Refusal } from "./api.js";
import { h } from "./dom.js";
import { t } from "./settings.js";
import { ForkError } from "./shared/fork_error.js";
import { StorageFull } from "./store.js";

/**
 * Return what to say of an error.
 * @param {unknown} error
 */
export function whyOf(error) {
  if (error instanceof Refusal) {
    return error.reason === "INVALID_TABLE" ? t("other-keys") : error.localized;
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
 * Return whether the service will never open the table of a call that it refused: it has other keys, or the table is too old.
 * @param {unknown} error
 */
export function isClosedFor(error) {
  return error instanceof Refusal && (error.reason === "INVALID_TABLE" || error.reason === "TABLE_EXPIRED");
}

/**
 * Return what can be done where a table can't be opened.
 * @param {string} href of a new game
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
 * Do what a button or form is for, once at a time, and say what goes wrong.
 * @param {Event} event
 * @param {HTMLElement} refusal where to say it
 * @param {() => Promise<void>} work
 */
export async function doing(event, refusal, work) {
  const source = /** @type {HTMLElement} */ (event.currentTarget);
  const button = source instanceof HTMLButtonElement ? source : source.querySelector("button.primary");
  refusal.textContent = "";
  button?.setAttribute("disabled", "");
  try {
    await work();
  } catch (error) {
    refusal.textContent = whyOf(error);
  } finally {
    button?.removeAttribute("disabled");
  }
}
