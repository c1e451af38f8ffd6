// Links to tables. A shared link contains tables and never a secret. Only the private link to the player's own seat
// contains a secret.

import { button, h } from "./dom.js";
import { fieldForm } from "./field_form.js";
import { t } from "./settings.js";
import { packed } from "./shared/bytes.js";
import { promisesOf, roomOfTable } from "./store.js";

/** @typedef {import("./session.js").Session} Session */

/** @param {string} fragment */
export function linkTo(fragment) {
  return new URL(`#/${fragment}`, location.href).href;
}

/** Return true if links of this page work on this machine only. */
export function isLoopback() {
  return /^(localhost|127\.|\[::1\])/.test(location.hostname);
}

/**
 * Return the link to share. It contains the tables that other players may lack.
 * @param {Session} session
 */
export function tableLink(session) {
  return linkTo(`table/${session.toSend().texts.join(".")}`);
}

/**
 * Return the private link to a seat, for playing on another device. It contains the secret, the seat's promises, and
 * its room.
 * @param {Session} session
 * @param {number} seat
 */
export function seatLink(session, seat) {
  const room = roomOfTable(session.id);
  const own = { seat, secret: session.kept.seats[seat], promises: promisesOf(session.id, seat), room };
  return linkTo(`seat/${packed(own)}/${session.toSend().texts.join(".")}`);
}

/**
 * Return an element that shows a link, with buttons to copy and to send it.
 * @param {string} label
 * @param {string} link
 * @param {{isPrivate?: boolean}} [how] a private link has no button to send it
 */
export function share(label, link, { isPrivate = false } = {}) {
  return sharing(
    label,
    h("input", { type: "text", readonly: true, value: link }),
    !isPrivate && { url: link },
  );
}

/**
 * Return an element that shows a text, with buttons to copy and to send it.
 * @param {string} label
 * @param {HTMLInputElement | HTMLTextAreaElement} field contains the text
 * @param {ShareData | false} data the data to send; false for no button
 */
export function sharing(label, field, data) {
  field.addEventListener("focus", () => field.select());
  const copied = h("span", { role: "status" });
  const copy = button(t("copy"), () => copyIt(), { class: "copy" });
  const send =
    data && "share" in navigator && button(t("send"), () => navigator.share(data).catch(() => undefined));
  async function copyIt() {
    field.select();
    try {
      await navigator.clipboard.writeText(field.value);
      copied.textContent = t("copied");
    } catch {
      // The text is selected, so that the player can copy it.
      copied.textContent = t("copy-by-hand");
    }
  }
  return h(
    "div",
    { class: "share" },
    h("label", {}, h("span", {}, label), field),
    h("p", { class: "choices" }, copy, send, copied),
  );
}

/** Return a field for a link from another player. */
export function pasteLink() {
  const attributes = { type: "text", name: "link", autocomplete: "off" };
  return fieldForm(t("paste-link"), attributes, (text) => {
    const found = /#?\/?((table|seat|invitation|reply|room)\/\S+)$/.exec(text.trim());
    if (!found) {
      return t("not-a-link");
    }
    location.hash = `#/${found[1]}`;
    return undefined;
  });
}
