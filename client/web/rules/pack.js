/** Cards and places as texts: "TD" is the ten of diamonds, "3" a column, "a" a cell, "h" home. */

export const RANKS = "A23456789TJQK";
export const SUITS = "CDHS";
export const COLUMNS = "12345678";
export const CELLS = "abcdefgk";
export const HOME = "h";

/** The pack in its own order: AC AD AH AS 2C … KS. */
export const PACK = [...RANKS].flatMap((rank) => [...SUITS].map((suit) => rank + suit));

const KNOWN = new Set(PACK);

/**
 * @param {string} text
 * @returns {boolean} whether it is a card's text
 */
export const isCard = (text) => KNOWN.has(text);

/**
 * @param {string} card
 * @returns {number} 0 (ace) to 12 (king)
 */
export const rankOf = (card) => RANKS.indexOf(card[0]);

/**
 * @param {string} card
 * @returns {string} C, D, H or S
 */
export const suitOf = (card) => card[1];

/**
 * @param {string} card
 * @returns {boolean} whether it is a diamond or a heart
 */
export const isRed = (card) => card[1] === "D" || card[1] === "H";

/**
 * @param {string} place
 * @returns {boolean} whether it is a column
 */
export const isColumn = (place) => COLUMNS.includes(place);

/**
 * @param {string} place
 * @returns {boolean} whether it is a cell
 */
export const isCell = (place) => CELLS.includes(place);

/**
 * @param {string} place
 * @returns {boolean} whether it is a foundation, from which cards are taken back
 */
export const isFoundation = (place) => SUITS.includes(place);
