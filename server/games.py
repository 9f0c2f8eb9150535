"""Live games, and their one-at-a-time order: decide, record, apply, answer.

A game that nobody uses leaves memory and comes back by replay. When recording fails or is cut off,
it is unknown whether the entry is there: the game is retired and read again; the journal decides.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

from cellmates.engine import LAST_RANDOM, Action, Autoplay, Deal, Game, Ruleset

from .clock import Clock
from .game import BrokenGame, Decision, LiveGame, Made, hash_at_start, summary_of
from .journal import GameRecord, Journal, PlayerRecord, SeqTaken

UNFINISHED = "playing"
MOST_UNFINISHED = 200
MOST_LIVE = 2_000  # a game of 120 actions takes some 60 kB, and 0.6 ms to come back


class NoSuchGame(Exception):
    """There is no game with this id for this player."""


class TooManyGames(Exception):
    """The player has as many unfinished games as one may have."""


@dataclass(slots=True)
class _Seat:
    """A game's place in memory, and the turn that one action at a time takes."""

    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    live: LiveGame | None = None
    began_ms: int = 0
    waiting: int = 0


class Games:
    """All games that this process serves."""

    def __init__(
        self,
        journal: Journal,
        clock: Clock,
        new_id: Callable[[], str],
        draw: Callable[[int], int],
        *,
        most_live: int = MOST_LIVE,
        most_unfinished: int = MOST_UNFINISHED,
    ) -> None:
        """``new_id`` gives ids that nobody can guess; ``draw(n)`` a chance number below n."""
        self._journal = journal
        self._clock = clock
        self._new_id = new_id
        self._draw = draw
        self._most_live = most_live
        self._most_unfinished = most_unfinished
        self._seats: OrderedDict[str, _Seat] = OrderedDict()

    @property
    def live(self) -> int:
        """Number of games in memory."""
        return len(self._seats)

    async def start(
        self, player: PlayerRecord, ruleset: Ruleset, deal: Deal | None, autoplay: Autoplay
    ) -> LiveGame:
        """Begin a game of a deal, or of a random one where none is given.

        Raises:
            TooManyGames: the player has as many unfinished games as one may have.
            StorageError: it is unknown whether the game has begun.
        """
        unfinished = await self._journal.games_of(
            player.id, status=UNFINISHED, before=None, limit=self._most_unfinished
        )
        if len(unfinished) >= self._most_unfinished:
            raise TooManyGames(
                f"you have {len(unfinished)} unfinished games: end one of them first"
            )
        deal = deal or Deal.numbered(1 + self._draw(LAST_RANDOM))
        state = Game.start(ruleset, deal, autoplay)
        record = GameRecord(
            id=self._new_id(),
            player=player.id,
            ruleset=ruleset.name,
            ruleset_version=ruleset.version,
            deal=str(deal),
            autoplay=autoplay,
            challenge=None,
            attempt=None,
            started=self._clock.now_ms(),
            summary=summary_of(state, None, self._clock.now_ms()),
        )
        record = _with_first_hash(record)
        await self._journal.create_game(record)
        seat = self._seats[record.id] = _Seat(began_ms=self._clock.monotonic_ms())
        seat.live = LiveGame(record, [])
        self._evict()
        return seat.live

    async def open(self, player: PlayerRecord, game: str) -> LiveGame:
        """Return a player's game as it stands.

        Raises:
            NoSuchGame: there is none with this id, or it is another's.
            StorageError: the database did not answer.
        """
        async with self._turn(player, game) as (_, live):
            return live

    async def act(
        self, player: PlayerRecord, game: str, action: Action, seq: int
    ) -> tuple[LiveGame, Made]:
        """Make one action of a player's game, once; return the game and what was made.

        Raises:
            NoSuchGame: there is no such game, or it is another's.
            Conflict: the seq holds another action, or leaves a gap.
            GameOver: the game has ended.
            Refusal: the rules refuse the action. Nothing has changed, here and above.
            StorageError: it is unknown whether the action is recorded; sending it again tells.
        """
        async with self._turn(player, game) as (seat, live):
            decision = self._decide(seat, live, action, seq)
            if isinstance(decision, Made):
                return live, decision
            try:
                await self._journal.append(game, decision.entry, decision.summary)
            except SeqTaken:
                return await self._overtaken(seat, game, action, seq)
            except BaseException:
                seat.live = None
                raise
            return live, live.apply(decision)

    def elapsed_ms(self, live: LiveGame) -> int:
        """Time that a game has taken, up to now or to its end."""
        seat = self._seats.get(live.record.id)
        if live.status != UNFINISHED or seat is None:
            return live.summary.elapsed_ms
        return max(self._clock.monotonic_ms() - seat.began_ms, live.summary.elapsed_ms)

    def _decide(self, seat: _Seat, live: LiveGame, action: Action, seq: int) -> Decision | Made:
        at_ms = self._clock.monotonic_ms() - seat.began_ms
        return live.decide(action, seq, at_ms, self._clock.now_ms())

    async def _overtaken(
        self, seat: _Seat, game: str, action: Action, seq: int
    ) -> tuple[LiveGame, Made]:
        """Another process has claimed the seq: read the game again, which tells with what."""
        seat.live = None
        live = await self._load(seat, game)
        decision = self._decide(seat, live, action, seq)
        if isinstance(decision, Made):
            return live, decision
        raise BrokenGame(f"game {game}: entry {seq} is taken, and not there")

    @asynccontextmanager
    async def _turn(self, player: PlayerRecord, game: str) -> AsyncIterator[tuple[_Seat, LiveGame]]:
        seat = self._seats.setdefault(game, _Seat())
        self._seats.move_to_end(game)
        seat.waiting += 1
        try:
            async with seat.turn:
                live = seat.live or await self._load(seat, game)
                if live.record.player != player.id:
                    raise NoSuchGame(f"you have no game {game[:32]!r}")
                yield seat, live
        finally:
            seat.waiting -= 1
            if seat.live is None and not seat.waiting:
                self._seats.pop(game, None)
            self._evict()

    async def _load(self, seat: _Seat, game: str) -> LiveGame:
        record = await self._journal.game(game)
        if record is None:
            raise NoSuchGame(f"you have no game {game[:32]!r}")
        live = LiveGame(record, await self._journal.entries(game))
        passed = max(self._clock.now_ms() - record.started, live.summary.elapsed_ms)
        seat.began_ms = self._clock.monotonic_ms() - passed
        seat.live = live
        return live

    def _evict(self) -> None:
        """Let go of the games that were used longest ago, but of none that is being played now."""
        surplus = len(self._seats) - self._most_live
        if surplus > 0:
            idle = (game for game, seat in self._seats.items() if not seat.waiting)
            for game in [game for game, _ in zip(idle, range(surplus), strict=False)]:
                del self._seats[game]


def _with_first_hash(record: GameRecord) -> GameRecord:
    summary = replace(record.summary, hash=hash_at_start(record))
    return replace(record, summary=summary)
