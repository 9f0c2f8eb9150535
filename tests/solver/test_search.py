"""The search's own bookkeeping, held to the engine and to plain exhaustive search."""

from collections import deque

import pytest

from cellmates.engine import RULESETS, Deal, Game, LegalMoves, Position, Status, play
from cellmates.solver.search import Search, Weights, _Bounds, wanted

BLIND = Weights(step=1, home=0, in_cell=0, out_of_sequence=0, buried=0, over_next=0, empty_column=0)
FREECELL = RULESETS["freecell"]


def board(*columns: str, cells: str = "- - - -", home: str = "0 0 0 0") -> Position:
    return Position.of([*columns, *[""] * (8 - len(columns))], cells, home)


def fewest_other_moves(game: Game) -> int | None:
    """Fewest moves other than sending home to win, by trying everything; None when lost."""
    waiting = deque([(0, game.position)])
    best: dict[tuple[frozenset[bytes], frozenset[bytes]], int] = {}
    while waiting:
        steps, position = waiting.popleft()
        if position.is_won:
            return steps
        key = frozenset(position.columns), frozenset(position.cells)
        if best.get(key, steps + 1) <= steps:
            continue
        best[key] = steps
        for move in LegalMoves(game.ruleset, position):
            after = play(game.ruleset, position, move, game.autoplay).position
            if move.destination == 20:
                waiting.appendleft((steps, after))
            else:
                waiting.append((steps + 1, after))
    return None


ENDGAMES = [
    ("freecell", board("QH KH", "QS KS", home="13 13 11 11")),
    ("freecell", board("TH KH JS", "QS TS KS", "QH JH", home="13 13 9 9", cells="- - - -")),
    ("freecell", board("9H KC JS 9S", "QS TS KS", "QH JH TH", home="12 13 8 8", cells="KH - - -")),
    ("eight-off-2", board("TS KS JS", "QS QH KH", home="13 13 11 9", cells="- -")),
    ("eight-off-2", board("9S KS TS", "QS 9H KH JS", "TH JH QH", home="13 13 8 8", cells="- -")),
]


@pytest.mark.parametrize(("name", "position"), ENDGAMES)
def test_heavy_steps_find_the_fewest(name: str, position: Position) -> None:
    game = Game.start(RULESETS[name], position)
    found = Search(game.ruleset, BLIND).run(position, 100_000)
    assert found.steps is not None
    assert sum(step.onto != 54 for step in found.steps) == fewest_other_moves(game)


@pytest.mark.parametrize(("name", "position"), ENDGAMES)
def test_bound_is_never_more_than_what_is_needed(name: str, position: Position) -> None:
    bounds = _Bounds(RULESETS[name])
    needed = fewest_other_moves(Game.start(RULESETS[name], position))
    assert needed is not None
    assert sum(bounds[column] for column in position.columns) <= needed


def test_below_finds_only_shorter_lines() -> None:
    name, position = ENDGAMES[2]
    needed = fewest_other_moves(Game.start(RULESETS[name], position))
    assert needed is not None
    search = Search(RULESETS[name], BLIND).run(position, 100_000, below=needed)
    assert search.steps is None
    assert search.exhausted
    assert Search(RULESETS[name], BLIND).run(position, 100_000, below=needed + 1).steps is not None


def test_budget_is_kept() -> None:
    layout = Deal.numbered(11982).layout(FREECELL)
    found = Search(FREECELL, BLIND).run(layout, 500)
    assert found.steps is None
    assert not found.exhausted
    assert 500 <= found.nodes < 560


def test_won_position_needs_no_step() -> None:
    found = Search(FREECELL, BLIND).run(board(home="13 13 13 13"), 10)
    assert found.steps == ()


@pytest.mark.parametrize(
    ("name", "home", "cards"),
    [
        ("freecell", (0, 0, 0, 0), b"\x00\x01\x02\x03"),
        ("freecell", (3, 1, 2, 3), b"\x05\x0a"),
        ("freecell", (3, 2, 2, 3), b"\x09\x0a"),
        ("eight-off", (3, 1, 2, 13), b"\x0c\x05\x0a"),
    ],
)
def test_what_goes_home_at_once(name: str, home: tuple[int, int, int, int], cards: bytes) -> None:
    assert wanted(RULESETS[name], home) == cards


def test_lost_endgame_is_exhausted() -> None:
    """The same verdict as trying everything, take-backs too."""
    position = board("5S KS JS", "QS 6S TS", "7S 9S 8S", home="13 13 13 4", cells="- -")
    for columns, cells in ((position, "- -"), (position, "QH QD")):
        start = Position(columns.columns, Position.of([], cells).cells, columns.home)
        game = Game.start(RULESETS["eight-off-2"], start)
        found = Search(game.ruleset, BLIND).run(start, 100_000)
        assert (found.steps is not None) == (fewest_other_moves(game) is not None)
        assert found.exhausted == (found.steps is None)


def test_status_of_a_solved_endgame_is_won() -> None:
    assert Game.start(FREECELL, board(home="13 13 13 13")).status is Status.WON
