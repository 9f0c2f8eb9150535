/** The rulesets, row by row as in cellmates/engine/rulesets.py, and what each row says of cards. */

import { isRed, rankOf, suitOf } from "./pack.js";

const KING = 12;

const FREECELL = {
  name: "freecell",
  version: 1,
  columns: 8,
  cells: 4,
  rest: "1234",
  build: "alternating",
  empty_column: "any",
  group: "doubling",
  take_back: false,
  autoplay: "safe",
  undo_limit: null,
  scoring: "cards-home",
  taps: "one",
  codes: false,
};

const eightOffApp = (name, cells, rest) => ({
  name,
  version: 1,
  columns: 8,
  cells,
  rest,
  build: "same-suit",
  empty_column: "kings",
  group: "doubling",
  take_back: true,
  autoplay: "off",
  undo_limit: 100,
  scoring: "first-arrival",
  taps: "two",
  codes: true,
});

const EIGHT_OFF_CLASSIC = {
  ...eightOffApp("eight-off-classic", 8, "abcd"),
  group: "free-plus-one",
  undo_limit: null,
  scoring: "cards-home",
  codes: false,
};

/** Each ruleset by its name; `rest` names the places of the cards behind the full rows. */
export const RULESETS = Object.freeze(Object.fromEntries([
  FREECELL,
  eightOffApp("eight-off", 8, "abcd"),
  eightOffApp("eight-off-4", 4, "abcd"),
  eightOffApp("eight-off-2", 2, "ab34"),
  EIGHT_OFF_CLASSIC,
].map((row) => [row.name, Object.freeze(row)])));

/**
 * @param {string|object} ruleset - a row, or its name
 * @returns {object} the row
 * @throws {RangeError} there is no ruleset of this name
 */
export function rulesetOf(ruleset) {
  if (typeof ruleset !== "string") return ruleset;
  if (!Object.hasOwn(RULESETS, ruleset)) throw new RangeError(`no ruleset ${ruleset}`);
  return RULESETS[ruleset];
}

/**
 * @param {string|object} ruleset
 * @param {string} card
 * @param {string} under
 * @returns {boolean} whether the card may lie on the other one in a column
 */
export function liesOn(ruleset, card, under) {
  if (rankOf(under) !== rankOf(card) + 1) return false;
  return rulesetOf(ruleset).build === "same-suit"
    ? suitOf(under) === suitOf(card)
    : isRed(under) !== isRed(card);
}

/**
 * @param {string|object} ruleset
 * @param {string} card
 * @returns {boolean} whether an empty column takes the card, alone or heading its run
 */
export function takesOnEmpty(ruleset, card) {
  return rulesetOf(ruleset).empty_column === "any" || rankOf(card) === KING;
}

/**
 * @param {string|object} ruleset
 * @param {string[]} column
 * @returns {number} cards in sequence at the open end of a column; 0 for an empty one
 */
export function runLength(ruleset, column) {
  const last = column.length - 1;
  let at = last;
  while (at > 0 && liesOn(ruleset, column[at], column[at - 1])) at -= 1;
  return last - at + (column.length ? 1 : 0);
}

/**
 * @param {string|object} ruleset
 * @param {Position} position
 * @param {boolean} intoEmpty - whether the cards go into an empty column, which does not count
 * @returns {number} most cards that may move together, counted before the lift
 */
export function groupLimit(ruleset, position, intoEmpty) {
  const free = position.cells.filter((card) => card === null).length;
  if (rulesetOf(ruleset).group !== "doubling") return free + 1;
  const empty = position.columns.filter((column) => column.length === 0).length;
  return (free + 1) * 2 ** (empty - (intoEmpty ? 1 : 0));
}
