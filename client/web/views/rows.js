/** The rows of a board, which stay where they are while others come in. */

import { t } from "../texts/texts.js";
import { duration, h, link } from "./parts.js";

const HANDLE = /^[A-Za-z0-9_-]{3,20}$/;

/**
 * @param {object} row a BoardRow
 * @param {boolean} isMine whether it is said to be mine
 * @returns {HTMLTableRowElement}
 */
export function makeRow(row, isMine) {
  const name = isMine ? `${row.handle} (${t("board.mine")})` : row.handle;
  const who = HANDLE.test(row.handle) ? link(`#/player/${row.handle}`, name) : t("board.deleted");
  const watch = link(`#/replay/${row.game}`, t("board.watch"),
    { "aria-label": t("board.watch-of", { handle: row.handle }) });
  return h("tr", { "data-game": row.game, "data-key": keyOf(row, isMine),
    class: isMine ? "mine" : null },
  cell("rank", row.rank), cell("handle", who), cell("home", row.home),
  cell("time", duration(row.elapsed_ms, true)), cell("moves-made", row.moves),
  cell("undos", row.undos), cell("run", watch));
}

function cell(name, words) {
  return h(name === "handle" ? "th" : "td",
    { class: `of-${name}`, scope: name === "handle" ? "row" : null }, words);
}

function keyOf(row, isMine) {
  return [row.rank, row.handle, row.home, row.elapsed_ms, row.moves, row.undos, isMine].join(" ");
}

/**
 * Makes the table show these rows. What did not change stays the same element, and what the reader
 * looks at stays at the same height of the screen.
 * @param {HTMLElement} body of the table
 * @param {object[]} rows BoardRows
 * @param {string|undefined} mine the game of my own row
 */
export function fillRows(body, rows, mine) {
  const anchor = anchorIn(body);
  const before = anchor?.getBoundingClientRect().top;
  const focused = body.contains(document.activeElement) ? placeOfFocus() : null;
  const there = new Map([...body.children].map((row) => [row.dataset.game, row]));
  body.replaceChildren(...rows.map((row) => rowFor(row, row.game === mine, there)));
  const kept = anchor && body.querySelector(`[data-game="${CSS.escape(anchor.dataset.game)}"]`);
  if (kept) keepHeight(kept, before);
  if (focused) giveFocus(body, focused);
}

function rowFor(row, isMine, there) {
  const known = there.get(row.game);
  return known?.dataset.key === keyOf(row, isMine) ? known : makeRow(row, isMine);
}

function anchorIn(body) {
  const rows = [...body.children];
  return document.activeElement?.closest?.("tbody > tr") ??
    rows.find((row) => row.getBoundingClientRect().bottom > 0) ?? null;
}

function keepHeight(row, before) {
  const moved = row.getBoundingClientRect().top - before;
  // The head of the page stays in sight for those who are at the top of it.
  if (moved && window.scrollY > 0) window.scrollBy({ top: moved, behavior: "instant" });
}

function placeOfFocus() {
  const link = document.activeElement;
  const row = link.closest("tr");
  return { game: row.dataset.game, at: [...row.querySelectorAll("a")].indexOf(link) };
}

function giveFocus(body, { game, at }) {
  const row = body.querySelector(`[data-game="${CSS.escape(game)}"]`);
  row?.querySelectorAll("a")[at]?.focus({ preventScroll: true });
}
