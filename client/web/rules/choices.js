/** What may be done on a board: every legal move, drops, taps, and whether no move is left. */

import {
  CELLS, COLUMNS, HOME, SUITS, isCell, isColumn, isFoundation, rankOf, suitOf,
} from "./pack.js";
import { isWon, moved, pileAt } from "./board.js";
import { moveForm } from "./moves.js";
import { groupLimit, liesOn, rulesetOf, runLength, takesOnEmpty } from "./rulesets.js";

/**
 * @param {string|object} ruleset
 * @param {Position} position
 * @returns {string[]} every legal move in canonical form, in the engine's order
 */
export function legalMoves(ruleset, position) {
  return choices(rulesetOf(ruleset), position).map(({ text }) => text);
}

/**
 * @param {string|object} ruleset
 * @param {Position} position
 * @param {string} place - column, cell or foundation
 * @param {number} depth - cards that lie on the one that is moved, and move with it
 * @returns {Map<string, string>} each place where these cards may be dropped, with its move
 */
export function targets(ruleset, position, place, depth) {
  const drops = choicesOf(rulesetOf(ruleset), position, place)
    .filter(({ lifts }) => lifts === depth + 1);
  return new Map(drops.map(({ destination, text }) => [destination, text]));
}

/**
 * @param {string|object} ruleset
 * @param {Position} position
 * @param {string} place - column or cell
 * @param {number} depth - cards that lie on the tapped card
 * @param {1|2} taps
 * @returns {string|null} the move that the tap makes; null: none
 */
export function tap(ruleset, position, place, depth, taps) {
  if (isFoundation(place)) return null;
  const rules = rulesetOf(ruleset);
  const drops = targets(rules, position, place, depth);
  if (drops.has(HOME)) return drops.get(HOME);
  if (rules.taps === "two" && taps === 1) return null;
  const height = (to) => pileAt(position, to).length;
  const columns = [...drops.keys()].filter(isColumn);
  const onto = columns.filter(height).sort((one, other) => height(other) - height(one));
  const intoEmpty = columns.filter((to) => !height(to));
  const toCell = isColumn(place) ? [...drops.keys()].filter(isCell) : [];
  const order = rules.taps === "two"
    ? [...onto, ...intoEmpty, ...toCell]
    : [...onto, ...toCell, ...intoEmpty];
  return order.length ? drops.get(order[0]) : null;
}

/**
 * @param {string|object} ruleset
 * @param {Position} position
 * @returns {boolean} whether no move is left on a board that is not won; a take-back counts only
 *   if another card may then be put on the card that was taken back
 */
export function isStuck(ruleset, position) {
  if (isWon(position)) return false;
  const rules = rulesetOf(ruleset);
  const moves = choices(rules, position);
  if (moves.some(({ source }) => !isFoundation(source))) return false;
  return !moves.some((takeBack) => isUseful(rules, position, takeBack));
}

function isUseful(rules, position, { source, destination }) {
  const after = moved(position, source, destination, 1);
  return choices(rules, after)
    .some((move) => move.destination === destination && !isFoundation(move.source));
}

/** Legal moves, each `{text, source, destination, lifts}`: columns, cells, then take-backs. */
function choices(rules, position) {
  const places = COLUMNS.slice(0, rules.columns) + CELLS.slice(0, rules.cells) + SUITS;
  return [...places].flatMap((place) => choicesOf(rules, position, place));
}

/** Legal moves from one place: home before cells before columns. */
function choicesOf(rules, position, source) {
  const pile = pileAt(position, source);
  if (!pile.length || (isFoundation(source) && !rules.take_back)) return [];
  const card = pile.at(-1);
  const found = [];
  const add = (destination, lifts, text = source + destination) =>
    found.push({ text, source, destination, lifts });
  if (!isFoundation(source) && position.home[suitOf(card)] === rankOf(card)) add(HOME, 1);
  for (const cell of CELLS.slice(0, rules.cells)) {
    if (!pileAt(position, cell).length) add(cell, 1);
  }
  const run = pile.slice(-runLength(rules, pile));
  for (const column of COLUMNS.slice(0, rules.columns)) {
    if (column !== source) {
      for (const lifts of groupsTo(rules, position, run, pileAt(position, column))) {
        const shown = pileAt(position, column).length ? 1 : lifts;
        add(column, lifts, moveForm(source, column, shown));
      }
    }
  }
  return found;
}

/** Numbers of cards of a run's open end that a column takes. */
function groupsTo(rules, position, run, column) {
  if (column.length) {
    const length = rankOf(column.at(-1)) - rankOf(run.at(-1));
    const fits = length > 0 && length <= run.length
      && liesOn(rules, run.at(-length), column.at(-1))
      && length <= groupLimit(rules, position, false);
    return fits ? [length] : [];
  }
  const most = Math.min(run.length, groupLimit(rules, position, true));
  return Array.from({ length: most }, (_, at) => at + 1)
    .filter((length) => takesOnEmpty(rules, run.at(-length)));
}
