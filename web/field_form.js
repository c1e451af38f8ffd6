// A form with one field.

import { h } from "./dom.js";
import { t } from "./settings.js";

/**
 * Return a form with one field and a button.
 * @param {string} label
 * @param {import("./dom.js").Attributes} attributes the attributes of the field
 * @param {(text: string) => string | undefined} use takes the text of the field. It returns the reason if the text is
 *   refused
 */
export function fieldForm(label, attributes, use) {
  const refusal = h("p", { class: "refusal", role: "alert" });
  const field = h("input", { ...attributes, required: true });
  const onsubmit = (/** @type {Event} */ event) => {
    event.preventDefault();
    const reason = use(field.value);
    refusal.textContent = reason ?? "";
    if (reason === undefined) {
      field.value = "";
    }
  };
  return h(
    "form",
    { class: "paste", onsubmit },
    h("label", {}, h("span", {}, label), field),
    h("button", {}, t("open")),
    refusal,
  );
}
