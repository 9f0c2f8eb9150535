/**
 * The course of a game as the page foretells it: what each action makes of how the game stands.
 * Pure; what the server says later always wins.
 *
 * A stage is `{view, before}`: a GameView with its `position`, and the stage to which an undo
 * leads, null where that is not known.
 */

import { RULESETS, carried, isStuck, isWon, play } from "./rules.js";

const SUITS = ["C", "D", "H", "S"];

/**
 * @param {object} gameView as the server tells it
 * @param {object|null} [before] the stage to which an undo leads
 * @returns {object} the stage
 */
export function stageOf(gameView, before = null) {
  const { entries, ...view } = gameView;
  const { columns, cells, home } = view;
  return { view: { ...view, position: { columns, cells, home } }, before };
}

/**
 * @param {object} view
 * @returns {boolean} whether there is an action to take back
 */
export function canUndo({ status, moves, undo_left: left }) {
  return status === "playing" && (left === null ? moves > 0 : left > 0);
}

/**
 * A move of a text.
 * @param {object} stage
 * @param {string} text
 * @param {number} elapsedMs
 * @returns {{stage: object, move: string, auto: string[]}} `move` in its canonical form
 * @throws {BadMove|IllegalMove} as by the rules
 */
export function moved({ view, ...rest }, text, elapsedMs) {
  const { position, move, auto } = play(view.ruleset, view.position, text, view.autoplay);
  const before = { view, ...rest };
  return { stage: onward(before, position, 1 + auto.length, elapsedMs), move, auto };
}

/**
 * A recorded move, without asking the rules.
 * @param {object} stage
 * @param {string} move
 * @param {string[]} auto
 * @param {number} elapsedMs
 * @returns {object} the stage
 * @throws {OutOfStep} it does not fit the board
 */
export function recorded(stage, move, auto, elapsedMs) {
  const position = carried(stage.view.position, [move, ...auto]);
  return onward(stage, position, 1 + auto.length, elapsedMs);
}

/**
 * An undo.
 * @param {object} stage
 * @returns {object|null} the stage; null where it is not known
 */
export function undone({ view, before }) {
  if (before === null) return null;
  const { seq, undos, undo_left: left, elapsed_ms } = view;
  const changes = { seq: seq + 1, undos: undos + 1, elapsed_ms, status: "playing" };
  const undo_left = left === null ? null : Math.max(0, left - 1);
  return { view: { ...before.view, ...changes, undo_left }, before: before.before };
}

/**
 * A resignation.
 * @param {object} stage
 * @param {number} elapsedMs
 * @returns {object} the stage
 */
export function resigned({ view, before }, elapsedMs) {
  const changes = { seq: view.seq + 1, status: "resigned", elapsed_ms: elapsedMs };
  return { view: { ...view, ...changes }, before };
}

/**
 * What the server says of an action, over what was foretold.
 * @param {object} stage
 * @param {object} told a Moved
 * @returns {object} the stage
 */
export function settled({ view, before }, told) {
  const { seq, score, moves, undos, status, stuck, elapsed_ms, hash } = told;
  const figures = { seq, score, moves, undos, status, stuck, elapsed_ms, hash };
  return { view: { ...view, ...figures }, before };
}

/**
 * @param {object} one a view
 * @param {object} other another
 * @returns {boolean} whether the cards lie alike
 */
export function isAlike(one, other) {
  const cards = ({ columns, cells, home }) =>
    JSON.stringify([columns, cells, SUITS.map((suit) => home[suit])]);
  return cards(one) === cards(other);
}

function onward(stage, position, made, elapsedMs) {
  const { view } = stage;
  const status = isWon(position) ? "won" : "playing";
  const left = view.undo_left;
  const changes = {
    ...position,
    position,
    status,
    seq: view.seq + 1,
    moves: view.moves + made,
    score: scoreOf(view, position),
    stuck: status === "playing" && isStuck(view.ruleset, position),
    undo_left: left === null ? null : Math.min(left + 1, RULESETS[view.ruleset].undo_limit),
    elapsed_ms: elapsedMs,
  };
  return { view: { ...view, ...changes }, before: stage };
}

/** Where cards were taken back, first arrivals are not all known here: then the server corrects. */
function scoreOf({ ruleset, score }, { home }) {
  const cards = SUITS.reduce((sum, suit) => sum + home[suit], 0);
  return RULESETS[ruleset].scoring === "cards-home" ? cards : Math.max(score, 10 * cards);
}
