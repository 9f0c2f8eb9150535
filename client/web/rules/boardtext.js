/** Boards as fc-solve writes and reads them, so that positions travel to solvers and back. */

import { PACK, RANKS, SUITS, isCard } from "./pack.js";
import { rulesetOf } from "./rulesets.js";

const FOUNDATION_SUITS = "HCDS";
const FOUNDATION_RANKS = `0${RANKS}`;
const LINE_ENDS = /\r\n|[\n\v\f\r\x1c-\x1e\x85\u2028\u2029]/;

/**
 * The text is no board of this ruleset. `line` counts from 1; `why` is one of the keys "pasted.…"
 * of the texts, without the prefix, `values` what its text names.
 */
export class BadBoard extends Error {
  /**
   * @param {number} line
   * @param {string} why
   * @param {object} [values]
   */
  constructor(line, why, values = {}) {
    super(`line ${line}: ${why}`);
    this.line = line;
    this.why = why;
    this.values = { line, ...values };
  }
}

/**
 * @param {Position} position
 * @returns {string} the board in fc-solve's form, with a line feed behind each line
 */
export function boardText({ columns, cells, home }) {
  const top = (suit) => `${suit}-${FOUNDATION_RANKS[home[suit]]}`;
  const lines = [
    `Foundations: ${[...FOUNDATION_SUITS].map(top).join(" ")}`,
    `Freecells: ${cells.map((card) => card ?? "-").join(" ")}`,
    ...columns.map((column) => [":", ...column].join(" ")),
  ];
  return `${lines.join("\n")}\n`;
}

/**
 * @param {string|object} ruleset
 * @param {string} text
 * @returns {Position} the position that the board shows
 * @throws {BadBoard} the text is no board of the ruleset
 */
export function parseBoard(ruleset, text) {
  return new Reader(rulesetOf(ruleset)).read(text);
}

/** Reads one board line by line and remembers where each card was seen. */
class Reader {
  #rules;
  #seen = new Map();
  #line = 0;
  #home = null;
  #cells = null;
  #columns = [];

  constructor(rules) {
    this.#rules = rules;
  }

  read(text) {
    text.split(LINE_ENDS).forEach((line, at) => {
      if (!line.trim()) return;
      this.#line = at + 1;
      this.#readLine(line.trim());
    });
    if (this.#columns.length < this.#rules.columns) {
      throw this.#bad("few-columns", { count: this.#columns.length, columns: this.#rules.columns });
    }
    const missing = PACK.filter((card) => !this.#seen.has(card));
    if (missing.length) throw this.#bad("missing", { cards: missing.join(" ") });
    return {
      columns: this.#columns,
      cells: this.#cells ?? Array(this.#rules.cells).fill(null),
      home: this.#home ?? { C: 0, D: 0, H: 0, S: 0 },
    };
  }

  #readLine(line) {
    const colon = line.indexOf(":");
    const word = line.slice(0, Math.max(colon, 0)).toLowerCase();
    const rest = line.slice(colon + 1);
    if (word === "foundations" || word === "founds") {
      if (this.#home) throw this.#bad("foundations-twice");
      this.#home = this.#foundations(rest);
    } else if (word === "freecells" || word === "fc") {
      if (this.#cells) throw this.#bad("cells-twice");
      this.#cells = this.#readCells(rest);
    } else {
      if (this.#columns.length === this.#rules.columns) {
        throw this.#bad("many-columns", { columns: this.#rules.columns });
      }
      this.#columns.push(wordsOf(line.replace(/^:/, "")).map((card) => this.#card(card)));
    }
  }

  #foundations(text) {
    const home = { C: 0, D: 0, H: 0, S: 0 };
    for (const word of wordsOf(text)) {
      const [, suit, rank] = /^([CDHS])-(.)$/u.exec(word.replaceAll("10", "T")) ?? [];
      if (suit === undefined || !FOUNDATION_RANKS.includes(rank)) {
        throw this.#bad("no-foundation", { word: word.slice(0, 8) });
      }
      home[suit] = FOUNDATION_RANKS.indexOf(rank);
    }
    for (const suit of SUITS) {
      for (const rank of RANKS.slice(0, home[suit])) this.#card(rank + suit);
    }
    return home;
  }

  #readCells(text) {
    const words = cellsByPlace(text) ?? wordsOf(text);
    const most = this.#rules.cells;
    if (words.length > most) throw this.#bad("many-cells", { count: words.length, cells: most });
    const cells = words.map((word) => (word === "-" ? null : this.#card(word)));
    return [...cells, ...Array(most - cells.length).fill(null)];
  }

  #card(word) {
    const card = word.replaceAll("10", "T");
    if (!isCard(card)) throw this.#bad("no-card", { word: word.slice(0, 8) });
    if (this.#seen.has(card)) throw this.#bad("twice", { card, first: this.#seen.get(card) });
    this.#seen.set(card, this.#line);
    return card;
  }

  #bad(why, values) {
    return new BadBoard(Math.max(this.#line, 1), why, values);
  }
}

const wordsOf = (text) => text.split(/\s+/).filter(Boolean);

/** Cells printed in four characters each, blank when empty, as fc-solve does; else null. */
function cellsByPlace(text) {
  const shown = text.trimEnd();
  const padded = shown.padEnd(Math.ceil(shown.length / 4) * 4);
  const cells = padded.match(/.{4}/g) ?? [];
  if (!cells.length || !cells.every((cell) => /^(?: {2}[^ ]{2}| {4})$/.test(cell))) return null;
  return cells.map((cell) => cell.trim() || "-");
}
