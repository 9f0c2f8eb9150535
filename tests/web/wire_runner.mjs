// Scenarios for client/web/wire.js and play.js, against a server and a time that are made up.
// Prints one line of JSON for each: its name, and what went wrong or null.

import assert from "node:assert/strict";

import { Play } from "../../client/web/play.js";
import { Wire } from "../../client/web/wire.js";
import { DAILY, SOLUTION } from "./daily_line.mjs";
import { FakeServer, FakeStorage, Time, refusal } from "./fake_server.mjs";

class World {
  constructor({ deal = "1", chance = 0.5 } = {}) {
    this.chance = chance;
    this.time = new Time();
    this.server = new FakeServer(this.time);
    this.storage = new FakeStorage();
    this.server.register("Ada", "ada-token");
    this.storage.setItem("cellmates.token", "ada-token");
    this.game = this.server.deal("g1", "Ada", deal);
  }

  /** A tab; `host` is its window. */
  tab(storage = this.storage, now = this.time.now) {
    const host = new EventTarget();
    host.document = Object.assign(new EventTarget(), { visibilityState: "visible" });
    const wire = new Wire({
      url: "ws://x/ws", WebSocket: this.server.WebSocket, storage, now,
      random: () => this.chance, clock: this.time, host,
    });
    wire.states = [];
    wire.addEventListener("state", ({ detail }) => wire.states.push(detail.state));
    wire.start();
    return wire;
  }

  async wait(ms = 200) {
    await this.time.pass(ms);
  }

  /** What comes of a promise, as time passes. */
  async of(promise, ms = 200) {
    const outcome = promise.then((value) => ({ value }), (error) => ({ error }));
    let done = null;
    outcome.then((end) => {
      done = end;
    });
    await this.wait(ms);
    assert.ok(done, "nothing has come of it");
    if (done.error) throw done.error;
    return done.value;
  }

  async playing(wire = this.tab()) {
    const play = await this.of(Play.open(wire, "g1"));
    play.kinds = [];
    play.news = [];
    play.addEventListener("change", ({ detail }) => {
      play.kinds.push(detail.kind);
      play.news.push(detail);
    });
    return play;
  }

  actions() {
    return this.game.entries.map(([, action]) => action);
  }

  /** What the page shows is what the server has. */
  same(play) {
    const told = this.game.view(this.time.now());
    const { columns, cells, home, seq, moves, undos, score, status, stuck } = play.view;
    const { columns: c, cells: e, home: h, seq: s, moves: m, undos: u, score: r } = told;
    assert.deepEqual({ columns, cells, home, seq, moves, undos, score, status, stuck },
      { columns: c, cells: e, home: h, seq: s, moves: m, undos: u, score: r,
        status: told.status, stuck: told.stuck });
    assert.equal(play.pending, 0);
  }
}

const code = (promise) => assert.rejects(promise).then(() => promise.catch((error) => error.code));

