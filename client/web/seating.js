/** Where places and cards are on a table of a given size. Numbers only, no DOM. */

import { CELLS, SUITS, isColumn, isFoundation } from "./rules/pack.js";

const SHAPE = 84 / 60;
const WIDEST = 118;
/** Width of a card at most, by the table's height, with one row above the columns or two. */
const ONE_ROW = 0.17;
const TWO_ROWS = 0.135;
const FAN = 0.31;
const FINGER = 26;

/**
 * Measure out a table.
 * @param {{width: number, height: number, columns: number, cells: number}} table sizes in pixels,
 *   and how many columns and cells there are
 * @returns {{width: number, height: number, foot: number, spots: Map<string, {x: number,
 *   y: number}>}} the size of a card, where the table ends, and each place's upper left corner
 */
export function seating({ width, height, columns, cells }) {
  const gap = Math.max(3, Math.min(14, Math.round(width * 0.01)));
  const all = cells + SUITS.length;
  const across = (places, share) => Math.min(
    (width - gap * (places + 1)) / places, WIDEST, height * share,
  );
  const fits = across(Math.max(all, columns), ONE_ROW);
  const folded = across(columns, TWO_ROWS);
  const oneRow = all <= columns || fits >= folded * 0.95;
  const slots = oneRow ? Math.max(all, columns) : columns;
  const wide = Math.floor(Math.max(20, oneRow ? fits : folded));
  const high = Math.round(wide * SHAPE);
  const step = wide + gap;
  const spots = new Map();
  const line = (places, x, y) => [...places].forEach((place, at) => {
    spots.set(place, { x: Math.round(x + at * step), y });
  });
  const left = (count) => (width - count * step + gap) / 2;
  const letters = CELLS.slice(0, cells);
  const home = left(slots) + (slots - SUITS.length) * step;
  line(letters, left(slots), oneRow ? gap : 2 * gap + high);
  line(SUITS, home, gap);
  const top = (oneRow ? 1 : 2) * (high + gap) + 2 * gap;
  line(Array.from({ length: columns }, (_, at) => String(at + 1)), left(columns), top);
  return { width: wide, height: high, foot: height - gap, spots };
}

/**
 * Say where a card lies; a long column is pushed together to fit.
 * @param {{height: number, foot: number, spots: Map<string, {x: number, y: number}>}} seats what
 *   `seating` gave
 * @param {string} place where it lies
 * @param {number} row how many cards lie under it
 * @param {number} depth how many cards lie on it
 * @returns {{x: number, y: number}} its upper left corner
 */
export function spotOf(seats, place, row, depth) {
  const { x, y } = seats.spots.get(place);
  if (!isColumn(place)) return { x, y };
  return { x, y: Math.round(y + row * fan(seats, y, row + depth + 1)) };
}

/**
 * Say over which part of the table a card is dropped at a place.
 * @param {{width: number, height: number, foot: number, spots: Map<string, {x: number,
 *   y: number}>}} seats what `seating` gave
 * @returns {Map<string, {x: number, y: number, width: number, height: number}>} by place; all
 *   foundations together are "h"
 */
export function zonesOf({ width, height, foot, spots }) {
  const zones = new Map();
  for (const [place, { x, y }] of spots) {
    if (isFoundation(place)) continue;
    zones.set(place, { x, y, width, height: isColumn(place) ? foot - y : height });
  }
  const [first, last] = [spots.get(SUITS[0]), spots.get(SUITS.at(-1))];
  return zones.set("h", { ...first, width: last.x + width - first.x, height });
}

/**
 * Say how much two rectangles share.
 * @param {{x: number, y: number, width: number, height: number}} one in pixels
 * @param {{x: number, y: number, width: number, height: number}} other in pixels
 * @returns {number} the area, 0 when they are apart
 */
export function shared(one, other) {
  const wide = Math.min(one.x + one.width, other.x + other.width) - Math.max(one.x, other.x);
  const high = Math.min(one.y + one.height, other.y + other.height) - Math.max(one.y, other.y);
  return wide > 0 && high > 0 ? wide * high : 0;
}

function fan({ height, foot }, top, count) {
  const natural = Math.max(height * FAN, Math.min(FINGER, height * 0.5));
  if (count < 2) return natural;
  return Math.max(4, Math.min(natural, (foot - top - height) / (count - 1)));
}
