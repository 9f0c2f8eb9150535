/** What is said above the table when no move is left, and when the game is over. */

import { plural, t } from "../texts/texts.js";
import { attempt, button, duration, h, link } from "./parts.js";

/**
 * @param {GameView} game the view of the game that is stuck
 * @returns {HTMLElement} with undo and restart at hand
 */
export function stuckBanner(game) {
  const { view } = game.play;
  const words = t(view.challenge ? "game.restart-practice" : "game.restart");
  return h("div", null,
    h("p", null, t("game.stuck")),
    h("div", { class: "buttons" },
      game.play.canUndo && button(t("game.undo"), () => game.undo(), { class: "primary" }),
      button(words, (event) => game.restart(event.currentTarget))));
}

/**
 * @param {GameView} game the view of the game that is over
 * @returns {HTMLElement} with the result, the rank of a daily, and where to go from here
 */
export function endBanner(game) {
  const { context, play } = game;
  const { view } = play;
  const rank = h("p", { class: "rank" });
  if (view.challenge && play.pending === 0) showRank(context, view, rank);
  const kind = context.wire.player?.kind ?? "human";
  return h("div", null,
    h("p", { class: "result" }, resultWords(view, play.elapsedMs())), rank,
    h("div", { class: "buttons" },
      view.challenge && link(`#/board/${view.challenge}/${boardOf(view)}/${kind}`,
        t("link.board"), { class: "button" }),
      link(`#/replay/${view.game}`, t("link.replay"), { class: "button" }),
      button(t("game.again"), (event) => game.restart(event.currentTarget)),
      view.challenge ? link("#/today", t("link.today"), { class: "button" }) :
        button(t("game.new"), (event) => newDeal(event.currentTarget, context, view))));
}

function resultWords(view, ms) {
  const values = { time: duration(ms, true), moves: plural("moves", view.moves) };
  return t(`game.${view.status}`, values);
}

function boardOf(view) {
  return view.ranked ? "first" : "moves";
}

function newDeal(pressed, { wire, go }, { ruleset, autoplay }) {
  return attempt(pressed, async () => {
    const dealt = await wire.ask("game.start", { ruleset, autoplay });
    go(`#/game/${dealt.game}`);
  });
}

async function showRank({ wire, signal }, view, element) {
  const kind = wire.player?.kind ?? "human";
  const d = { challenge: view.challenge, board: boardOf(view), kind, limit: 1 };
  try {
    const { me, total } = await wire.ask("board.get", d);
    if (me && !signal.aborted) element.textContent = t("game.rank", { rank: me.rank, total });
  } catch (error) {
    if (!error?.code) throw error; // refused: the result stands without a rank
  }
}
