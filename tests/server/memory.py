"""A real journal that keeps everything in memory, with faults to order."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from cellmates.daily import FIRST, Figures, order_of
from server.journal import ChallengeTaken, GameTaken, HandleTaken, Missing, SeqTaken, StorageError
from server.records import (
    Attempt,
    ChallengeRecord,
    Entry,
    GameRecord,
    PlayerRecord,
    Result,
    Run,
    Summary,
    Told,
)


@dataclass
class ManualClock:
    """Clocks that stand still until a test moves them."""

    now: int = 1_800_000_000_000
    monotonic: int = 5_000_000

    def now_ms(self) -> int:
        return self.now

    def monotonic_ms(self) -> int:
        return self.monotonic

    def pass_ms(self, span: int) -> None:
        self.now += span
        self.monotonic += span


@dataclass
class MemoryJournal:
    """``fail_before`` and ``fail_after`` make the next write fail without or with its effect.

    ``ended`` has the runs by number; a number in ``uncommitted`` is handed out and not seen yet, as
    when another process still commits it. ``validity`` has why a game does not count.
    """

    games: dict[str, GameRecord] = field(default_factory=dict)
    rows: dict[str, list[Entry]] = field(default_factory=dict)
    closed: set[str] = field(default_factory=set)
    challenges: dict[str, ChallengeRecord] = field(default_factory=dict)
    ended: dict[int, Run] = field(default_factory=dict)
    uncommitted: set[int] = field(default_factory=set)
    validity: dict[str, str] = field(default_factory=dict)
    players: dict[str, PlayerRecord] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    changed: dict[str, int] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)
    fail_before: bool = False
    fail_after: bool = False
    is_away: bool = False
    seq_is_taken: bool = False
    reads: int = 0
    gate: asyncio.Event | None = None

    # -- Games -------------------------------------------------------------------------------------

    async def create_game(self, record: GameRecord) -> None:
        if (record.challenge is None) != (record.attempt is None):
            raise ValueError("an attempt without challenge, or the other way round")
        await self._before()
        if record.id in self.games or self._is_taken(record):
            raise GameTaken
        if record.player not in self.kinds:
            raise Missing
        self.games[record.id] = record
        self.rows[record.id] = []
        self._after()

    async def append(
        self, game: str, entry: Entry, after: Summary, attempt: Attempt | None = None
    ) -> None:
        if (after.seq, after.hash) != (entry.seq, entry.hash):
            raise ValueError("the summary is of another entry")
        figures = figures_of(after, attempt) if attempt else None
        await self._before()
        self._claim(game, entry.seq)
        self.rows[game].append(entry)
        self.games[game] = replace(self.games[game], summary=after)
        if attempt and figures:
            self._end(game, attempt, figures)
        self._after()

    async def expire(self, game: str, after: Summary, attempt: Attempt) -> None:
        figures = figures_of(after, attempt)
        await self._before()
        self._claim(game, after.seq + 1)
        self.games[game] = replace(self.games[game], summary=after)
        self._end(game, attempt, figures)
        self._after()

    async def game(self, game: str) -> GameRecord | None:
        self._read()
        return self.games.get(game)

    async def entries(self, game: str, after: int = 0, limit: int | None = None) -> list[Entry]:
        self._read()
        found = [entry for entry in self.rows.get(game, []) if entry.seq > after]
        return found[:limit]

    async def games_of(
        self, player: str, *, status: str | None, before: tuple[int, str] | None, limit: int
    ) -> list[GameRecord]:
        self._read()
        mine = [
            game
            for game in self.games.values()
            if game.player == player
            and status in (None, game.summary.status)
            and (before is None or (game.started, game.id) < before)
        ]
        return sorted(mine, key=lambda game: (game.started, game.id), reverse=True)[:limit]

    async def results_of(self, player: str) -> list[Result]:
        self._read()
        mine = [game for game in self.games.values() if game.player == player]
        results = []
        for ruleset in sorted({game.ruleset for game in mine}):
            played = [game.summary for game in mine if game.ruleset == ruleset]
            won = [summary for summary in played if summary.status == "won"]
            results.append(
                Result(
                    ruleset,
                    len(played),
                    len(won),
                    min((summary.elapsed_ms for summary in won), default=None),
                    min((summary.moves for summary in won), default=None),
                )
            )
        return results

    # -- Challenges --------------------------------------------------------------------------------

    async def create_challenge(self, record: ChallengeRecord) -> None:
        await self._before()
        deals = {(other.day, other.ruleset) for other in self.challenges.values()}
        if record.id in self.challenges or (record.day, record.ruleset) in deals:
            raise ChallengeTaken
        self.challenges[record.id] = replace(record, told=None)
        self._after()

    async def challenge(self, challenge: str) -> ChallengeRecord | None:
        self._read()
        return self.challenges.get(challenge)

    async def challenges_of(self, day: str) -> list[ChallengeRecord]:
        self._read()
        found = [record for record in self.challenges.values() if record.day == day]
        return sorted(found, key=lambda record: record.ruleset)

    async def challenge_before(self, ruleset: str, day: str) -> ChallengeRecord | None:
        self._read()
        found = [
            record
            for record in self.challenges.values()
            if record.ruleset == ruleset and record.day < day
        ]
        return max(found, key=lambda record: record.day, default=None)

    async def untold(self, closed_at: int) -> list[ChallengeRecord]:
        self._read()
        found = [
            record
            for record in self.challenges.values()
            if record.told is None and record.closes <= closed_at
        ]
        return sorted(found, key=lambda record: record.id)

    async def tell(self, challenge: str, told: Told) -> None:
        await self._before()
        if challenge not in self.challenges:
            raise Missing
        record = self.challenges[challenge]
        self.challenges[challenge] = replace(record, told=record.told or told)
        self._after()

    # -- Attempts and runs -------------------------------------------------------------------------

    async def attempts_of(self, player: str, challenges: Sequence[str]) -> list[GameRecord]:
        self._read()
        found = {
            game.challenge: game
            for game in self.games.values()
            if game.player == player and game.challenge in challenges and game.attempt == 1
        }
        return [found[challenge] for challenge in sorted(set(challenges)) if challenge in found]

    async def last_attempt(self, player: str, challenge: str) -> int:
        self._read()
        return max(
            (
                game.attempt
                for game in self.games.values()
                if game.player == player and game.challenge == challenge and game.attempt
            ),
            default=0,
        )

    async def under_way(self, challenge: str) -> list[GameRecord]:
        self._read()
        found = [
            game
            for game in self.games.values()
            if game.challenge == challenge
            and game.attempt == 1
            and game.summary.status == "playing"
        ]
        return sorted(found, key=lambda game: game.id)

    async def overdue(self, closed_at: int) -> list[GameRecord]:
        self._read()
        found = [
            game
            for game in self.games.values()
            if game.challenge is not None
            and (game.attempt, game.summary.status) == (1, "playing")
            and self.challenges[game.challenge].closes <= closed_at
        ]
        return sorted(found, key=lambda game: game.id)

    async def runs(self, challenge: str, after: Run | None, limit: int) -> list[Run]:
        self._read()
        found = [run for run in self._seen() if run.challenge == challenge]
        found = sorted(found, key=place_of)
        return [run for run in found if after is None or place_of(run) > place_of(after)][:limit]

    async def runs_since(self, number: int, gaps: Sequence[int], limit: int) -> list[Run]:
        self._read()
        return [run for run in self._seen() if run.number > number or run.number in gaps][:limit]

    async def last_run(self) -> int:
        self._read()
        return max(self.ended.keys() - self.uncommitted, default=0)

    async def days_won(self, player: str) -> list[tuple[str, str]]:
        self._read()
        won = {
            game.challenge
            for game in self.games.values()
            if game.player == player
            and game.attempt == 1
            and game.summary.status == "won"
            and game.id not in self.validity
        }
        return sorted(
            (record.ruleset, record.day) for record in self.challenges.values() if record.id in won
        )

    # -- Players -----------------------------------------------------------------------------------

    async def create_player(self, player: PlayerRecord, handle_key: str, token_hash: str) -> None:
        await self._before()
        if handle_key in self.keys or player.id in self.kinds:
            raise HandleTaken
        self.players[player.id] = player
        self.kinds[player.id] = player.kind
        self.keys[handle_key] = player.id
        self.tokens[token_hash] = player.id
        self._after()

    async def player_by_token(self, token_hash: str) -> PlayerRecord | None:
        self._read()
        return self.players.get(self.tokens.get(token_hash, ""))

    async def player_by_key(self, handle_key: str) -> PlayerRecord | None:
        self._read()
        return self.players.get(self.keys.get(handle_key, ""))

    async def player(self, player: str) -> PlayerRecord | None:
        self._read()
        return self.players.get(player)

    async def rename_player(self, player: str, handle: str, handle_key: str, now: int) -> None:
        await self._before()
        if player not in self.players:
            raise Missing
        if self.keys.get(handle_key, player) != player:
            raise HandleTaken
        self.keys = {key: owner for key, owner in self.keys.items() if owner != player}
        self.keys[handle_key] = player
        self.players[player] = replace(self.players[player], handle=handle)
        self.changed[player] = now
        self._after()

    async def set_token(self, player: str, token_hash: str, now: int) -> None:
        await self._before()
        if player not in self.players:
            raise Missing
        self.tokens = {token: owner for token, owner in self.tokens.items() if owner != player}
        self.tokens[token_hash] = player
        self.changed[player] = now
        self._after()

    async def delete_player(self, player: str, now: int) -> None:
        await self._before()
        self.keys = {key: owner for key, owner in self.keys.items() if owner != player}
        self.tokens = {token: owner for token, owner in self.tokens.items() if owner != player}
        if self.players.pop(player, None):
            self.changed[player] = now
        self._after()

    async def handles_since(self, changed: int) -> dict[str, str | None]:
        self._read()
        return {
            player: self._handle(player) for player, at in self.changed.items() if at >= changed
        }

    async def tokens_since(self, changed: int) -> dict[str, str | None]:
        self._read()
        hashes = {player: digest for digest, player in self.tokens.items()}
        return {player: hashes.get(player) for player, at in self.changed.items() if at >= changed}

    async def check(self) -> None:
        self._read()

    # -- Within ------------------------------------------------------------------------------------

    def _is_taken(self, record: GameRecord) -> bool:
        attempt = (record.challenge, record.player, record.attempt)
        return record.attempt is not None and any(
            (game.challenge, game.player, game.attempt) == attempt for game in self.games.values()
        )

    def _claim(self, game: str, seq: int) -> None:
        if game not in self.games:
            raise Missing
        if self.seq_is_taken or game in self.closed or seq <= len(self.rows[game]):
            raise SeqTaken

    def _end(self, game: str, attempt: Attempt, figures: Figures) -> None:
        self.closed.add(game)
        number = max(self.ended.keys() | self.uncommitted, default=0) + 1
        # Kind and handle are those that the player has when the run is read.
        self.ended[number] = Run(number, game, attempt.challenge, attempt.player, "", None, figures)

    def _seen(self) -> list[Run]:
        return [
            replace(run, kind=self.kinds[run.player], handle=self._handle(run.player))
            for number, run in sorted(self.ended.items())
            if number not in self.uncommitted and run.game not in self.validity
        ]

    def _handle(self, player: str) -> str | None:
        found = self.players.get(player)
        return found.handle if found else None

    def _read(self) -> None:
        self.reads += 1
        if self.is_away:
            raise StorageError("away")

    async def _before(self) -> None:
        if self.gate is not None:
            await self.gate.wait()
        if self.is_away or self.fail_before:
            self.fail_before = False
            raise StorageError("away")

    def _after(self) -> None:
        if self.fail_after:
            self.fail_after = False
            raise StorageError("the answer was lost")


def figures_of(after: Summary, attempt: Attempt) -> Figures:
    if after.ended is None:
        raise ValueError("an attempt that has ended without a time")
    return Figures(
        after.home, after.elapsed_ms, after.moves, after.undos, attempt.number, after.ended
    )


def place_of(run: Run) -> tuple[int, ...]:
    return *order_of(FIRST, run.figures), run.number
