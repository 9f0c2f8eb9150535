/** What cards, places and moves are called, for those who listen. No DOM. */

import { OutOfStep, carried } from "./rules.js";
import { CELLS, RANKS, SUITS, isColumn, isFoundation } from "./rules/pack.js";
import { plural, t } from "./texts/texts.js";

/**
 * Name a card: "seven of hearts".
 * @param {string} card as on the wire
 * @returns {string}
 */
export function cardName(card) {
  return t("card.name", { rank: t(`card.rank.${card[0]}`), suit: t(`card.suit.${card[1]}`) });
}

/**
 * Name a place: "column 3", "cell b", "home of hearts", "home".
 * @param {string} place one character of docs/rules.md
 * @returns {string}
 */
export function placeName(place) {
  if (place === "h") return t("place.home");
  if (isFoundation(place)) return t("place.foundation", { suit: t(`card.suit.${place}`) });
  return t(isColumn(place) ? "place.column" : "place.cell", { place });
}

/**
 * Name a card where it lies: "seven of hearts, column 3, 2 cards above it".
 * @param {string} card as on the wire
 * @param {string} place where it lies
 * @param {number} depth how many cards lie on it
 * @returns {string}
 */
export function seatName(card, place, depth) {
  const values = { card: cardName(card), place: placeName(place) };
  return depth === 0 ? t("seat.open", values) : plural("seat.under", depth, values);
}

/**
 * Name a place with nothing on it: "cell b, empty".
 * @param {string} place one character of docs/rules.md
 * @returns {string}
 */
export function emptyName(place) {
  return t("seat.empty", { place: placeName(place) });
}

/**
 * Say why something was refused.
 * @param {{reason: string, limit?: number, length?: number}} refusal as rules.js throws it
 * @returns {string}
 */
export function refusalWords({ reason, limit = 0, length = 0 }) {
  return t(`reason.${reason}`, { limit, length });
}

/**
 * Follow a move and the automatic moves after it, one at a time.
 * @param {object} before the position before them
 * @param {string[]} moves the move, then the automatic ones
 * @param {object|null} [end] the position after them; null: whichever it is
 * @returns {{move: string, cards: string[]}[]} the cards of each, the deepest first; empty where
 *   the moves do not lead from the one position to the other
 */
export function stepsOf(before, moves, end = null) {
  try {
    let position = before;
    const steps = moves.map((move) => {
      const after = carried(position, [move]);
      const cards = movedCards(position, after);
      position = after;
      return { move, cards };
    });
    return end === null || !isElsewhere(position, end) ? steps : [];
  } catch (error) {
    if (error instanceof OutOfStep) return [];
    throw error;
  }
}

/**
 * Tell steps in a sentence: "six of hearts to column 4; ace of clubs goes home".
 * @param {{move: string, cards: string[]}[]} steps what `stepsOf` gave
 * @returns {string}
 */
export function tellSteps(steps) {
  return steps.map(({ move, cards }) => {
    const values = { card: cardName(cards[0]), place: placeName(move[1]) };
    if (move[1] === "h") return t("said.home", values);
    return cards.length > 1
      ? plural("said.run", cards.length - 1, values)
      : t("said.move", values);
  }).join("; ");
}

/**
 * List every card with its seat: cells, home, columns; in each the deepest first.
 * @param {object} position as in GameView
 * @returns {{card: string, place: string, row: number, depth: number}[]}
 */
export function seatsOf(position) {
  const seats = [];
  const seat = (place, cards) => cards.forEach((card, row) => {
    seats.push({ card, place, row, depth: cards.length - 1 - row });
  });
  position.cells.forEach((card, at) => card && seat(CELLS[at], [card]));
  for (const suit of SUITS) {
    seat(suit, [...RANKS].slice(0, position.home[suit]).map((rank) => rank + suit));
  }
  position.columns.forEach((column, at) => seat(String(at + 1), column));
  return seats;
}

/**
 * Whether any card lies elsewhere in another position.
 * @param {object} before a position
 * @param {object} after a position
 * @returns {boolean}
 */
export function isElsewhere(before, after) {
  return movedCards(before, after).length + movedCards(after, before).length > 0;
}

function movedCards(before, after) {
  const places = new Map(seatsOf(before).map(({ card, place }) => [card, place]));
  return seatsOf(after).filter(({ card, place }) => places.get(card) !== place)
    .map(({ card }) => card);
}
