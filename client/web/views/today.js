/** The deals of a day: how long they are open, how my attempts stand, and the day before. */

import { plural, t } from "../texts/texts.js";
import { newcomer } from "./newcomer.js";
import {
  attempt, button, dayAfter, dayOf, dayWords, duration, errorWords, every, h, heading, link,
  rulesetWords, runWords,
} from "./parts.js";

const DAY = /^\d{4}-\d\d-\d\d$/;

/**
 * @param {object} context of the view; `params[0]` is the day, today without one
 * @returns {{title: string, element: HTMLElement}}
 */
export function show(context) {
  const asked = DAY.test(context.params[0] ?? "") ? context.params[0] : null;
  const title = asked ? dayWords(asked) : t("today.title");
  const clock = h("p", { class: "countdown" });
  const start = newcomer(context.wire, context.signal);
  const deals = h("div", { class: "deals", "aria-busy": "true" }, h("p", null, t("loading")));
  const before = h("div");
  const element = h("section", { class: "today" },
    heading(title, clock), start.element, deals, before);
  const here = { ...context, asked, clock, ensure: start.ensure, deals, before };
  fill(here);
  context.wire.addEventListener("player", () => fill(here), { signal: context.signal });
  return { title, element };
}

async function fill(here) {
  const { wire, signal, asked, deals, before } = here;
  here.turn = (here.turn ?? 0) + 1;
  const turn = here.turn;
  try {
    const challenges = await listed(wire, asked);
    if (signal.aborted || turn !== here.turn) return;
    deals.removeAttribute("aria-busy");
    showDeals(here, challenges);
    const day = asked ?? dayOf(challenges[0]?.opens ?? wire.serverNow());
    before.replaceChildren(otherDays(here, day));
    await showResults(here, asked ? challenges : await listed(wire, dayAfter(day, -1)), day);
  } catch (error) {
    if (!error?.code) throw error;
    if (signal.aborted || turn !== here.turn) return;
    const place = here.opens === undefined ? deals : before; // the deals stay where they are shown
    place.replaceChildren(h("p", { class: "error" }, errorWords(error)));
  }
}

async function listed(wire, date) {
  const { challenges } = await wire.ask("daily.list", date ? { date } : {});
  const place = ({ ruleset }) => wire.greeting.rulesets.indexOf(ruleset);
  return challenges.sort((one, other) => place(one) - place(other));
}

function showDeals(here, challenges) {
  const { wire, deals } = here;
  const cards = challenges.map((challenge) => dealCard(here, challenge));
  deals.replaceChildren(...(cards.length ? cards : [h("p", null, t("today.none"))]));
  if (!challenges.length) return;
  Object.assign(here, { opens: challenges[0].opens, closes: challenges[0].closes });
  if (here.isTicking) return;
  here.isTicking = true;
  every(here.signal, 1000, () => tick(here, wire.serverNow()));
}

function tick(here, now) {
  const { clock, opens, closes, asked } = here;
  if (now < opens) clock.textContent = t("today.opens-in", { time: duration(opens - now) });
  else if (now < closes) clock.textContent = t("today.closes-in", { time: duration(closes - now) });
  else {
    clock.textContent = t("today.closed");
    if (asked === null && here.closed !== closes) newDay(here);
  }
}

/** Another day has begun while the page was open. */
function newDay(here) {
  here.closed = here.closes;
  setTimeout(() => here.signal.aborted || fill(here), 1500);
}

function dealCard(here, challenge) {
  const { ruleset, attempt: mine, par } = challenge;
  const id = `deal-${challenge.challenge}`;
  const state = mine ? `today.${mine.status}` : "today.not-begun";
  const parts = [
    h("h2", { id }, rulesetWords(ruleset)),
    h("p", { class: "state", "data-status": mine?.status ?? "none" }, t(state)),
    par !== undefined && h("p", { class: "par" }, plural("today.par", par)),
    h("div", { class: "buttons" }, mainButton(here, challenge), moreButtons(here, challenge)),
    proof(challenge),
  ];
  return h("article", { class: "deal", "aria-labelledby": id }, parts);
}

function mainButton(here, challenge) {
  const { wire } = here;
  const now = wire.serverNow();
  const { attempt: mine } = challenge;
  const words = mine?.status === "playing" ? t("today.go-on") : t("today.play");
  const isOpen = now >= challenge.opens && now < challenge.closes;
  const canStart = mine ? mine.status === "playing" : isOpen;
  if (!canStart) return null;
  const name = `${words}: ${rulesetWords(challenge.ruleset)}`;
  return button(words, (event) => attempt(event.currentTarget, () => begin(here, challenge)),
    { class: "primary", "aria-label": name });
}

