/** One game: the bar, the table, the buttons, and what is said when it is stuck or over. */

import { Play } from "../play.js";
import { Table } from "../table.js";
import { hasText, t } from "../texts/texts.js";
import { bar } from "./bar.js";
import { dealWords } from "./deals.js";
import { endBanner, stuckBanner } from "./ending.js";
import {
  ask, attempt, button, errorWords, h, heading, link, note, reasonWords, rulesetWords,
} from "./parts.js";

const MOVE = /^[1-8a-gkCDHS][1-8a-gkh](v[1-9a-d])?$/;

/**
 * @param {object} context of the view; `params[0]` is the game's id
 * @returns {{title: string, element: HTMLElement}}
 */
export function show(context) {
  const title = t("game.table");
  const body = h("div", { class: "game-body" }, h("p", null, t("loading")));
  const element = h("section", { class: "game" }, heading(title), body);
  open(context, element, body);
  return { title, element };
}

async function open(context, element, body) {
  const { wire, params, signal, setTitle } = context;
  try {
    const play = await Play.open(wire, params[0]);
    if (signal.aborted) {
      play.close();
      return;
    }
    const title = titleOf(play.view);
    element.querySelector("h1").textContent = title;
    setTitle(title);
    new GameView(context, play, body);
  } catch (error) {
    if (!error?.code) throw error;
    if (!signal.aborted) body.replaceChildren(...refused(error, params[0]));
  }
}

function refused(error, game) {
  const isOthers = error.code === "not-found" || error.code === "token-needed";
  const words = isOthers ? t("game.not-mine") : errorWords(error);
  return [h("p", { class: "error" }, words), link(`#/replay/${game}`, t("game.watch"))];
}

function titleOf(view) {
  return t("game.title", { ruleset: rulesetWords(view.ruleset), deal: dealWords(view) });
}

/** What is on the screen for one `Play`; lives until the view is left. */
class GameView {
  constructor(context, play, body) {
    this.context = context;
    this.play = play;
    const host = h("div", { class: "table-host", role: "group", "aria-label": t("game.table") });
    this.bar = bar(context, play);
    this.banner = h("div", { class: "game-banner", role: "status" });
    this.buttons = this.makeButtons();
    body.replaceChildren(this.bar.element, this.banner, host, this.buttons.element);
    this.table = new Table(host, {
      settings: context.settings,
      onMove: (text) => play.move(text),
      onUndo: () => this.undo(),
      onHint: () => this.hint(),
    });
    this.listen();
    this.table.show(play.view.ruleset, play.view.position, { animate: false });
    this.refresh();
  }

  listen() {
    const { signal, settings } = this.context;
    this.play.addEventListener("change", ({ detail }) => this.changed(detail), { signal });
    settings.addEventListener("change", () => this.refresh(), { signal });
    signal.addEventListener("abort", () => {
      this.play.close();
      this.table.destroy();
    });
  }

  makeButtons() {
    const { view } = this.play;
    const undo = button(t("game.undo"), () => this.undo());
    const hint = view.ranked ? null : button(t("game.hint"), () => this.hint());
    const resign = button(t("game.resign"), () => this.resign());
    const words = view.challenge ? t("game.restart-practice") : t("game.restart");
    const restart = button(words, (event) => this.restart(event.currentTarget));
    const rules = link(`#/rules/${view.ruleset}`, t("game.rules"), { class: "button" });
    const element = h("div", { class: "buttons actions", role: "group",
      "aria-label": t("game.actions") }, undo, hint, restart, resign, rules);
    return { element, undo, hint, resign };
  }

  changed({ kind, move, auto, ...refusal }) {
    if (kind === "refused") {
      this.refuse(move, refusal);
      return;
    }
    const { view } = this.play;
    const animate = kind === "moved" || kind === "undone" || kind === "rolled-back";
    if (kind !== "confirmed") {
      this.table.show(view.ruleset, view.position, { animate, move, auto });
    }
    if (kind === "rolled-back") this.refuse(move, refusal);
    if (kind === "resynced") note(t("game.resynced"));
    this.refresh();
  }

  /** Says why an action was refused, at the card where it is a move. */
  refuse(action, refusal) {
    const { reason } = refusal;
    const words = hasText(`reason.${reason}`) ? reasonWords(refusal) : errorWords({ code: reason });
    if (MOVE.test(action)) this.table.refuse(action[0], words);
    else note(words);
  }

  refresh() {
    const { view } = this.play;
    const playing = view.status === "playing";
    this.bar.refresh();
    this.buttons.undo.disabled = !playing || !this.play.canUndo;
    if (this.buttons.hint) this.buttons.hint.disabled = !playing;
    this.buttons.resign.disabled = !playing;
    this.table.setReadOnly(!playing);
    this.showBanner(view, playing);
  }

  showBanner(view, playing) {
    const state = playing ? (this.saysStuck(view) ? "stuck" : "") : view.status;
    const shown = `${state} ${this.play.pending === 0}`;
    if (this.shown === shown) return;
    this.shown = shown;
    this.banner.dataset.state = state;
    this.banner.replaceChildren();
    if (state === "stuck") this.banner.append(stuckBanner(this));
    else if (state) this.banner.append(endBanner(this));
  }

  saysStuck(view) {
    return view.stuck && (view.ruleset === "freecell" ||
      this.context.settings.get("stuckInEightOff"));
  }

  undo() {
    this.play.undo();
  }

  async hint() {
    if (this.play.view.ranked) return;
    await attempt(this.buttons.hint, async () => {
      const move = await this.play.hint();
      if (move === null) {
        this.table.announce(t("game.no-hint"));
        note(t("game.no-hint"));
      } else {
        this.table.hintAt(move);
      }
    });
  }

  async resign() {
    const text = t(this.play.view.ranked ? "game.resign-ranked" : "game.resign-text");
    const yes = t("game.resign");
    const title = t("game.resign-title");
    if (await ask({ title, text, yes, danger: true })) this.play.resign();
  }

  /** Deals the same cards again. A ranked attempt has to end before, which is asked. */
  async restart(pressed) {
    const { view } = this.play;
    const playing = view.status === "playing";
    if (view.ranked && playing && !(await this.endRanked())) return;
    await attempt(pressed, async () => {
      const { ruleset, deal, challenge, autoplay } = view;
      const d = { ruleset, deal: challenge ?? deal, autoplay };
      const dealt = await this.context.wire.ask("game.start", d);
      if (!view.ranked && playing) await this.play.resign();
      this.context.go(`#/game/${dealt.game}`);
    });
  }

  async endRanked() {
    const question = { title: t("game.restart-title"), text: t("game.restart-text") };
    if (!(await ask({ ...question, yes: t("game.resign"), danger: true }))) return false;
    this.play.resign();
    while (this.play.pending > 0) await told(this.play, "settled");
    return this.play.view.status !== "playing";
  }
}

function told(play, event) {
  return new Promise((resolve) => play.addEventListener(event, resolve, { once: true }));
}
