/**
 * A line to the server that keeps itself up: connecting again as docs/protocol.md, section 8, has
 * it, and questions that wait through the times when it is down. Who asks is its heirs' business.
 */

import { mayReturn, mustWait, waitMs } from "./backoff.js";
import { Lane } from "./lane.js";
import { BROKEN, Link, WireError } from "./link.js";

const PROTO = 1;
const CLIENT = { name: "cellmates-page", version: "1" };

// Safe to send again by their seq; counted by themselves.
const ACTIONS = new Set(["game.move", "game.undo", "game.resign"]);
// Safe to send again since they change nothing, or nothing the second time.
const SAFE = new Set([
  "player.get", "game.open", "game.hint", "game.tap", "games.mine", "daily.list", "daily.start",
  "board.get", "board.watch", "board.unwatch", "replay.get", "ping",
]);

// Refusals of a greeting that pass, and the close codes that ask for the same wait.
const PASSING = { "draining": 1012, "internal": 1011, "rate-limited": 4429 };
const RESTARTS = 1012;
const TOO_MANY = 4429;
const BAD_TOKEN = 4401;
const REASONS = { 4401: "bad-token", 4406: "unsupported-proto" };

const PROBE_MS = 5000;
const LONGEST_PAUSE_MS = 10000;
const LONGEST_WAIT_MS = 60000;
const TRIES = 5;

/**
 * A line, whose heirs say who is asking.
 *
 * Dispatches "state" ({state, reason, retryAt}), "greeted" before what waited is sent, and the
 * server's events by their own names; `detail` is what they say.
 */
export class Line extends EventTarget {
  /** "connecting", "up", "away", "draining" or "closed" */
  state = "connecting";
  /** why it is closed: "bad-token", "unsupported-proto", "stopped", or a close code as text */
  reason = null;
  /** when it connects again, in epoch ms by the local clock; null: now, or never */
  retryAt = null;
  /** what the server said last in answer to a greeting */
  greeting = null;

  #link = null;
  #moves;
  #others;
  #held = [];
  #failures = 0;
  /** How long the server has asked to stay away: when it goes, and when it is asked too often. */
  #awayMs = null;
  #slowerMs = null;
  #isBound = false;
  #timer = null;
  #offsetMs = 0;

  /**
   * @param {object} [options]
   * @param {string} [options.url] where to connect; to the server of this page without it
   * @param {typeof WebSocket} [options.WebSocket]
   * @param {() => number} [options.now] epoch ms
   * @param {() => number} [options.random] from 0 to 1
   * @param {{now: Function, set: Function, clear: Function}} [options.clock] timers, and a time
   *   in ms that nobody sets
   * @param {EventTarget|null} [options.host] tells of "online" and "visibilitychange"
   */
  constructor(options = {}) {
    super();
    this.url = options.url ?? urlOf(globalThis.location);
    this.Socket = options.WebSocket ?? globalThis.WebSocket;
    this.now = options.now ?? Date.now;
    this.random = options.random ?? Math.random;
    this.host = options.host ?? globalThis.window ?? null;
    this.clock = options.clock ?? {
      now: () => performance.now(),
      set: (call, ms) => setTimeout(call, ms),
      clear: (timer) => clearTimeout(timer),
    };
    this.#moves = new Lane((question) => this.#link.send(question), this.clock);
    this.#others = new Lane((question) => this.#link.send(question), this.clock);
  }

