/** Deals: which cards lie where at the start, from a number, a code or `cards:` and a pack. */

import { CELLS, COLUMNS, PACK, isCard, isColumn } from "./pack.js";
import { rulesetOf } from "./rulesets.js";

/** The last deal number, 2^33 − 1. */
export const LAST_NUMBER = 2 ** 33 - 1;

const CARDS = "cards:";
const CODES_END = 26 ** 7;

/**
 * The text names no deal of this ruleset. `why` is one of the keys "deal.…" of the texts, without
 * the prefix, `values` what its text names.
 */
export class BadDeal extends Error {
  /**
   * @param {string} why
   * @param {object} [values]
   */
  constructor(why, values = {}) {
    super(why);
    this.why = why;
    this.values = values;
  }
}

/**
 * @param {string|object} ruleset
 * @param {string} dealText - a number, a code, or `cards:` and the 52 cards in dealing order
 * @returns {Position} the position at the start
 * @throws {BadDeal} it names no deal of the ruleset
 */
export function dealt(ruleset, dealText) {
  const rules = rulesetOf(ruleset);
  return laidOut(rules, parseDeal(rules, dealText).order);
}

/**
 * @param {string|object} ruleset
 * @param {Position} position
 * @returns {string} the deal that begins so, as `cards:` and its 52 cards
 * @throws {BadDeal} no game of the ruleset begins so
 */
export function dealOf(ruleset, position) {
  const rules = rulesetOf(ruleset);
  const depth = (PACK.length - rules.rest.length) / rules.columns;
  const rows = Array.from({ length: depth }, (_, row) => row);
  const order = rows.flatMap((row) => position.columns.map((column) => column[row]));
  for (const place of rules.rest) {
    order.push(isColumn(place)
      ? position.columns[COLUMNS.indexOf(place)][depth]
      : position.cells[CELLS.indexOf(place)]);
  }
  if (!isPack(order) || !isSame(laidOut(rules, order), position)) throw new BadDeal("not-a-start");
  return CARDS + order.join("");
}

/**
 * @param {string|object} ruleset
 * @param {string} dealText
 * @returns {string|null} the deal's code; null where the ruleset or the deal has none
 * @throws {BadDeal} it names no deal of the ruleset
 */
export function codeOf(ruleset, dealText) {
  const rules = rulesetOf(ruleset);
  const { number } = parseDeal(rules, dealText);
  if (!rules.codes || number === null || number >= CODES_END) return null;
  let [left, letters] = [number, ""];
  for (let place = 0; place < 7; place += 1) {
    letters = String.fromCharCode(65 + left % 26) + letters;
    left = Math.floor(left / 26);
  }
  return `EO1-C${rules.cells}-${letters}`;
}

function parseDeal(rules, text) {
  if (text.startsWith(CARDS)) return { order: parseOrder(text.slice(CARDS.length)), number: null };
  const number = text.startsWith("EO") ? numberOfCode(rules, text) : numberOf(text);
  if (number < 1 || number > LAST_NUMBER) throw new BadDeal("out-of-range", { last: LAST_NUMBER });
  return { order: shuffled(number), number };
}

function parseOrder(text) {
  const order = text.match(/../gsu) ?? [];
  if (text.length !== 2 * PACK.length) throw new BadDeal("not-52");
  const unknown = order.find((card) => !isCard(card));
  if (unknown !== undefined) throw new BadDeal("no-card", { card: unknown });
  if (!isPack(order)) {
    const missing = PACK.filter((card) => !order.includes(card)).join(" ");
    throw new BadDeal("cards-twice", { missing });
  }
  return order;
}

function numberOf(text) {
  if (!/^[0-9]{1,10}$/.test(text)) throw new BadDeal("no-deal", { last: LAST_NUMBER });
  return Number(text);
}

function numberOfCode(rules, text) {
  const [, cells, letters] = /^EO1-C([0-9])-([A-Z]{7})$/.exec(text) ?? [];
  if (letters === undefined) throw new BadDeal("no-code");
  if (!rules.codes) throw new BadDeal("without-codes");
  if (Number(cells) !== rules.cells) throw new BadDeal("other-cells", { cells });
  return [...letters].reduce((number, letter) => number * 26 + letter.charCodeAt(0) - 65, 0);
}

/** The shuffle of docs/rules.md, section 2; its products stay below 2^53, so they are exact. */
function shuffled(number) {
  const left = [...PACK];
  const order = [];
  let state = number >= 2 ** 32 ? number - 2 ** 32 : number;
  while (left.length) {
    state = (214013 * state + 2531011) % 2 ** 33;
    const pick = drawn(number, Math.floor(state / 2 ** 16)) % left.length;
    order.push(left[pick]);
    const last = left.pop();
    if (pick < left.length) left[pick] = last;
  }
  return order;
}

function drawn(number, high) {
  if (number >= 2 ** 32) return (high & 0xffff) + 1;
  return (high & 0x7fff) + (number >= 2 ** 31 ? 0x8000 : 0);
}

/** Full rows from left to right, then the rest as the ruleset says. */
function laidOut(rules, order) {
  const full = PACK.length - rules.rest.length;
  const columns = Array.from({ length: rules.columns }, () => []);
  const cells = Array(rules.cells).fill(null);
  order.slice(0, full).forEach((card, at) => columns[at % rules.columns].push(card));
  order.slice(full).forEach((card, at) => {
    const place = rules.rest[at];
    if (isColumn(place)) columns[COLUMNS.indexOf(place)].push(card);
    else cells[CELLS.indexOf(place)] = card;
  });
  return { columns, cells, home: { C: 0, D: 0, H: 0, S: 0 } };
}

const isPack = (order) => order.length === PACK.length && order.every(isCard)
  && new Set(order).size === PACK.length;

const isSame = (one, other) => JSON.stringify([one.columns, one.cells])
  === JSON.stringify([other.columns, other.cells]);
