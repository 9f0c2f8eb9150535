"""Verdicts and lines, held to lists made by exhaustive search and to the engine."""

from dataclasses import replace
from hashlib import sha256

import pytest

from cellmates.engine import (
    RULESETS,
    Autoplay,
    BadAutoplay,
    Build,
    Deal,
    Game,
    Group,
    Position,
    Ruleset,
    Scoring,
    Status,
)
from cellmates.solver import VERSION, Cancelled, Solution, Verdict, solve, solve_short
from tests.golden import golden

FREECELL = RULESETS["freecell"]
WINNABLE: dict[str, list[int]] = golden("eight_off_winnable")["winnable"]
IMPOSSIBLE = [11982, 146692, 186216, 455889, 495505, 512118, 517776, 781948]
CHOICES = {
    1: "827ab44a94754f88144d68d275904abd9907aead23a952f50b59c87665c4daee",
}


def layout(ruleset: Ruleset, number: int) -> Position:
    return Deal.numbered(number).layout(ruleset)


def replayed(
    ruleset: Ruleset, position: Position, solution: Solution, autoplay: Autoplay | None = None
) -> Game:
    game = Game.start(ruleset, position, autoplay)
    return Game.replay(ruleset, position, game.autoplay, solution.moves)


def blocks(count: int, size: int) -> list[range]:
    return [range(start, min(start + size, count + 1)) for start in range(1, count + 1, size)]


@pytest.mark.exhaustive
@pytest.mark.parametrize("numbers", blocks(1000, 125))
def test_freecell_1_to_1000_are_all_won(numbers: range) -> None:
    for number in numbers:
        position = layout(FREECELL, number)
        solution = solve(FREECELL, position)
        assert solution.verdict is Verdict.WON, number
        assert replayed(FREECELL, position, solution).status is Status.WON


@pytest.mark.exhaustive
@pytest.mark.parametrize("number", IMPOSSIBLE)
def test_impossible_deals_are_never_won(number: int) -> None:
    solution = solve(FREECELL, layout(FREECELL, number), budget=60_000)
    assert solution.verdict is not Verdict.WON
    assert solution.moves == ()


@pytest.mark.exhaustive
@pytest.mark.parametrize("number", [1941, 98714, 739671])
def test_deals_that_defeat_quick_searches_are_won(number: int) -> None:
    assert solve(FREECELL, layout(FREECELL, number)).verdict is Verdict.WON


@pytest.mark.exhaustive
@pytest.mark.parametrize("numbers", blocks(5000, 625))
def test_every_two_cell_deal_has_its_verdict(numbers: range) -> None:
    ruleset = RULESETS["eight-off-2"]
    won = [
        number
        for number in numbers
        if known(solve(ruleset, layout(ruleset, number)).verdict) is Verdict.WON
    ]
    assert won == [number for number in WINNABLE["cells=2 group=doubling"] if number in numbers]


@pytest.mark.exhaustive
@pytest.mark.parametrize("group", Group)
@pytest.mark.parametrize("numbers", blocks(300, 75))
def test_four_cell_deals_have_their_verdict(group: Group, numbers: range) -> None:
    ruleset = replace(RULESETS["eight-off-4"], group=group)
    name = {Group.DOUBLING: "doubling", Group.FREE_PLUS_ONE: "free_plus_one"}[group]
    won = [
        number
        for number in numbers
        if known(solve(ruleset, layout(ruleset, number)).verdict) is Verdict.WON
    ]
    assert won == [number for number in WINNABLE[f"cells=4 group={name}"] if number in numbers]


def known(verdict: Verdict) -> Verdict:
    assert verdict is not Verdict.UNKNOWN
    return verdict


@pytest.mark.parametrize("name", ["freecell", "eight-off", "eight-off-classic"])
@pytest.mark.parametrize("number", [1, 2, 617])
def test_line_wins_and_its_length_counts_every_move(name: str, number: int) -> None:
    ruleset = RULESETS[name]
    position = layout(ruleset, number)
    for autoplay in {ruleset.autoplay, Autoplay.OFF}:
        solution = solve(ruleset, position, autoplay)
        game = replayed(ruleset, position, solution, autoplay)
        assert game.status is Status.WON
        assert solution.length == game.moves
        assert (len(solution.moves) == game.moves) is (autoplay is Autoplay.OFF)


def test_bakers_game_is_solved_without_a_word_about_it() -> None:
    row = replace(FREECELL, name="bakers-game", build=Build.SAME_SUIT)
    verdicts = set()
    for number in range(1, 11):
        position = layout(row, number)
        solution = solve(row, position)
        verdicts.add(solution.verdict)
        if solution.verdict is Verdict.WON:
            assert replayed(row, position, solution).status is Status.WON
    assert Verdict.WON in verdicts


