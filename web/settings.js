// The player's settings. They are stored in this browser.

import { read, remember } from "./storage.js";
import { filledIn } from "./texts.js";
import { words } from "./words/words.js";

/** @type {Record<string, number>} */
const PACES = { calm: 1100, brisk: 450, none: 0 };

/** Dispatches `change` when the player chooses another language. */
export const spoken = new EventTarget();

/** @typedef {keyof typeof words} Language */

/** The languages of the page: the languages with catalogues. */
export const LANGUAGES = /** @type {Language[]} */ (Object.keys(words));

/** Return the language that the player has chosen, or else the browser's first language that the page has. */
export function language() {
  const wanted = [read("language"), ...navigator.languages.map((each) => each.split("-")[0])];
  return wanted.map((each) => LANGUAGES.find((known) => known === each)).find((each) => each) ?? "en";
}

/** Return that language with the browser's region, for times and dates. */
export function locale() {
  const spoken = language();
  return navigator.languages.find((each) => each.split("-")[0] === spoken) ?? spoken;
}

/** @returns {"light" | "dark" | "system"} */
export function theme() {
  const kept = read("theme");
  return kept === "light" || kept === "dark" ? kept : "system";
}

/** Return true if items move gradually. The default is false if the system asks for reduced motion. */
export function isAnimated() {
  const kept = read("animation");
  return kept === undefined ? !matchMedia("(prefers-reduced-motion: reduce)").matches : kept === "on";
}

/** Return the pause before a bot's move, in milliseconds. */
export function pace() {
  return PACES[read("pace") ?? ""] ?? PACES["calm"] ?? 0;
}

/** Return the player's name in rooms, or "" if the player has not given one. */
export function playerName() {
  return read("name") ?? "";
}

/** Return true if the player has chosen sounds. */
export function isHeard() {
  return read("sound") === "on";
}

/** Return true if the player has chosen that the device vibrates. */
export function isFelt() {
  return read("vibration") === "on";
}

/**
 * Store a setting, and apply it.
 * @param {"language" | "theme" | "animation" | "pace" | "name" | "sound" | "vibration"} name
 * @param {string} value
 */
export function choose(name, value) {
  remember(name, value);
  apply();
  if (name === "language") {
    spoken.dispatchEvent(new Event("change"));
  }
}

/** Apply the settings to the document. */
export function apply() {
  document.documentElement.lang = language();
  document.documentElement.dataset["theme"] = theme();
  document.documentElement.dataset["animation"] = isAnimated() ? "on" : "off";
}

/**
 * Return text of the page in the player's language.
 * @param {keyof typeof words.en} key
 * @param {Record<string, string | number>} [values]
 */
export function t(key, values) {
  return filled(words[language()][key], values);
}

/**
 * Insert values into text in the player's language.
 * @param {import("./texts.js").Text} text
 * @param {import("./texts.js").Values} [values]
 */
export function filled(text, values) {
  return filledIn(language(), text, values);
}
