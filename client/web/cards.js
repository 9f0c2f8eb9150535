/** Cards and places drawn as SVG; colours come from table.css, nothing is fetched. */

import { cardName } from "./naming.js";

const SVG = "http://www.w3.org/2000/svg";

/** A card is this wide and high in the drawing's own units. */
const CARD_WIDTH = 60;
const CARD_HEIGHT = 84;

/** Suits in a box of 24 by 24. */
const SUITS = {
  C: "M12 2.2a4.8 4.8 0 0 1 4 7.45A4.8 4.8 0 1 1 13.2 17c.2 2.3.9 3.9 2.4 5.1H8.4"
    + "c1.5-1.2 2.2-2.8 2.4-5.1A4.8 4.8 0 1 1 8 9.65 4.8 4.8 0 0 1 12 2.2z",
  D: "M12 1.5Q15.5 7.5 20.5 12 15.5 16.5 12 22.5 8.5 16.5 3.5 12 8.5 7.5 12 1.5z",
  H: "M12 21.8C7 17.2 2 13.2 2 8.4 2 5.2 4.4 2.9 7.3 2.9c2 0 3.7 1 4.7 2.8"
    + " 1-1.8 2.7-2.8 4.7-2.8 2.9 0 5.3 2.3 5.3 5.5 0 4.8-5 8.8-10 13.4z",
  S: "M12 1.8c2.5 4.2 9.5 7.7 9.5 12.7 0 2.9-2.2 4.8-4.6 4.8-1.6 0-2.9-.8-3.7-2"
    + " .2 2.2.9 3.8 2.4 5H8.4c1.5-1.2 2.2-2.8 2.4-5-.8 1.2-2.1 2-3.7 2"
    + "-2.4 0-4.6-1.9-4.6-4.8C2.5 9.5 9.5 6 12 1.8z",
};

/** What court cards wear, in a box of 40 by 20. */
const HEADS = {
  J: "M4 19h32v-6H4zM6 13Q3 1 18 3q14-4 16 10zM25 4Q27-7 39-8 40 3 31 7z",
  Q: "M5 19 1 5q7 7 12-2 2 9 7-3 5 12 7 3 5 9 12 2l-4 14z",
  K: "M4 19 1 3l10 8L20-2l9 13 10-8-3 16z",
};
const PEARLS = { J: [], Q: [[1, 4], [13, 1], [20, -2], [27, 1], [39, 4]], K: [[20, 13]] };

/**
 * Draw a card.
 * @param {string} text the card as on the wire, such as "TD"
 * @param {{named?: boolean}} [options] `named: false` leaves the name to whoever shows the card
 * @returns {SVGElement}
 * @throws {RangeError} when the text is no card
 */
export function card(text, { named = true } = {}) {
  const [rank, suit] = text;
  if (text.length !== 2 || !"A23456789TJQK".includes(rank) || !(suit in SUITS)) {
    throw new RangeError(`no card: ${text}`);
  }
  const picture = drawing(`card-picture suit-${suit}`);
  if (named) nameIt(picture, cardName(text));
  picture.append(
    shape("rect", { class: "card-face", x: 0.5, y: 0.5, width: 59, height: 83, rx: 5 }),
    index(rank),
    pip(suit, 36, 4, 20),
    ...("JQK".includes(rank) ? court(rank, suit) : [pip(suit, 12, 41, 36)]),
  );
  return picture;
}

/**
 * Draw the empty place of a cell, a column or, with a suit, of a foundation.
 * @param {string|null} suit C, D, H or S; null draws only the frame
 * @returns {SVGElement}
 */
export function emptyPlace(suit) {
  const picture = drawing("place-picture");
  picture.append(shape("rect", { class: "place-frame", x: 1, y: 1, width: 58, height: 82, rx: 5 }));
  if (suit !== null) picture.append(pip(suit, 15, 27, 30));
  return picture;
}

function drawing(classes) {
  const picture = shape("svg", { viewBox: `0 0 ${CARD_WIDTH} ${CARD_HEIGHT}`, class: classes });
  picture.setAttribute("aria-hidden", "true");
  return picture;
}

function nameIt(picture, name) {
  picture.removeAttribute("aria-hidden");
  picture.setAttribute("role", "img");
  const title = shape("title", {});
  title.textContent = name;
  picture.append(title);
}

function index(rank) {
  const ten = rank === "T";
  const sign = shape("text", { class: ten ? "rank rank-ten" : "rank", x: ten ? 2.5 : 4, y: 21 });
  sign.textContent = ten ? "10" : rank;
  return sign;
}

function pip(suit, x, y, size) {
  const place = `translate(${x} ${y}) scale(${size / 24})`;
  return shape("path", { d: SUITS[suit], class: "pip", transform: place });
}

function court(rank, suit) {
  const head = shape("g", { class: "court-head", transform: "translate(15.2 43.5) scale(.74)" });
  head.append(shape("path", { d: HEADS[rank] }));
  for (const [cx, cy] of PEARLS[rank]) head.append(shape("circle", { cx, cy, r: 2.2 }));
  return [
    shape("rect", { class: "court-panel", x: 7, y: 39, width: 46, height: 40, rx: 4 }),
    head,
    pip(suit, 20.5, 58.5, 19),
  ];
}

function shape(kind, attributes) {
  const element = document.createElementNS(SVG, kind);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}