def test_position_in_the_middle_is_solved() -> None:
    game = Game.start(FREECELL, Deal.numbered(617))
    half = solve(FREECELL, game.position).moves[:20]
    middle = Game.replay(FREECELL, game.deal, game.autoplay, half).position
    solution = solve(FREECELL, middle)
    assert replayed(FREECELL, middle, solution).status is Status.WON


def test_won_position_has_the_empty_line() -> None:
    won = Position((b"",) * 8, (b"",) * 4, (13, 13, 13, 13))
    assert solve(FREECELL, won) == Solution(Verdict.WON, (), 0, 1)


def test_spent_budget_is_unknown_and_says_how_much() -> None:
    solution = solve(FREECELL, layout(FREECELL, 11982), budget=1000)
    assert solution.verdict is Verdict.UNKNOWN
    assert solution.moves == ()
    assert 1000 <= solution.nodes < 1100


@pytest.mark.parametrize("budget", [4_000, 9_000, 28_500])
def test_restarts_share_the_budget(budget: int) -> None:
    solution = solve(FREECELL, layout(FREECELL, 11982), budget=budget)
    assert solution.verdict is Verdict.UNKNOWN
    assert budget <= solution.nodes < budget + 300


@pytest.mark.parametrize("budget", [3_000, 8_000])
def test_short_line_is_no_longer_and_keeps_the_budget(budget: int) -> None:
    quick = solve(FREECELL, layout(FREECELL, 1))
    short = solve_short(FREECELL, layout(FREECELL, 1), budget=budget)
    assert short.verdict is Verdict.WON
    assert short.length <= quick.length
    assert quick.nodes < short.nodes < budget + 300
    assert replayed(FREECELL, layout(FREECELL, 1), short).status is Status.WON


def test_search_for_shorter_lines_ends_when_there_are_none() -> None:
    almost = Position.of(["KS", *[""] * 7], "- - - -", "13 13 13 12")
    assert solve_short(FREECELL, almost).length == 1
    assert solve_short(FREECELL, almost).nodes < 10


def test_lost_deal_is_proved() -> None:
    ruleset = RULESETS["eight-off-2"]
    assert solve(ruleset, layout(ruleset, 1)).verdict is Verdict.LOST
    assert solve_short(ruleset, layout(ruleset, 1)).verdict is Verdict.LOST


def test_search_shows_its_progress() -> None:
    seen: list[int] = []
    solution = solve(FREECELL, layout(FREECELL, 11982), budget=20_000, progress=seen.append)
    assert seen == sorted(seen)
    assert len(seen) > 3
    assert seen[-1] <= solution.nodes


@pytest.mark.parametrize("search", [solve, solve_short])
def test_search_can_be_cancelled(search: object) -> None:
    asked = 0

    def is_cancelled() -> bool:
        nonlocal asked
        asked += 1
        return asked == 3

    with pytest.raises(Cancelled, match="cancelled"):
        search(FREECELL, layout(FREECELL, 11982), is_cancelled=is_cancelled)  # type: ignore[operator]
    assert asked == 3


@pytest.mark.parametrize("search", [solve, solve_short])
def test_automatic_moves_cannot_be_asked_of_a_ruleset_without(search: object) -> None:
    ruleset = RULESETS["eight-off"]
    with pytest.raises(BadAutoplay):
        search(ruleset, layout(ruleset, 1), Autoplay.SAFE)  # type: ignore[operator]


@pytest.mark.exhaustive
@pytest.mark.parametrize(("name", "yardstick"), [("freecell", 92), ("eight-off-classic", 79)])
def test_short_lines_are_shorter_than_fc_solve_finds(name: str, yardstick: int) -> None:
    """The yardstick is the median of ``fc-solve -l ve`` over deals 1 to 200."""
    ruleset = RULESETS[name]
    lengths = []
    for number in range(1, 12):
        position = layout(ruleset, number)
        solution = solve_short(ruleset, position, budget=60_000)
        assert replayed(ruleset, position, solution).status is Status.WON
        assert solution.length <= solve(ruleset, position).length
        lengths.append(solution.length)
    assert sorted(lengths)[len(lengths) // 2] <= yardstick


@pytest.mark.exhaustive
def test_version_changes_with_the_choices() -> None:
    """Whoever changes what the solver finds counts VERSION up and notes the new digest here."""
    digest = sha256()
    for name in RULESETS:
        for number in (1, 2, 3, 5, 8, 13, 21, 34, 617):
            for search in (solve, solve_short):
                found = search(RULESETS[name], layout(RULESETS[name], number), budget=20_000)
                line = " ".join(map(str, found.moves))
                digest.update(f"{name} {number} {found.verdict} {found.nodes} {line}\n".encode())
    assert digest.hexdigest() == CHOICES[VERSION]


def test_scoring_and_names_do_not_change_a_line() -> None:
    other = replace(FREECELL, name="other", scoring=Scoring.FIRST_ARRIVAL)
    assert solve(other, layout(other, 1)) == solve(FREECELL, layout(FREECELL, 1))
