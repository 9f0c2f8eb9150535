/**
 * Pictures for the rules page: small parts of a board with a move that is legal there or refused.
 * A position shows only the columns that matter; a test holds each verdict to the rules.
 */

import { RULESETS } from "./rules.js";

/**
 * @typedef {{titleKey: string, textKey: string, position: import("./rules.js").Position,
 *   move: string, verdict: string}} Example - `verdict` is "legal" or the reason of the refusal
 */

const FILLERS = ["9S", "9D", "8C", "8H", "3S", "3D", "2C"];

/** Examples by the name of the ruleset, in the order in which they are shown. */
export const EXAMPLES = Object.freeze(Object.fromEntries(
  Object.values(RULESETS).map((rules) => [rules.name, examplesOf(rules)]),
));

function examplesOf(rules) {
  const rows = rules.build === "alternating" ? byColour() : bySuit(rules);
  return rows.map((row) => example(rules, ...row));
}

function byColour() {
  return [
    ["colours", ["KD 7S", "9C 6H"], "21", "legal"],
    ["same-colour", ["KD 7S", "9C 6C"], "21", "does-not-fit"],
    ["run-of-three", ["TH 8S", "KH 7D 6C 5H"], "21", "legal", { cells: ["2S", "9D"] }],
    ["run-too-long", ["TH 8S", "KH 7D 6C 5H"], "21", "group-too-long",
      { cells: ["2S", "9D", "JC"] }],
    ["any-card", ["KD TS 5H", ""], "12", "legal"],
    ["safe", ["TH 2C", "JS 2H 9D"], "2a", "legal", { home: { C: 1, H: 1 } }],
  ];
}

function bySuit({ cells, group }) {
  const oneFree = { cells: FILLERS.slice(0, cells - 1) };
  const [name, verdict] = group === "doubling"
    ? ["run-doubled", "legal"]
    : ["run-not-doubled", "group-too-long"];
  return [
    ["suit", ["KD 7H", "9C 6H"], "21", "legal"],
    ["other-suit", ["KD 7H", "9C 6D"], "21", "does-not-fit"],
    ["king-run", ["5C KS QS", ""], "12v2", "legal", oneFree],
    ["queen-alone", ["5C QS", ""], "12", "kings-only"],
    [name, ["TD 8S", "KH 7S 6S 5S 4S", ""], "21", verdict, oneFree],
    ["take-back", ["KD 6H"], "H1", "legal", { home: { H: 5 } }],
  ];
}

/** @returns {Example} */
function example(rules, name, columns, move, verdict, { cells = [], home = {} } = {}) {
  return {
    titleKey: `example.${name}`,
    textKey: `example.${name}.text`,
    position: {
      columns: columns.map((column) => column.split(" ").filter(Boolean)),
      cells: Array.from({ length: rules.cells }, (_, at) => cells[at] ?? null),
      home: { C: 0, D: 0, H: 0, S: 0, ...home },
    },
    move,
    verdict,
  };
}
