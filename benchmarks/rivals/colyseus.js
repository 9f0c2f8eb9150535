/**
 * Colyseus: a room for each player, whose state is the game. A move is answered by a patch of the
 * state, at once. Stores nothing, as is its habit. The state's hash changes with each move, so that
 * it is in each patch as it is in our answers; it is not computed. Prints the port.
 */

import { Room, Server } from "@colyseus/core";
import { ArraySchema, schema, t } from "@colyseus/schema";
import { WebSocketTransport } from "@colyseus/ws-transport";

import { cellsOf, moveInCells, placesOf } from "./board.js";

const HASHES = ["0".repeat(64), "1".repeat(64)];
const NO_CARD = "";

const Game = schema({
  seq: t.uint32(),
  elapsed_ms: t.uint32(),
  moves: t.uint32(),
  hash: t.string(),
  cells: t.array("string"),
});

class GameRoom extends Room {
  maxClients = 1;
  patchRate = null; // patches are sent by hand

  onCreate({ deal }) {
    this.cells = cellsOf(deal);
    this.started = Date.now();
    this.state = new Game();
    Object.assign(this.state, { seq: 0, elapsed_ms: 0, moves: 0, hash: HASHES[0] });
    this.state.cells = new ArraySchema(...this.cells.map((card) => card ?? NO_CARD));
    this.onMessage("move", (client, { seq, move }) => this.play(client, seq, move));
  }

  play(client, seq, move) {
    const { state, cells } = this;
    if (seq !== state.seq + 1 || !moveInCells(cells, move)) {
      client.send("refused", seq);
      return;
    }
    state.seq = seq;
    state.elapsed_ms = Date.now() - this.started;
    state.moves = seq;
    state.hash = HASHES[seq % 2];
    const { source, destination } = placesOf(move);
    state.cells[source] = NO_CARD;
    state.cells[destination] = cells[destination];
    this.broadcastPatch();
  }
}

const transport = new WebSocketTransport({ pingInterval: 0 });
const server = new Server({ transport, greet: false, gracefullyShutdown: false });
server.define("game", GameRoom);
await server.listen(0, "127.0.0.1", 4096);
console.log(transport.server.address().port);
