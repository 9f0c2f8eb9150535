"""A day's deal is the first candidate of its seed that the solver wins, and no other."""

from dataclasses import replace

import pytest

from cellmates.daily import PLANNER, Planned, candidate, plan, planning
from cellmates.engine import RULESETS, Autoplay, Deal, Game, Ruleset, Status, parse_action
from cellmates.solver import BUDGET, VERSION, Solution, Verdict, solve
from tests.e2e.planted import SEEDS, planned_of, planted_seed

from .page import seed_of

# Seeds whose days are soon planned, and the candidate that is found.
SOON = [
    ("eight-off-4", "2026-12-01-eight-off-4", 5),
    ("eight-off-2", "two cells 3", 2),
]
LATE = [
    ("eight-off-2", "2026-12-01-eight-off-2", 142),
    ("freecell", "2026-11-30-freecell", 0),
    ("freecell", "2026-12-01-freecell", 0),
    ("eight-off", "2026-12-01-eight-off", 0),
    ("eight-off-classic", "2026-12-01-eight-off-classic", 0),
]
FOUR = RULESETS["eight-off-4"]


def verdict(ruleset: Ruleset, seed: bytes, number: int) -> Verdict:
    return solve(ruleset, candidate(seed, number).layout(ruleset)).verdict


def replayed(ruleset: Ruleset, planned: Planned) -> Game:
    """Game of a plan's deal after its solution, with automatic moves as the ruleset has them."""
    deal = Deal.parse(ruleset, str(planned.deal))
    start = Game.start(ruleset, deal)
    return Game.replay(ruleset, deal, start.autoplay, map(parse_action, planned.solution))


def check(name: str, seed_text: str, number: int) -> None:
    ruleset, seed = RULESETS[name], seed_of(seed_text)
    seen: list[int] = []
    planned = plan(ruleset, seed, progress=seen.append)
    assert seen == [*range(number + 1)]
    assert (planned.candidate, planned.deal) == (number, candidate(seed, number))
    assert verdict(ruleset, seed, number) is Verdict.WON
    assert all(verdict(ruleset, seed, earlier) is not Verdict.WON for earlier in range(number))
    game = replayed(ruleset, planned)
    assert (game.status, game.moves) == (Status.WON, planned.par)
    assert plan(ruleset, seed) == planned


@pytest.mark.parametrize(("name", "seed_text", "number"), SOON)
def test_first_candidate_that_is_won_is_the_deal(name: str, seed_text: str, number: int) -> None:
    check(name, seed_text, number)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("name", "seed_text", "number"), LATE)
def test_first_candidate_that_is_won_is_the_deal_of_longer_searches_too(
    name: str, seed_text: str, number: int
) -> None:
    check(name, seed_text, number)


def test_planner_says_solver_and_budget() -> None:
    assert f"solver-{VERSION}/{BUDGET}" == PLANNER


def test_solution_leaves_out_automatic_moves_and_par_counts_them() -> None:
    automatic = replace(FOUR, autoplay=Autoplay.SAFE)
    planned = plan(automatic, seed_of("2026-12-01-eight-off-4"))
    game = replayed(automatic, planned)
    assert (game.status, game.moves) == (Status.WON, planned.par)
    assert len(planned.solution) < planned.par


@pytest.mark.parametrize("unwon", [Verdict.LOST, Verdict.UNKNOWN])
def test_candidate_counts_only_when_it_is_won(
    monkeypatch: pytest.MonkeyPatch, unwon: Verdict
) -> None:
    seed = seed_of("2026-12-01-eight-off-4")
    asked: list[object] = []

    def first_says_otherwise(ruleset: Ruleset, position: object) -> Solution:
        asked.append(position)
        return Solution(unwon if len(asked) == 1 else Verdict.WON, (), 0, 1)

    monkeypatch.setattr(planning, "solve", first_says_otherwise)
    monkeypatch.setattr(planning, "solve_short", lambda *_: Solution(Verdict.WON, (), 9, 1))
    assert plan(FOUR, seed) == Planned(1, candidate(seed, 1), (), 9)
    assert asked == [candidate(seed, number).layout(FOUR) for number in (0, 1)]


def test_line_is_the_quick_one_where_the_search_for_a_short_one_gives_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """That search has a smaller budget, so that a deal may be won without it."""
    monkeypatch.setattr(
        planning, "solve_short", lambda *_: Solution(Verdict.UNKNOWN, (), 0, 250_000)
    )
    planned = plan(FOUR, seed_of("2026-12-01-eight-off-4"))
    game = replayed(FOUR, planned)
    assert (planned.candidate, game.status, game.moves) == (5, Status.WON, planned.par)


def test_candidates_have_no_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "count", lambda: range(0))
    with pytest.raises(AssertionError, match="have no end"):
        plan(FOUR, seed_of("any"))


@pytest.mark.exhaustive
@pytest.mark.parametrize("ruleset", SEEDS)
def test_day_that_other_tests_plant_is_what_the_planner_makes(ruleset: str) -> None:
    assert planned_of(ruleset) == plan(RULESETS[ruleset], planted_seed(ruleset))
