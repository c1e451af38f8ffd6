// The page's router: it opens the part that the address's fragment names. Fragments are never sent to a server.

import { connection, Refusal, tryAgain, UNAUTHENTICATED, useToken } from "./api.js";
import { button, h } from "./dom.js";
import { fieldForm } from "./field_form.js";
import { glows } from "./glow.js";
import { closeSettings, header, openSettings } from "./header.js";
import { isLookedAfter } from "./kept.js";
import { apply, loadWords, spoken, t, useAddress } from "./settings.js";
import { canStore } from "./storage.js";
import { failed, whyOf } from "./trouble.js";

/**
 * A part of the page.
 * @typedef {object} Part
 * @property {HTMLElement} element
 * @property {string} title
 * @property {() => void} [leave] called when the player leaves the part or changes the language
 */

/** @type {Record<string, () => Promise<{open: (...words: string[]) => Promise<Part>}>>} */
const PARTS = {
  "": () => import("./pages/lobby.js"),
  new: () => import("./pages/new_game.js"),
  practise: () => import("./pages/play.js"),
  play: () => import("./pages/play.js"),
  table: () => import("./pages/links.js"),
  seat: () => import("./pages/links.js"),
  invitation: () => import("./pages/invitation.js"),
  reply: () => import("./pages/invitation.js"),
  room: () => import("./pages/room.js"),
  record: () => import("./pages/record.js"),
  learn: () => import("./pages/learn.js"),
  puzzle: () => import("./pages/puzzle.js"),
  kept: () => import("./pages/kept.js"),
  today: () => import("./pages/today.js"),
  day: () => import("./pages/day_game.js"),
  yours: () => import("./pages/yours.js"),
};

const main = h("main", { id: "main", tabindex: "-1" });
const waiting = h("p", { class: "waiting", role: "alert", hidden: true });
const apart = h("p", { class: "waiting apart", role: "alert", hidden: true });
const trouble = h("p", { class: "trouble", role: "alert", hidden: true });
/** @type {Part | undefined} */
let shown;
let opened = 0;

async function show() {
  const [name = "", ...words] = location.hash.replace(/^#\/?/, "").split("/");
  const number = ++opened;
  shown?.leave?.();
  shown = undefined;
  main.setAttribute("aria-busy", "true");
  trouble.hidden = true;
  /** @type {Part} */
  let part;
  try {
    const open = PARTS[Object.hasOwn(PARTS, name) ? name : ""]?.();
    part = /** @type {Part} */ (await (await open)?.open(name, ...words));
  } catch (error) {
    part = failure(error);
  }
  if (number !== opened) {
    part.leave?.();
    return;
  }
  shown = part;
  main.removeAttribute("aria-busy");
  main.replaceChildren(part.element);
  if (number > 1) {
    // Move the focus, so that screen readers continue at the new part.
    main.focus({ preventScroll: true });
    scrollTo(0, 0);
  }
  document.title = part.title === "" ? "Chatière" : `${part.title} · Chatière`;
}

/** @param {unknown} error */
function failure(error) {
  const asks = error instanceof Refusal && error.status === UNAUTHENTICATED;
  return failed(error, asks && tokenForm(), h("p", {}, h("a", { href: "#/" }, t("home"))));
}

/** Return the form that asks for the service's token. */
function tokenForm() {
  const attributes = { type: "password", autocomplete: "off" };
  return fieldForm(t("token"), attributes, (token) => {
    if (useToken(token)) {
      begin();
      return undefined;
    }
    return t("no-token");
  });
}

function begin() {
  document.body.replaceChildren(
    h("a", { class: "skip", href: "#main", onclick: skip }, t("skip")),
    canStore() ? "" : h("p", { class: "unkept" }, t("unkept")),
    waiting,
    apart,
    trouble,
    header(),
    main,
    glows(),
  );
  return show();
}

/**
 * Show that there is no connection, with a link to what the browser has stored, if it stores anything.
 * @param {"waiting" | "no-connection"} key
 */
function sayAway(key) {
  const more = h("a", { href: "#/kept" }, t("kept"));
  waiting.replaceChildren(t(key), ...(isLookedAfter() ? [" ", more] : []));
  waiting.hidden = false;
}

/** Show that the service has not responded yet, with a button to send the request again. */
function sayLate() {
  waiting.replaceChildren(t("late"), " ", button(t("try-again"), tryAgain));
  waiting.hidden = false;
}

/** Show that the room cannot be followed. */
function sayApart() {
  apart.textContent = t("connecting");
  apart.hidden = false;
}

/** @param {Event} event */
function skip(event) {
  // The link must not change the fragment, because the fragment names a part of the page.
  event.preventDefault();
  main.focus();
}

useAddress();
apply();
closeSettings();
addEventListener("hashchange", show);
spoken.addEventListener("change", async () => {
  const isInSettings = document.querySelector(".settings[open]") !== null;
  const begun = begin();
  if (isInSettings) {
    openSettings();
  }
  await begun;
  // Focus the control by which the player has just changed the language.
  const chosen = isInSettings ? ".settings [name=language]" : ".languages [aria-pressed=true]";
  /** @type {HTMLElement | null} */ (document.querySelector(chosen))?.focus();
});
connection.addEventListener("late", sayLate);
connection.addEventListener("apart", sayApart);
connection.addEventListener("together", () => (apart.hidden = true));
connection.addEventListener("waiting", () => sayAway("waiting"));
connection.addEventListener("kept", () => sayAway("no-connection"));
connection.addEventListener("back", () => (waiting.hidden = true));
connection.addEventListener("refused", (event) => {
  main.replaceChildren(failure(/** @type {CustomEvent} */ (event).detail).element);
});
// Show errors that no part of the page handles.
addEventListener("unhandledrejection", ({ reason }) => {
  trouble.textContent = whyOf(reason);
  trouble.hidden = false;
  if (!trouble.isConnected) {
    // The page has not begun, because its texts could not be loaded.
    document.body.append(trouble);
  }
});
loadWords("words")
  .then(begin)
  .then(async () => (await import("./offline.js")).prepare());
