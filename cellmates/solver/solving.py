"""Solving: a verdict that can be trusted, and lines that the engine has replayed."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from cellmates.engine import PACK, Autoplay, Game, Move, Position, Ruleset, Status
from cellmates.engine.moves import FIRST_CELL, HOME
from cellmates.engine.position import NO_CARDS
from cellmates.engine.words import Word

from .search import TO_CELL, TO_EMPTY, TO_HOME, Cancelled, Search, Step, Weights, wanted

VERSION = 1
BUDGET = 400_000
SHORT_BUDGET = 250_000

# Found by trying small changes on FreeCell and Eight Off deals 2001 to 2060. A search that does not
# get through under one set of weights mostly does under another, so the first have small budgets.
_FIRST = Weights(
    step=5, home=9, in_cell=9, out_of_sequence=6, buried=5, over_next=5, empty_column=8
)
_SECOND = Weights(
    step=1, home=9, in_cell=6, out_of_sequence=7, buried=3, over_next=4, empty_column=4
)
_STAGES = (
    (_FIRST, 4_000),
    (_SECOND, 8_000),
    (replace(_FIRST, step=8, buried=8), 16_000),
    (_FIRST, None),
)
# The heavier a step, the shorter the lines and the longer the search for them.
_SHORT_STAGES = tuple(replace(_FIRST, step=step) for step in (10, 15, 20, 30, 40))

Watch = Callable[[int], None]


class Verdict(Word):
    """What a search has shown. ``lost`` is a proof, ``unknown`` only that the budget was spent."""

    WON = "won"
    LOST = "lost"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Solution:
    """A verdict; where it is ``won``, the moves to play.

    ``moves`` leaves out those that are made automatically. ``length`` counts every move of the
    line, automatic ones too and a group as one. ``nodes`` is the number of positions reached.
    """

    verdict: Verdict
    moves: tuple[Move, ...]
    length: int
    nodes: int


def solve(
    ruleset: Ruleset,
    position: Position,
    autoplay: Autoplay | None = None,
    *,
    budget: int = BUDGET,
    progress: Watch | None = None,
    is_cancelled: Callable[[], bool] | None = None,
) -> Solution:
    """Find out whether a position can be won, as fast as may be.

    ``budget`` is a number of positions; ``progress`` is called now and then with the number
    reached; ``is_cancelled`` is asked as often. The same arguments give the same solution on every
    machine.

    Raises:
        Cancelled: ``is_cancelled`` said so.
        BadAutoplay: automatic moves are asked for and the ruleset has none.
    """
    game = Game.start(ruleset, position, autoplay)
    nodes = 0
    for weights, share in _STAGES:
        left = budget - nodes if share is None else min(share, budget - nodes)
        if left <= 0:
            break
        found = Search(ruleset, weights).run(
            position, left, watch=_watch(nodes, progress, is_cancelled)
        )
        nodes += found.nodes
        if found.steps is not None:
            return _won(game, found.steps, nodes)
        if found.exhausted:
            return Solution(Verdict.LOST, (), 0, nodes)
    return Solution(Verdict.UNKNOWN, (), 0, nodes)


def solve_short(
    ruleset: Ruleset,
    position: Position,
    autoplay: Autoplay | None = None,
    *,
    budget: int = SHORT_BUDGET,
    progress: Watch | None = None,
    is_cancelled: Callable[[], bool] | None = None,
) -> Solution:
    """Find a short winning line: search again and again for fewer steps until the budget is spent.

    Arguments, result and errors are those of ``solve``; the line is not proved to be the shortest.
    """
    game = Game.start(ruleset, position, autoplay)
    best = solve(
        ruleset,
        position,
        autoplay,
        budget=budget,
        progress=progress,
        is_cancelled=is_cancelled,
    )
    nodes = best.nodes
    if best.verdict is not Verdict.WON:
        return best
    for weights in _SHORT_STAGES:
        steps = best.length - (len(PACK) - position.cards_home)
        found = Search(ruleset, weights).run(
            position,
            min(budget - nodes, budget // len(_SHORT_STAGES)),
            below=steps,
            watch=_watch(nodes, progress, is_cancelled),
        )
        nodes += found.nodes
        if found.steps is not None:
            best = _won(game, found.steps, nodes)
        if found.exhausted or nodes >= budget:
            break
    return replace(best, nodes=nodes)


def _watch(before: int, progress: Watch | None, is_cancelled: Callable[[], bool] | None) -> Watch:
    def watch(nodes: int) -> None:
        if is_cancelled is not None and is_cancelled():
            raise Cancelled("the search was cancelled")
        if progress is not None:
            progress(before + nodes)

    return watch


def _won(game: Game, steps: tuple[Step, ...], nodes: int) -> Solution:
    """Play the steps, and what goes home between them, in the engine."""
    game = _sent_home(game)
    for step in steps:
        game = _sent_home(game.play(_move(game.position, step)))
    assert game.status is Status.WON, "the solver's line does not win"
    moves = tuple(action for action in game.actions if isinstance(action, Move))
    return Solution(Verdict.WON, moves, game.moves, nodes)


def _sent_home(game: Game) -> Game:
    """Send home what the search takes to be home already."""
    while game.status is Status.PLAYING:
        going = wanted(game.ruleset, game.position.home)
        place = next((place for place, pile in _piles(game.position) if pile[-1] in going), None)
        if place is None:
            return game
        game = game.play(Move(place, HOME))
    return game


def _move(position: Position, step: Step) -> Move:
    """Move that makes a step on a board whose columns and cells are in no order."""
    source, pile = next((place, pile) for place, pile in _piles(position) if step.card in pile)
    if step.onto == TO_HOME:
        return Move(source, HOME)
    if step.onto == TO_CELL:
        return Move(source, FIRST_CELL + position.cells.index(NO_CARDS))
    if step.onto == TO_EMPTY:
        count = len(pile) - pile.index(step.card)
        return Move(source, position.columns.index(NO_CARDS), count if count > 1 else None)
    return Move(source, next(place for place, pile in _piles(position) if pile[-1] == step.onto))


def _piles(position: Position) -> Iterator[tuple[int, bytes]]:
    """Columns and cells that hold cards, with their places."""
    yield from ((place, pile) for place, pile in enumerate(position.columns) if pile)
    yield from ((place, pile) for place, pile in enumerate(position.cells, FIRST_CELL) if pile)