  /** Connect, and stay connected. */
  start() {
    this.host?.addEventListener("online", this.#onWake);
    this.host?.document?.addEventListener("visibilitychange", this.#onWake);
    this.dialAgain();
  }

  /** Disconnect for good; what waits is rejected with "stopped". */
  stop() {
    this.host?.removeEventListener("online", this.#onWake);
    this.host?.document?.removeEventListener("visibilitychange", this.#onWake);
    this.#hangUp();
    this.#close("stopped");
  }

  /** Connect now instead of at `retryAt`, unless it is the server that has asked for the wait. */
  retryNow() {
    if (this.state === "away" && !this.#isBound) this.#dial();
  }

  /** Leave the connection and make another at once. */
  dialAgain() {
    this.#hangUp();
    this.#failures = 0;
    this.#dial();
  }

  /** @returns {number} epoch ms by the server's clock */
  serverNow() {
    return this.now() + this.#offsetMs;
  }

  /**
   * Send a request, through reconnects.
   * @param {string} type
   * @param {object} [body]
   * @param {object} [how]
   * @param {boolean} [how.first] before all that waits
   * @param {(d: object) => any} [how.settle] called as the reply is read, before what comes after
   *   it is; the promise gives what it returns
   * @returns {Promise<any>} the reply's `d`
   * @throws {WireError} it was refused; "lost": it was sent, has no answer, and is not safe to send
   *   again; the reason where the line is closed
   */
  ask(type, body = {}, { first = false, settle = (d) => d } = {}) {
    return new Promise((resolve, reject) => {
      const question = { type, body, settle, resolve, reject, failures: 0 };
      if (this.state === "closed" && !this.#mayKeep(question)) {
        reject(new WireError({ code: this.reason }));
      } else {
        this.#lane(type).put(question, first);
      }
    });
  }

  // -- For heirs ----------------------------------------------------------------------------------

  /** @returns {string|null} the token to greet with */
  greetingToken() {
    return null;
  }

  /**
   * The server has refused the token for good.
   * @param {string} _code why
   * @returns {boolean} whether another one is to be tried at once
   */
  tokenFailed(_code) {
    return false;
  }

  /**
   * A greeting was answered; nothing else is sent yet.
   * @param {object} _welcome
   */
  welcomed(_welcome) {}

  /**
   * Dispatch an event.
   * @param {string} type
   * @param {any} detail
   */
  tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }

  // -- Coming and going ---------------------------------------------------------------------------

  #dial() {
    this.clock.clear(this.#timer);
    this.#enter("connecting");
    this.#link = new Link(this, {
      opened: () => this.#greet(),
      heard: (type, d) => this.#heard(type, d),
      refused: (question, error) => this.#refused(question, error),
      over: (code) => this.#lost(code),
    });
  }

  /** Leave the connection: what was sent waits to be sent again, or is lost. */
  #hangUp() {
    this.clock.clear(this.#timer);
    this.#moves.shut();
    this.#others.shut();
    const sent = this.#link?.hangUp() ?? [];
    this.#link = null;
    const again = [...this.#held.splice(0), ...sent.filter(mayBeSentAgain)];
    this.#moves.restore(again.filter(({ type }) => ACTIONS.has(type)));
    this.#others.restore(again.filter(({ type }) => !ACTIONS.has(type)));
    for (const question of sent) {
      if (!mayBeSentAgain(question)) question.reject(new WireError({ code: "lost" }));
    }
  }

  #lost(closedWith) {
    const code = this.state === "draining" && closedWith === BROKEN ? RESTARTS : closedWith;
    this.#hangUp();
    if (code === BAD_TOKEN && this.tokenFailed("bad-token")) this.dialAgain();
    else if (mayReturn(code)) this.#comeBack(code);
    else this.#close(REASONS[code] ?? String(code));
  }

  #comeBack(code) {
    const asked = code === TOO_MANY ? this.#slowerMs : this.#awayMs;
    const wait = Math.ceil(waitMs(code, this.#failures, this.random(), asked));
    this.#isBound = mustWait(code, asked);
    this.#awayMs = this.#slowerMs = null;
    this.#failures += 1;
    this.#timer = this.clock.set(() => this.#dial(), wait);
    this.#enter("away", { retryAt: this.now() + wait });
  }

  #close(reason) {
    this.#enter("closed", { reason });
    for (const lane of [this.#moves, this.#others]) {
      for (const question of lane.drop()) {
        if (this.#mayKeep(question)) lane.put(question);
        else question.reject(new WireError({ code: reason }));
      }
    }
  }

  /** An action outlives a token that was replaced: the next one may be the same player's. */
  #mayKeep({ type }) {
    return this.reason === "bad-token" && ACTIONS.has(type);
  }

  #enter(state, { reason = null, retryAt = null } = {}) {
    const isNews = state !== this.state || reason !== this.reason || retryAt !== this.retryAt;
    Object.assign(this, { state, reason, retryAt });
    if (isNews) this.tell("state", { state, reason, retryAt });
  }

  #onWake = () => {
    if (this.host.document?.visibilityState === "hidden") return;
    this.retryNow();
    if (this.state === "up") this.#link.probe(PROBE_MS);
  };

  // -- Talking ------------------------------------------------------------------------------------

  #greet() {
    const token = this.greetingToken();
    const body = { proto: PROTO, client: CLIENT, ...(token === null ? {} : { token }) };
    const settle = (welcome, question) => this.#greeted(welcome, question);
    const reject = (error) => this.#unwelcome(error);
    this.#link.send({ type: "hello", body, settle, resolve() {}, reject, isOwn: true });
  }