async function begin({ wire, go, ensure }, { challenge }) {
  if (!(await ensure())) return;
  const view = await wire.ask("daily.start", { challenge });
  go(`#/game/${view.game}`);
}

function moreButtons(here, challenge) {
  const { attempt: mine, deal, ruleset } = challenge;
  const of = (words) => ({ "aria-label": `${words}: ${rulesetWords(ruleset)}` });
  const links = [];
  if (here.wire.serverNow() >= challenge.opens) {
    const board = `#/board/${challenge.challenge}/first/${here.wire.player?.kind ?? "human"}`;
    links.push(link(board, t("link.board"), of(t("link.board"))));
  }
  if (mine && mine.status !== "playing") {
    links.push(link(`#/replay/${mine.game}`, t("link.replay"), of(t("link.replay"))));
  }
  if (deal) links.push(practiceButton(here, challenge, of(t("link.practice"))));
  return links;
}

function practiceButton(here, { challenge, ruleset }, props) {
  const begin = async () => {
    if (!(await here.ensure())) return;
    const view = await here.wire.ask("game.start", { ruleset, deal: challenge });
    here.go(`#/game/${view.game}`);
  };
  return button(t("link.practice"), (event) => attempt(event.currentTarget, begin), props);
}

function proof(challenge) {
  const rows = [
    ["today.commitment", challenge.commitment],
    ["today.planner", challenge.planner],
    ["today.previous", challenge.previous?.commitment],
    ["today.seed", challenge.proof?.seed],
    ["today.candidate", challenge.proof?.candidate],
    ["today.solution", challenge.proof?.solution?.join(" ")],
  ].filter(([, value]) => value !== undefined && value !== null);
  return h("details", null,
    h("summary", null, t("today.proof")),
    h("dl", { class: "proof" }, rows.map(([key, value]) =>
      h("div", null, h("dt", null, t(key)), h("dd", null, value)))));
}

function otherDays({ go }, day) {
  const pick = h("input", { type: "date", value: day, "aria-label": t("today.pick"),
    onchange: (event) => DAY.test(event.target.value) && go(`#/today/${event.target.value}`) });
  return h("nav", { class: "days", "aria-label": t("today.days") },
    link(`#/today/${dayAfter(day, -1)}`, t("today.day-before")), pick,
    link(`#/today/${dayAfter(day, 1)}`, t("today.day-after")));
}

async function showResults(here, challenges, day) {
  const { wire, signal, before, asked } = here;
  const turn = here.turn;
  const opened = challenges.filter((challenge) => challenge.opens <= wire.serverNow());
  if (!opened.length) return;
  const kind = wire.player?.kind ?? "human";
  const boards = await Promise.all(opened.map(({ challenge }) =>
    wire.ask("board.get", { challenge, board: "first", kind, limit: 1 })));
  if (signal.aborted || turn !== here.turn) return;
  const past = dayAfter(day, -1);
  const title = asked ? t("today.results") :
    link(`#/today/${past}`, t("today.yesterday", { day: dayWords(past) }));
  before.prepend(h("section", { class: "results" },
    h("h2", null, title),
    h("ul", null, opened.map((challenge, i) => resultRow(challenge, boards[i], kind)))));
}

function resultRow({ challenge, ruleset, attempt: mine, par }, board, kind) {
  const [best] = board.rows;
  return h("li", null,
    h("h3", null, rulesetWords(ruleset)),
    h("p", null, board.me ? mineWords(board) : t("today.not-played"),
      par !== undefined && ` · ${plural("today.par", par)}`),
    best && h("p", null, t("today.best", { handle: best.handle, run: runWords(best) })),
    h("p", { class: "buttons" },
      link(`#/board/${challenge}/first/${kind}`, t("link.board"),
        { "aria-label": `${t("link.board")}: ${rulesetWords(ruleset)}` }),
      mine && mine.status !== "playing" && link(`#/replay/${mine.game}`, t("link.replay"),
        { "aria-label": `${t("link.replay")}: ${rulesetWords(ruleset)}` })));
}

function mineWords({ me, total }) {
  return t("today.mine", { rank: me.rank, total, run: runWords(me) });
}
