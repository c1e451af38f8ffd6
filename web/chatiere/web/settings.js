// The settings that the player has chosen, kept in this browser.

import { filledIn } from "./texts.js";
import { words } from "./words/words.js";

/** @type {Record<string, number>} */
const PACES = { calm: 1100, brisk: 450, none: 0 };

/** The source of `change`, when another language is chosen. */
export const spoken = new EventTarget();

/** @typedef {keyof typeof words} Language */

/** The languages of the page: those that there are catalogues of. */
export const LANGUAGES = /** @type {Language[]} */ (Object.keys(words));

/** The language that the player has chosen or, of those that the browser asks for, the first that the page has. */
export function language() {
  const wanted = [localStorage.getItem("language"), ...navigator.languages.map((each) => each.split("-")[0])];
  return wanted.map((each) => LANGUAGES.find((known) => known === each)).find((each) => each) ?? "en";
}

/** That language as it is written where the browser's user lives, for times and dates. */
export function locale() {
  const spoken = language();
  return navigator.languages.find((each) => each.split("-")[0] === spoken) ?? spoken;
}

/** @returns {"light" | "dark" | "system"} */
export function theme() {
  const kept = localStorage.getItem("theme");
  return kept === "light" || kept === "dark" ? kept : "system";
}

/** Whether things glide; by default unless the system asks for less motion. */
export function isAnimated() {
  const kept = localStorage.getItem("animation");
  return kept === null ? !matchMedia("(prefers-reduced-motion: reduce)").matches : kept === "on";
}

/** The milliseconds that a bot seems to think. */
export function pace() {
  return PACES[localStorage.getItem("pace") ?? ""] ?? PACES["calm"] ?? 0;
}

/** The name of the player in rooms; empty if the player has not said so yet. */
export function playerName() {
  return localStorage.getItem("name") ?? "";
}

/** True if a sound tells the player's turn. */
export function isHeard() {
  return localStorage.getItem("sound") === "on";
}

/**
 * Keep a setting.
 * @param {"language" | "theme" | "animation" | "pace" | "name" | "sound"} name
 * @param {string} value
 */
export function choose(name, value) {
  localStorage.setItem(name, value);
  apply();
  if (name === "language") {
    spoken.dispatchEvent(new Event("change"));
  }
}

/** Let the document follow the settings. */
export function apply() {
  document.documentElement.lang = language();
  document.documentElement.dataset["theme"] = theme();
  document.documentElement.dataset["animation"] = isAnimated() ? "on" : "off";
}

/**
 * Return a text of the page in the player's language.
 * @param {keyof typeof words.en} key
 * @param {Record<string, string | number>} [values]
 */
export function t(key, values) {
  return filled(words[language()][key], values);
}

/**
 * Put values in the places of a text in the player's language.
 * @param {import("./texts.js").Text} text
 * @param {import("./texts.js").Values} [values]
 */
export function filled(text, values) {
  return filledIn(language(), text, values);
}
