"""The rooms of a server put together, all but those that touch sockets, disks and signals."""

from collections.abc import Callable
from dataclasses import dataclass

from cellmates.protocol import GameExpired

from . import views
from .boards import Page
from .clock import Clock
from .conversation import Application
from .dailies import Dailies
from .daily_handlers import DailyHandlers
from .doorkeeper import Doorkeeper
from .game import EXPIRED, LiveGame
from .games import MOST_LIVE, MOST_UNFINISHED, Games
from .hall import Hall
from .handlers import Handlers
from .journal import Journal
from .keeper import Keeper
from .live_boards import LiveBoards
from .metrics import Metrics
from .planner import Planner, Solve
from .players import Players
from .rates import Rates
from .vault import Vault


@dataclass(frozen=True, slots=True)
class Chance:
    """Where the server has everything from that nobody can foresee.

    ``below(n)`` is a number from 0 to n - 1, ``seed(n)`` is n bytes.
    """

    new_id: Callable[[], str]
    new_token: Callable[[], str]
    below: Callable[[int], int]
    seed: Callable[[int], bytes]


class House:
    """The rooms by their names."""

    def __init__(
        self,
        journal: Journal,
        clock: Clock,
        vault: Vault,
        *,
        chance: Chance,
        solve: Solve,
        timer: Callable[[], float],
        metrics: Metrics,
        rates: Rates,
        most_live: int = MOST_LIVE,
        most_unfinished: int = MOST_UNFINISHED,
    ) -> None:
        """``timer`` gives seconds since some moment, for the metrics."""
        self.metrics = metrics
        self.boards = LiveBoards(journal, clock, self._board_changed)
        self.hall = Hall(self.boards)
        self.games = Games(
            journal,
            clock,
            chance.new_id,
            chance.below,
            evicted=metrics.evicted,
            attempt_ended=self._attempt_ended,
            most_live=most_live,
            most_unfinished=most_unfinished,
        )
        self.keeper = Keeper(journal, clock, vault, self.games, metrics)
        self.planner = Planner(
            journal, clock, vault, solve=solve, draw_seed=chance.seed, metrics=metrics
        )
        self.doorkeeper = Doorkeeper(journal, clock, self.hall)
        dailies = Dailies(journal, clock, vault)
        self.handlers = Handlers(
            daily=DailyHandlers(dailies, self.games, self.boards),
            dailies=dailies,
            games=self.games,
            players=Players(journal, clock, chance.new_id, chance.new_token),
            journal=journal,
            clock=clock,
            audience=self.hall,
            limits=rates.limits,
        )
        self.application = Application(
            hall=self.hall,
            handlers=self.handlers,
            clock=clock,
            rates=rates,
            metrics=metrics,
            timer=timer,
            below=chance.below,
        )

    def _attempt_ended(self, live: LiveGame) -> None:
        self.boards.ended()
        if live.status == EXPIRED:
            game = live.record.id
            self.metrics.expired(1)
            self.hall.tell(game, GameExpired(game, live.summary.elapsed_ms))

    def _board_changed(self, challenge: str, board: str, kind: str, page: Page) -> None:
        key = challenge, board, kind
        self.hall.board_changed(key, views.board_changed(key, page))
