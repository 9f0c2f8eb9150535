"""Live games, and their one-at-a-time order: decide, record, apply, answer.

A game that nobody uses leaves memory and comes back by replay. When recording fails or is cut off,
it is unknown whether the entry is there: the game is retired and read again; the journal decides.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from msgspec.structs import replace

from cellmates.engine import LAST_RANDOM, Action, Autoplay, Deal, Game, Ruleset

from .clock import Clock
from .game import RANKED, BrokenGame, Decision, LiveGame, Made, hash_at_start, summary_of
from .journal import Journal, SeqTaken
from .records import Attempt, GameRecord, PlayerRecord

UNFINISHED = "playing"
IMPOSSIBLE = 11_982  # the one deal of the classic 32 000 that FreeCell cannot be won with
MOST_UNFINISHED = 200
MOST_LIVE = 2_000  # a game of 120 actions takes some 60 kB, and 0.6 ms to come back


class NoSuchGame(Exception):
    """There is no game with this id for this player."""


class TooManyGames(Exception):
    """The player has as many unfinished games as one may have."""


@dataclass(slots=True)
class _Seat:
    """A game's place in memory, and the turn that one action at a time takes.

    ``is_fresh`` says that the game was read from the journal in this turn.
    """

    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    live: LiveGame | None = None
    is_fresh: bool = False
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
        evicted: Callable[[int], None],
        attempt_ended: Callable[[LiveGame], None],
        most_live: int = MOST_LIVE,
        most_unfinished: int = MOST_UNFINISHED,
    ) -> None:
        """``new_id`` gives ids that nobody can guess; ``draw(n)`` a chance number below n.

        ``evicted`` is told how many games have left memory, ``attempt_ended`` of each attempt at a
        challenge whose end this process has recorded.
        """
        self._journal = journal
        self._clock = clock
        self._new_id = new_id
        self._draw = draw
        self._most_live = most_live
        self._most_unfinished = most_unfinished
        self._evicted = evicted
        self._attempt_ended = attempt_ended
        self._seats: OrderedDict[str, _Seat] = OrderedDict()

    @property
    def live(self) -> int:
        """Number of games in memory."""
        return len(self._seats)

    async def start(
        self,
        player: PlayerRecord,
        ruleset: Ruleset,
        deal: Deal | None,
        autoplay: Autoplay,
        attempt: Attempt | None = None,
    ) -> LiveGame:
        """Begin a game of a deal, or of a random one where none is given.

        ``attempt`` says of which challenge it is an attempt. A ranked one may always begin.

        Raises:
            GameTaken: the player has begun this attempt before.
            TooManyGames: the player has as many unfinished games as one may have.
            StorageError: it is unknown whether the game has begun.
        """
        if attempt is None or attempt.number != RANKED:
            await self._check_room(player)
        deal = deal or self._random()
        state = Game.start(ruleset, deal, autoplay)
        started = self._clock.now_ms()
        record = GameRecord(
            id=self._new_id(),
            player=player.id,
            ruleset=ruleset.name,
            ruleset_version=ruleset.version,
            deal=str(deal),
            autoplay=autoplay,
            challenge=attempt.challenge if attempt else None,
            attempt=attempt.number if attempt else None,
            started=started,
            summary=summary_of(state, None, started),
        )
        record = _with_first_hash(record)
        await self._journal.create_game(record)
        seat = self._seats[record.id] = _Seat(began_ms=self._clock.monotonic_ms())
        seat.live = LiveGame(record, [])
        self._evict()
        return seat.live

    async def _check_room(self, player: PlayerRecord) -> None:
        unfinished = await self._journal.games_of(
            player.id, status=UNFINISHED, before=None, limit=self._most_unfinished
        )
        if len(unfinished) >= self._most_unfinished:
            raise TooManyGames(
                f"you have {len(unfinished)} unfinished games: end one of them first"
            )

    def _random(self) -> Deal:
        """One of the classic deals, but the one that nobody can win."""
        number = 1 + self._draw(LAST_RANDOM - 1)
        return Deal.numbered(number if number < IMPOSSIBLE else number + 1)

    async def open(self, player: PlayerRecord, game: str) -> LiveGame:
        """Return a player's game as it stands, whatever process has gone on with it.

        Raises:
            NoSuchGame: there is none with this id, or it is another's.
            StorageError: the database did not answer.
        """
        async with _Turn(self, game, player) as (seat, live):
            live = await self._fresh(seat, live)
            return await self._expire(seat, live) if self._is_overdue(seat, live) else live

    async def glance(self, player: PlayerRecord, game: str) -> LiveGame:
        """Return a player's game as this process has it, which may be a little behind.

        Raises:
            NoSuchGame: there is none with this id, or it is another's.
            StorageError: the game was not in memory, and the database did not answer.
        """
        async with _Turn(self, game, player) as (_, live):
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
        async with _Turn(self, game, player) as (seat, live):
            if seq > live.seq + 1:  # another process may have gone on with it
                live = await self._fresh(seat, live)
            if self._is_overdue(seat, live):
                live = await self._expire(seat, live)
            decision = self._decide(seat, live, action, seq)
            if isinstance(decision, Made):
                return live, decision
            ended = live.attempt if decision.summary.status != UNFINISHED else None
            try:
                await self._journal.append(game, decision.entry, decision.summary, ended)
            except SeqTaken:
                return await self._overtaken(seat, game, action, seq)
            except BaseException:
                seat.live = None
                raise
            made = live.apply(decision)
            if ended is not None:
                self._attempt_ended(live)
            return live, made

    async def expire(self, game: str) -> None:
        """End a ranked attempt whose time is over; where it has ended meanwhile, do nothing.

        Raises:
            NoSuchGame: there is none with this id.
            StorageError: it is unknown whether it has ended.
        """
        async with _Turn(self, game, None) as (seat, live):
            if self._is_overdue(seat, live):
                await self._expire(seat, live)

    def elapsed_ms(self, live: LiveGame) -> int:
        """Time that a game has taken, up to now or to its end."""
        seat = self._seats.get(live.record.id)
        if live.status != UNFINISHED or seat is None:
            return live.summary.elapsed_ms
        return max(self._passed_ms(seat), live.summary.elapsed_ms)

    async def _fresh(self, seat: _Seat, live: LiveGame) -> LiveGame:
        """A game as the journal has it: read again if another process has changed it."""
        if seat.is_fresh:
            return live
        record = await self._journal.game(live.record.id)
        if record is not None:
            kept = record.summary
            if (kept.seq, kept.status) == (live.seq, live.status):
                return live
        seat.live = None
        return await self._load(seat, live.record.id)

    def _is_overdue(self, seat: _Seat, live: LiveGame) -> bool:
        """Whether a game goes on whose time is over, by the wall clock or by what it has taken."""
        if live.deadline is None or live.status != UNFINISHED:
            return False
        now = max(self._clock.now_ms(), live.record.started + self._passed_ms(seat))
        return now >= live.deadline

    async def _expire(self, seat: _Seat, live: LiveGame) -> LiveGame:
        """End an attempt, and return it; read again where another process was faster."""
        assert live.attempt is not None, "only attempts have a deadline"
        summary = live.expired()
        try:
            await self._journal.expire(live.record.id, summary, live.attempt)
        except SeqTaken:
            seat.live = None
            return await self._load(seat, live.record.id)
        except BaseException:
            seat.live = None
            raise
        live.expire(summary)
        self._attempt_ended(live)
        return live

    def _passed_ms(self, seat: _Seat) -> int:
        return self._clock.monotonic_ms() - seat.began_ms

    def _decide(self, seat: _Seat, live: LiveGame, action: Action, seq: int) -> Decision | Made:
        return live.decide(action, seq, self._passed_ms(seat))

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

    async def take_turn(self, game: str, player: PlayerRecord | None) -> tuple[_Seat, LiveGame]:
        """Hold a game alone, until ``end_turn``; where a player is given, only if it is theirs.

        Raises:
            NoSuchGame: there is none with this id, or it is another's. Nobody's turn has begun.
            StorageError: the game was not in memory, and the database did not answer. As above.
        """
        seat = self._seats.get(game)
        if seat is None:
            seat = self._seats[game] = _Seat()
        else:
            self._seats.move_to_end(game)
        seat.waiting += 1
        try:
            await seat.turn.acquire()
        except BaseException:
            self._leave(seat, game)
            raise
        try:
            seat.is_fresh = False
            live = seat.live or await self._load(seat, game)
            if player is not None and live.record.player != player.id:
                raise NoSuchGame(f"you have no game {game[:32]!r}")
        except BaseException:
            self.end_turn(seat, game)
            raise
        return seat, live

    def end_turn(self, seat: _Seat, game: str) -> None:
        """Let the next one have its turn."""
        seat.turn.release()
        self._leave(seat, game)

    def _leave(self, seat: _Seat, game: str) -> None:
        seat.waiting -= 1
        if seat.live is None and not seat.waiting:
            self._seats.pop(game, None)
        self._evict()

    async def _load(self, seat: _Seat, game: str) -> LiveGame:
        record = await self._journal.game(game)
        if record is None:
            raise NoSuchGame(f"you have no game {game[:32]!r}")
        # Only as far as the record tells: another process may have gone on between the two reads.
        live = LiveGame(record, await self._journal.entries(game, limit=record.summary.seq))
        passed = max(self._clock.now_ms() - record.started, live.summary.elapsed_ms)
        seat.began_ms = self._clock.monotonic_ms() - passed
        seat.live = live
        seat.is_fresh = True
        return live

    def _evict(self) -> None:
        """Let go of the games that were used longest ago, but of none that is being played now."""
        surplus = len(self._seats) - self._most_live
        if surplus > 0:
            idle = (game for game, seat in self._seats.items() if not seat.waiting)
            leaving = [game for game, _ in zip(idle, range(surplus), strict=False)]
            for game in leaving:
                del self._seats[game]
            self._evicted(len(leaving))


class _Turn:
    """A game's turn, as a context; made of a generator it would cost three times as much."""

    __slots__ = ("_game", "_games", "_player", "_seat")

    def __init__(self, games: Games, game: str, player: PlayerRecord | None) -> None:
        self._games = games
        self._game = game
        self._player = player

    async def __aenter__(self) -> tuple[_Seat, LiveGame]:
        self._seat, live = await self._games.take_turn(self._game, self._player)
        return self._seat, live

    async def __aexit__(self, *_: object) -> None:
        self._games.end_turn(self._seat, self._game)


def _with_first_hash(record: GameRecord) -> GameRecord:
    summary = replace(record.summary, hash=hash_at_start(record))
    return replace(record, summary=summary)
