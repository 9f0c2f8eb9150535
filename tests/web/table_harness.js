// One table without a server, as the address says: ?ruleset=freecell&deal=1&moves=3a,2b&dark&four
// &readonly&hint=2a. `window.tried` is what a test looks at.

import { dealt, play } from "/web/rules.js";
import { settings } from "/web/settings.js";
import { Table } from "/web/table.js";

const asked = new URLSearchParams(location.search);
const ruleset = asked.get("ruleset") ?? "freecell";
const past = [];
const tried = { moves: [], undos: 0, hints: 0, position: dealt(ruleset, asked.get("deal") ?? "1") };

document.documentElement.dataset.theme = asked.has("dark") ? "dark" : "light";
settings.set("fourColours", asked.has("four"));
settings.set("tapMoves", !asked.has("pick"));

function make(text) {
  const { position, move, auto } = play(ruleset, tried.position, text);
  past.push(tried.position);
  Object.assign(tried, { position });
  tried.moves.push(move);
  return { move, auto };
}

for (const text of (asked.get("moves") ?? "").split(",").filter(Boolean)) make(text);

const table = new Table(document.getElementById("host"), {
  settings,
  onMove(text) {
    const { move, auto } = make(text);
    table.show(ruleset, tried.position, { move, auto });
  },
  onUndo() {
    tried.undos += 1;
    if (past.length === 0) return;
    tried.position = past.pop();
    tried.moves.pop();
    table.show(ruleset, tried.position);
  },
  onHint() {
    tried.hints += 1;
  },
});
table.show(ruleset, tried.position, { animate: false });
table.setReadOnly(asked.has("readonly"));
if (asked.has("hint")) table.hintAt(asked.get("hint"));
if (asked.has("refuse")) table.refuse(asked.get("refuse"), "It does not fit there.");
window.tried = Object.assign(tried, { table });
