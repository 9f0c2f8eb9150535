/**
 * Node with `ws` and msgpackr: speaks the part of our protocol that the benchmark uses, keeps its
 * games in memory and stores nothing. Its answer to a move is as long as ours; the hash in it is
 * not computed. Prints the port. SIGUSR2 collects garbage, where node was started with --expose-gc.
 */

import { Packr } from "msgpackr";
import { WebSocketServer } from "ws";

import { cellsOf, moveInCells } from "./board.js";

const HASH = "0".repeat(64);
const packr = new Packr({ useRecords: false });
const games = new Map();

const requests = {
  hello: () => ({ proto: 1, time: Date.now(), rulesets: ["eight-off"], games: [] }),
  "game.start": ({ deal }) => {
    const game = String(games.size + 1).padStart(16, "0");
    games.set(game, { seq: 0, cells: cellsOf(deal), started: Date.now() });
    return { game, seq: 0 };
  },
  "game.move": ({ game: id, seq, move }) => {
    const game = games.get(id);
    if (game === undefined || seq !== game.seq + 1 || !moveInCells(game.cells, move)) return null;
    game.seq = seq;
    return {
      seq, move, auto: [], score: 0, moves: seq, undos: 0, status: "playing", stuck: false,
      elapsed_ms: Date.now() - game.started, hash: HASH, repeated: false,
    };
  },
};

const server = new WebSocketServer(
  { host: "127.0.0.1", port: 0, backlog: 4096, perMessageDeflate: false },
  () => console.log(server.address().port),
);
server.on("connection", (socket) => {
  socket.on("message", (frame) => {
    const { t, id, d } = packr.unpack(frame);
    const done = requests[t]?.(d) ?? null;
    const reply = done === null
      ? { t: "error", re: id, d: { code: "illegal-move", message: "", context: {} } }
      : { t: "ok", re: id, d: done };
    socket.send(packr.pack(reply));
  });
});

process.on("SIGUSR2", () => globalThis.gc?.());
