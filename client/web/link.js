/** One connection from its dialling to its end: questions asked on it, and a watch on silence. */

const SUBPROTOCOL = "cellmates.v1.json";
const PATIENCE_MS = 12000;

export const BROKEN = 1006;

/** A request was refused, or its answer got lost: `code` says which, as docs/protocol.md has it. */
export class WireError extends Error {
  constructor({ code, message, context, retry_after_ms: retryAfterMs }) {
    super(message ?? code);
    this.name = "WireError";
    this.code = code;
    this.context = context ?? {};
    this.retryAfterMs = retryAfterMs ?? null;
  }
}

/**
 * A connection.
 *
 * A question is `{type, body, settle(d, question), resolve, reject}`; `settle` runs as the reply is
 * read, and `at` becomes the time at which it was sent. One with `isOwn` is of the connection's own
 * life, such as its greeting, and is never asked again on another.
 */
export class Link {
  #socket;
  #sent = new Map();
  #lastId = 0;
  #timer = null;
  #silenceMs = null;

  /**
   * Dial.
   * @param {object} terms
   * @param {typeof WebSocket} terms.Socket
   * @param {string} terms.url
   * @param {() => number} terms.now epoch ms
   * @param {{set: Function, clear: Function}} terms.clock
   * @param {object} ears
   * @param {() => void} ears.opened it is time for the greeting
   * @param {(type: string, d: object) => void} ears.heard an event
   * @param {(question: object|undefined, error: WireError) => void} ears.refused
   * @param {(code: number) => void} ears.over it has ended, or nothing is heard any more
   */
  constructor({ Socket, url, now, clock }, ears) {
    this.now = now;
    this.clock = clock;
    this.ears = ears;
    this.#socket = new Socket(url, SUBPROTOCOL);
    this.#socket.onopen = () => ears.opened();
    this.#socket.onmessage = (event) => this.#read(event.data);
    this.#socket.onclose = (event) => ears.over(event.code || BROKEN);
    this.#await(PATIENCE_MS);
  }

  /**
   * Send a question.
   * @param {object} question
   */
  send(question) {
    this.#lastId += 1;
    question.at = this.now();
    if (this.#sent.size === 0) this.#await(PATIENCE_MS);
    this.#sent.set(this.#lastId, question);
    this.#socket.send(JSON.stringify({ t: question.type, id: this.#lastId, d: question.body }));
  }

  /**
   * Keep asking after so long a silence whether anybody is there.
   * @param {number} ms
   * @param {(d: object, question: object) => void} settle takes the answers
   */
  listen(ms, settle) {
    this.#silenceMs = ms;
    this.onPong = settle;
  }

  /**
   * Ask whether anybody is there: a browser does not tell of pings.
   * @param {number} [ms] how long to wait for an answer
   */
  probe(ms = PATIENCE_MS) {
    const settle = this.onPong;
    this.send({ type: "ping", body: {}, settle, resolve() {}, reject() {}, isOwn: true });
    this.#await(ms);
  }

  /**
   * Leave, and hear nothing more.
   * @returns {object[]} questions without an answer, in order, without the connection's own
   */
  hangUp() {
    this.clock.clear(this.#timer);
    this.#socket.onopen = this.#socket.onmessage = this.#socket.onclose = null;
    this.#socket.close();
    const questions = [...this.#sent.values()].filter((question) => !question.isOwn);
    this.#sent.clear();
    this.#silenceMs = null;
    return questions;
  }

  #await(ms) {
    this.clock.clear(this.#timer);
    this.#timer = this.clock.set(() => this.#isSilent(), ms);
  }

  #isSilent() {
    if (this.#silenceMs !== null && this.#sent.size === 0) this.probe();
    else this.ears.over(BROKEN);
  }

  #read(frame) {
    const { t, re, d = {} } = JSON.parse(frame);
    if (t === "ok") this.#answer(this.#take(re), d);
    else if (t === "error") this.ears.refused(this.#take(re), new WireError(d));
    else this.ears.heard(t, d);
    if (this.#silenceMs !== null) this.#await(this.#sent.size > 0 ? PATIENCE_MS : this.#silenceMs);
  }

  /** Replies come in order, so what the server could not read is the oldest question. */
  #take(re) {
    const id = re ?? this.#sent.keys().next().value;
    const question = this.#sent.get(id);
    this.#sent.delete(id);
    return question;
  }

  #answer(question, d) {
    if (question === undefined) return;
    try {
      question.resolve(question.settle(d, question));
    } catch (error) {
      question.reject(error);
    }
  }
}
