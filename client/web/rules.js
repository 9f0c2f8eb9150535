/**
 * The rules of the games, as docs/rules.md tells them and cellmates/engine keeps them: no DOM, no
 * clock, no chance, and nothing that is given here is ever changed. A test holds it to the engine.
 *
 * A `ruleset` is a row of RULESETS or its name. Cards, places and moves are texts as on the wire.
 *
 * @typedef {{columns: string[][], cells: (string|null)[],
 *   home: {C: number, D: number, H: number, S: number}}} Position
 */

export { BadDeal, LAST_NUMBER, codeOf, dealOf, dealt } from "./rules/deals.js";
export { BadBoard, boardText, parseBoard } from "./rules/boardtext.js";
export {
  RULESETS, groupLimit, liesOn, rulesetOf, runLength, takesOnEmpty,
} from "./rules/rulesets.js";
export {
  CELLS, COLUMNS, HOME, RANKS, SUITS, isRed, rankOf, suitOf,
} from "./rules/pack.js";
export { OutOfStep, carried, isWon, pileAt } from "./rules/board.js";
export { BadMove, IllegalMove, dropText, play, whyNotLifted } from "./rules/moves.js";
export { isStuck, legalMoves, tap, targets } from "./rules/choices.js";
