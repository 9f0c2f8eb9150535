/** When to connect again after a connection has ended. No clock and no chance of its own. */

const FIRST_MS = 1000;
const MOST_MS = 30000;

// What each close code of docs/protocol.md, section 8, asks for: no, back-off, retry or at-once.
const CLOSINGS = {
  1000: "no",
  1001: "retry",
  1002: "no",
  1003: "no",
  1007: "no",
  1009: "no",
  1012: "retry",
  4400: "no",
  4401: "no",
  4406: "no",
  4408: "at-once",
  4429: "retry",
};

/**
 * Whether to connect again at all after a close code.
 * @param {number} code
 * @returns {boolean} a code that is not known is argued with only if it is WebSocket's own
 */
export function mayReturn(code) {
  return (CLOSINGS[code] ?? (code < 4000 ? "back-off" : "no")) !== "no";
}

/**
 * Whether the server has said how long to stay away, so that a person's hurry is no reason.
 * @param {number} code
 * @param {number|null} retryAfterMs
 * @returns {boolean}
 */
export function mustWait(code, retryAfterMs) {
  return CLOSINGS[code] === "retry" && retryAfterMs !== null;
}

/**
 * Milliseconds to wait before connecting again.
 * @param {number} code the close code; 1006 where there was none
 * @param {number} failures tries since a greeting was answered last
 * @param {number} chance from 0 to 1, drawn anew for each wait
 * @param {number|null} retryAfterMs what the server asked for last
 * @returns {number}
 */
export function waitMs(code, failures, chance, retryAfterMs) {
  if (mustWait(code, retryAfterMs)) return retryAfterMs * (1 + chance);
  if (CLOSINGS[code] === "at-once" && failures === 0) return 0;
  return chance * Math.min(MOST_MS, FIRST_MS * 2 ** failures);
}
