/** The wire of docs/protocol.md as the page speaks it, and who speaks: a guest or a player. */

import { Line } from "./line.js";
import { WireError } from "./link.js";

export { WireError };

const TOKEN = "cellmates.token";
const TOP = 10;

/**
 * A line whose player is known by a token that the browser keeps, for all its tabs.
 *
 * Besides a line's events dispatches "player" (the player or null), and "board.changed" also when
 * a watched board may have changed while the line was down.
 */
export class Wire extends Line {
  /** who this is, `{id, handle, kind}`; null: a guest, or not greeted yet */
  player = null;
  /** what proves it; null: a guest */
  token = null;

  #trial = null;
  #watches = new Map();

  /**
   * @param {object} [options] as of a Line, and
   * @param {Storage|null} [options.storage] where the token is kept
   */
  constructor(options = {}) {
    super(options);
    this.storage = options.storage ?? browserStorage();
    this.token = this.#storedToken();
  }

  start() {
    this.host?.addEventListener("storage", this.#onStorage);
    super.start();
  }

  stop() {
    this.host?.removeEventListener("storage", this.#onStorage);
    this.#endTrial("stopped");
    super.stop();
  }

  ask(type, body = {}, how = {}) {
    if (type === "board.watch") this.#watches.set(JSON.stringify(body), body);
    if (type === "board.unwatch") this.#watches.delete(JSON.stringify(body));
    return super.ask(type, body, how);
  }

  /** Forget who this is: the token is gone from this browser. */
  becomeGuest() {
    this.#endTrial("lost");
    this.#keep(null);
    this.dialAgain();
  }

  /**
   * Become the player that a token belongs to; where it does not work, stay who you are.
   * @param {string} token
   * @returns {Promise<object>} the player
   * @throws {WireError} "bad-token"
   */
  signIn(token) {
    this.#endTrial("lost");
    return new Promise((resolve, reject) => {
      this.#trial = { token: token.trim(), resolve, reject };
      this.dialAgain();
    });
  }

  /**
   * Become a new player, whose token is kept.
   * @param {string} handle
   * @returns {Promise<{player: object, token: string}>}
   * @throws {WireError} "handle-taken", "handle-invalid", "lost", …
   */
  create(handle) {
    const settle = (d) => {
      this.#keep(d.token);
      this.#become(d.player);
      return d;
    };
    return this.ask("player.create", { handle, kind: "human" }, { settle });
  }

  /**
   * Take a new token; the old one stops working everywhere.
   * @returns {Promise<string>}
   * @throws {WireError} "lost", or a refusal
   */
  rotate() {
    const settle = (d) => {
      this.#keep(d.token);
      return d.token;
    };
    return this.ask("player.token", {}, { settle });
  }

  /**
   * Delete this player.
   * @param {string} handle the player's own, to be sure
   * @returns {Promise<void>}
   * @throws {WireError} "forbidden", "lost"
   */
  remove(handle) {
    const settle = () => {
      this.#keep(null);
      this.#become(null);
    };
    return this.ask("player.delete", { confirm: handle }, { settle });
  }

  /**
   * Take another handle.
   * @param {string} handle
   * @returns {Promise<object>} the player
   * @throws {WireError} as by `create`
   */
  rename(handle) {
    const settle = (d) => {
      this.#become(d.player);
      return d.player;
    };
    return this.ask("player.rename", { handle }, { settle });
  }

  // -- What a line asks of its heir ---------------------------------------------------------------

  greetingToken() {
    return this.#trial?.token ?? this.token;
  }

  tokenFailed(code) {
    if (this.#trial !== null) {
      this.#endTrial(code);
      return true;
    }
    // Another tab may have taken a new token, and the news of it be slower than the server.
    const stored = this.#storedToken();
    if (stored === null || stored === this.token) return false;
    this.token = stored;
    return true;
  }

  welcomed({ player }) {
    const trial = this.#trial;
    this.#trial = null;
    if (trial !== null) this.#keep(trial.token);
    this.#become(player);
    trial?.resolve(player);
    for (const body of this.#watches.values()) this.#watchAgain(body);
  }

  // -- The rest -----------------------------------------------------------------------------------

  /** Nobody told of changes meanwhile, so the board is told once in any case. */
  #watchAgain(body) {
    const settle = ({ rows, total }) => {
      if (!this.#watches.has(JSON.stringify(body))) return;
      this.tell("board.changed", { ...body, top: rows, total });
    };
    super.ask("board.watch", body, { first: true }).catch(() => {});
    super.ask("board.get", { ...body, limit: TOP }, { first: true, settle }).catch(() => {});
  }

  #endTrial(code) {
    this.#trial?.reject(new WireError({ code }));
    this.#trial = null;
  }

  #become(player) {
    const isSame = JSON.stringify(player) === JSON.stringify(this.player);
    this.player = player;
    if (!isSame) this.tell("player", player);
  }

  #keep(token) {
    this.token = token;
    try {
      if (token === null) this.storage?.removeItem(TOKEN);
      else this.storage?.setItem(TOKEN, token);
    } catch {
      // A browser that keeps nothing: the token lives as long as the page.
    }
  }

  #storedToken() {
    try {
      return this.storage?.getItem(TOKEN) ?? null;
    } catch {
      return this.token;
    }
  }

  #onStorage = ({ key }) => {
    const stored = this.#storedToken();
    if ((key !== TOKEN && key !== null) || stored === this.token) return;
    this.token = stored;
    this.dialAgain();
  };
}

function browserStorage() {
  try {
    return globalThis.localStorage ?? null;
  } catch {
    return null;
  }
}
