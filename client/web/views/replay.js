/** A run as a film: play, pause, step, scrub; and the record of it to take away. */

import { Table } from "../table.js";
import { plural, t } from "../texts/texts.js";
import { dealWords } from "./deals.js";
import { Unplayable, framesOf, lineOf, startBoard } from "./film.js";
import {
  button, copyButton, duration, errorWords, h, heading, link, momentWords, rulesetWords, select,
} from "./parts.js";

const SPEEDS = [["0.5", 0.5], ["1", 1], ["2", 2], ["4", 4], ["8", 8]];
const BEAT_MS = 900;
const LONGEST_WAIT_MS = 5000;

/**
 * @param {object} context of the view; `params[0]` is the game's id
 * @returns {{title: string, element: HTMLElement}}
 */
export function show(context) {
  const title = t("link.replay");
  const body = h("div", { class: "replay-body" }, h("p", null, t("loading")));
  const element = h("section", { class: "replay" }, heading(title), body);
  open(context, element, body);
  return { title, element };
}

async function open(context, element, body) {
  const { wire, params, signal, setTitle } = context;
  try {
    const record = await recordOf(wire, params[0]);
    if (signal.aborted) return;
    const { header } = record;
    const ruleset = rulesetWords(header.ruleset);
    const title = t("replay.title", { ruleset, deal: dealWords(header) });
    element.querySelector("h1").textContent = title;
    setTitle(title);
    new Film(context, record, framesOf(header, record.entries), body);
  } catch (error) {
    if (!error?.code && !(error instanceof Unplayable)) throw error;
    const words = error.code ? errorWords(error) : t("replay.unplayable", { n: error.seq });
    if (!signal.aborted) body.replaceChildren(h("p", { class: "error" }, words));
  }
}

async function recordOf(wire, game) {
  const entries = [];
  let cursor = null;
  for (;;) {
    const page = await wire.ask("replay.get", cursor ? { game, cursor } : { game });
    entries.push(...page.entries);
    if (page.next === null) return { header: page.header, entries, result: page.result };
    cursor = page.next;
  }
}

function about({ header, result }) {
  const when = momentWords(header.started);
  const handle = header.player?.handle ?? t("board.deleted");
  const values = { status: t(`replay.status.${result.status}`), home: result.home,
    time: duration(result.elapsed_ms, true), moves: plural("moves", result.moves),
    undos: result.undos };
  return h("div", { class: "about" },
    h("p", null, t("replay.by", { handle, when }),
      header.player && [" ", link(`#/player/${handle}`, t("player.show"))]),
    h("p", null, t("replay.result", values)));
}

function actionWords(action) {
  return action === "undo" || action === "resign" ? t(`replay.${action}`) : action;
}

/** What is on the screen for one record. */
class Film {
  constructor({ settings, signal }, record, frames, body) {
    Object.assign(this, { record, frames, at: 0, playing: false });
    const host = h("div", { class: "table-host", role: "group", "aria-label": t("game.table") });
    this.says = h("p", { class: "at" });
    this.entries = entryList(this);
    body.replaceChildren(about(record), host, this.controls(), this.says,
      h("details", { class: "entries" }, h("summary", null, t("replay.entries")), this.entries),
      downloads(this, signal));
    this.table = new Table(host, { settings, onMove() {}, onUndo() {}, onHint() {} });
    this.table.setReadOnly(true);
    signal.addEventListener("abort", () => {
      this.pause();
      this.table.destroy();
    });
    this.show(0, false);
  }

