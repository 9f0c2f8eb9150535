/**
 * As much of the game as the benchmark plays: a card goes to and fro between cells. The check is
 * of the move's form, of its source and of its destination; less than the real rules ask.
 */

import { dealt } from "../../client/web/rules/deals.js";

const MOVE = /^[a-h][a-h]$/;
const A = "a".charCodeAt(0);

/**
 * @param {string} deal - its number
 * @returns {(string|null)[]} what lies in the cells at the start of an eight-off game
 */
export const cellsOf = (deal) => dealt("eight-off", deal).cells;

/**
 * @param {string} move - such as `ae`
 * @returns {{source: number, destination: number}} the numbers of its cells
 */
export const placesOf = (move) => ({
  source: move.charCodeAt(0) - A,
  destination: move.charCodeAt(1) - A,
});

/**
 * Make a move from cell to cell.
 *
 * @param {(string|null)[]} cells - changed where the move is legal
 * @param {string} move - such as `ae`
 * @returns {boolean} whether it was legal
 */
export function moveInCells(cells, move) {
  if (typeof move !== "string" || !MOVE.test(move)) return false;
  const { source, destination } = placesOf(move);
  if (cells[source] === null || cells[destination] !== null) return false;
  cells[destination] = cells[source];
  cells[source] = null;
  return true;
}
