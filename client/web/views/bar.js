/** The bar over the table: which game it is, and how it stands. */

import { t } from "../texts/texts.js";
import { duration, every, h } from "./parts.js";

/**
 * @param {object} context of the view
 * @param {Play} play
 * @returns {{element: HTMLElement, refresh: () => void}} `refresh` shows how the game stands now
 */
export function bar({ wire, signal }, play) {
  const { view } = play;
  const values = {};
  const fact = (name, words = "") => {
    values[name] = h("dd", null, words);
    return h("div", { class: `fact-${name}` }, h("dt", null, t(`game.${name}`)), values[name]);
  };
  const element = h("dl", { class: "bar", "aria-label": t("game.facts") },
    fact("time"), fact("moves"), fact("undos"), fact("score"), fact("best", t("game.none")));
  every(signal, 500, () => put(values.time, duration(play.elapsedMs())));
  const best = () => showBest(wire, signal, view.ruleset, values.best);
  play.addEventListener("change", ({ detail }) => detail.kind === "ended" && best(), { signal });
  best();
  return { element, refresh: () => refresh(play, values) };
}

function refresh(play, values) {
  const { view } = play;
  put(values.time, duration(play.elapsedMs()));
  put(values.moves, view.moves);
  put(values.score, view.score);
  const { undos, undo_left: left } = view;
  put(values.undos, left === null || left === undefined ? undos :
    t("game.undos-left", { undos, left }));
}

function put(element, words) {
  const text = String(words);
  if (element.textContent !== text) element.textContent = text;
}

async function showBest(wire, signal, ruleset, element) {
  if (!wire.player) return;
  try {
    const { stats } = await wire.ask("player.get", { handle: wire.player.handle });
    const best = stats[ruleset]?.best_elapsed_ms;
    if (!signal.aborted && best !== null && best !== undefined) put(element, duration(best));
  } catch (error) {
    if (!error?.code) throw error; // refused: the bar goes without my best time
  }
}
