// Texts with values in their places.

/**
 * A text, or its forms by the plural categories of its language.
 * @typedef {string | Readonly<Record<string, string>>} Text
 */
/** @typedef {Record<string, string | number>} Values */

// The plural categories of languages, by their tags: to make them takes long.
/** @type {Map<string, Intl.PluralRules>} */
const plurals = new Map();

/**
 * Put values in the places of a text, of which there may be a form for each plural category of `count`.
 * @param {string} language
 * @param {Text} text
 * @param {Values} [values]
 */
export function filledIn(language, text, values = {}) {
  const form = typeof text === "string" ? text : formOf(language, text, Number(values["count"]));
  return form.replace(/\{(\w+)\}/g, (place, name) => String(values[name] ?? place));
}

/**
 * @param {string} language
 * @param {Readonly<Record<string, string>>} forms
 * @param {number} count
 */
function formOf(language, forms, count) {
  const rules = plurals.get(language) ?? new Intl.PluralRules(language);
  plurals.set(language, rules);
  return forms[rules.select(count)] ?? forms["other"] ?? "";
}