  controls() {
    this.slider = h("input", { type: "range", min: 0, max: this.frames.length - 1, value: 0,
      "aria-label": t("replay.position"), oninput: () => this.scrub() });
    this.toggle = button(t("replay.play"), () => this.playing ? this.pause() : this.play(),
      { class: "primary toggle" });
    const speeds = [...SPEEDS.map(([name, n]) => [name, t("replay.times", { n })]),
      ["real", t("replay.as-played")]];
    this.speed = select(speeds, "1", { "aria-label": t("replay.speed") });
    const act = (key, sign, to) => button(sign, () => this.jump(to()),
      { "aria-label": t(key), title: t(key) });
    return h("div", { class: "film", role: "group", "aria-label": t("replay.film") },
      this.slider,
      h("div", { class: "buttons" },
        act("replay.to-start", "|◀", () => 0), act("replay.back", "◀", () => this.at - 1),
        this.toggle,
        act("replay.step", "▶", () => this.at + 1),
        act("replay.to-end", "▶|", () => this.frames.length - 1), this.speed));
  }

  scrub() {
    this.pause();
    this.show(Number(this.slider.value), false);
  }

  jump(at) {
    this.pause();
    this.show(Math.min(Math.max(at, 0), this.frames.length - 1), at === this.at + 1);
  }

  play() {
    if (this.at === this.frames.length - 1) this.show(0, false);
    this.playing = true;
    this.toggle.textContent = t("replay.pause");
    this.wait();
  }

  pause() {
    clearTimeout(this.timer);
    this.playing = false;
    this.toggle.textContent = t("replay.play");
  }

  wait() {
    this.timer = setTimeout(() => {
      this.show(this.at + 1, true);
      if (this.at === this.frames.length - 1) this.pause();
      else this.wait();
    }, this.waitMs());
  }

  waitMs() {
    const speed = this.speed.value;
    if (this.at === this.frames.length - 1) return 0;
    if (speed !== "real") return BEAT_MS / Number(speed);
    const passed = this.frames[this.at + 1].at - this.frames[this.at].at;
    return Math.min(passed, LONGEST_WAIT_MS);
  }

  show(at, animate) {
    const { header } = this.record;
    this.at = Math.min(at, this.frames.length - 1);
    const { position, action, auto } = this.frames[this.at];
    const move = action === "undo" || action === "resign" ? undefined : action ?? undefined;
    this.table.show(header.ruleset, position, { animate, move, auto });
    const words = this.words();
    this.says.textContent = words;
    this.slider.value = this.at;
    this.slider.setAttribute("aria-valuetext", words);
    this.mark();
  }

  words() {
    const { action, auto, at } = this.frames[this.at];
    if (action === null) return t("replay.at-start");
    const all = [actionWords(action), ...auto].join(" ");
    const values = { n: this.at, total: this.frames.length - 1, action: all };
    return `${t("replay.at", values)} · ${duration(at, true)}`;
  }

  mark() {
    this.entries.querySelector("[aria-current]")?.removeAttribute("aria-current");
    const marked = this.entries.children[this.at - 1]?.firstElementChild;
    if (!marked) return;
    marked.setAttribute("aria-current", "step");
    const list = this.entries;
    list.scrollTop = marked.offsetTop - list.offsetTop - list.clientHeight / 2;
  }
}

function entryList(film) {
  return h("ol", { tabindex: "0", "aria-label": t("replay.entries") },
    film.frames.slice(1).map(({ action, auto }, i) =>
      h("li", null, button([actionWords(action), ...auto].join(" "), () => film.jump(i + 1)))));
}

function downloads(film, signal) {
  const { record, frames } = film;
  const file = (words, name, type, text) => {
    const href = URL.createObjectURL(new Blob([text], { type }));
    signal.addEventListener("abort", () => URL.revokeObjectURL(href));
    return h("a", { class: "button", href, download: name }, words);
  };
  const game = location.hash.split("/").at(-1);
  return h("div", { class: "buttons" },
    copyButton(location.href, t("replay.share")),
    file(t("replay.json"), `${game}.json`, "application/json", JSON.stringify(record, null, 2)),
    file(t("replay.board"), `${game}.board`, "text/plain", startBoard(frames)),
    file(t("replay.moves"), `${game}.moves`, "text/plain", `${lineOf(frames).join(" ")}\n`));
}
