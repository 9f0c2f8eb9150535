/** Where the cards lie, and cards carried from place to place. No rule is asked here. */

import { CELLS, COLUMNS, HOME, RANKS, SUITS, isCell, isColumn, rankOf, suitOf } from "./pack.js";

/** A recorded move cannot have been made on the board that is known here. */
export class OutOfStep extends Error {}

/**
 * @param {Position} position
 * @returns {boolean} whether all 52 cards are home
 */
export const isWon = ({ home }) => [...SUITS].every((suit) => home[suit] === RANKS.length);

/**
 * @param {Position} position
 * @param {string} place - column, cell or foundation
 * @returns {string[]} its cards, the open one last; of a foundation only the top card
 */
export function pileAt(position, place) {
  if (isColumn(place)) return position.columns[COLUMNS.indexOf(place)] ?? [];
  if (isCell(place)) {
    const card = position.cells[CELLS.indexOf(place)] ?? null;
    return card === null ? [] : [card];
  }
  const count = position.home[place];
  return count ? [RANKS[count - 1] + place] : [];
}

/**
 * @param {Position} position
 * @param {string} source
 * @param {string} destination
 * @param {number} count
 * @returns {Position} with the last cards of a place put elsewhere
 */
export function moved(position, source, destination, count) {
  const columns = [...position.columns];
  const cells = [...position.cells];
  const home = { ...position.home };
  const lifted = pileAt(position, source).slice(-count);
  if (isColumn(source)) {
    const at = COLUMNS.indexOf(source);
    columns[at] = columns[at].slice(0, -count);
  } else if (isCell(source)) {
    cells[CELLS.indexOf(source)] = null;
  } else {
    home[source] -= 1;
  }
  if (destination === HOME) {
    home[suitOf(lifted[0])] += 1;
  } else if (isColumn(destination)) {
    const at = COLUMNS.indexOf(destination);
    columns[at] = [...columns[at], ...lifted];
  } else {
    cells[CELLS.indexOf(destination)] = lifted[0];
  }
  return { columns, cells, home };
}

/**
 * @param {Position} position
 * @param {string[]} moves - in canonical form, such as a record has them
 * @returns {Position} after the moves; it is not asked whether they are legal
 * @throws {OutOfStep} a move does not fit the board
 */
export function carried(position, moves) {
  return moves.reduce((board, move) => {
    const [source, destination] = move;
    const count = countOf(board, move);
    if (!(count > 0 && count <= pileAt(board, source).length) || !hasPlace(board, destination)) {
      throw new OutOfStep(`${move} does not fit the board`);
    }
    return moved(board, source, destination, count);
  }, position);
}

/** Cards that a recorded move lifts: as many as the ranks ask for, or as `v` says. */
function countOf(position, move) {
  const [source, destination] = move;
  if (!isColumn(source) || !isColumn(destination)) return 1;
  const pile = pileAt(position, source);
  const target = pileAt(position, destination).at(-1);
  if (target && pile.length) return rankOf(target) - rankOf(pile.at(-1));
  return move.length > 2 ? Number.parseInt(move.slice(3), 16) : 1;
}

function hasPlace({ columns, cells }, place) {
  if (place === HOME) return true;
  if (isColumn(place)) return COLUMNS.indexOf(place) < columns.length;
  return isCell(place) && CELLS.indexOf(place) < cells.length;
}
