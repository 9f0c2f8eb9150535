// A server for the page's wire to talk to: time that is set by hand, sockets that can be cut, and
// the few requests of docs/protocol.md that the tests need, with actions that count once.

import { dealt, isStuck, isWon, play } from "../../client/web/rules.js";

const LATENCY_MS = 10;

/** Timers that go off only when time is let pass. */
export class Time {
  #now = 1_796_040_000_000;
  #timers = [];

  now = () => this.#now;

  set = (call, ms = 0) => {
    const timer = { at: this.#now + ms, call };
    this.#timers.push(timer);
    return timer;
  };

  clear = (timer) => {
    this.#timers = this.#timers.filter((other) => other !== timer);
  };

  async pass(ms) {
    const end = this.#now + ms;
    await settle();
    for (;;) {
      const [next] = [...this.#timers].sort((one, other) => one.at - other.at);
      if (next === undefined || next.at > end) break;
      this.clear(next);
      this.#now = Math.max(this.#now, next.at);
      next.call();
      await settle();
    }
    this.#now = end;
  }
}

/** Let what is promised happen. */
async function settle() {
  for (let turn = 0; turn < 20; turn += 1) await null;
}

/** What a browser keeps for all its tabs. */
export class FakeStorage {
  #kept = new Map();

  getItem(key) {
    return this.#kept.get(key) ?? null;
  }

  setItem(key, value) {
    this.#kept.set(key, value);
  }

  removeItem(key) {
    this.#kept.delete(key);
  }
}

class Game {
  constructor(id, owner, ruleset, deal, started) {
    Object.assign(this, { id, owner, ruleset, deal, started });
    this.entries = [];
    this.autos = [];
    this.line = [{ position: dealt(ruleset, deal), moves: 0 }];
    this.undos = 0;
    this.status = "playing";
    this.elapsed = null;
  }

  get seq() {
    return this.entries.length;
  }

  view(now, since = null) {
    const { position, moves } = this.line.at(-1);
    const { C, D, H, S } = position.home;
    return {
      game: this.id, ruleset: this.ruleset, ruleset_version: 1, deal: this.deal, challenge: null,
      ranked: false, attempt: null, autoplay: "safe", seq: this.seq, ...position,
      score: C + D + H + S, moves, undos: this.undos, undo_left: null, status: this.status,
      stuck: isStuck(this.ruleset, position), started: this.started,
      elapsed_ms: this.elapsed ?? now - this.started, hash: `hash-${this.seq}`,
      ...(since === null ? {} : { entries: this.entries.slice(since) }),
    };
  }

  /** Throws a refusal. */
  act(seq, action, now) {
    const repeated = seq <= this.seq && this.entries[seq - 1]?.[1] === action;
    if (!repeated) this.#record(seq, action, now);
    const view = this.view(now);
    const { score, moves, undos, status, stuck } = view;
    return {
      seq, move: action, auto: this.autos[seq - 1], score, moves, undos, status, stuck,
      elapsed_ms: this.entries[seq - 1][2], hash: `hash-${seq}`, repeated,
      ...(action === "undo" ? { view } : {}),
    };
  }

  #record(seq, action, now) {
    if (seq !== this.seq + 1) throw refusal("conflict", { seq: this.seq });
    if (this.status !== "playing") throw refusal("game-over", { status: this.status });
    const auto = this.#make(action);
    this.entries.push([seq, action, now - this.started, `hash-${seq}`]);
    this.autos.push(auto);
    if (this.status !== "playing") this.elapsed = now - this.started;
  }

  #make(action) {
    if (action === "undo") {
      if (this.line.length === 1) throw refusal("nothing-to-undo");
      this.line.pop();
      this.undos += 1;
      return [];
    }
    if (action === "resign") {
      this.status = "resigned";
      return [];
    }
    const { position: before, moves } = this.line.at(-1);
    let made;
    try {
      made = play(this.ruleset, before, action, "safe");
    } catch (error) {
      throw refusal("illegal-move", { reason: error.reason });
    }
    this.line.push({ position: made.position, moves: moves + 1 + made.auto.length });
    if (isWon(made.position)) this.status = "won";
    return made.auto;
  }
}

export function refusal(code, context = {}, retryAfterMs = null) {
  const waits = retryAfterMs === null ? {} : { retry_after_ms: retryAfterMs };
  return { code, message: code, context, ...waits };
}

export class FakeServer {
  isDown = false;
  limits = { frame_bytes: 4096, requests_burst: 40, requests_per_s: 20, heartbeat_s: 20,
    moves_burst: 200, moves_per_s: 100 };
  players = new Map();
  games = new Map();
  links = new Set();
  asked = [];
  dials = 0;
  turnedOutAfterMs = 3 * LATENCY_MS;

  /** Called with each request; "cut-before", "cut-after", "mute" or a refusal to answer with. */
  meddle = () => null;

