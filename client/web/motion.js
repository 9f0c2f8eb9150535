/** Cards that glide and shake. Only `transform` changes; nothing is laid out again. */

const GLIDE_MS = 160;
const SHAKE_MS = 320;
const REFUSED_MS = 600;
const SHAKE = [0, -7, 7, -5, 5, -2, 0].map((x) => ({ transform: `translateX(${x}px)` }));

/**
 * Write a place as CSS.
 * @param {{x: number, y: number}} spot in pixels from the table's corner
 * @returns {string}
 */
export function translate({ x, y }) {
  return `translate(${x}px, ${y}px)`;
}

/**
 * Put a piece at its seat at once.
 * @param {object} piece `{element, at, shown, motion, depth}` of the table
 * @param {{x: number, y: number}} at
 */
export function seat(piece, at) {
  piece.motion?.cancel();
  Object.assign(piece, { at, shown: null, motion: null });
  piece.element.style.transform = translate(at);
  piece.element.style.zIndex = "";
}

/**
 * Let a piece glide to its seat from where it is seen now, above all others.
 * @param {object} piece `{element, at, shown, motion, depth}` of the table
 * @param {{x: number, y: number}} to
 * @param {number} delay in milliseconds; the later fly higher
 */
export function glide(piece, to, delay) {
  const from = piece.motion ? seen(piece.element) : piece.shown ?? piece.at;
  seat(piece, to);
  const { style } = piece.element;
  if (from.x !== to.x) style.zIndex = String(200 + Math.round(delay) - piece.depth);
  const motion = piece.element.animate(
    [{ transform: translate(from) }, { transform: translate(to) }],
    { duration: GLIDE_MS, delay, easing: "cubic-bezier(.25,.8,.35,1)", fill: "backwards" },
  );
  motion.onfinish = () => {
    piece.motion = null;
    style.zIndex = "";
  };
  piece.motion = motion;
}

/**
 * Shake a card that may not move.
 * @param {HTMLElement} element
 * @param {boolean} still only colour it
 */
export function shake(element, still) {
  element.classList.add("is-refused");
  setTimeout(() => element.classList.remove("is-refused"), REFUSED_MS);
  if (!still) element.animate(SHAKE, { duration: SHAKE_MS, composite: "add" });
}

function seen(element) {
  const { e: x, f: y } = new DOMMatrix(getComputedStyle(element).transform);
  return { x, y };
}
