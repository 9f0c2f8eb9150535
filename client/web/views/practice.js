/** Any deal, as often as one likes: by number, code or day, at random, or from a pasted board. */

import { BadBoard, BadDeal, RULESETS, dealOf, dealt, parseBoard } from "../rules.js";
import { hasText, plural, t } from "../texts/texts.js";
import { dealWords } from "./deals.js";
import { newcomer } from "./newcomer.js";
import {
  attempt, button, dayOf, errorWords, field, h, heading, link, momentWords, rulesetWords, say,
  select,
} from "./parts.js";

const CHALLENGE = /^\d{4}-\d\d-\d\d-([a-z0-9-]+)$/;
const CODE = /^EO1-C([842])-[A-Z]{7}$/i;
const OF_CELLS = { 8: "eight-off", 4: "eight-off-4", 2: "eight-off-2" };

/**
 * @param {object} context of the view
 * @returns {{title: string, element: HTMLElement}}
 */
export function show(context) {
  const title = t("practice.title");
  const start = newcomer(context.wire, context.signal);
  const here = { ...context, ensure: start.ensure };
  const element = h("section", { class: "practice" }, heading(title),
    start.element, numbered(here), pasted(here), unfinished(here));
  return { title, element };
}

function rulesetField() {
  const names = Object.keys(RULESETS).map((name) => [name, rulesetWords(name)]);
  const chosen = select(names, "freecell");
  return { chosen, element: field(t("practice.ruleset"), chosen) };
}

function numbered(here) {
  const { chosen, element } = rulesetField();
  const deal = h("input", { autocomplete: "off", spellcheck: "false", autocapitalize: "none" });
  const example = `${dayOf(here.wire.serverNow())}-freecell`;
  const asked = field(t("practice.deal"), deal, t("practice.deal-hint", { challenge: example }));
  const auto = h("input", { type: "checkbox", checked: true });
  const safe = h("label", { class: "check" }, auto, t("practice.autoplay"));
  const showSafe = () => {
    safe.hidden = RULESETS[chosen.value].autoplay === "off";
  };
  chosen.addEventListener("change", showSafe);
  const request = (text) => {
    const ruleset = rulesetFor(text, chosen.value);
    const autoplay = RULESETS[ruleset].autoplay === "safe" && !auto.checked ? "off" : undefined;
    return { ruleset, ...(text && { deal: text }), ...(autoplay && { autoplay }) };
  };
  const form = h("form", { class: "panel", onsubmit: (event) => {
    event.preventDefault();
    startNumbered(here, event.submitter, asked, deal.value.trim(), request);
  } }, element, asked, safe, h("div", { class: "buttons" },
    h("button", { class: "primary" }, t("practice.start")),
    button(t("practice.random"), (event) => {
      say(asked, "");
      begin(here, event.currentTarget, request(""), asked);
    })));
  return form;
}

function rulesetFor(text, chosen) {
  const [, day] = CHALLENGE.exec(text) ?? [];
  if (day in RULESETS) return day;
  const [, cells] = CODE.exec(text) ?? [];
  return cells ? OF_CELLS[cells] : chosen;
}

function startNumbered(here, pressed, asked, text, request) {
  if (!text) {
    say(asked, t("practice.need-deal"));
    return;
  }
  const wanted = request(text);
  const why = CHALLENGE.test(text) ? "" : dealTrouble(wanted.ruleset, text);
  say(asked, why);
  if (!why) begin(here, pressed, wanted, asked);
}

function dealTrouble(ruleset, text) {
  try {
    dealt(ruleset, text);
    return "";
  } catch (error) {
    if (!(error instanceof BadDeal)) throw error;
    return whyWords("deal", error);
  }
}

function whyWords(prefix, error) {
  const key = `${prefix}.${error.why}`;
  return hasText(key) ? t(key, error.values) : t("error.bad-request", { why: error.message });
}

async function begin(here, pressed, request, asked) {
  if (!(await here.ensure())) return;
  await attempt(pressed, async () => {
    try {
      const view = await here.wire.ask("game.start", request);
      here.go(`#/game/${view.game}`);
    } catch (error) {
      if (!error?.code) throw error;
      say(asked, errorWords(error));
    }
  });
}

function pasted(here) {
  const { chosen, element } = rulesetField();
  const board = h("textarea", { rows: 9, spellcheck: "false", autocapitalize: "characters" });
  const asked = field(t("practice.board"), board, t("practice.board-hint"));
  const form = h("form", { onsubmit: (event) => {
    event.preventDefault();
    startPasted(here, event.submitter, asked, chosen.value, board.value);
  } }, element, asked, h("div", { class: "buttons" },
    h("button", { class: "primary" }, t("practice.paste"))));
  return h("details", { class: "panel" }, h("summary", null, t("practice.pasted")), form);
}

function startPasted(here, pressed, asked, ruleset, text) {
  try {
    const deal = dealOf(ruleset, parseBoard(ruleset, text));
    say(asked, "");
    begin(here, pressed, { ruleset, deal }, asked);
  } catch (error) {
    if (error instanceof BadBoard) say(asked, whyWords("pasted", error));
    else if (error instanceof BadDeal) say(asked, t("practice.not-start"));
    else throw error;
  }
}

function unfinished(here) {
  const list = h("ul", { class: "games" });
  const more = button(t("practice.more"), () => fill(more.dataset.cursor), { hidden: true });
  const element = h("section", { hidden: true },
    h("h2", null, t("practice.games")), list, more);
  const fill = (cursor) => attempt(more, async () => {
    const page = await here.wire.ask("games.mine",
      { status: "playing", limit: 20, ...(cursor && { cursor }) });
    if (here.signal.aborted) return;
    if (!cursor) list.replaceChildren();
    list.append(...page.games.map(gameRow));
    if (!list.children.length) list.append(h("li", null, t("practice.no-games")));
    more.hidden = page.next === null;
    more.dataset.cursor = page.next ?? "";
  });
  const begin = () => {
    element.hidden = here.wire.player === null;
    if (here.wire.player) fill(null);
  };
  here.wire.addEventListener("player", begin, { signal: here.signal });
  begin();
  return element;
}

function gameRow(game) {
  const deal = dealWords({ ...game, attempt: game.ranked ? 1 : 2 });
  const values = { ruleset: rulesetWords(game.ruleset), deal,
    when: momentWords(game.started), moves: plural("moves", game.moves) };
  return h("li", null, link(`#/game/${game.game}`, t("practice.game", values)));
}
