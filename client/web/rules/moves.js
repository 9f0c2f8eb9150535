/** Moves: read, checked as docs/rules.md section 3 says, made, and followed by automatic ones. */

import {
  CELLS, COLUMNS, HOME, SUITS, isCell, isColumn, isFoundation, isRed, rankOf, suitOf,
} from "./pack.js";
import { moved, pileAt } from "./board.js";
import { groupLimit, liesOn, rulesetOf, runLength, takesOnEmpty } from "./rulesets.js";

const KING = 12;
const TWO = 1;
const FORM = /^(?:[1-8a-gkCDHS][1-8a-gkh]|[1-8][1-8]v[1-9a-d])$/;

/** The text has not the form of a move, or names a place that this board does not have. */
export class BadMove extends Error {
  /** @param {string} text */
  constructor(text) {
    super(`${text} is not a move here`);
    this.reason = "bad-move";
  }
}

/** The rules refuse the move here: `reason` is a word of docs/rules.md, section 3. */
export class IllegalMove extends Error {
  /**
   * @param {string} reason
   * @param {number} [limit] - cards that may move together, for "group-too-long"
   * @param {number} [length] - cards that the move needs, for "group-too-long"
   */
  constructor(reason, limit, length) {
    super(reason);
    this.reason = reason;
    if (limit !== undefined) Object.assign(this, { limit, length });
  }
}

/**
 * @param {string|object} ruleset
 * @param {Position} position
 * @param {string} moveText - in any form that says it
 * @param {"safe"|"off"} [autoplay] - the ruleset's own where it is left out
 * @returns {{position: Position, move: string, auto: string[]}} the move in its canonical form,
 *   the automatic moves that it set off, and where the cards lie then
 * @throws {BadMove} it is no move, or names a place that the ruleset does not have
 * @throws {IllegalMove} the rules refuse it, with the reason
 */
export function play(ruleset, position, moveText, autoplay) {
  const rules = rulesetOf(ruleset);
  const move = parseMove(moveText);
  const length = check(rules, position, move);
  const intoEmpty = isColumn(move.destination) && !pileAt(position, move.destination).length;
  const canonical = moveForm(move.source, move.destination, intoEmpty ? length : 1);
  const after = moved(position, move.source, move.destination, length);
  if ((autoplay ?? rules.autoplay) !== "safe" || isFoundation(move.source)) {
    return { position: after, move: canonical, auto: [] };
  }
  return { move: canonical, ...withSafeMoves(after) };
}

/**
 * What a player says who drops a card, with those on it, at a place; `play` tells the verdict.
 *
 * @param {string} place - where the card was taken from
 * @param {number} depth - cards that lie on it and move with it
 * @param {string} to
 * @returns {string|null} the move with its number of cards; null where no move is written so
 */
export function dropText(place, depth, to) {
  if (place !== to && isColumn(place) && isColumn(to)) {
    return depth > KING ? null : `${place}${to}v${(depth + 1).toString(16)}`;
  }
  return depth > 0 && place !== to ? null : place + to;
}

/**
 * @param {string|object} ruleset
 * @param {Position} position
 * @param {string} place
 * @param {number} depth - cards that lie on the one that is to be lifted
 * @returns {IllegalMove|null} why these cards cannot be lifted together now; null: they can
 */
export function whyNotLifted(ruleset, position, place, depth) {
  if (isFoundation(place) && !rulesetOf(ruleset).take_back) return new IllegalMove("no-take-back");
  const pile = pileAt(position, place);
  const length = depth + 1;
  if (pile.length < length) return new IllegalMove("no-card");
  if (length > runLength(ruleset, pile)) return new IllegalMove("not-in-sequence");
  const limit = groupLimit(ruleset, position, false);
  return length > limit ? new IllegalMove("group-too-long", limit, length) : null;
}

/** Text of a move; the number is written only for two cards or more. */
export const moveForm = (source, destination, count) =>
  source + destination + (count > 1 ? `v${count.toString(16)}` : "");

function parseMove(text) {
  if (typeof text !== "string" || !FORM.test(text)) throw new BadMove(String(text).slice(0, 12));
  const count = text.length > 2 ? Number.parseInt(text[3], 16) : null;
  return { source: text[0], destination: text[1], count };
}

/** Number of cards that a legal move lifts. The order of the checks is the engine's. */
function check(rules, position, { source, destination, count }) {
  if (!isOnBoard(rules, source) || !isOnBoard(rules, destination)) {
    throw new BadMove(source + destination);
  }
  const back = isFoundation(source);
  if (source === destination || (back && destination === HOME)) throw new IllegalMove("same-place");
  if (back && !rules.take_back) throw new IllegalMove("no-take-back");
  const pile = pileAt(position, source);
  if (pile.length < (count ?? 1)) throw new IllegalMove("no-card");
  if (destination === HOME) return checkHome(position, pile.at(-1));
  if (isCell(destination)) return checkCell(position, destination);
  const target = pileAt(position, destination).at(-1);
  return target
    ? checkOnto(rules, position, pile, target, count)
    : checkIntoEmpty(rules, position, pile, count ?? 1);
}

function isOnBoard(rules, place) {
  if (isColumn(place)) return COLUMNS.indexOf(place) < rules.columns;
  return !isCell(place) || CELLS.indexOf(place) < rules.cells;
}

function checkHome(position, card) {
  if (position.home[suitOf(card)] !== rankOf(card)) throw new IllegalMove("foundation-order");
  return 1;
}

function checkCell(position, cell) {
  if (pileAt(position, cell).length) throw new IllegalMove("cell-full");
  return 1;
}

function checkOnto(rules, position, pile, target, count) {
  const length = rankOf(target) - rankOf(pile.at(-1));
  const fits = length > 0 && length <= pile.length && liesOn(rules, pile.at(-length), target);
  if (!fits || (count ?? length) !== length) throw new IllegalMove("does-not-fit");
  return checkGroup(rules, position, pile, length, false);
}

function checkIntoEmpty(rules, position, pile, length) {
  if (length > runLength(rules, pile)) throw new IllegalMove("not-in-sequence");
  if (!takesOnEmpty(rules, pile.at(-length))) throw new IllegalMove("kings-only");
  return checkGroup(rules, position, pile, length, true);
}

function checkGroup(rules, position, pile, length, intoEmpty) {
  if (length === 1) return 1;
  if (length > runLength(rules, pile)) throw new IllegalMove("not-in-sequence");
  const limit = groupLimit(rules, position, intoEmpty);
  if (length > limit) throw new IllegalMove("group-too-long", limit, length);
  return length;
}

function withSafeMoves(board) {
  const auto = [];
  let position = board;
  for (let place = safePlace(position); place; place = safePlace(position)) {
    auto.push(place + HOME);
    position = moved(position, place, HOME, 1);
  }
  return { position, auto };
}

/** First place, columns before cells, whose open card may go home and can never be missed. */
function safePlace(position) {
  const places = COLUMNS.slice(0, position.columns.length)
    + CELLS.slice(0, position.cells.length);
  return [...places].find((place) => {
    const card = pileAt(position, place).at(-1);
    return card !== undefined && isSafe(position.home, card);
  });
}

/** Aces and twos always; another when both suits of the other colour hold its rank less one. */
function isSafe(home, card) {
  const rank = rankOf(card);
  if (home[suitOf(card)] !== rank) return false;
  const others = [...SUITS].filter((suit) => isRed(`A${suit}`) !== isRed(card));
  return rank <= TWO || others.every((suit) => home[suit] >= rank);
}