  #greeted(welcome, question) {
    this.greeting = welcome;
    this.#setClock(welcome.time, question);
    this.#failures = 0;
    this.#awayMs = this.#slowerMs = null;
    const { limits } = welcome;
    this.#link.listen(limits.heartbeat_s * 2000, (d, ping) => this.#setClock(d.time, ping));
    this.welcomed(welcome);
    this.tell("greeted", welcome);
    this.#enter("up");
    if (this.state !== "up") return;
    this.#others.open(limits.requests_burst, limits.requests_per_s, 1);
    this.#moves.open(limits.moves_burst, limits.moves_per_s);
  }

  #unwelcome(error) {
    const code = PASSING[error.code];
    if (code !== undefined) return this.#lost(code);
    this.#hangUp();
    if (this.tokenFailed(error.code)) this.dialAgain();
    else this.#close(error.code);
  }

  #setClock(time, question) {
    const now = this.now();
    this.#offsetMs = time + (now - question.at) / 2 - now;
  }

  #heard(type, d) {
    if (type === "server.draining") {
      this.#awayMs = d.retry_after_ms;
      this.#drain();
    }
    this.tell(type, d);
  }

  #drain() {
    this.#moves.shut();
    this.#others.shut();
    this.#enter("draining");
  }

  #refused(question, error) {
    const { code, retryAfterMs } = error;
    if (code === "draining") this.#awayMs = retryAfterMs ?? this.#awayMs;
    if (code === "rate-limited") this.#slowerMs = Math.min(retryAfterMs ?? 0, LONGEST_WAIT_MS);
    if (question === undefined) return;
    if (question.isOwn || !this.#asksAgain(question, error)) question.reject(error);
  }

  /** Whether a refused question is asked again by itself; if so, it waits already. */
  #asksAgain(question, { code, retryAfterMs }) {
    const lane = this.#lane(question.type);
    if (code === "draining") {
      this.#held.push(question);
      this.#drain();
      return true;
    }
    if (code === "rate-limited" && retryAfterMs !== null && retryAfterMs <= LONGEST_PAUSE_MS) {
      lane.pause(retryAfterMs);
      lane.put(question, true);
      return true;
    }
    if (code !== "internal" || !mayBeSentAgain(question)) return false;
    const wait = retryAfterMs ?? waitMs(1011, question.failures, this.random(), null);
    question.failures += 1;
    if (question.failures > TRIES) return false;
    this.clock.set(() => lane.put(question, true), Math.ceil(wait));
    return true;
  }

  #lane(type) {
    return ACTIONS.has(type) ? this.#moves : this.#others;
  }
}

function mayBeSentAgain({ type }) {
  return ACTIONS.has(type) || SAFE.has(type);
}

function urlOf({ protocol, host }) {
  return `${protocol === "https:" ? "wss:" : "ws:"}//${host}/ws`;
}
