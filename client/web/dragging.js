/** Cards moved by mouse, pen and finger: dragged and dropped, tapped once or twice. */

import { isFoundation } from "./rules/pack.js";
import { shared, zonesOf } from "./seating.js";

const THRESHOLD_PX = 6;
const DOUBLE_TAP_MS = 350;
const ENOUGH = 0.12;
/** A click so soon after a tap that was taken already is the same tap. */
const SAME_TAP_MS = 700;

/** Listens to the pointers over a table. On a pointer move only `transform` is written. */
export class Dragging {
  #table;
  #keys;
  #drag = null;
  #lastTap = null;
  #dragged = false;
  #takenAt = -Infinity;

  /**
   * @param {import("./table.js").Table} table
   * @param {import("./keys.js").Keys} keys holds what is picked up
   * @param {AbortSignal} signal ends the listening
   */
  constructor(table, keys, signal) {
    this.#table = table;
    this.#keys = keys;
    const on = (kind, act) => table.root.addEventListener(kind, act, { signal });
    on("pointerdown", (event) => this.#down(event));
    on("pointermove", (event) => this.#move(event));
    on("pointerup", (event) => this.#up(event));
    on("pointercancel", (event) => this.#isMine(event) && this.cancel());
    on("lostpointercapture", (event) => this.#isMine(event) && this.cancel());
    on("click", (event) => this.#click(event));
    on("dragstart", (event) => event.preventDefault());
  }

  /** Let everything fall back to where it was. */
  cancel() {
    const drag = this.#drag;
    this.#drag = null;
    if (!drag?.pieces) return;
    this.#table.unmark();
    this.#table.putDown(drag.pieces);
  }

  #isMine(event) {
    return this.#drag?.pointer === event.pointerId;
  }

  #down(event) {
    this.#dragged = false;
    this.#takenAt = -Infinity;
    if (this.#drag || !event.isPrimary || event.button !== 0 || this.#table.readOnly) return;
    const piece = this.#table.pieceAt(event.target);
    if (!piece) return;
    const { card, place, depth, element } = piece;
    this.#drag = {
      pointer: event.pointerId, x: event.clientX, y: event.clientY,
      card, place, depth, element, pieces: null,
    };
    element.setPointerCapture(event.pointerId);
  }

  #move(event) {
    if (!this.#isMine(event)) return;
    const dx = event.clientX - this.#drag.x;
    const dy = event.clientY - this.#drag.y;
    if (!this.#drag.pieces && Math.hypot(dx, dy) < THRESHOLD_PX) return;
    if (this.#drag.pieces || this.#lift()) this.#carry(dx, dy);
  }

  #lift() {
    this.#dragged = true;
    this.#lastTap = null;
    const { place, depth, card } = this.#drag;
    if (!this.#table.mayLift(place, depth)) {
      this.#drag = null;
      return false;
    }
    this.#keys.letGo();
    const pieces = this.#table.pile(place).slice(-1 - depth);
    const targets = this.#table.targets(place, depth);
    Object.assign(this.#drag, { pieces, targets, zones: zonesOf(this.#table.seats), near: null });
    for (const piece of pieces) {
      piece.motion?.finish();
      piece.element.classList.add("is-lifted");
    }
    this.#table.mark(targets.keys(), card[1]);
    return true;
  }

  #carry(dx, dy) {
    for (const piece of this.#drag.pieces) {
      piece.shown = { x: piece.at.x + dx, y: piece.at.y + dy };
      piece.element.style.transform = `translate(${piece.shown.x}px, ${piece.shown.y}px)`;
    }
    const near = this.#nearest((place) => this.#drag.targets.has(place));
    if (near !== this.#drag.near) {
      this.#drag.near = near;
      this.#table.near(near, this.#drag.card[1]);
    }
  }

  /** The place of those admitted that the cards in hand cover most; null: none. */
  #nearest(admits, least = 0) {
    const { width, height } = this.#table.seats;
    const hand = { ...this.#drag.pieces[0].shown, width, height };
    let nearest = null;
    let most = least * width * height;
    for (const [place, zone] of this.#drag.zones) {
      const area = admits(place) ? shared(hand, zone) : 0;
      if (area > most) [nearest, most] = [place, area];
    }
    return nearest;
  }

  #up(event) {
    if (!this.#isMine(event)) return;
    const { pieces, place, depth } = this.#drag;
    if (!pieces) {
      this.#drag = null;
      this.#take(event);
      return;
    }
    const to = this.#drag.near ?? this.#nearest((other) => other !== this.#startZone(), ENOUGH);
    const atStart = this.#nearest((other) => other === this.#startZone(), 1 - ENOUGH);
    this.#drag = null;
    this.#table.unmark();
    if (to !== null && atStart === null) this.#table.drop(place, depth, to);
    requestAnimationFrame(() => this.#table.putDown(pieces));
  }

  #startZone() {
    return isFoundation(this.#drag.place) ? "h" : this.#drag.place;
  }

  /** A tap on a card. Chromium makes no click of a finger's tap that follows a flick. */
  #take(event) {
    if (this.#dragged) return;
    this.#takenAt = event.timeStamp;
    this.#choose(event);
  }

  #click(event) {
    const isTaken = this.#dragged || event.timeStamp - this.#takenAt < SAME_TAP_MS;
    this.#dragged = false;
    if (!isTaken && !this.#table.readOnly) this.#choose(event);
  }

  #choose(event) {
    const piece = this.#table.pieceAt(event.target);
    const place = piece?.place ?? event.target.closest("[data-place]")?.dataset.place;
    if (place === undefined) this.#keys.letGo();
    else if (this.#keys.picked) this.#keys.putAt(place);
    else if (piece && !this.#table.tapMoves) this.#keys.pickUp(place, piece.depth);
    else if (piece) this.#tap(piece, event.timeStamp);
  }

  #tap({ card, place, depth }, time) {
    const last = this.#lastTap;
    const second = last?.card === card && time - last.time < DOUBLE_TAP_MS;
    this.#lastTap = second ? null : { card, time };
    if (second && (this.#table.ruleset.taps === "one" || last.moved)) return;
    const moved = this.#table.tap(place, depth, second ? 2 : 1);
    if (this.#lastTap) this.#lastTap.moved = moved;
  }
}
