// The page's wire and play on a real server, whose address is the argument. Says "kill" when it is
// time to kill the server and start it again, and in the end a line of JSON with what was found.

import assert from "node:assert/strict";

import { Play } from "../../client/web/play.js";
import { legalMoves } from "../../client/web/rules.js";
import { Wire } from "../../client/web/wire.js";
import { DAILY, SOLUTION } from "./daily_line.mjs";
import { FakeStorage } from "./fake_server.mjs";

const RULESETS = ["freecell", "eight-off", "eight-off-4", "eight-off-2", "eight-off-classic"];
const [url] = process.argv.slice(2);
const storage = new FakeStorage();
const LONGEST_MS = 90_000;
let seed = 6;

const chance = () => {
  seed = (seed * 16807) % 2147483647;
  return seed / 2147483647;
};

function tab() {
  const wire = new Wire({ url, storage });
  wire.start();
  return wire;
}

const until = (play, is) => new Promise((resolve) => {
  const look = () => is() && resolve(play.removeEventListener("settled", look));
  play.addEventListener("settled", look);
  look();
});

const figures = ({ view }) => {
  const { hash, elapsed_ms, started, ...rest } = view;
  return rest;
};

/** Each action as the page foretells it is as the server then tells it. */
async function foretells(wire, ruleset) {
  const play = await Play.start(wire, { ruleset, deal: String(1 + Math.floor(chance() * 1000)) });
  for (let turn = 0; turn < 80; turn += 1) {
    const moves = legalMoves(ruleset, play.view.position);
    const isBack = chance() < 0.2 || moves.length === 0;
    if (isBack && !play.canUndo) break;
    const text = moves[Math.floor(chance() * moves.length)];
    assert.ok(isBack ? play.undo() : play.move(text), text);
    const foretold = figures(play);
    await until(play, () => play.pending === 0);
    // Which cards had been home before they were taken back is known to the server alone.
    const { score, ...told } = figures(play);
    assert.deepEqual({ ...foretold, score }, { ...told, score }, `${ruleset} ${text}`);
    if (ruleset === "freecell") assert.equal(foretold.score, score);
  }
  const shown = await wire.ask("game.open", { game: play.view.game });
  for (const field of ["columns", "cells", "home", "score", "moves", "undos", "undo_left"]) {
    assert.deepEqual(play.view[field], shown[field], `${ruleset} ${field}`);
  }
  play.resign();
  await until(play, () => play.pending === 0);
  play.close();
}

async function winsThroughAKill(wire) {
  const play = await Play.start(wire, { ruleset: "freecell", deal: DAILY });
  const other = await Play.open(tab(), play.view.game);
  const kinds = [];
  play.addEventListener("change", ({ detail }) => kinds.push(detail.kind));
  SOLUTION.forEach((move, turn) => {
    if (turn === 20) console.log("kill");
    assert.ok(play.move(move), move);
  });
  const ended = new Promise((resolve) => {
    other.addEventListener("change", ({ detail }) => detail.kind === "ended" && resolve());
  });
  await until(play, () => play.pending === 0);
  await ended;
  assert.ok(!kinds.includes("rolled-back"), kinds.join());
  assert.deepEqual(other.view.position, play.view.position);
  const { entries, result } = await wire.ask("replay.get", { game: play.view.game });
  assert.deepEqual(entries.map(([, action]) => action), SOLUTION);
  return result.status;
}

setTimeout(() => {
  console.error("the page waits in vain");
  process.exit(1);
}, LONGEST_MS);
const wire = tab();
await wire.create("page-player");
for (const ruleset of RULESETS) await foretells(wire, ruleset);
const status = await winsThroughAKill(wire);
const rotated = await wire.rotate();
assert.equal(storage.getItem("cellmates.token"), rotated);
await wire.rename("page-player-2");
await wire.remove("page-player-2");
console.log(JSON.stringify({ status, player: wire.player }));
process.exit(0);
