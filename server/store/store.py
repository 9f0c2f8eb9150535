"""``Store``: the journal in a database, SQLite or Postgres."""

import asyncio
from collections.abc import Sequence
from itertools import chain
from typing import Self

from sqlalchemy.exc import IntegrityError

from ..journal import ChallengeTaken, GameTaken, HandleTaken, Missing, SeqTaken, StorageError
from ..records import (
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
from . import statements as sql
from .engine import ANSWER_S, READERS, Engines, asking, is_missing, open_engines
from .rows import (
    AnyRow,
    challenge_row,
    challenges_of_rows,
    game_row,
    games_of_rows,
    rows_of_entry,
    rows_of_expiry,
    runs_of_rows,
    told_row,
)
from .statements import AnySelect
from .values import check_values
from .writer import Kind, Observe, Refuse, Row, Rows, Writer

Value = str | int | Sequence[str] | Sequence[int]

ALIVE_S = 2.0  # a sign of life that takes longer is none


class Store:
    """A ``Journal``, whose docstrings hold here. Made by ``open``, within a running event loop.

    Several processes may have the same database open; on SQLite they take turns at writing.
    """

    def __init__(self, engines: Engines, answer_s: float, observe: Observe | None = None) -> None:
        self.engines = engines
        self._answer_s = answer_s
        self._writer = Writer(engines.write, answer_s, observe)
        self._readers = asyncio.Semaphore(READERS)
        self._is_open = True

    @classmethod
    async def open(
        cls,
        url: str,
        *,
        answer_s: float = ANSWER_S,
        allow_fsync_off: bool = False,
        observe: Observe | None = None,
    ) -> Self:
        """Connect to a database that has this server's tables: ``upgrade``, ``check`` see to it.

        One that has not answered within ``answer_s`` seconds is taken to be away.
        ``allow_fsync_off`` is for tests of speed: such a Postgres loses what it has acknowledged.
        ``observe`` is called after each commit with the number of its writes, and its seconds.

        Raises:
            BadDatabase: the URL names none that can be used, or it would not keep its promises.
            StorageError: it is away. Nothing is left open, here and above.
        """
        engines = open_engines(url, answer_s=answer_s, allow_fsync_off=allow_fsync_off)
        try:
            for engine in (engines.read, engines.write):
                async with asking(answer_s), engine.connect() as connection:
                    await connection.execute(sql.SIGN_OF_LIFE)
        except BaseException:
            await engines.dispose()
            raise
        return cls(engines, answer_s, observe)

    async def close(self) -> None:
        """Finish what waits and let go of the database; whatever is asked later is refused.

        Raises no error of the database: those who wait for an answer get it. Closing again does
        nothing.
        """
        if not self._is_open:
            return
        self._is_open = False
        try:
            await self._writer.close()
            for _ in range(READERS):  # until nobody reads any more
                await self._readers.acquire()
        finally:
            await self.engines.dispose()
        for _ in range(READERS):  # so that who still comes is told
            self._readers.release()

    # -- Games -------------------------------------------------------------------------------------

    async def create_game(self, record: GameRecord) -> None:
        """See ``Journal``."""
        await self._write(sql.CREATE_GAME, record.id, ([game_row(record)],), _refuse_game)

    async def append(
        self, game: str, entry: Entry, after: Summary, attempt: Attempt | None = None
    ) -> None:
        """See ``Journal``."""
        rows = rows_of_entry(game, entry, after, attempt)
        await self._write(sql.APPEND, game, rows, _refuse_entry)

    async def expire(self, game: str, after: Summary, attempt: Attempt) -> None:
        """See ``Journal``."""
        rows = rows_of_expiry(game, after, attempt)
        await self._write(sql.APPEND, game, rows, _refuse_entry)

    async def game(self, game: str) -> GameRecord | None:
        """See ``Journal``."""
        games = games_of_rows(await self._read(sql.ONE_GAME, the_game=game))
        return games[0] if games else None

    async def entries(self, game: str, after: int = 0, limit: int | None = None) -> list[Entry]:
        """See ``Journal``."""
        if limit is None:
            rows = await self._read(sql.ENTRIES, the_game=game, the_seq=after)
        else:
            rows = await self._read(sql.SOME_ENTRIES, the_game=game, the_seq=after, the_limit=limit)
        return [Entry(*row) for row in rows]

    async def games_of(
        self, player: str, *, status: str | None, before: tuple[int, str] | None, limit: int
    ) -> list[GameRecord]:
        """See ``Journal``."""
        values: dict[str, str | int] = {"the_player": player, "the_limit": limit}
        if status is not None:
            values["the_status"] = status
        if before is not None:
            values["the_time"], values["the_game"] = before
        statement = sql.GAMES_OF[status is not None, before is not None]
        return games_of_rows(await self._read(statement, **values))

    async def results_of(self, player: str) -> list[Result]:
        """See ``Journal``."""
        return [Result(*row) for row in await self._read(sql.RESULTS, the_player=player)]

    # -- Challenges --------------------------------------------------------------------------------

    async def create_challenge(self, record: ChallengeRecord) -> None:
        """See ``Journal``."""
        row = challenge_row(record)
        await self._write(sql.CREATE_CHALLENGE, record.id, ([row],), _refuse_challenge)

    async def challenge(self, challenge: str) -> ChallengeRecord | None:
        """See ``Journal``."""
        return await self._challenge(sql.ONE_CHALLENGE, the_challenge=challenge)

    async def challenges_of(self, day: str) -> list[ChallengeRecord]:
        """See ``Journal``."""
        return challenges_of_rows(await self._read(sql.CHALLENGES_OF, the_day=day))

    async def challenge_before(self, ruleset: str, day: str) -> ChallengeRecord | None:
        """See ``Journal``."""
        return await self._challenge(sql.CHALLENGE_BEFORE, the_ruleset=ruleset, the_day=day)

    async def untold(self, closed_at: int) -> list[ChallengeRecord]:
        """See ``Journal``."""
        return challenges_of_rows(await self._read(sql.UNTOLD, the_time=closed_at))

    async def tell(self, challenge: str, told: Told) -> None:
        """See ``Journal``."""
        await self._write(sql.TELL, challenge, ([told_row(challenge, told)],), _miss_challenge)

    # -- Attempts and runs -------------------------------------------------------------------------

    async def attempts_of(self, player: str, challenges: Sequence[str]) -> list[GameRecord]:
        """See ``Journal``."""
        rows = await self._read(sql.ATTEMPTS_OF, the_player=player, the_challenges=challenges)
        return games_of_rows(rows)

    async def last_attempt(self, player: str, challenge: str) -> int:
        """See ``Journal``."""
        return await self._number(sql.LAST_ATTEMPT, the_player=player, the_challenge=challenge)

    async def under_way(self, challenge: str) -> list[GameRecord]:
        """See ``Journal``."""
        return games_of_rows(await self._read(sql.UNDER_WAY, the_challenge=challenge))

    async def overdue(self, closed_at: int) -> list[GameRecord]:
        """See ``Journal``."""
        return games_of_rows(await self._read(sql.OVERDUE, the_time=closed_at))

    async def runs(self, challenge: str, after: Run | None, limit: int) -> list[Run]:
        """See ``Journal``."""
        values: dict[str, str | int] = {"the_challenge": challenge, "the_limit": limit}
        if after is None:
            return runs_of_rows(await self._read(sql.RUNS, **values))
        values["the_home"] = after.figures.home
        place = {
            "the_elapsed_ms": after.figures.elapsed_ms,
            "the_moves": after.figures.moves,
            "the_undos": after.figures.undos,
            "the_number": after.number,
        }
        found = [*await self._read(sql.RUNS_BESIDE, **values, **place)]
        if len(found) < limit:
            values["the_limit"] = limit - len(found)
            found += await self._read(sql.RUNS_BELOW, **values)
        return runs_of_rows(found)

    async def runs_since(self, number: int, gaps: Sequence[int], limit: int) -> list[Run]:
        """See ``Journal``."""
        return runs_of_rows(
            await self._read(sql.RUNS_SINCE, the_number=number, the_gaps=gaps, the_limit=limit)
        )

    async def last_run(self) -> int:
        """See ``Journal``."""
        return await self._number(sql.LAST_RUN)

    async def days_won(self, player: str) -> list[tuple[str, str]]:
        """See ``Journal``."""
        rows = await self._read(sql.DAYS_WON, the_player=player)
        return [(row.ruleset, row.day) for row in rows]

    # -- Players -----------------------------------------------------------------------------------

    async def create_player(self, player: PlayerRecord, handle_key: str, token_hash: str) -> None:
        """See ``Journal``."""
        row: Row = {
            "the_player": player.id,
            "the_handle": player.handle,
            "the_key": handle_key,
            "the_kind": player.kind,
            "the_token": token_hash,
            "the_time": player.created,
        }
        await self._write(sql.CREATE_PLAYER, player.id, ([row],), _refuse_handle)

    async def player(self, player: str) -> PlayerRecord | None:
        """See ``Journal``."""
        return await self._player(sql.PLAYER, the_player=player)

    async def player_by_key(self, handle_key: str) -> PlayerRecord | None:
        """See ``Journal``."""
        return await self._player(sql.PLAYER_BY_KEY, the_key=handle_key)

    async def player_by_token(self, token_hash: str) -> PlayerRecord | None:
        """See ``Journal``."""
        return await self._player(sql.PLAYER_BY_TOKEN, the_token=token_hash)

    async def rename_player(self, player: str, handle: str, handle_key: str, now: int) -> None:
        """See ``Journal``."""
        row: Row = {
            "the_player": player,
            "the_handle": handle,
            "the_key": handle_key,
            "the_time": now,
        }
        try:
            await self._write(sql.RENAME_PLAYER, player, ([row],), _refuse_handle)
        except HandleTaken:
            if await self.player(player) is None:
                raise Missing("no such player") from None
            raise

    async def set_token(self, player: str, token_hash: str, now: int) -> None:
        """See ``Journal``."""
        row = {"the_player": player, "the_token": token_hash, "the_time": now}
        await self._write(sql.SET_TOKEN, player, ([row],), _miss_player)

    async def delete_player(self, player: str, now: int) -> None:
        """See ``Journal``."""
        row: Row = {"the_player": player, "the_time": now}
        await self._write(sql.DELETE_PLAYER, player, ([row],), _miss_player)

    async def handles_since(self, changed: int) -> dict[str, str | None]:
        """See ``Journal``."""
        rows = await self._read(sql.HANDLES_SINCE, since=changed)
        return {row.id: row.handle for row in rows}

    async def tokens_since(self, changed: int) -> dict[str, str | None]:
        """See ``Journal``."""
        rows = await self._read(sql.TOKENS_SINCE, since=changed)
        return {row.id: row.token_hash for row in rows}

    # -- The database ------------------------------------------------------------------------------

    async def check(self) -> None:
        """See ``Journal``."""
        async with asking(ALIVE_S):
            await self._read(sql.SIGN_OF_LIFE)

    async def _player(self, statement: AnySelect, **values: str) -> PlayerRecord | None:
        rows = await self._read(statement, **values)
        return PlayerRecord(*rows[0]) if rows else None

    async def _challenge(self, statement: AnySelect, **values: str) -> ChallengeRecord | None:
        challenges = challenges_of_rows(await self._read(statement, **values))
        return challenges[0] if challenges else None

    async def _number(self, statement: AnySelect, **values: str) -> int:
        [[number]] = await self._read(statement, **values)
        return int(number)

    async def _read(self, statement: AnySelect, **values: Value) -> Sequence[AnyRow]:
        for value in values.values():
            check_values(*([value] if isinstance(value, str | int) else value))
        async with asking(self._answer_s), self._readers:
            if not self._is_open:
                raise StorageError("the journal is closed")
            async with self.engines.read.connect() as connection:
                return (await connection.execute(statement, values)).all()

    async def _write(self, kind: Kind, key: str, rows: Rows, refuse: Refuse) -> None:
        for row in chain(*rows):
            check_values(*row.values())
        await self._writer.write(kind, key, rows, refuse)


def _refuse_entry(error: IntegrityError | None) -> Exception:
    if error is not None and is_missing(error):
        return Missing("no such game")
    return SeqTaken("the game has an entry with this seq")


def _refuse_game(error: IntegrityError | None) -> Exception:
    if error is not None and is_missing(error):
        return Missing("no such player")
    return GameTaken("the game, or this attempt, is there")


def _refuse_handle(error: IntegrityError | None) -> Exception:
    return HandleTaken("somebody has this handle, or one like it")


def _refuse_challenge(error: IntegrityError | None) -> Exception:
    return ChallengeTaken("the day has a challenge in this ruleset")


def _miss_player(error: IntegrityError | None) -> Exception:
    return Missing("no such player")


def _miss_challenge(error: IntegrityError | None) -> Exception:
    return Missing("no such challenge")
