"""``Store``: the journal in a database, SQLite or Postgres."""

import asyncio
from collections.abc import Sequence
from typing import Any, Self

from sqlalchemy import Row
from sqlalchemy.exc import IntegrityError

from ..journal import (
    Entry,
    GameRecord,
    GameTaken,
    HandleTaken,
    Missing,
    PlayerRecord,
    Result,
    SeqTaken,
    StorageError,
    Summary,
)
from . import statements as sql
from .engine import ANSWER_S, READERS, Engines, asking, is_missing, open_engines
from .statements import AnySelect
from .values import check_values
from .writer import Writer

AnyRow = Row[*tuple[Any, ...]]

ALIVE_S = 2.0  # a sign of life that takes longer is none


class Store:
    """A ``Journal``, whose docstrings hold here. Made by ``open``, within a running event loop.

    Several processes may have the same database open; on SQLite they take turns at writing.
    """

    def __init__(self, engines: Engines, answer_s: float) -> None:
        self.engines = engines
        self._answer_s = answer_s
        self._writer = Writer(engines.write, answer_s)
        self._readers = asyncio.Semaphore(READERS)
        self._is_open = True

    @classmethod
    async def open(
        cls, url: str, *, answer_s: float = ANSWER_S, allow_fsync_off: bool = False
    ) -> Self:
        """Connect to a database that has this server's tables: ``upgrade``, ``check`` see to it.

        One that has not answered within ``answer_s`` seconds is taken to be away.
        ``allow_fsync_off`` is for tests of speed: such a Postgres loses what it has acknowledged.

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
        return cls(engines, answer_s)

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
        if (record.challenge is None) != (record.attempt is None):
            raise ValueError("an attempt without challenge, or the other way round")
        row: dict[str, str | int | None] = {name: getattr(record, name) for name in sql.GAME}
        row |= {name: getattr(record.summary, name) for name in sql.SUMMARY}
        check_values(*row.values())
        await self._writer.write(sql.CREATE_GAME, record.id, (row,), _refuse_game)

    async def append(self, game: str, entry: Entry, after: Summary) -> None:
        """See ``Journal``."""
        if (after.seq, after.hash) != (entry.seq, entry.hash):
            raise ValueError("the summary is of another entry")
        row: dict[str, str | int] = {
            "game": game,
            "seq": entry.seq,
            "action": entry.action,
            "at_ms": entry.at_ms,
            "hash": entry.hash,
        }
        summary: dict[str, str | int | None] = {
            "the_game": game,
            "new_status": after.status,
            "new_seq": after.seq,
            "new_home": after.home,
            "new_moves": after.moves,
            "new_undos": after.undos,
            "new_score": after.score,
            "new_elapsed_ms": after.elapsed_ms,
            "new_hash": after.hash,
            "new_ended": after.ended,
        }
        check_values(*row.values(), *summary.values())
        await self._writer.write(sql.APPEND, game, (row, summary), _refuse_entry)

    async def game(self, game: str) -> GameRecord | None:
        """See ``Journal``."""
        rows = await self._read(sql.ONE_GAME, the_game=game)
        return _game(rows[0]) if rows else None

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
        return [_game(row) for row in await self._read(statement, **values)]

    async def results_of(self, player: str) -> list[Result]:
        """See ``Journal``."""
        return [Result(*row) for row in await self._read(sql.RESULTS, the_player=player)]

    # -- Players -----------------------------------------------------------------------------------

    async def create_player(self, player: PlayerRecord, handle_key: str, token_hash: str) -> None:
        """See ``Journal``."""
        row: dict[str, str | int] = {
            "the_player": player.id,
            "the_handle": player.handle,
            "the_key": handle_key,
            "the_kind": player.kind,
            "the_token": token_hash,
            "the_time": player.created,
        }
        check_values(*row.values())
        await self._writer.write(sql.CREATE_PLAYER, player.id, (row,), _refuse_handle)

    async def player(self, player: str) -> PlayerRecord | None:
        """See ``Journal``."""
        return await self._player(sql.PLAYER, the_player=player)

    async def player_by_key(self, handle_key: str) -> PlayerRecord | None:
        """See ``Journal``."""
        return await self._player(sql.PLAYER_BY_KEY, the_key=handle_key)

    async def player_by_token(self, token_hash: str) -> PlayerRecord | None:
        """See ``Journal``."""
        return await self._player(sql.PLAYER_BY_TOKEN, the_token=token_hash)

    async def rename_player(self, player: str, handle: str, handle_key: str) -> None:
        """See ``Journal``."""
        row = {"the_player": player, "the_handle": handle, "the_key": handle_key}
        check_values(*row.values())
        try:
            await self._writer.write(sql.RENAME_PLAYER, player, (row,), _refuse_handle)
        except HandleTaken:
            if await self.player(player) is None:
                raise Missing("no such player") from None
            raise

    async def set_token(self, player: str, token_hash: str) -> None:
        """See ``Journal``."""
        row = {"the_player": player, "the_token": token_hash}
        check_values(*row.values())
        await self._writer.write(sql.SET_TOKEN, player, (row,), _refuse_missing)

    async def delete_player(self, player: str) -> None:
        """See ``Journal``."""
        check_values(player)
        row = {"the_player": player}
        await self._writer.write(sql.DELETE_PLAYER, player, (row,), _refuse_missing)

    # -- The database ------------------------------------------------------------------------------

    async def check(self) -> None:
        """See ``Journal``."""
        async with asking(ALIVE_S):
            await self._read(sql.SIGN_OF_LIFE)

    async def _player(self, statement: AnySelect, **values: str) -> PlayerRecord | None:
        rows = await self._read(statement, **values)
        return PlayerRecord(*rows[0]) if rows else None

    async def _read(self, statement: AnySelect, **values: str | int) -> Sequence[AnyRow]:
        check_values(*values.values())
        async with asking(self._answer_s), self._readers:
            if not self._is_open:
                raise StorageError("the journal is closed")
            async with self.engines.read.connect() as connection:
                return (await connection.execute(statement, values)).all()


def _game(row: AnyRow) -> GameRecord:
    values = tuple(row)
    about = dict(zip(sql.GAME, values, strict=False))  # the summary comes after
    return GameRecord(**about, summary=Summary(*values[len(sql.GAME) :]))


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


def _refuse_missing(error: IntegrityError | None) -> Exception:
    return Missing("no such player")
