// Texts with placeholders for values.

/**
 * A text, or its forms by plural category.
 * @typedef {string | Readonly<Record<string, string>>} Text
 */
/** @typedef {Record<string, string | number>} Values */

// The plural rules by language. They are stored because creating them is slow.
/** @type {Map<string, Intl.PluralRules>} */
const plurals = new Map();

/**
 * Load the texts of a folder in a language. The server makes one module for each language of the folder's words.js.
 * @param {string} folder
 * @param {string} language
 * @returns {Promise<Readonly<Record<string, Text>>>} the texts by key
 */
export async function loadTexts(folder, language) {
  return (await import(`./${folder}/words.${language}.js`)).words;
}

// Matches "de" and "que" before a placeholder in French texts. These words lose their vowel if the value begins with a
// vowel.
const ELIDED = /\b(d|qu)e \{(\w+)\}/g;
const VOWEL = /^[aeiouàâäéèêëîïôöùûüæœ]/i;

/**
 * Insert values into text, with French elisions ("de Zoé", "d’Alice"). If the text has plural forms, the value `count`
 * selects a form.
 * @param {string} language
 * @param {Text} text
 * @param {Values} [values]
 */
export function filledIn(language, text, values = {}) {
  const form = typeof text === "string" ? text : formOf(language, text, Number(values["count"]));
  const elided =
    language === "fr"
      ? form.replace(ELIDED, (said, word, name) =>
          VOWEL.test(String(values[name])) ? `${word}’{${name}}` : said,
        )
      : form;
  return elided.replace(/\{(\w+)\}/g, (place, name) => String(values[name] ?? place));
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

/**
 * Return a text as a sentence: with a capital letter, and with a full stop unless it ends with another mark.
 * @param {string} text
 */
export function sentence(text) {
  const whole = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]["”»]?$/u.test(whole) ? whole : `${whole}.`;
}
