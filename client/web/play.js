/**
 * One game at this page: actions show at once, are sent one after the other, and are confirmed or
 * rolled back. What the server says always wins.
 */

import { canUndo, isAlike, moved, recorded, resigned, settled, stageOf, undone } from "./course.js";
import { BadMove, IllegalMove, OutOfStep } from "./rules.js";

// How much of what the clocks may differ is forgiven when a game is looked for.
const SKEW_MS = 2000;

/**
 * A game that is open.
 *
 * Dispatches "change", whose `detail` has a `kind`: "opened", "moved" and "undone" (shown, also
 * what another tab did: then `other` is true), "refused" (by the rules; nothing was sent),
 * "rolled-back" (the server refused, or another tab was first: `reason` is "conflict"),
 * "confirmed", "resynced" (the server told how the game stands), "ended" (by the server's word);
 * and `move`, `auto`, `reason`, `limit`, `length` where they belong.
 */
export class Play extends EventTarget {
  #wire;
  #confirmed;
  #pending = [];
  #later = [];
  #isAsking = false;
  #isClosed = false;

  /**
   * Go on with a game.
   * @param {Wire} wire
   * @param {string} game its id
   * @returns {Promise<Play>}
   * @throws {WireError} "not-found", …
   */
  static open(wire, game) {
    return wire.ask("game.open", { game }, { settle: (d) => new Play(wire, d) });
  }

  /**
   * Deal a game. Where the answer gets lost, the game that was dealt is looked for first.
   * @param {Wire} wire
   * @param {{ruleset: string, deal?: string|null, autoplay?: string|null}} asked
   * @returns {Promise<Play>}
   * @throws {WireError} "bad-request", "too-many-games", …
   */
  static async start(wire, { ruleset, deal = null, autoplay = null }) {
    const from = wire.now();
    const body = { ruleset, deal, autoplay };
    try {
      return await wire.ask("game.start", body, { settle: (d) => new Play(wire, d) });
    } catch (error) {
      if (error.code !== "lost") throw error;
    }
    const { games } = await wire.ask("games.mine", { status: "playing", limit: 1 });
    const since = wire.serverNow() - (wire.now() - from) - SKEW_MS;
    const dealt = games.find((game) =>
      game.ruleset === ruleset && game.seq === 0 && game.started >= since);
    return dealt ? Play.open(wire, dealt.game) : Play.start(wire, body);
  }

  /**
   * Begin the ranked attempt at a challenge, or go on with it.
   * @param {Wire} wire
   * @param {string} challenge
   * @returns {Promise<Play>}
   * @throws {WireError} "challenge-not-open", "challenge-closed", "not-found", …
   */
  static daily(wire, challenge) {
    return wire.ask("daily.start", { challenge }, { settle: (d) => new Play(wire, d) });
  }