const scenarios = {
  async "a move shows at once and is confirmed"() {
    const world = new World();
    const play = await world.playing();
    assert.equal(play.move("3a"), true);
    assert.equal(play.view.cells[0], "2H");
    assert.deepEqual([play.view.seq, play.pending], [1, 1]);
    await world.wait();
    world.same(play);
    assert.deepEqual(play.kinds, ["moved", "confirmed"]);
  },

  async "a move that the rules refuse is not sent"() {
    const world = new World();
    const play = await world.playing();
    assert.equal(play.move("12"), false);
    assert.equal(play.move("zz"), false);
    assert.equal(play.undo(), false);
    await world.wait();
    assert.deepEqual(play.news.map(({ kind, reason }) => [kind, reason]), [
      ["refused", "does-not-fit"], ["refused", "bad-move"], ["refused", "nothing-to-undo"]]);
    assert.equal(world.server.asksOf("game.move").length, 0);
  },

  async "actions are recorded in the order in which they were made"() {
    const world = new World();
    const play = await world.playing();
    for (const move of ["3a", "4b"]) play.move(move);
    play.undo();
    for (const move of ["5b", "6c", "7d"]) play.move(move);
    assert.equal(play.pending, 6);
    await world.wait(1000);
    assert.deepEqual(world.actions(), ["3a", "4b", "undo", "5b", "6c", "7d"]);
    world.same(play);
  },

  async "a move that was lost before it was recorded is sent again"() {
    const world = new World();
    const play = await world.playing();
    cutOnce(world, "cut-before");
    play.move("3a");
    await world.wait(5000);
    assert.deepEqual(world.actions(), ["3a"]);
    world.same(play);
  },

  async "a move whose answer was lost is not made twice"() {
    const world = new World();
    const play = await world.playing();
    cutOnce(world, "cut-after");
    play.move("3a");
    play.move("4b");
    await world.wait(5000);
    assert.deepEqual(world.actions(), ["3a", "4b"]);
    assert.ok(!play.kinds.includes("rolled-back"));
    world.same(play);
  },

  async "five quick moves while away are all made when the server is back"() {
    const world = new World();
    const play = await world.playing();
    world.server.isDown = true;
    world.server.cut();
    for (const move of ["3a", "4b", "5c", "6d"]) play.move(move);
    play.undo();
    await world.wait(20_000);
    assert.equal(play.view.seq, 5);
    assert.deepEqual(world.actions(), []);
    world.server.isDown = false;
    await world.wait(40_000);
    assert.deepEqual(world.actions(), ["3a", "4b", "5c", "6d", "undo"]);
    assert.ok(!play.kinds.includes("rolled-back"));
    world.same(play);
  },

  async "a whole game is won through cuts at every fifth request"() {
    const world = new World({ deal: DAILY });
    const play = await world.playing();
    let asked = 0;
    world.server.meddle = (t) => {
      if (!t.startsWith("game.")) return null;
      asked += 1;
      return asked % 5 ? null : asked % 2 ? "cut-before" : "cut-after";
    };
    for (const move of SOLUTION) assert.equal(play.move(move), true, move);
    assert.equal(play.view.status, "won");
    await world.wait(200_000);
    assert.deepEqual(world.actions(), SOLUTION);
    assert.equal(play.kinds.filter((kind) => kind === "ended").length, 1);
    world.same(play);
  },

  async "two tabs stay in step"() {
    const world = new World();
    const [one, other] = [await world.playing(), await world.playing()];
    one.move("3a");
    await world.wait();
    other.move("4b");
    await world.wait();
    one.undo();
    await world.wait();
    assert.deepEqual(world.actions(), ["3a", "4b", "undo"]);
    world.same(one);
    world.same(other);
    assert.deepEqual(other.kinds, ["moved", "moved", "confirmed", "undone"]);
    assert.equal(other.news[0].other, true);
    other.undo();
    await world.wait();
    world.same(one);
    world.same(other);
  },

  async "of two tabs that move at once one is rolled back"() {
    const world = new World();
    const [one, other] = [await world.playing(), await world.playing()];
    one.move("3a");
    other.move("4a");
    other.move("5b");
    await world.wait(1000);
    assert.deepEqual(world.actions(), ["3a"]);
    world.same(one);
    world.same(other);
    const back = other.news.find(({ kind }) => kind === "rolled-back");
    assert.deepEqual([back.move, back.reason], ["4a", "conflict"]);
    other.move("4b");
    await world.wait();
    assert.deepEqual(world.actions(), ["3a", "4b"]);
    world.same(one);
  },

  async "a late answer to what was rolled back does not touch what was made since"() {
    const world = new World();
    const [one, other] = [await world.playing(), await world.playing()];
    other.addEventListener("change", ({ detail }) => {
      if (detail.kind === "rolled-back") other.move("4b");
    });
    one.move("3a");
    other.move("4a");
    await world.wait(1000);
    assert.deepEqual(world.actions(), ["3a", "4b"]);
    assert.equal(other.kinds.filter((kind) => kind === "rolled-back").length, 1);
    world.same(other);
  },

  async "a gap in what is told is filled"() {
    const world = new World();
    const play = await world.playing();
    for (const [at, move] of ["3a", "4b", "5c"].entries()) {
      world.game.act(at + 1, move, world.time.now());
    }
    const [link] = world.server.links;
    const last = { game: "g1", entry: world.game.entries[2], auto: [] };
    world.server.tell(link, "game.event", last);
    world.server.tell(link, "game.event", last);
    await world.wait();
    assert.deepEqual(play.kinds, ["resynced"]);
    world.same(play);
  },

  async "undo goes back move by move"() {
    const world = new World();
    const play = await world.playing();
    const views = [play.view];
    for (const move of ["3a", "4b", "5c"]) {
      play.move(move);
      views.push(play.view);
    }
    for (const { position } of views.slice(0, 3).reverse()) {
      play.undo();
      assert.deepEqual(play.view.position, position);
    }
    await world.wait(1000);
    assert.equal(play.view.undos, 3);
    world.same(play);
  },

  async "what waited for an undo that was refused is not made"() {
    const world = new World();
    world.game.act(1, "3a", world.time.now());
    const play = await world.playing();
    world.server.meddle = (t) => t === "game.undo" ? refusal("nothing-to-undo") : null;
    play.undo();
    play.move("4b");
    await world.wait(1000);
    assert.deepEqual(play.kinds, ["rolled-back"]);
    play.move("5b");
    await world.wait(1000);
    assert.deepEqual(world.actions(), ["3a", "5b"]);
    world.same(play);
  },

  async "two tabs that make the same move at once have both made it"() {
    const world = new World();
    const [one, other] = [await world.playing(), await world.playing()];
    one.move("3a");
    other.move("3a");
    other.move("4b");
    await world.wait(1000);
    assert.deepEqual(world.actions(), ["3a", "4b"]);
    assert.ok(!other.kinds.includes("rolled-back"));
    world.same(one);
    world.same(other);
  },

  async "what another tab did while this one was away is caught up with"() {
    const world = new World();
    const here = new FakeStorage();
    here.setItem("cellmates.token", "ada-token");
    const wire = world.tab(here);
    const play = await world.playing(wire);
    world.server.cut();
    play.move("4c");
    world.game.act(1, "3a", world.time.now());
    world.game.act(2, "4b", world.time.now());
    await world.wait(5000);
    assert.deepEqual(world.actions(), ["3a", "4b"]);
    assert.ok(play.kinds.includes("rolled-back"));
    assert.ok(play.kinds.includes("resynced"));
    world.same(play);
    play.undo();
    assert.equal(play.view.cells[1], null, "the way back is known");
    await world.wait();
    world.same(play);
  },

  async "a move that the server refuses is rolled back with those after it"() {
    const world = new World();
    const play = await world.playing();
    world.server.meddle = (t, d) => d?.move === "3a"
      ? refusal("illegal-move", { reason: "group-too-long", limit: 1, length: 2 }) : null;
    play.move("3a");
    play.move("4b");
    await world.wait(1000);
    assert.deepEqual(world.actions(), []);
    const { kind, ...back } = play.news.at(-1);
    assert.equal(kind, "rolled-back");
    assert.deepEqual(back, { move: "3a", reason: "group-too-long", limit: 1, length: 2 });
    world.same(play);
  },

  async "an undo whose way is not known waits for the server"() {
    const world = new World();
    world.game.act(1, "3a", world.time.now());
    const play = await world.playing();
    play.undo();
    assert.equal(play.view.cells[0], "2H");
    assert.equal(play.move("4a"), true);
    await world.wait(1000);
    assert.deepEqual(world.actions(), ["3a", "undo", "4a"]);
    assert.deepEqual(play.kinds, ["undone", "confirmed", "moved", "confirmed"]);
    world.same(play);
  },

  async "an undo whose answer was lost is not made twice"() {
    const world = new World();
    const play = await world.playing();
    play.move("3a");
    play.move("4b");
    await world.wait();
    cutOnce(world, "cut-after");
    play.undo();
    await world.wait(5000);
    assert.deepEqual(world.actions(), ["3a", "4b", "undo"]);
    world.same(play);
  },

  async "a game that is given up ends"() {
    const world = new World();
    const play = await world.playing();
    play.resign();
    assert.equal(play.view.status, "resigned");
    await world.wait();
    assert.deepEqual(play.kinds, ["moved", "confirmed", "ended"]);
    assert.equal(play.move("3a"), false);
    world.same(play);
    const elapsed = play.elapsedMs();
    await world.wait(5000);
    assert.equal(play.elapsedMs(), elapsed);
  },

  async "a game whose time runs out ends"() {
    const world = new World();
    const wire = world.tab();
    const play = await world.playing(wire);
    world.server.meddle = (t) => t === "game.move" ? "mute" : null;
    play.move("3a");
    await world.wait(50);
    const [link] = world.server.links;
    world.server.tell(link, "game.expired", { game: "g1", elapsed_ms: 99 });
    await world.wait();
    assert.deepEqual(play.kinds, ["moved", "rolled-back", "ended"]);
    assert.deepEqual([play.view.status, play.elapsedMs()], ["expired", 99]);
  },

  async "time goes by the server's clock"() {
    const world = new World();
    const { now } = world.time;
    const wire = world.tab(world.storage, () => now() + 3_600_000);
    const play = await world.playing(wire);
    assert.ok(Math.abs(wire.serverNow() - now()) < 2, String(wire.serverNow() - now()));
    await world.wait(5000);
    assert.ok(Math.abs(play.elapsedMs() - (now() - world.game.started)) < 30);
  },

  async "a draining server is asked nothing more until it is back"() {
    const world = new World();
    const wire = world.tab();
    const play = await world.playing(wire);
    const [link] = world.server.links;
    world.server.tell(link, "server.draining", { deadline: 0, retry_after_ms: 2000 });
    await world.wait(20);
    assert.equal(wire.state, "draining");
    play.move("3a");
    await world.wait(500);
    assert.equal(world.server.asksOf("game.move").length, 0);
    world.server.hangUp(link, 1012);
    wire.retryNow();
    await world.wait(2900);
    assert.equal(wire.state, "away");
    await world.wait(600);
    assert.equal(wire.state, "up");
    assert.deepEqual(world.actions(), ["3a"]);
    world.same(play);
  },

  async "requests that a draining server refuses are asked again in order"() {
    const world = new World();
    const wire = world.tab();
    await world.wait();
    world.server.meddle = () => refusal("draining", {}, 100);
    const asks = [wire.ask("player.rename", { handle: "Bea" }), wire.ask("daily.list")];
    await world.wait(50);
    world.server.meddle = () => null;
    world.server.cut(1012);
    await world.of(Promise.all(asks), 1000);
    assert.deepEqual(world.server.asked.slice(-2).map(({ t }) => t),
      ["player.rename", "daily.list"]);
  },

  async "it comes back with back-off and starts over when greeted"() {
    const world = new World({ chance: 1 });
    const wire = world.tab();
    await world.wait();
    world.server.isDown = true;
    world.server.cut();
    await world.wait(130_000);
    assert.equal(world.server.dials, 1 + 8); // after 1, 2, 4, 8, 16, 30, 30 and 30 s
    world.server.isDown = false;
    await world.wait(31_000);
    assert.equal(wire.state, "up");
    world.server.cut();
    await world.wait(1100);
    assert.equal(wire.state, "up");
  },

  async "a close code that forbids it is not argued with"() {
    const world = new World();
    const wire = world.tab();
    await world.wait();
    world.server.cut(4400);
    const refused = wire.ask("daily.list");
    assert.equal(await code(refused), "4400");
    await world.wait(100_000);
    assert.deepEqual([wire.state, world.server.dials], ["closed", 1]);
  },

  async "a token that no longer works waits for the player's word"() {
    const world = new World();
    const wire = world.tab();
    const play = await world.playing(wire);
    world.server.players.clear();
    world.server.cut();
    await world.wait(5000);
    assert.deepEqual([wire.state, wire.reason], ["closed", "bad-token"]);
    assert.equal(world.storage.getItem("cellmates.token"), "ada-token");
    assert.equal(await code(wire.ask("daily.list")), "bad-token");
    wire.becomeGuest();
    await world.wait();
    assert.deepEqual([wire.state, wire.player, wire.token], ["up", null, null]);
    assert.equal(world.storage.getItem("cellmates.token"), null);
    play.close();
  },

  async "a token that another tab replaced is taken over, and no move is lost"() {
    const world = new World();
    const wire = world.tab();
    const play = await world.playing(wire);
    const other = world.tab();
    await world.wait();
    await world.of(other.rotate());
    play.move("3a");
    await world.wait(1000);
    assert.deepEqual([wire.state, wire.token], ["up", "ada-token+"]);
    assert.deepEqual(world.actions(), ["3a"]);
    world.same(play);
  },

  async "the news of another tab's token may come late, and no move is lost"() {
    const world = new World();
    const slow = new FakeStorage();
    slow.setItem("cellmates.token", "ada-token");
    const wire = world.tab(slow);
    const play = await world.playing(wire);
    const other = world.tab();
    await world.wait();
    play.move("3a");
    await world.of(other.rotate());
    play.move("4b");
    await world.wait(1000);
    assert.deepEqual([wire.state, wire.reason], ["closed", "bad-token"]);
    slow.setItem("cellmates.token", "ada-token+");
    wire.host.dispatchEvent(Object.assign(new Event("storage"), { key: "cellmates.token" }));
    await world.wait(1000);
    assert.deepEqual(world.actions(), ["3a", "4b"]);
    world.same(play);
  },

  async "who signs in with a token that does not work stays who they are"() {
    const world = new World();
    const wire = world.tab();
    await world.wait();
    assert.equal(await code(world.of(wire.signIn("nobody's"), 1000)), "bad-token");
    assert.deepEqual([wire.state, wire.player.handle], ["up", "Ada"]);
    world.server.register("Bea", "bea-token");
    const player = await world.of(wire.signIn(" bea-token\n"), 1000);
    assert.equal(player.handle, "Bea");
    assert.equal(world.storage.getItem("cellmates.token"), "bea-token");
  },

  async "a guest becomes a player in all tabs, and leaves in all"() {
    const world = new World();
    world.storage.removeItem("cellmates.token");
    const [one, other] = [world.tab(), world.tab()];
    await world.wait();
    assert.equal(one.player, null);
    const news = [];
    other.addEventListener("player", ({ detail }) => news.push(detail?.handle ?? null));
    const { token } = await world.of(one.create("Cy"));
    assert.equal(token, "token-of-Cy");
    const told = () => other.host.dispatchEvent(
      Object.assign(new Event("storage"), { key: "cellmates.token" }));
    told();
    await world.wait();
    assert.equal(other.player.handle, "Cy");
    await world.of(one.remove("Cy"));
    assert.deepEqual([one.player, one.token], [null, null]);
    told();
    await world.wait();
    assert.deepEqual(news, ["Cy", null]);
  },

  async "what is not safe to send again is lost with the connection, the rest is not"() {
    const world = new World();
    const wire = world.tab();
    await world.wait();
    cutOnce(world, "cut-after", "daily.list");
    const asks = [wire.ask("player.create", { handle: "Dee", kind: "human" }),
      wire.ask("daily.list")];
    const lost = code(asks[0]);
    await world.wait(2000);
    assert.equal(await lost, "lost");
    await world.of(asks[1]);
  },

  async "a game whose dealing was not answered is found again"() {
    const world = new World();
    const wire = world.tab();
    await world.wait(60_000);
    cutOnce(world, "cut-after", "game.start");
    const play = await world.of(Play.start(wire, { ruleset: "freecell" }), 3000);
    assert.equal(play.view.game, "game-2");
    assert.equal(world.server.games.size, 2);
    cutOnce(world, "cut-before", "game.start");
    const next = await world.of(Play.start(wire, { ruleset: "freecell", deal: "8" }), 5000);
    assert.equal(world.server.games.size, next.view.game === "game-3" ? 3 : 2);
  },

  async "requests keep to the pace of the greeting"() {
    const world = new World();
    world.server.limits = { ...world.server.limits, requests_burst: 5, requests_per_s: 10 };
    const wire = world.tab();
    await world.wait();
    const from = world.time.now();
    const asks = Array.from({ length: 14 }, () => wire.ask("daily.list"));
    await world.of(Promise.all(asks), 2000);
    const times = world.server.asked.filter(({ t }) => t === "daily.list").map(({ at }) => at);
    assert.ok(times.filter((at) => at < from + 90).length <= 5);
    assert.ok(times.at(-1) - from >= 800, String(times.at(-1) - from));
  },

  async "who is told to slow down waits and goes on"() {
    const world = new World();
    const wire = world.tab();
    const play = await world.playing(wire);
    let refusals = 2;
    world.server.meddle = (t) =>
      t === "game.move" && refusals-- > 0 ? refusal("rate-limited", { key: "moves" }, 700) : null;
    play.move("3a");
    play.move("4b");
    await world.wait(600);
    assert.equal(world.server.asksOf("game.move").length, 1);
    await world.wait(3000);
    assert.deepEqual(world.actions(), ["3a", "4b"]);
    world.same(play);
    world.server.meddle = () => refusal("rate-limited", { key: "handles" }, 3_600_000);
    assert.equal(await code(world.of(wire.create("Eve"))), "rate-limited");
  },

  async "who went on regardless waits as long as the server says"() {
    const world = new World({ chance: 1 });
    const wire = world.tab();
    await world.wait();
    world.server.meddle = () => refusal("rate-limited", { key: "requests" }, 3000);
    const ask = wire.ask("daily.list");
    await world.wait(50);
    world.server.meddle = () => null;
    world.server.cut(4429);
    wire.retryNow();
    await world.wait(5900);
    assert.equal(wire.state, "away");
    await world.of(ask, 200);
  },

  async "an hour's wait for one thing is none for all"() {
    const world = new World({ chance: 1 });
    const wire = world.tab();
    await world.wait();
    world.server.meddle = () => refusal("rate-limited", { key: "handles" }, 3_600_000);
    assert.equal(await code(world.of(wire.create("Eve"))), "rate-limited");
    world.server.meddle = () => null;
    world.server.cut(1012);
    await world.wait(1100);
    assert.equal(wire.state, "up");
  },

  async "requests that were refused for their number keep their order"() {
    const world = new World();
    world.server.limits = { ...world.server.limits, requests_burst: 4, requests_per_s: 1 };
    const wire = world.tab();
    await world.wait();
    world.server.meddle = () => refusal("rate-limited", { key: "requests" }, 500);
    const types = ["daily.list", "board.get", "player.get", "games.mine"];
    const asks = types.map((type) => wire.ask(type));
    await world.wait(25);
    world.server.meddle = () => null;
    await world.of(Promise.all(asks), 8000);
    assert.deepEqual(world.server.asked.slice(-4).map(({ t }) => t), types);
  },

  async "a connection that breaks during the greeting is made again"() {
    const world = new World();
    cutOnce(world, "cut-after", "hello");
    const wire = world.tab();
    const ask = wire.ask("daily.list");
    await world.of(ask, 3000);
    assert.deepEqual(wire.states, ["away", "connecting", "up"]);
    assert.deepEqual(world.server.asked.map(({ t }) => t), ["hello", "hello", "daily.list"]);
  },

  async "a fault of the server is asked again, but not for ever"() {
    const world = new World();
    const play = await world.playing();
    let faults = 2;
    world.server.meddle = (t) => t === "game.move" && faults-- > 0 ? refusal("internal") : null;
    play.move("3a");
    await world.wait(5000);
    assert.deepEqual(world.actions(), ["3a"]);
    world.server.meddle = (t) => t === "game.move" ? refusal("internal") : null;
    play.move("4b");
    await world.wait(120_000);
    assert.equal(play.news.at(-1).kind, "rolled-back");
    world.same(play);
  },

  async "a connection that says nothing any more is left"() {
    const world = new World();
    const wire = world.tab();
    const play = await world.playing(wire);
    world.server.meddle = () => "mute";
    play.move("3a");
    await world.wait(11_000);
    world.server.meddle = () => null;
    await world.wait(5000);
    assert.deepEqual(world.actions(), ["3a"]);
    world.same(play);
    await world.wait(1000);
    const pings = world.server.asksOf("ping").length;
    await world.wait(100_000);
    assert.equal(world.server.asksOf("ping").length, pings + 2);
    assert.equal(wire.state, "up");
  },

  async "a device that wakes asks at once whether anybody is there"() {
    const world = new World();
    const wire = world.tab();
    await world.wait();
    world.server.meddle = (t) => t === "ping" ? "mute" : null;
    wire.host.document.dispatchEvent(new Event("visibilitychange"));
    await world.wait(4900);
    assert.equal(wire.state, "up");
    world.server.isDown = true;
    await world.wait(200);
    assert.notEqual(wire.state, "up");
    world.server.isDown = false;
    await world.wait(20);
    wire.host.dispatchEvent(new Event("online"));
    await world.wait(100);
    assert.equal(wire.state, "up");
  },

  async "boards are watched again, and told, after a reconnect"() {
    const world = new World();
    const wire = world.tab();
    await world.wait();
    const board = { challenge: "c", board: "first", kind: "human" };
    await world.of(wire.ask("board.watch", board));
    const told = [];
    wire.addEventListener("board.changed", ({ detail }) => told.push(detail));
    world.server.cut();
    await world.wait(2000);
    assert.equal(world.server.asksOf("board.watch").length, 2);
    assert.deepEqual(told, [{ ...board, top: [], total: 7 }]);
    await world.of(wire.ask("board.unwatch", board));
    world.server.cut();
    await world.wait(2000);
    assert.equal(world.server.asksOf("board.watch").length, 2);
  },

  async "a hint waits for what is pending"() {
    const world = new World();
    const play = await world.playing();
    play.move("3b");
    assert.equal(await world.of(play.hint()), "1a");
    assert.deepEqual(world.server.asked.slice(-2).map(({ t }) => t), ["game.move", "game.hint"]);
    const late = play.hint();
    play.move("4c");
    assert.equal(await world.of(late), null, "the game has gone on");
  },

  async "a game that was left still sends what is pending, and hears nothing then"() {
    const world = new World();
    const play = await world.playing();
    play.move("3a");
    play.move("4b");
    play.close();
    await world.wait(1000);
    assert.deepEqual(world.actions(), ["3a", "4b"]);
    assert.deepEqual(play.kinds, ["moved", "moved"]);
    world.server.cut();
    await world.wait(3000);
    assert.equal(world.server.asksOf("game.open").length, 1);
  },

  async "a line that was stopped rejects what waits"() {
    const world = new World();
    const wire = world.tab();
    const ask = wire.ask("daily.list");
    wire.stop();
    assert.equal(await code(ask), "stopped");
    await world.wait(100_000);
    assert.deepEqual([wire.state, world.server.links.size], ["closed", 0]);
  },
};

/** Once, a request of a type ends the connection. */
function cutOnce(world, how, type = "game.") {
  world.server.meddle = (t) => {
    if (!t.startsWith(type) || t === "game.open") return null;
    world.server.meddle = () => null;
    return how;
  };
}

for (const [name, scenario] of Object.entries(scenarios)) {
  let fault = null;
  try {
    await scenario();
  } catch (error) {
    fault = String(error.stack);
  }
  console.log(JSON.stringify({ name, fault }));
}
