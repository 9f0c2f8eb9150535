/** What a deal is called on the page. */

import { RULESETS, codeOf } from "../rules.js";
import { t } from "../texts/texts.js";

/**
 * @param {object} view a GameView or the header of a replay
 * @returns {string} which deal it is: of a day, a code or a number
 */
export function dealWords({ ruleset, deal, challenge, attempt: number }) {
  if (challenge) {
    const day = challenge.slice(0, 10);
    return t(number === 1 ? "game.of-day" : "game.practice-of", { day });
  }
  if (deal.startsWith("cards:")) return t("game.own-cards");
  const code = RULESETS[ruleset] ? codeOf(ruleset, deal) : null;
  return code ? `#${deal} (${code})` : `#${deal}`;
}
