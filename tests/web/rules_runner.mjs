// Answers questions about the page's rules: a JSON line in, a JSON line out. Told by test_rules.py.

import { createInterface } from "node:readline";

import { EXAMPLES } from "../../client/web/examples.js";
import * as rules from "../../client/web/rules.js";
import { hasText, t } from "../../client/web/texts/texts.js";

const ANSWERS = {
  rulesets: () => rules.RULESETS,
  examples: () => EXAMPLES,
  texts: ({ keys }) => keys.map(hasText),
  plays: ({ ruleset, position, autoplay, moves }) =>
    moves.map((move) => orRefusal(() => rules.play(ruleset, position, move, autoplay))),
  verdict: ({ ruleset, position, move }) => {
    const played = orRefusal(() => rules.play(ruleset, position, move));
    return played.reason ?? played.position;
  },
  stuck: ({ ruleset, position }) => rules.isStuck(ruleset, position),
  board: ({ ruleset, position }) => ({
    legal: rules.legalMoves(ruleset, position),
    stuck: rules.isStuck(ruleset, position),
    won: rules.isWon(position),
    runs: position.columns.map((column) => rules.runLength(ruleset, column)),
    text: rules.boardText(position),
    parsed: rules.parseBoard(ruleset, rules.boardText(position)),
  }),
  drops: ({ ruleset, position, at }) => at.map(([place, depth]) => [
    [...rules.targets(ruleset, position, place, depth)],
    refusal(rules.whyNotLifted(ruleset, position, place, depth)),
  ]),
  dropTexts: ({ drops }) => drops.map((drop) => rules.dropText(...drop)),
  taps: ({ ruleset, position, taps }) =>
    taps.map(([place, depth, count]) => rules.tap(ruleset, position, place, depth, count)),
  deal: ({ ruleset, deal }) => orRefusal(() => {
    const position = rules.dealt(ruleset, deal);
    return {
      position,
      code: rules.codeOf(ruleset, deal),
      again: rules.dealOf(ruleset, position),
    };
  }),
  dealOf: ({ ruleset, position }) => orRefusal(() => rules.dealOf(ruleset, position)),
  parsed: ({ ruleset, text }) => orRefusal(() => rules.parseBoard(ruleset, text)),
  why: ({ ruleset, deal, text, position }) => {
    try {
      if (deal !== undefined) rules.codeOf(ruleset, deal);
      else if (text !== undefined) rules.parseBoard(ruleset, text);
      else rules.dealOf(ruleset, position);
      return null;
    } catch ({ why, values }) {
      const key = `${text === undefined ? "deal" : "pasted"}.${why}`;
      return { why, words: t(key, values) };
    }
  },
  carried: ({ position, moves }) => orRefusal(() => rules.carried(position, moves)),
};

/** A refused question's answer; what is thrown and is no refusal ends the runner. */
function orRefusal(answer) {
  try {
    return answer();
  } catch (error) {
    return refusal(error);
  }
}

function refusal(error) {
  if (error === null) return null;
  const known = ["BadMove", "IllegalMove", "BadDeal", "BadBoard", "OutOfStep"]
    .find((name) => error instanceof rules[name]);
  if (known === undefined) throw error;
  const { reason, limit, length, line } = error;
  return { refused: known, reason, limit, length, line };
}

/** Whatever would change what it was given throws. */
function frozen(key, value) {
  return Object.freeze(value);
}

for await (const line of createInterface({ input: process.stdin })) {
  const question = JSON.parse(line, frozen);
  process.stdout.write(`${JSON.stringify(ANSWERS[question.ask](question))}\n`);
}
