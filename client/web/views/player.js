/** Somebody's figures and streaks, ruleset by ruleset. */

import { plural, t } from "../texts/texts.js";
import { duration, errorWords, field, h, heading, rulesetWords } from "./parts.js";

/**
 * @param {object} context of the view; `params[0]` is the handle, my own without one
 * @returns {{title: string, element: HTMLElement}}
 */
export function show(context) {
  const handle = context.params[0] ?? context.wire.player?.handle ?? "";
  const title = handle || t("player.find");
  const body = h("div", { class: "figures" }, handle && h("p", null, t("loading")));
  const element = h("section", { class: "player" }, heading(title), body, finder(context));
  if (handle) fill(context, handle, body);
  return { title, element };
}

async function fill({ wire, signal }, handle, body) {
  try {
    const { player, stats } = await wire.ask("player.get", { handle });
    if (signal.aborted) return;
    const played = Object.entries(stats);
    body.replaceChildren(h("p", null, t(`player.${player.kind}`)),
      ...(played.length ? played.map(figures) : [h("p", null, t("player.none"))]));
  } catch (error) {
    if (!error?.code) throw error;
    if (!signal.aborted) body.replaceChildren(h("p", { class: "error" }, errorWords(error)));
  }
}

function figures([ruleset, stats]) {
  const { played, won } = stats;
  const percent = played ? Math.round((100 * won) / played) : 0;
  const rows = [
    ["player.played", played],
    ["player.won", t("player.share", { won, percent })],
    ["player.best", stats.best_elapsed_ms === null ? null : duration(stats.best_elapsed_ms, true)],
    ["player.fewest", stats.fewest_moves],
    ["player.streak", plural("days", stats.streak)],
    ["player.best-streak", plural("days", stats.best_streak)],
  ];
  return h("section", { class: "panel" }, h("h2", null, rulesetWords(ruleset)),
    h("dl", { class: "bar" }, rows.map(([key, words]) =>
      h("div", null, h("dt", null, t(key)), h("dd", null, words ?? t("game.none"))))));
}

function finder({ go }) {
  const input = h("input", { type: "search", autocomplete: "off", spellcheck: "false",
    autocapitalize: "none", maxlength: 20 });
  return h("form", { class: "panel", onsubmit: (event) => {
    event.preventDefault();
    const handle = input.value.trim();
    if (handle) go(`#/player/${encodeURIComponent(handle)}`);
  } }, field(t("player.find"), input), h("button", null, t("player.show")));
}
