/** A recorded run as a row of positions, one for each entry; no DOM. */

import { boardText, dealt, play } from "../rules.js";

/** An entry that the rules known here do not allow; `seq` is its number. */
export class Unplayable extends Error {
  /** @param {number} seq */
  constructor(seq) {
    super(`entry ${seq} cannot be played`);
    this.seq = seq;
  }
}

/**
 * @param {object} header a ReplayHeader
 * @param {Array} entries all of them, as `[seq, action, at_ms, hash]`
 * @returns {Array<{position: object, seq: number, action: string|null, at: number,
 *   auto: string[]}>} the start, and how it stands after each entry
 * @throws {Unplayable} the rules refuse an entry
 */
export function framesOf(header, entries) {
  const start = dealt(header.ruleset, header.deal);
  const frames = [{ position: start, seq: 0, action: null, at: 0, auto: [] }];
  const line = [start];
  for (const [seq, action, at] of entries) {
    const auto = step(header, line, seq, action);
    frames.push({ position: line.at(-1), seq, action, at, auto });
  }
  return frames;
}

function step({ ruleset, autoplay }, line, seq, action) {
  if (action === "resign") return [];
  if (action === "undo") {
    if (line.length > 1) line.pop();
    return [];
  }
  try {
    const { position, auto } = play(ruleset, line.at(-1), action, autoplay);
    line.push(position);
    return auto;
  } catch {
    throw new Unplayable(seq);
  }
}

/**
 * @param {Array} frames as made by `framesOf`
 * @returns {string} the board at the start, as fc-solve reads it
 */
export function startBoard(frames) {
  return boardText(frames[0].position);
}

/**
 * @param {Array} frames as made by `framesOf`
 * @returns {string[]} the moves that led to the end, automatic ones too, without what was undone
 */
export function lineOf(frames) {
  const line = [];
  for (const { action, auto } of frames.slice(1)) {
    if (action === "undo") line.pop();
    else if (action !== "resign") line.push([action, ...auto]);
  }
  return line.flat();
}
