/** Play without a pointer: arrow keys over the cards, and moves typed as notation. */

import { COLUMNS, HOME } from "./rules.js";
import { isFoundation } from "./rules/pack.js";
import { cardName, placeName } from "./naming.js";
import { t } from "./texts/texts.js";

const HELP = ["arrows", "ends", "enter", "again", "escape", "type", "undo", "hint", "help"];

/** One card or place of the table is where the player is; at most one is picked up. */
export class Keys {
  #table;
  #here = { place: "1", depth: 0 };
  #form;
  #field;
  #dialog;

  /**
   * @param {import("./table.js").Table} table
   * @param {HTMLElement} host gets the field for notation and the list of keys
   * @param {AbortSignal} signal ends the listening
   */
  constructor(table, host, signal) {
    this.#table = table;
    this.picked = null;
    this.#build(host);
    table.root.addEventListener("keydown", (event) => this.#key(event), { signal });
    table.root.addEventListener("focusin", (event) => this.#arrive(event.target), { signal });
    document.addEventListener("keydown", (event) => this.#anywhere(event), { signal });
  }

  /**
   * Pick up a card with those on it, and show where they may go.
   * @param {string} place
   * @param {number} depth how many cards lie on it
   */
  pickUp(place, depth) {
    const pile = this.#table.pile(place);
    if (pile.length === 0 || !this.#table.mayLift(place, depth)) return;
    const { card } = pile.at(-1 - depth);
    const targets = this.#table.targets(place, depth);
    if (targets.size === 0) {
      this.#table.refuse(place, t("table.nowhere"), depth);
      return;
    }
    this.picked = { place, depth, card };
    for (const piece of pile.slice(-1 - depth)) piece.element.classList.add("is-picked");
    this.#table.elementAt(place, depth).setAttribute("aria-pressed", "true");
    this.#table.mark(targets.keys(), card[1]);
    const places = [...targets.keys()].map(placeName).join(", ");
    this.#table.announce(t("said.picked", { card: cardName(card), places }));
  }

  /**
   * Put what is picked up at a place; where it came from, the game chooses as for two taps.
   * @param {string} place
   */
  putAt(place) {
    const { place: from, depth } = this.picked;
    this.letGo();
    if (place === from) this.#table.tap(from, depth, 2);
    else this.#table.drop(from, depth, isFoundation(place) ? HOME : place);
  }

  /** Forget what is picked up; nothing has moved. */
  letGo() {
    if (!this.picked) return;
    this.picked = null;
    this.#table.unmark();
    for (const element of this.#table.root.querySelectorAll(".is-picked")) {
      element.classList.remove("is-picked");
      element.removeAttribute("aria-pressed");
    }
  }

  /**
   * Find one's place again after cards have moved.
   * @param {boolean} focus whether the table had the focus
   */
  settle(focus) {
    this.#form.hidden = this.#table.readOnly;
    if (this.picked && !this.#holds(this.picked)) this.letGo();
    const deepest = Math.max(0, this.#table.pile(this.#here.place).length - 1);
    const depth = isFoundation(this.#here.place) ? 0 : Math.min(this.#here.depth, deepest);
    this.#here = { place: this.#here.place, depth };
    const here = this.#table.elementAt(this.#here.place, this.#here.depth);
    for (const element of this.#table.root.querySelectorAll("[role]")) {
      if (this.#table.readOnly) element.removeAttribute("tabindex");
      else element.tabIndex = element === here ? 0 : -1;
    }
    if (focus && !this.#table.readOnly) here?.focus({ preventScroll: true });
  }

  #holds({ place, depth, card }) {
    return this.#table.pile(place).at(-1 - depth)?.card === card;
  }

  #arrive(target) {
    const piece = this.#table.pieceAt(target);
    const place = piece?.place ?? target.dataset?.place;
    if (place === undefined) return;
    const left = this.#table.elementAt(this.#here.place, this.#here.depth);
    if (left && left !== target) left.tabIndex = -1;
    this.#here = { place, depth: piece?.depth ?? 0 };
    target.tabIndex = 0;
  }

  #go(place, depth) {
    this.#table.elementAt(place, depth)?.focus();
  }

  #key(event) {
    if (this.#table.readOnly || event.altKey || event.ctrlKey || event.metaKey) return;
    const act = this.#acts()[event.key];
    if (act) {
      event.preventDefault();
      act();
    } else if (/^[0-9a-zA-Z]$/.test(event.key)) {
      this.#field.value = "";
      this.#field.focus();
    }
  }

  #acts() {
    return {
      ArrowLeft: () => this.#sideways(-1),
      ArrowRight: () => this.#sideways(1),
      ArrowUp: () => this.#up(),
      ArrowDown: () => this.#down(),
      Home: () => this.#go(this.#here.place, this.#deepest(this.#here.place)),
      End: () => this.#go(this.#here.place, 0),
      Enter: () => this.#press(),
      " ": () => this.#press(),
      Escape: () => this.letGo(),
      Backspace: () => this.#table.undo(),
      "!": () => this.#table.hint(),
      "?": () => this.#dialog.showModal(),
    };
  }

  #press() {
    if (this.picked) this.putAt(this.#here.place);
    else this.pickUp(this.#here.place, this.#here.depth);
  }

  /** Ctrl-Z works wherever nothing else could be meant by it. */
  #anywhere(event) {
    if (event.key !== "z" || !(event.ctrlKey || event.metaKey) || this.#table.readOnly) return;
    const { target } = event;
    const own = target === document.body || this.#table.root.contains(target);
    if (!own && !(target === this.#field && this.#field.value === "")) return;
    event.preventDefault();
    this.#table.undo();
  }

  #deepest(place) {
    return isFoundation(place) ? 0 : Math.max(0, this.#table.pile(place).length - 1);
  }

  /** Places in rows from top to bottom, each from left to right. */
  #rows() {
    const rows = new Map();
    for (const [place, { y }] of this.#table.seats.spots) {
      rows.set(y, [...(rows.get(y) ?? []), place]);
    }
    return [...rows].sort(([one], [other]) => one - other).map(([, places]) => places);
  }

  #sideways(step) {
    const { place, depth } = this.#here;
    const row = this.#rows().find((places) => places.includes(place));
    const next = row[row.indexOf(place) + step];
    if (next === undefined) return;
    if (depth === 0 || this.picked) this.#go(next, 0);
    else this.#go(next, Math.max(0, this.#deepest(next) - (this.#deepest(place) - depth)));
  }

  #up() {
    const { place, depth } = this.#here;
    if (!this.picked && depth < this.#deepest(place)) this.#go(place, depth + 1);
    else this.#across(-1);
  }

  #down() {
    const { place, depth } = this.#here;
    if (depth > 0) this.#go(place, depth - 1);
    else this.#across(1);
  }

  #across(step) {
    const rows = this.#rows();
    const at = rows.findIndex((places) => places.includes(this.#here.place));
    const row = rows[at + step];
    if (row === undefined) return;
    const { spots } = this.#table.seats;
    const away = (place) => Math.abs(spots.get(place).x - spots.get(this.#here.place).x);
    const next = row.reduce((best, place) => (away(place) < away(best) ? place : best));
    const entered = step > 0 && COLUMNS.includes(next) && !this.picked;
    this.#go(next, entered ? this.#deepest(next) : 0);
  }

  #build(host) {
    this.#form = make("form", "table-typed");
    this.#field = make("input", "table-notation");
    Object.assign(this.#field, {
      type: "text", maxLength: 6, autocomplete: "off", spellcheck: false, autocapitalize: "none",
    });
    const label = make("label", "", t("keys.move"));
    label.append(this.#field);
    const help = make("button", "", t("keys.show"));
    help.type = "button";
    help.addEventListener("click", () => this.#dialog.showModal());
    this.#form.append(label, make("button", "", t("keys.make")), help);
    this.#form.addEventListener("submit", (event) => this.#submit(event));
    this.#field.addEventListener("keydown", (event) => this.#inField(event));
    this.#dialog = this.#helpDialog();
    host.append(this.#form, this.#dialog);
  }

  #submit(event) {
    event.preventDefault();
    const text = this.#field.value.trim();
    if (text === "") return;
    this.letGo();
    if (text === "undo") this.#table.undo();
    const done = text === "undo" || this.#table.make(text);
    this.#field.setAttribute("aria-invalid", String(!done));
    if (done) this.#field.value = "";
    else this.#field.select();
  }

  #inField(event) {
    if (event.key !== "Escape") return;
    this.#field.value = "";
    this.#go(this.#here.place, this.#here.depth);
  }

  #helpDialog() {
    const dialog = make("dialog", "table-keys");
    const title = make("h2", "", t("keys.title"));
    title.id = "table-keys-title";
    dialog.setAttribute("aria-labelledby", title.id);
    const list = make("dl", "");
    for (const name of HELP) {
      list.append(make("dt", "", t(`keys.${name}.key`)), make("dd", "", t(`keys.${name}.does`)));
    }
    const close = make("button", "", t("keys.close"));
    close.type = "button";
    close.addEventListener("click", () => dialog.close());
    dialog.append(title, list, close);
    return dialog;
  }
}

function make(kind, classes, text = "") {
  const element = document.createElement(kind);
  if (classes) element.className = classes;
  element.textContent = text;
  return element;
}
