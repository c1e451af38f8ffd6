// The header of every part of the page: the link to the start page, and the settings.

import { catPeeking } from "./art/cats.js";
import { icon } from "./art/shapes.js";
import { h } from "./dom.js";
import { canVibrate, give } from "./feedback.js";
import { LANGUAGES } from "./languages.js";
import { choose, isAnimated, isFelt, isHeard, language, speak, t, theme } from "./settings.js";
import { read } from "./storage.js";

/** Return the header in the player's language. */
export function header() {
  const onOrOff = { on: t("on"), off: t("off") };
  const logo = icon(40, catPeeking(0, 40));
  return h(
    "header",
    { class: "top" },
    h("a", { class: "brand", href: "#/" }, logo, "Chatière"),
    h(
      "details",
      { class: "settings" },
      h("summary", {}, t("settings")),
      h(
        "div",
        { class: "sheet" },
        select("language", t("language"), language(), languageNames(), speak),
        select("theme", t("theme"), theme(), { system: t("as-system"), light: t("light"), dark: t("dark") }),
        select("pace", t("pace"), read("pace") ?? "calm", {
          calm: t("calm"),
          brisk: t("brisk"),
          none: t("at-once"),
        }),
        select("animation", t("animation"), isAnimated() ? "on" : "off", onOrOff),
        // Play an example.
        select("sound", t("sounds"), isHeard() ? "on" : "off", onOrOff, (value) => {
          choose("sound", value);
          give("turn");
        }),
        canVibrate() &&
          select("vibration", t("vibration"), isFelt() ? "on" : "off", onOrOff, (value) => {
            choose("vibration", value);
            give("touch");
          }),
      ),
    ),
  );
}

/** Return each language's name in that language. */
export function languageNames() {
  return Object.fromEntries(
    LANGUAGES.map((each) => {
      const name = new Intl.DisplayNames([each], { type: "language" }).of(each) ?? each;
      return [each, name.charAt(0).toLocaleUpperCase(each) + name.slice(1)];
    }),
  );
}

/** Open the settings. */
export function openSettings() {
  document.querySelector(".settings")?.setAttribute("open", "");
}

/** Let the Escape key and a click outside the settings close them. */
export function closeSettings() {
  const opened = () => /** @type {HTMLDetailsElement | null} */ (document.querySelector(".settings[open]"));
  addEventListener("keydown", ({ key }) => {
    const settings = opened();
    if (key === "Escape" && settings) {
      settings.open = false;
      settings.querySelector("summary")?.focus();
    }
  });
  addEventListener("pointerdown", ({ target }) => {
    const settings = opened();
    if (settings && !settings.contains(/** @type {Node} */ (target))) {
      settings.open = false;
    }
  });
}

/**
 * @param {"language" | "theme" | "animation" | "pace" | "sound" | "vibration"} name
 * @param {string} label
 * @param {string} chosen
 * @param {Record<string, string>} values
 * @param {(value: string) => void} [use] uses the chosen value; by default, it is stored
 */
function select(name, label, chosen, values, use = (value) => choose(name, value)) {
  const chooser = h(
    "select",
    { name, onchange: () => use(chooser.value) },
    Object.entries(values).map(([value, text]) => h("option", { value, selected: value === chosen }, text)),
  );
  return h("label", {}, h("span", {}, label), chooser);
}
