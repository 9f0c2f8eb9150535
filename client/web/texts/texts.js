/** The words of the page, from one table per language. Keys that a language lacks are English. */

import english from "./en.js";

/** Languages that have a table, by code, as they call themselves. Another is one more row here. */
export const LANGUAGES = Object.freeze({ en: "English" });

let table = english;
let rules = new Intl.PluralRules("en");
let code = "en";

/** @returns {string} the code of the language in use */
export function language() {
  return code;
}

/**
 * @param {string} key
 * @returns {boolean} whether there is a text of this key
 */
export function hasText(key) {
  return key in table || key in english;
}

/**
 * @param {string} key
 * @param {Record<string, string|number>} [values] what stands for the names in braces
 * @returns {string} the text; the key itself where there is none
 */
export function t(key, values = {}) {
  const text = table[key] ?? english[key] ?? key;
  return text.replace(/\{(\w+)\}/g, (whole, name) => String(values[name] ?? whole));
}

/**
 * @param {string} key of which `key.one`, `key.other` … are in the table
 * @param {number} n how many; stands for `{n}`
 * @param {Record<string, string|number>} [values]
 * @returns {string} the text for that number
 */
export function plural(key, n, values = {}) {
  const form = `${key}.${rules.select(n)}`;
  return t(hasText(form) ? form : `${key}.other`, { n, ...values });
}

/**
 * Changes the language of all texts from now on.
 * @param {string} chosen one of `LANGUAGES`
 * @throws {RangeError} there is no such language
 */
export async function setLanguage(chosen) {
  if (!(chosen in LANGUAGES)) throw new RangeError(`no language ${chosen}`);
  table = chosen === "en" ? english : (await import(`./${chosen}.js`)).default;
  rules = new Intl.PluralRules(chosen);
  code = chosen;
}
