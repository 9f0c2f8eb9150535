/** A board of a challenge: its pages, my own row, and changes as they happen. */

import { plural, t } from "../texts/texts.js";
import { dayWords, errorWords, h, heading, link, rulesetWords } from "./parts.js";
import { fillRows, makeRow } from "./rows.js";

const CHALLENGE = /^(\d{4}-\d\d-\d\d)-([a-z0-9-]+)$/;
const PAGE = 50;

/**
 * @param {object} context of the view; `params` are challenge, board and kind
 * @returns {{title: string, element: HTMLElement}}
 */
export function show(context) {
  const [challenge = "", board = "first", kind = "human"] = context.params;
  const [, day, ruleset] = CHALLENGE.exec(challenge) ?? [];
  const words = { ruleset: rulesetWords(ruleset ?? ""), day: day ? dayWords(day) : challenge };
  const title = t("board.title", words);
  const which = { challenge, board: known(board, "moves", "first"),
    kind: known(kind, "bot", "human") };
  const view = new BoardView(context, which);
  const element = h("section", { class: "board" },
    heading(title, day && link(`#/today/${day}`, t("link.today"))),
    choices(which), h("p", { class: "hint" }, t(`board.${which.board}-says`)), view.element);
  view.begin();
  return { title, element };
}

function known(word, other, usual) {
  return word === other ? other : usual;
}

function choices({ challenge, board, kind }) {
  const to = (b, k) => `#/board/${challenge}/${b}/${k}`;
  const group = (label, names, chosen, hash) =>
    h("nav", { class: "tabs", "aria-label": t(label) }, names.map((name) =>
      link(hash(name), t(`board.${name}`), { "aria-current": name === chosen && "true" })));
  return h("div", { class: "choices" },
    group("board.which", ["first", "moves"], board, (name) => to(name, kind)),
    group("board.kind", ["human", "bot"], kind, (name) => to(board, name)));
}

const COLUMNS = ["rank", "handle", "home", "time", "moves-made", "undos", "run"];

/** The table with its pages; asks again whenever the board has changed. */
class BoardView {
  constructor(context, which) {
    this.context = context;
    this.which = which;
    this.at = {};
    this.total = h("p", { class: "total", role: "status" });
    this.rows = h("tbody");
    this.mine = h("tfoot");
    this.pages = h("nav", { class: "buttons", "aria-label": t("board.pages") });
    this.says = h("p", { class: "error" });
    this.element = h("div", null, this.total, this.says,
      h("div", { class: "board-rows" },
        h("table", null, head(), this.rows, this.mine)),
      this.pages);
  }

  async begin() {
    const { wire, signal } = this.context;
    wire.addEventListener("board.changed", ({ detail }) => this.changed(detail), { signal });
    wire.addEventListener("player", () => this.ask(), { signal });
    signal.addEventListener("abort", () => {
      wire.ask("board.unwatch", this.which).catch(() => null); // lost: so is the watch
    });
    try {
      await wire.ask("board.watch", this.which); // the wire watches again after a reconnect
    } catch (error) {
      if (!error?.code) throw error;
      this.refused(error);
      return;
    }
    await this.ask();
  }

  changed(detail) {
    const { challenge, board, kind } = this.which;
    if (detail.challenge !== challenge || detail.board !== board || detail.kind !== kind) return;
    this.ask();
  }

  /** Asks for the page once more, or for another one; a burst of changes is one question. */
  async ask(at = this.at) {
    this.at = at;
    if (this.asking) {
      this.askAgain = true;
      return;
    }
    this.asking = true;
    try {
      const page = await this.context.wire.ask("board.get",
        { ...this.which, limit: PAGE, ...this.at });
      if (!this.context.signal.aborted) this.show(page);
    } catch (error) {
      if (!error?.code) throw error;
      if (error.code === "bad-cursor") this.at = {};
      this.refused(error);
    } finally {
      this.asking = false;
    }
    if (this.askAgain) {
      this.askAgain = false;
      await this.ask();
    }
  }

  refused(error) {
    if (!this.context.signal.aborted) this.says.textContent = errorWords(error);
  }

  show(page) {
    this.says.textContent = "";
    const total = page.total ? plural("board.total", page.total) : t("board.none");
    if (this.total.textContent !== total) this.total.textContent = total;
    const { player } = this.context.wire;
    fillRows(this.rows, page.rows, page.me?.game);
    this.mine.replaceChildren(...(page.me && player ? [makeRow(page.me, true)] : []));
    this.element.querySelector("table").hidden = page.total === 0;
    this.showPages(page);
  }

  showPages({ prev, next, me }) {
    const active = document.activeElement;
    const name = this.pages.contains(active) ? active.dataset.page : null;
    const to = (page, words, at, there) => h("button", { type: "button", "data-page": page,
      disabled: !there, onclick: () => this.ask(at) }, words);
    this.pages.replaceChildren(
      to("start", t("board.start"), {}, prev !== null),
      to("prev", t("board.prev"), { cursor: prev }, prev !== null),
      to("next", t("board.next"), { cursor: next }, next !== null),
      to("around", t("board.around"), { around: "me" }, me !== null));
    if (!name) return;
    const pressed = this.pages.querySelector(`[data-page="${name}"]`);
    (pressed.disabled ? this.pages.querySelector("button:enabled") : pressed)?.focus();
  }
}

function head() {
  return h("thead", null, h("tr", null, COLUMNS.map((name) =>
    h("th", { scope: "col", class: `of-${name}` }, t(`board.${name}`)))));
}
