// The dialog that hides the table until the player of another seat is at the screen.

import { catFace } from "../art/cats.js";
import { icon } from "../art/shapes.js";
import { h } from "../dom.js";
import { nameOfSeat } from "../seat_names.js";
import { t } from "../settings.js";

/**
 * Hide the page until the player of a seat confirms to be at the screen.
 * @param {number} seat
 * @param {() => boolean} isOld returns true once the player is no longer needed
 * @param {(close: () => void) => void} onWait called with a function that ends the current wait
 */
export async function hideUntilHere(seat, isOld, onWait) {
  const name = nameOfSeat(seat);
  const dialog = h(
    "dialog",
    { class: "curtain", oncancel: (/** @type {Event} */ event) => event.preventDefault() },
    icon(120, catFace(seat, 120, "sleepy")),
    h("p", {}, t("curtain", { name })),
    h("form", { method: "dialog" }, h("button", { class: "primary", value: "here" }, t("i-am", { name }))),
  );
  document.body.append(dialog);
  // A second Escape closes a dialog even if the page prevents it.
  while (dialog.returnValue !== "here" && !isOld()) {
    dialog.showModal();
    await new Promise((resolve) => {
      dialog.addEventListener("close", resolve, { once: true });
      onWait(() => dialog.close());
    });
  }
  dialog.remove();
}