  /**
   * @param {Wire} wire
   * @param {object} gameView the answer on which the game is open
   */
  constructor(wire, gameView) {
    super();
    this.#wire = wire;
    this.#confirmed = stageOf(gameView);
    wire.addEventListener("greeted", this.#onGreeted);
    wire.addEventListener("game.event", this.#onEvent);
    wire.addEventListener("game.expired", this.#onExpired);
    wire.clock.set(() => this.#tell("opened"), 0);
  }

  /** @returns {object} how the game stands with what is pending: a GameView with `position` */
  get view() {
    return this.#shown.view;
  }

  /** @returns {number} actions that the server has not confirmed */
  get pending() {
    return this.#pending.length + this.#later.length;
  }

  /** @returns {boolean} whether there is an action to take back */
  get canUndo() {
    return canUndo(this.view);
  }

  /** @returns {number} how long the game has taken by now, or took */
  elapsedMs() {
    const { status, started, elapsed_ms: known } = this.view;
    return status === "playing" ? Math.max(known, this.#wire.serverNow() - started) : known;
  }

  /**
   * Make a move; it shows at once, or is "refused".
   * @param {string} text
   * @returns {boolean} whether it was accepted here
   */
  move(text) {
    if (this.#mustWait) return this.#postpone(() => this.move(text));
    if (this.view.status !== "playing") return this.#refuse(text, { reason: "game-over" });
    try {
      const { stage, move, auto } = moved(this.#shown, text, this.elapsedMs());
      this.#show({ kind: "moved", type: "game.move", action: move, auto, stage });
      return true;
    } catch (error) {
      if (!(error instanceof BadMove || error instanceof IllegalMove)) throw error;
      return this.#refuse(text, error);
    }
  }

  /**
   * Take the last action back; shows at once where it is known what lay there before.
   * @returns {boolean} whether it was accepted here
   */
  undo() {
    if (this.#mustWait) return this.#postpone(() => this.undo());
    if (this.view.status !== "playing") return this.#refuse("undo", { reason: "game-over" });
    if (!this.canUndo) return this.#refuse("undo", { reason: "nothing-to-undo" });
    const stage = undone(this.#shown);
    this.#show({ kind: "undone", type: "game.undo", action: "undo", auto: [], stage });
    return true;
  }

  /**
   * Give the game up.
   * @returns {boolean} whether it was accepted here
   */
  resign() {
    if (this.#mustWait) return this.#postpone(() => this.resign());
    if (this.view.status !== "playing") return this.#refuse("resign", { reason: "game-over" });
    const stage = resigned(this.#shown, this.elapsedMs());
    this.#show({ kind: "moved", type: "game.resign", action: "resign", auto: [], stage });
    return true;
  }

  /**
   * A move worth making, after all that is pending.
   * @returns {Promise<string|null>} null: none, or the game has gone on meanwhile
   * @throws {WireError} "forbidden" in a ranked attempt, …
   */
  async hint() {
    while (this.pending > 0) {
      await new Promise((resolve) => this.addEventListener("settled", resolve, { once: true }));
    }
    const { move, seq } = await this.#wire.ask("game.hint", { game: this.view.game });
    return seq === this.view.seq ? move : null;
  }

  /** Leave the game: nothing is told any more. What is pending is still sent. */
  close() {
    this.#isClosed = true;
    this.#leaveWhenDone();
  }

  // -- Sending ------------------------------------------------------------------------------------

  get #shown() {
    return this.#pending.findLast(({ stage }) => stage !== null)?.stage ?? this.#confirmed;
  }

  /** Whether an undo is under way whose outcome only the server knows. */
  get #mustWait() {
    return this.#pending.some(({ stage }) => stage === null);
  }

  #postpone(act) {
    this.#later.push(act);
    return true;
  }

  #refuse(move, { reason, limit, length }) {
    this.#tell("refused", { move, reason, limit, length });
    return false;
  }

  #show({ kind, ...action }) {
    this.#pending.push({ ...action, isSent: false });
    if (action.stage !== null) this.#tell(kind, { move: action.action, auto: action.auto });
    this.#goOn();
  }

  /** Send the next action; those after it wait for its answer. */
  #goOn() {
    const [head] = this.#pending;
    if (head === undefined || head.isSent) return;
    head.isSent = true;
    const { game, seq } = this.#confirmed.view;
    const body = { game, seq: seq + 1, ...(head.type === "game.move" && { move: head.action }) };
    this.#wire.ask(head.type, body, { settle: (d) => this.#made(head, d) })
      .catch((error) => this.#failed(head, error));
  }

  // -- What the server says -----------------------------------------------------------------------

  #made(head, told) {
    if (this.#pending[0] !== head) return;
    const before = this.#confirmed;
    const stage = this.#stageAfter(head, told);
    if (stage === null) return this.#failed(head, { code: "conflict" });
    this.#pending.shift();
    this.#confirmed = stage;
    if (head.stage === null) this.#tell("undone", { move: "undo", auto: [] });
    else if (!isAlike(head.stage.view, stage.view)) this.#dropPending("conflict", "resynced");
    this.#tell("confirmed", { move: told.move, auto: told.auto });
    this.#afterNews(before);
  }

  /** The stage after an action of ours as the server tells it; null where that is not enough. */
  #stageAfter({ action, auto, stage }, told) {
    if (told.seq !== this.#confirmed.view.seq + 1) return null;
    if (told.view) return stageOf(told.view, stage?.before ?? null);
    if (told.auto.join() === auto.join()) return settled(stage, told);
    return settled(recorded(this.#confirmed, action, told.auto, told.elapsed_ms), told);
  }

  #failed(head, error) {
    if (this.#pending[0] !== head) return;
    const { reason = error.code, limit, length } = error.context ?? {};
    this.#dropPending(reason, "rolled-back", { limit, length });
    this.#resync();
    this.#settle();
  }

  /** Ask how the game stands; also makes the connection hear of it. */
  #resync() {
    if (this.#isAsking) return;
    this.#isAsking = true;
    const { game, seq } = this.#confirmed.view;
    this.#wire.ask("game.open", { game, since: seq }, { first: true, settle: (d) => this.#seen(d) })
      .catch(() => {})
      .finally(() => {
        this.#isAsking = false;
      });
  }

  #seen(told) {
    const before = this.#confirmed;
    if (told.seq < before.view.seq) return;
    const { stage, isOurs } = this.#caughtUp(told);
    this.#confirmed = stageOf(told, stage && isAlike(stage.view, told) ? stage.before : null);
    const isAsForetold = isOurs && stage !== null && isAlike(stage.view, told);
    const reason = told.status === "playing" ? "conflict" : "game-over";
    if (!isAsForetold || reason === "game-over") this.#dropPending(reason, "rolled-back");
    const isNews = told.seq !== before.view.seq || told.status !== before.view.status;
    if (isNews || !isAsForetold) this.#tell("resynced");
    this.#afterNews(before);
  }

  /** Follow the entries since; ours that are among them are pending no more. */
  #caughtUp({ seq, entries }) {
    let stage = this.#confirmed;
    let isOurs = true;
    for (const [at, action] of entries ?? []) {
      if (stage === null || at <= stage.view.seq) continue;
      isOurs &&= this.#pending[0]?.action === action;
      stage = isOurs ? this.#pending.shift().stage : this.#followed(stage, action);
    }
    return { stage: stage?.view.seq === seq ? stage : null, isOurs };
  }

  #onGreeted = () => {
    if (this.#confirmed.view.status === "playing" || this.pending > 0) this.#resync();
  };

  #onEvent = ({ detail: { game, entry, auto, view } }) => {
    const before = this.#confirmed;
    const [seq, action, elapsed_ms, hash] = entry;
    if (game !== before.view.game || seq <= before.view.seq) return;
    if (seq !== before.view.seq + 1) return this.#resync();
    const isOurs = this.#pending[0]?.action === action;
    let stage = isOurs ? this.#pending.shift().stage : this.#followed(before, action, auto);
    if (view) stage = stageOf(view, stage?.before ?? null);
    if (stage === null) return this.#resync();
    this.#confirmed = { ...stage, view: { ...stage.view, elapsed_ms, hash } };
    if (!isOurs) this.#dropPending("conflict", "rolled-back");
    const kind = isOurs ? "confirmed" : action === "undo" ? "undone" : "moved";
    this.#tell(kind, { move: action, auto, other: !isOurs });
    this.#afterNews(before);
  };

  #onExpired = ({ detail: { game, elapsed_ms } }) => {
    const before = this.#confirmed;
    if (game !== before.view.game || before.view.status !== "playing") return;
    this.#confirmed = { ...before, view: { ...before.view, status: "expired", elapsed_ms } };
    this.#dropPending("game-over", "rolled-back");
    this.#afterNews(before);
  };

  /** The stage after what was done elsewhere; null where it is not known. */
  #followed(stage, action, auto = null) {
    if (action === "undo") return undone(stage);
    if (action === "resign") return resigned(stage, stage.view.elapsed_ms);
    try {
      return auto === null
        ? moved(stage, action, stage.view.elapsed_ms).stage
        : recorded(stage, action, auto, stage.view.elapsed_ms);
    } catch (error) {
      if ([BadMove, IllegalMove, OutOfStep].some((kind) => error instanceof kind)) return null;
      throw error;
    }
  }

  // -- Telling ------------------------------------------------------------------------------------

  /** Nothing that was shown after what is confirmed will be made. */
  #dropPending(reason, kind, more = {}) {
    const [head] = this.#pending;
    this.#pending = [];
    this.#later = [];
    if (head !== undefined) this.#tell(kind, { move: head.action, reason, ...more });
  }

  #afterNews(before) {
    const { status } = this.#confirmed.view;
    if (before.view.status === "playing" && status !== "playing") this.#tell("ended", { status });
    if (!this.#mustWait) for (const act of this.#later.splice(0)) act();
    this.#goOn();
    this.#settle();
  }

  #settle() {
    this.dispatchEvent(new Event("settled"));
    if (this.#isClosed) this.#leaveWhenDone();
  }

  #leaveWhenDone() {
    if (this.pending > 0) return;
    this.#wire.removeEventListener("greeted", this.#onGreeted);
    this.#wire.removeEventListener("game.event", this.#onEvent);
    this.#wire.removeEventListener("game.expired", this.#onExpired);
  }

  #tell(kind, more = {}) {
    if (this.#isClosed) return;
    this.dispatchEvent(new CustomEvent("change", { detail: { kind, ...more } }));
  }
}
