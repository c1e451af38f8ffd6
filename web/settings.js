// The player's settings. They are stored in this browser.

import { LANGUAGES } from "./languages.js";
import { read, remember } from "./storage.js";
import { filledIn, loadTexts } from "./texts.js";

/** @typedef {typeof import("./words/words.js").words.en} Words */

/** @type {Record<string, number>} */
const PACES = { calm: 1100, brisk: 450, none: 0 };

/** Dispatches `change` when the player chooses another language. */
export const spoken = new EventTarget();

/**
 * The texts of the loaded folders, by folder and key, in the player's language.
 * @type {Map<string, Readonly<Record<string, import("./texts.js").Text>>>}
 */
export const loaded = new Map();

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

/** Return true unless the player has hidden the emotes of all people. */
export function areEmotesShown() {
  return read("emotes") !== "off";
}

/** Return true if the player has chosen vibration. */
export function isFelt() {
  return read("vibration") === "on";
}

/**
 * Load the texts of a folder in the player's language.
 * @param {string} folder
 */
export async function loadWords(folder) {
  const spoken = language();
  const texts = await loadTexts(folder, spoken);
  if (spoken !== language()) {
    // The player has chosen another language in the meantime.
    return loadWords(folder);
  }
  loaded.set(folder, texts);
  return undefined;
}

/** Store the language that the address asks for, such as `?lang=fr`, as if the player had chosen it. */
export function useAddress() {
  const address = new URL(location.href);
  const wanted = address.searchParams.get("lang");
  if (wanted !== null) {
    // Remove the language from the address, because the player may share links.
    address.searchParams.delete("lang");
    history.replaceState(history.state, "", address);
    if (LANGUAGES.includes(wanted)) {
      remember("language", wanted);
    }
  }
}

/**
 * Change the language, once its texts are loaded.
 * @param {string} wanted
 */
export async function speak(wanted) {
  const folders = [...loaded.keys()];
  const texts = await Promise.all(
    folders.map(async (folder) => ({ folder, words: await loadTexts(folder, wanted) })),
  );
  if (loaded.size > folders.length) {
    // More texts have been loaded in the meantime.
    await speak(wanted);
    return;
  }
  // Change all texts together, so that a failure does not mix languages.
  texts.forEach(({ folder, words }) => loaded.set(folder, words));
  choose("language", wanted);
  spoken.dispatchEvent(new Event("change"));
}

/**
 * Store a setting, and apply it.
 * @param {"language" | "theme" | "animation" | "pace" | "name" | "sound" | "vibration" | "emotes"} name
 * @param {string} value
 */
export function choose(name, value) {
  remember(name, value);
  apply();
}

/** Apply the settings to the document. */
export function apply() {
  document.documentElement.lang = language();
  document.documentElement.dataset["theme"] = theme();
  document.documentElement.dataset["animation"] = isAnimated() ? "on" : "off";
}

/**
 * Return text of the page in the player's language.
 * @param {keyof Words} key
 * @param {Record<string, string | number>} [values]
 */
export function t(key, values) {
  return textIn("words", key, values);
}

/**
 * Return text of a loaded folder in the player's language.
 * @param {string} folder
 * @param {string} key
 * @param {Record<string, string | number>} [values]
 */
export function textIn(folder, key, values) {
  return filled(loaded.get(folder)?.[key] ?? key, values);
}

/**
 * Insert values into text in the player's language.
 * @param {import("./texts.js").Text} text
 * @param {import("./texts.js").Values} [values]
 */
export function filled(text, values) {
  return filledIn(language(), text, values);
}
