/** How each ruleset is played, with pictures of what is allowed and what is refused. */

import { card, emptyPlace } from "../cards.js";
import { EXAMPLES } from "../examples.js";
import { placeName } from "../naming.js";
import { CELLS, COLUMNS, RANKS, RULESETS, play } from "../rules.js";
import { plural, t } from "../texts/texts.js";
import { h, heading, link, reasonWords, rulesetWords } from "./parts.js";

/**
 * @param {object} context of the view; `params[0]` is the ruleset
 * @returns {{title: string, element: HTMLElement}}
 */
export function show({ params }) {
  const name = Object.hasOwn(RULESETS, params[0] ?? "") ? params[0] : "freecell";
  const title = t("howto.title", { ruleset: rulesetWords(name) });
  const tabs = Object.keys(RULESETS).map((other) =>
    link(`#/rules/${other}`, rulesetWords(other),
      { "aria-current": other === name && "true" }));
  const element = h("section", { class: "howto" }, heading(title),
    h("nav", { class: "tabs", "aria-label": t("howto.games") }, tabs),
    h("p", null, t("howto.aim")),
    h("ul", null, sentences(RULESETS[name]).map((words) => h("li", null, words))),
    h("h2", null, t("howto.examples")),
    h("div", { class: "examples" },
      (EXAMPLES[name] ?? []).map((example) => picture(name, example))));
  return { title, element };
}

function sentences(rules) {
  const filled = [...rules.rest].filter((place) => place >= "a").length;
  return [
    plural("howto.cells", rules.cells) + (filled ? ` ${plural("howto.filled", filled)}` : ""),
    t(`howto.build.${rules.build}`),
    t(`howto.empty.${rules.empty_column}`),
    t(`howto.group.${rules.group}`),
    t(rules.take_back ? "howto.take-back" : "howto.no-take-back"),
    rules.autoplay === "safe" && t("howto.autoplay"),
    rules.undo_limit === null ? t("howto.undo") : t("howto.undo-limit", { n: rules.undo_limit }),
    t(`howto.taps.${rules.taps}`),
    t(`howto.score.${rules.scoring}`),
  ].filter(Boolean);
}

function picture(name, { titleKey, position, move, textKey }) {
  const refusal = refusalOf(name, position, move);
  const isLegal = refusal === null;
  const words = isLegal ? t("howto.legal") :
    t("howto.refused", { reason: reasonWords(refusal) });
  return h("figure", { class: "example", "data-legal": String(isLegal) },
    h("h3", null, t(titleKey)),
    h("div", { class: "mini" }, topRow(position), columns(position)),
    h("figcaption", null,
      h("p", { class: "verdict" }, `${isLegal ? "✓" : "✗"} ${t("howto.move", { move })}`),
      h("p", null, words), h("p", null, t(textKey))));
}

function refusalOf(name, position, move) {
  try {
    play(name, position, move, "off");
    return null;
  } catch (error) {
    if (!error?.reason) throw error;
    return error;
  }
}

function topRow({ cells, home }) {
  const homes = Object.entries(home).map(([suit, count]) =>
    place(suit, count ? [RANKS[count - 1] + suit] : [], suit));
  return h("div", { class: "mini-top" },
    cells.map((text, i) => place(CELLS[i], text ? [text] : [], null)),
    h("span", { class: "mini-gap" }), homes);
}

function columns({ columns: all }) {
  const empty = all.findIndex((column) => column.length === 0);
  return h("div", { class: "mini-columns" }, all.map((column, i) =>
    (column.length > 0 || i === empty) && place(COLUMNS[i], column, null)));
}

function place(name, cards, suit) {
  return h("div", { class: "mini-place", role: "group", "aria-label": placeName(name) },
    cards.length ? cards.map((text) => card(text)) : emptyPlace(suit));
}
