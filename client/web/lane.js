/** A lane of requests: in order, no faster than the server allows, shut while it is away. */

export class Lane {
  #queue = [];
  #isOpen = false;
  #apartMs = 0;
  #earlyMs = 0;
  #dueMs = 0;
  #notBeforeMs = 0;
  #timer = null;
  #ahead = 0;

  /**
   * @param {(question: object) => void} send takes the next question
   * @param {{now: () => number, set: Function, clear: Function}} clock
   */
  constructor(send, clock) {
    this.send = send;
    this.clock = clock;
  }

  /** @returns {number} how many wait */
  get size() {
    return this.#queue.length;
  }

  /**
   * Queue a question.
   * @param {object} question
   * @param {boolean} [first] before all that wait; several of these keep their order
   */
  put(question, first = false) {
    if (first) this.#queue.splice(this.#ahead++, 0, question);
    else this.#queue.push(question);
    this.#flow();
  }

  /**
   * Put questions that were sent without an answer back to the front.
   * @param {object[]} questions in the order in which they were sent
   */
  restore(questions) {
    this.#queue.unshift(...questions);
  }

  /**
   * Let questions through, at the pace of a greeting.
   * @param {number} burst
   * @param {number} perS
   * @param {number} taken how many of the burst are used up
   */
  open(burst, perS, taken = 0) {
    this.#apartMs = perS > 0 ? 1000 / perS : 0;
    this.#earlyMs = this.#apartMs * Math.max(burst - 1, 0);
    this.#dueMs = this.clock.now() + taken * this.#apartMs;
    this.#isOpen = true;
    this.#flow();
  }

  /** Let nothing through until it is opened again. */
  shut() {
    this.#isOpen = false;
    this.#ahead = 0;
    this.clock.clear(this.#timer);
    this.#timer = null;
  }

  /**
   * Let nothing through for a while.
   * @param {number} ms
   */
  pause(ms) {
    this.#notBeforeMs = Math.max(this.#notBeforeMs, this.clock.now() + ms);
    this.#flow();
  }

  /** @returns {object[]} all that waited; nothing waits any more */
  drop() {
    this.#ahead = 0;
    return this.#queue.splice(0);
  }

  #flow() {
    while (this.#isOpen && this.#timer === null && this.#queue.length > 0) {
      const wait = this.#waitMs();
      if (wait > 0) {
        this.#timer = this.clock.set(() => this.#goOn(), Math.ceil(wait));
        return;
      }
      this.#dueMs = Math.max(this.#dueMs, this.clock.now()) + this.#apartMs;
      this.#ahead = Math.max(0, this.#ahead - 1);
      this.send(this.#queue.shift());
    }
  }

  #goOn() {
    this.#timer = null;
    this.#flow();
  }

  #waitMs() {
    const now = this.clock.now();
    return Math.max(this.#dueMs - this.#earlyMs - now, this.#notBeforeMs - now);
  }
}
