// Errors in words for players.

import { Refusal } from "./api.js";
import { t } from "./settings.js";
import { ForkError } from "./shared/fork_error.js";
import { StorageFull } from "./store.js";

/**
 * Return what to say of an error.
 * @param {unknown} error
 */
export function whyOf(error) {
  if (error instanceof Refusal) {
    return error.localized;
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