  constructor(time) {
    this.time = time;
    const server = this;
    this.WebSocket = class {
      constructor(url, subprotocol) {
        Object.assign(this, { url, subprotocol, isOpen: false, opened: new Set(), player: null });
        server.dials += 1;
        time.set(() => server.#dialled(this), LATENCY_MS);
      }

      send(frame) {
        time.set(() => server.#read(this, JSON.parse(frame)), LATENCY_MS);
      }

      close() {
        server.links.delete(this);
        this.isOpen = false;
        this.isLeft = true;
      }
    };
  }

  /** A player with a token. */
  register(handle, token) {
    this.players.set(token, { id: `id-${handle}`, handle, kind: "human" });
  }

  deal(id, handle, number = "1") {
    const game = new Game(id, `id-${handle}`, "freecell", number, this.time.now());
    this.games.set(id, game);
    return game;
  }

  /** End all connections. */
  cut(code = 1006) {
    for (const link of [...this.links]) this.hangUp(link, code);
  }

  hangUp(link, code) {
    if (!link.isOpen) return;
    this.links.delete(link);
    link.isOpen = false;
    link.onclose?.({ code });
  }

  tell(link, t, d) {
    this.#say(link, { t, d });
  }

  asksOf(type) {
    return this.asked.filter(({ t }) => t === type).map(({ d }) => d);
  }

  #dialled(link) {
    if (link.isLeft) return;
    if (this.isDown) return link.onclose?.({ code: 1006 });
    link.isOpen = true;
    this.links.add(link);
    link.onopen?.();
  }

  #say(link, message) {
    this.time.set(() => {
      if (link.isOpen) link.onmessage?.({ data: JSON.stringify(message) });
    }, LATENCY_MS);
  }

  #read(link, { t, id, d }) {
    if (!link.isOpen) return;
    this.asked.push({ t, d, at: this.time.now() });
    const whim = this.meddle(t, d, link);
    if (whim === "cut-before") return this.hangUp(link, 1006);
    if (whim?.code) return this.#say(link, { t: "error", re: id, d: whim });
    let answer;
    try {
      answer = { t: "ok", re: id, d: this.#answer(link, t, d ?? {}) };
    } catch (error) {
      if (!error.code) throw error;
      answer = { t: "error", re: id, d: error };
    }
    if (whim === "cut-after") return this.hangUp(link, 1006);
    if (whim !== "mute") this.#say(link, answer);
    if (answer.d.code === "bad-token") this.time.set(() => this.hangUp(link, 4401), LATENCY_MS);
  }

  #answer(link, t, d) {
    const now = this.time.now();
    switch (t) {
      case "hello": {
        if (d.token && !this.players.has(d.token)) throw refusal("bad-token");
        link.player = d.token ? this.players.get(d.token) : null;
        link.token = d.token;
        return { server: {}, proto: 1, time: now, player: link.player, limits: this.limits,
          rulesets: [], games: [] };
      }
      case "ping":
        return { time: now };
      case "player.create":
        this.register(d.handle, `token-of-${d.handle}`);
        link.player = this.players.get(`token-of-${d.handle}`);
        return { player: link.player, token: `token-of-${d.handle}` };
      case "player.token":
        return { token: this.#rotated(link) };
      case "player.delete":
        this.players.delete(link.token);
        link.player = null;
        return {};
      case "game.start": {
        const game = this.deal(`game-${this.games.size + 1}`, link.player.handle, d.deal ?? "1");
        link.opened.add(game.id);
        return game.view(now);
      }
      case "games.mine":
        return { games: [...this.games.values()].reverse().map((game) => game.view(now)),
          next: null };
      case "game.open": {
        const game = this.#game(link, d.game);
        link.opened.add(game.id);
        return game.view(now, d.since ?? null);
      }
      case "game.move":
      case "game.undo":
      case "game.resign":
        return this.#act(link, d.game, d.seq, d.move ?? t.slice(5));
      case "game.hint":
        return { move: "1a", seq: this.#game(link, d.game).seq };
      case "board.get":
        return { rows: [], total: 7, me: null, next: null, prev: null };
      default:
        return {};
    }
  }

  #rotated(link) {
    const token = `${link.token}+`;
    this.players.set(token, link.player);
    this.players.delete(link.token);
    for (const other of [...this.links]) {
      if (other === link || other.token !== link.token) continue;
      this.time.set(() => this.hangUp(other, 4401), this.turnedOutAfterMs);
    }
    link.token = token;
    return token;
  }

  #game(link, id) {
    const game = this.games.get(id);
    if (link.player === null) throw refusal("token-needed");
    if (game?.owner !== link.player.id) throw refusal("not-found");
    return game;
  }

  #act(link, id, seq, action) {
    const game = this.#game(link, id);
    const before = game.seq;
    const told = game.act(seq, action, this.time.now());
    if (game.seq > before) {
      const { auto, view } = told;
      for (const other of this.links) {
        if (other === link || !other.opened.has(id)) continue;
        this.tell(other, "game.event", { game: id, entry: game.entries.at(-1), auto,
          ...(view ? { view } : {}) });
      }
    }
    return told;
  }
}
