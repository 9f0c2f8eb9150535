"""A player that thinks with the solver: it finds a line and plays it, move by move."""

import asyncio
import threading
from collections.abc import Callable
from typing import TypeAlias

from cellmates.engine import RULESETS, SUITS, Autoplay, Position
from cellmates.solver import Solution, Verdict, solve_short

from .errors import ServerError, Unavailable, WrongFrame
from .game import Game
from .results import View

Say: TypeAlias = Callable[[str], None]


async def play_out(game: Game, *, pace_s: float = 0.0, say: Say | None = None) -> Verdict:
    """Play a game to its end from where it stands; what the solver has shown of it.

    A game that is proved lost is resigned, one that is ``unknown`` is left as it is. ``pace_s`` is
    waited before each move but the first; ``say`` is told how far it is. The clock may end the game
    before the last move; the game's view says so then.

    Raises:
        Unavailable: the ruleset is not known here.
        ClientError: as by ``Game.move``.
    """
    solution = await _solved(game.view, say)
    try:
        if solution.verdict is Verdict.LOST:
            await game.resign()
        for number, move in enumerate(solution.moves, 1):
            await asyncio.sleep(pace_s if number > 1 else 0)
            if say is not None:
                say(f"move {number} of {len(solution.moves)}")
            await game.move(str(move))
    except ServerError as error:
        if error.code != "game-over":
            raise
    return solution.verdict


def position_of(view: View) -> Position:
    """Where the cards of a game lie, as the solver has it.

    Raises:
        WrongFrame: those are no cards.
    """
    home = " ".join(str(view.home.get(suit, 0)) for suit in SUITS)
    cells = " ".join(card or "-" for card in view.cells)
    try:
        return Position.of([" ".join(column) for column in view.columns], cells, home)
    except ValueError as error:
        raise WrongFrame(f"the board from the server has no such cards: {error}") from None


async def _solved(view: View, say: Say | None) -> Solution:
    """Search in a thread of its own, so that the server's pings are answered meanwhile."""
    ruleset = RULESETS.get(view.ruleset)
    if ruleset is None or ruleset.version != view.ruleset_version:
        raise Unavailable(f"{view.ruleset} {view.ruleset_version} is not known to this client")
    position, autoplay = position_of(view), Autoplay(view.autoplay)
    cancelled = threading.Event()
    try:
        return await asyncio.to_thread(
            solve_short,
            ruleset,
            position,
            autoplay,
            progress=None if say is None else lambda nodes: say(f"{nodes:,} positions searched"),
            is_cancelled=cancelled.is_set,
        )
    finally:
        cancelled.set()
