/**
 * The table: places and cards as elements, laid out once per size, moved by `transform` alone.
 * It knows the rules and what may be dropped where; of the game's server it knows nothing.
 */

import { card as cardPicture, emptyPlace } from "./cards.js";
import { Dragging } from "./dragging.js";
import { Keys } from "./keys.js";
import { glide, seat, shake, translate } from "./motion.js";
import {
  emptyName, isElsewhere, refusalWords, seatName, seatsOf, stepsOf, tellSteps,
} from "./naming.js";
import {
  CELLS, COLUMNS, HOME, SUITS, dropText, play, rulesetOf, tap, targets, whyNotLifted,
} from "./rules.js";
import { isFoundation } from "./rules/pack.js";
import { seating, spotOf } from "./seating.js";
import { t } from "./texts/texts.js";

const TURN_MS = 110;
const ALL_TURNS_MS = 1500;
const WORDS_MS = 5000;

/** One board of cards on the page. Its height is the host's `--table-height`, see table.css. */
export class Table {
  #host;
  #options;
  #end = new AbortController();
  #observer;
  #pieces = new Map();
  #slots = new Map();
  #said = live("table-said");
  #words = live("table-words");
  #wordsTimer = 0;
  #size = "";
  #dragging;
  #keys;

  /**
   * @param {HTMLElement} host gets the table as its only child
   * @param {{onMove?: (text: string) => void, onUndo?: () => void, onHint?: () => void,
   *   settings?: EventTarget}} options whom to tell what the player wants; a move is told only
   *   when the rules allow it, and expects `show` to be called before the next frame
   */
  constructor(host, options = {}) {
    this.#host = host;
    this.#options = options;
    this.root = element("div", "table", {});
    this.seats = null;
    this.ruleset = null;
    this.position = null;
    this.readOnly = false;
    host.replaceChildren(this.root, this.#words, this.#said);
    this.#keys = new Keys(this, host, this.#end.signal);
    this.#dragging = new Dragging(this, this.#keys, this.#end.signal);
    options.settings?.addEventListener("change", () => this.#heed(), { signal: this.#end.signal });
    this.#heed();
    this.#observer = new ResizeObserver(() => this.#measure());
    this.#observer.observe(this.root);
  }

  /**
   * Show a position; only what has changed moves.
   * @param {string|object} ruleset its name or row
   * @param {{columns: string[][], cells: (string|null)[], home: Record<string, number>}} position
   * @param {{animate?: boolean, from?: object|null, move?: string|null, auto?: string[]}} [how]
   *   `move` and `auto` led here, are told, and shown one after the other; `from` is the position
   *   to begin with, where it is not the one that is shown now
   */
  show(ruleset, position, { animate = true, from = null, move = null, auto = [] } = {}) {
    this.#lay(rulesetOf(ruleset));
    if (from !== null) this.#arrange(from, { animate: false, turns: new Map() });
    const moves = move ? [move, ...(auto ?? [])] : [];
    const steps = this.position ? stepsOf(this.position, moves, position) : [];
    const turns = new Map(steps.flatMap(({ cards }, turn) => cards.map((card) => [card, turn])));
    this.#arrange(position, { animate, turns });
    if (steps.length > 0) this.announce(tellSteps(steps));
  }

  /**
   * Shake the open card of a place and say why nothing moved.
   * @param {string} place one character of docs/rules.md
   * @param {string} words the reason
   * @param {number} [depth] how many cards lie on the one that is shaken, which shake with it
   */
  refuse(place, words, depth = 0) {
    const shaken = this.pile(place).slice(-1 - depth);
    for (const piece of shaken) shake(piece.element, this.#isStill());
    clearTimeout(this.#wordsTimer);
    say(this.#words, words);
    this.#wordsTimer = setTimeout(() => { this.#words.textContent = ""; }, WORDS_MS);
  }

  /**
   * Let the player only look, or play again.
   * @param {boolean} readOnly
   */
  setReadOnly(readOnly) {
    if (this.readOnly === readOnly) return;
    this.readOnly = readOnly;
    this.#dragging.cancel();
    this.#keys.letGo();
    this.#nameAll();
    this.#keys.settle(false);
  }

  /**
   * Point at a move without making it.
   * @param {string} move notation, legal here
   */
  hintAt(move) {
    this.#unhint();
    const [step] = this.position ? stepsOf(this.position, [move]) : [];
    if (step === undefined) return;
    for (const card of step.cards) this.#pieces.get(card).element.classList.add("is-hint");
    this.#topOf(move[1] === HOME ? step.cards[0][1] : move[1])?.classList.add("is-hint");
    this.announce(t("said.hint", { move: tellSteps([step]) }));
  }

  /**
   * Tell those who listen rather than look.
   * @param {string} text
   */
  announce(text) {
    say(this.#said, text);
  }

  /** Take the table off the page. */
  destroy() {
    this.#end.abort();
    this.#observer.disconnect();
    clearTimeout(this.#wordsTimer);
    this.#host.replaceChildren();
  }

  // --- what Dragging and Keys ask for ---------------------------------------------------------

  /** @returns {object|null} the piece that an element of the page belongs to */
  pieceAt(target) {
    const found = target instanceof Element ? target.closest("[data-card]") : null;
    return found && this.root.contains(found) ? this.#pieces.get(found.dataset.card) : null;
  }

  /** @returns {object[]} the pieces at a place, the open one last */
  pile(place) {
    const pieces = [...this.#pieces.values()].filter((piece) => piece.place === place);
    return pieces.sort((one, other) => other.depth - one.depth);
  }

  /** @returns {HTMLElement|null} what can be focused at a place: a card, or the place itself */
  elementAt(place, depth) {
    return this.pile(place).at(-1 - depth)?.element ?? this.#slots.get(place) ?? null;
  }

  /** @returns {Map<string, string>} where a card may be dropped, with the moves */
  targets(place, depth) {
    return targets(this.ruleset, this.position, place, depth);
  }

  /** @returns {boolean} whether these cards can be lifted together; if not, the player is told */
  mayLift(place, depth) {
    const why = whyNotLifted(this.ruleset, this.position, place, depth);
    if (why !== null) this.refuse(place, refusalWords(why), depth);
    return why === null;
  }

  /** Drop cards at a place. @returns {boolean} whether the rules allow it; if not, it is told */
  drop(place, depth, to) {
    const text = this.targets(place, depth).get(to) ?? dropText(place, depth, to);
    if (text !== null) return this.make(text, depth);
    this.refuse(place, t("table.one-card"), depth);
    return false;
  }

  /** Do what a tap does. @returns {boolean} whether a move was made */
  tap(place, depth, taps) {
    const text = tap(this.ruleset, this.position, place, depth, taps);
    if (text !== null) return this.make(text, depth);
    const last = taps === 2 || this.ruleset.taps === "one";
    if (last && !isFoundation(place) && this.mayLift(place, depth)) {
      this.refuse(place, t("table.nowhere"), depth);
    }
    return false;
  }

  /** Make a move. @returns {boolean} whether the rules allow it; if not, the player is told why */
  make(text, depth = 0) {
    try {
      play(this.ruleset, this.position, text, "off");
    } catch (refusal) {
      if (refusal.reason === undefined) throw refusal;
      this.refuse(text[0], refusalWords(refusal), depth);
      return false;
    }
    this.#unhint();
    this.#options.onMove?.(text);
    return true;
  }

  /** Ask for the last move to be taken back. */
  undo() {
    this.#options.onUndo?.();
  }

  /** Ask for a hint. */
  hint() {
    this.#options.onHint?.();
  }

  /** @returns {boolean} whether a tap makes a move; else it picks the card up */
  get tapMoves() {
    return this.#options.settings?.get("tapMoves") ?? true;
  }

  /** Show where cards may go; `home` is the foundation that stands for "h". */
  mark(places, home) {
    for (const place of places) {
      this.#topOf(place === HOME ? home : place)?.classList.add("is-target");
    }
  }

  /** Show that nothing is being moved. */
  unmark() {
    for (const marked of this.root.querySelectorAll(".is-target")) {
      marked.classList.remove("is-target", "is-near");
    }
  }

  /** Show which target would be chosen now; null: none. */
  near(place, home) {
    this.root.querySelector(".is-near")?.classList.remove("is-near");
    if (place !== null) this.#topOf(place === HOME ? home : place)?.classList.add("is-near");
  }

  /** Bring cards that were dragged back to their seats, unless they have new ones already. */
  putDown(pieces) {
    for (const piece of pieces) {
      piece.element.classList.remove("is-lifted");
      if (piece.shown !== null) this.#move(piece, piece.at, 0);
    }
  }

  // --- elements -------------------------------------------------------------------------------

  #lay(rules) {
    if (this.ruleset?.name === rules.name) return;
    this.#size = "";
    this.ruleset = rules;
    this.position = null;
    this.#pieces.clear();
    this.#slots.clear();
    this.root.replaceChildren();
    for (const place of [...CELLS.slice(0, rules.cells), ...SUITS, ...COLUMNS]) {
      const slot = element("div", "slot", { "data-place": place });
      slot.append(emptyPlace(isFoundation(place) ? place : null));
      const pile = element("div", "pile", {});
      pile.append(slot);
      this.root.append(pile);
      this.#slots.set(place, slot);
    }
    this.#measure();
  }

  #measure() {
    const { clientWidth: width, clientHeight: height } = this.root;
    if (this.ruleset === null || width === 0) return;
    const { columns, cells } = this.ruleset;
    const size = `${width} ${height}`;
    if (this.#size === size) return;
    this.#size = size;
    this.#dragging.cancel();
    this.seats = seating({ width, height, columns, cells });
    this.root.style.setProperty("--card-width", `${this.seats.width}px`);
    this.root.style.setProperty("--card-height", `${this.seats.height}px`);
    for (const [place, spot] of this.seats.spots) {
      this.#slots.get(place).style.transform = translate(spot);
    }
    if (this.position) this.#arrange(this.position, { animate: false, turns: new Map() });
  }

  #arrange(position, { animate, turns }) {
    const hadFocus = this.root.contains(document.activeElement);
    if (this.position !== null && isElsewhere(this.position, position)) {
      this.#dragging.cancel();
      this.#unhint();
    }
    this.position = position;
    const seats = seatsOf(position);
    this.#dismiss(new Set(seats.map(({ card }) => card)));
    const pace = Math.min(TURN_MS, ALL_TURNS_MS / Math.max(1, turns.size));
    for (const { card, place, row, depth } of seats) {
      const piece = this.#pieces.get(card) ?? this.#newPiece(card);
      const glides = animate && piece.at !== null;
      Object.assign(piece, { place, depth });
      this.#fileUnder(piece, row);
      if (this.seats === null) continue;
      const at = spotOf(this.seats, place, row, depth);
      this.#seatAt(piece, at, glides ? (turns.get(card) ?? 0) * pace : -1);
    }
    this.#nameAll();
    this.#keys.settle(hadFocus);
  }

  #newPiece(card) {
    const built = element("div", "card", { "data-card": card });
    built.append(cardPicture(card, { named: false }));
    const piece = {
      card, element: built, place: null, depth: 0, at: null, shown: null, motion: null,
    };
    this.#pieces.set(card, piece);
    return piece;
  }

  #dismiss(staying) {
    for (const [card, piece] of this.#pieces) {
      if (!staying.has(card)) {
        piece.element.remove();
        this.#pieces.delete(card);
      }
    }
  }

  /** The order of elements is the order in which cards lie on each other and are read. */
  #fileUnder({ element: filed, place }, row) {
    const pile = this.#slots.get(place).parentElement;
    if (pile.children[row + 1] !== filed) pile.insertBefore(filed, pile.children[row + 1] ?? null);
  }

  #seatAt(piece, at, delay) {
    const stays = piece.at !== null && piece.at.x === at.x && piece.at.y === at.y;
    if (stays && piece.element.classList.contains("is-lifted")) return;
    if (delay < 0) seat(piece, at);
    else if (!stays || piece.shown !== null) this.#move(piece, at, delay);
  }

  #move(piece, at, delay) {
    if (this.#isStill()) seat(piece, at);
    else glide(piece, at, delay);
  }

  #nameAll() {
    const role = this.readOnly ? "img" : "button";
    const taken = new Set();
    for (const { element: named, card, place, depth } of this.#pieces.values()) {
      taken.add(place);
      const buried = isFoundation(place) && depth > 0;
      named.classList.toggle("is-buried", buried);
      put(named, { role, "aria-label": seatName(card, place, depth) });
      put(named, { "aria-hidden": buried ? "true" : null });
    }
    for (const [place, slot] of this.#slots) {
      put(slot, { role, "aria-label": emptyName(place) });
      put(slot, { "aria-hidden": taken.has(place) ? "true" : null });
    }
  }

  #topOf(place) {
    return this.elementAt(place, 0);
  }

  #unhint() {
    for (const hinted of this.root.querySelectorAll(".is-hint")) hinted.classList.remove("is-hint");
  }

  #isStill() {
    return this.#options.settings?.get("motion") === "less"
      || matchMedia("(prefers-reduced-motion: reduce)").matches;
  }

  #heed() {
    const four = this.#options.settings?.get("fourColours") ?? false;
    this.root.classList.toggle("four-colours", four);
  }
}

function element(kind, classes, attributes) {
  const built = document.createElement(kind);
  built.className = classes;
  put(built, attributes);
  return built;
}

function put(target, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null) target.removeAttribute(name);
    else if (target.getAttribute(name) !== value) target.setAttribute(name, value);
  }
}

function live(classes) {
  return element("div", classes, { role: "status", "aria-live": "polite" });
}

/** The same words twice are told twice. */
function say(region, words) {
  region.textContent = region.textContent === words ? `${words}\u00a0` : words;
}
