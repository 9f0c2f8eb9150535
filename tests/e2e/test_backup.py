"""Backing up under play, and going on from the back-up: what the operator's page promises."""

import asyncio
import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, closing, contextmanager
from importlib import import_module
from pathlib import Path

import pytest

from cellmates.engine import RULESETS, Deal, Game, LegalMoves, first_hash, next_hash, parse_action
from server.journal import StorageError
from server.store import BadDatabase
from server.store.backup import backup
from tests.commands import block, command
from tests.faults.players import KEY, Hand, Score, acknowledgements, create_players
from tests.postgres import Postgres

from .running import RunningServer, running_server
from .stranger import Body, Stranger

pytestmark = pytest.mark.asyncio

# Its own name is taken by its one function, in the package.
module = import_module("server.store.backup")

PLAYERS = 4
TRIES = 50
ROOT = Path(__file__).parents[2]

# -- Both databases, by the commands of docs/operations.md -----------------------------------------


def serving(folder: Path, url: str) -> AbstractContextManager[RunningServer]:
    """A server on a database; on SQLite it makes its key itself."""
    if url.startswith("sqlite"):
        return running_server(folder, database_url=url)
    return running_server(folder, database_url=url, secret_key=KEY)


@asynccontextmanager
async def playing(server: RunningServer, url: str, score: Score) -> AsyncIterator[list[Hand]]:
    """Players who play as long as the block runs."""
    players = await create_players(url, PLAYERS)
    hands = [Hand(player, [server], score, seed=player.id) for player in players]
    async with asyncio.TaskGroup() as tasks:
        for hand in hands:
            tasks.create_task(hand.play())
        yield hands
        score.is_over = True


def copying(url: str, file: Path, postgres: Postgres) -> Callable[[], None]:
    """How a database is copied into a file."""
    if url.startswith("sqlite"):
        line = command("python -m server db backup").replace("python", sys.executable)
        line = line.replace("cellmates-2026-12-01.db", str(file))
        return lambda: run(line, url, ROOT)
    line = command("pg_dump").replace("cellmates.dump", str(file))
    return lambda: run(line, url, ROOT, postgres)


@contextmanager
def restored(url: str, file: Path, postgres: Postgres) -> Iterator[str]:
    """URL of the database that is made from a copy."""
    if url.startswith("sqlite"):
        old = Path(url.removeprefix("sqlite:///"))
        assert {f"{old.name}{end}" for end in ("-wal", "-shm")} <= files(old.parent)
        key = Path(f"{old}.key").read_text()
        lines = block("mkdir replaced").replace("cellmates.db", old.name)
        run(lines.replace("cellmates-2026-12-01.db", str(file)), url, old.parent)
        assert Path(f"{old}.key").read_text() == key
        yield url
        return
    with postgres.database() as new:
        run(command("pg_restore").replace("cellmates.dump", str(file)), new, ROOT, postgres)
        yield new


def run(lines: str, url: str, folder: Path, postgres: Postgres | None = None) -> None:
    """Run commands of the page, those of Postgres with the programs of this one."""
    environ = {"PATH": os.environ["PATH"], "CELLMATES_DATABASE_URL": url}
    if postgres is not None:
        environ["PATH"] = f"{postgres._bin}:{environ['PATH']}"
    shell = ["sh", "-e", "-c", lines]
    done = subprocess.run(shell, cwd=folder, env=environ, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


async def copy_under_play(copy: Callable[[], None], file: Path, players: list[Hand]) -> list[int]:
    """Copy until actions were acknowledged meanwhile; how many each player had before."""
    for _ in range(TRIES):
        file.unlink(missing_ok=True)
        before = [player.acknowledged for player in players]
        await asyncio.to_thread(copy)
        if [player.acknowledged for player in players] != before:
            return before
    pytest.fail("nobody was served while the database was copied")


async def test_back_up_under_play_holds_what_was_acknowledged_before_and_goes_on(
    database_url: str, tmp_path: Path, postgres: Postgres
) -> None:
    score, file = Score(), tmp_path / "copy"
    with serving(tmp_path, database_url) as server:
        async with playing(server, database_url, score) as players:
            await acknowledgements(score, 100)
            copy = copying(database_url, file, postgres)
            before = await copy_under_play(copy, file, players)
            await acknowledgements(score, 50)
    with restored(database_url, file, postgres) as url:
        folder = tmp_path / "again"
        folder.mkdir()
        with serving(folder, url) as server:
            for player, count in zip(players, before, strict=True):
                await check(server, player, count)
        assert file.is_file()


async def check(server: RunningServer, hand: Hand, count: int) -> None:
    """A player is known, finds at least so many actions, all made as told, and makes the next."""
    stranger = await Stranger.connect(server.url)
    await stranger.hello(hand.player.token)
    played = hand.player.current
    assert played is not None
    acknowledged = [(seq, *entry) for seq, entry in sorted(played.acknowledged.items())]
    told, entries = await replay(stranger, played.id)
    assert len(entries) >= count > 0
    kept = [(seq, action, hash_) for seq, action, _, hash_ in entries]
    assert kept[: len(acknowledged)] == acknowledged[: len(kept)]
    assert len(kept) <= len(acknowledged) + 1

    header, ruleset = told["header"], RULESETS[told["header"]["ruleset"]]
    chain = first_hash(
        header["ruleset"], header["ruleset_version"], header["deal"], header["autoplay"]
    )
    game = Game.start(ruleset, Deal.parse(ruleset, header["deal"]))
    for seq, action, at_ms, hash_ in entries:
        game = game.play(parse_action(action))
        chain = next_hash(chain, seq, action, at_ms)
        assert hash_ == chain
    assert (told["result"]["seq"], told["result"]["hash"]) == (len(entries), chain)

    moves = list(LegalMoves(game.ruleset, game.position))
    action = str(moves[0]) if moves else "undo"
    seq = len(entries) + 1
    asked = {"move": action} if moves else {}
    made = await stranger.ask(
        "game.move" if moves else "game.undo", game=played.id, seq=seq, **asked
    )
    assert (made["seq"], made["repeated"]) == (seq, False)
    assert made["hash"] == next_hash(chain, seq, action, made["elapsed_ms"])
    await stranger.close()


async def replay(stranger: Stranger, game: str) -> tuple[Body, list[tuple[int, str, int, str]]]:
    """First page of a game's replay, and all of its entries."""
    page = first = await stranger.ask("replay.get", game=game)
    entries = list(page["entries"])
    while page["next"] is not None:
        page = await stranger.ask("replay.get", game=game, cursor=page["next"])
        entries += page["entries"]
    return first, [tuple(entry) for entry in entries]


# -- The copy of a SQLite file ---------------------------------------------------------------------


def rows(file: Path, query: str = "SELECT n FROM tally") -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(file)) as database:
        return database.execute(query).fetchall()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A database with a row that is not yet anywhere but in the log beside it."""
    path = tmp_path / "games.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("CREATE TABLE tally (n INT)")
    return path


def url_of(file: Path) -> str:
    return f"sqlite:///{file}"


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


async def test_copy_is_one_file_its_owners_with_what_only_the_log_has(
    file: Path, tmp_path: Path
) -> None:
    with closing(sqlite3.connect(file, isolation_level=None)) as database:
        database.execute("INSERT INTO tally VALUES (1)")
        assert (tmp_path / "games.db-wal").stat().st_size > 0
        await backup(url_of(file), tmp_path / "copy.db")
        (tmp_path / "copy").mkdir()
        (tmp_path / "copy.db").rename(tmp_path / "copy" / "copy.db")
    copy = tmp_path / "copy" / "copy.db"
    assert copy.stat().st_mode & 0o777 == 0o600
    assert rows(copy) == [(1,)]
    assert rows(copy, "PRAGMA journal_mode") == [("delete",)]
    assert files(copy.parent) == {"copy.db"}
    assert files(tmp_path) == {"games.db", "copy"}


async def test_copy_is_of_one_instant_and_waits_for_nobody_who_writes(
    file: Path, tmp_path: Path
) -> None:
    with closing(sqlite3.connect(file, isolation_level=None)) as database:
        database.execute("BEGIN IMMEDIATE")
        database.execute("INSERT INTO tally VALUES (1)")
        await backup(url_of(file), tmp_path / "copy.db")
        database.execute("COMMIT")
    assert rows(tmp_path / "copy.db") == []
    assert rows(file) == [(1,)]


async def test_file_that_is_there_is_not_written_over(file: Path, tmp_path: Path) -> None:
    (tmp_path / "copy.db").write_text("mine")
    with pytest.raises(FileExistsError, match=r"copy\.db is there already"):
        await backup(url_of(file), tmp_path / "copy.db")
    assert (tmp_path / "copy.db").read_text() == "mine"
    assert files(tmp_path) == {"games.db", "copy.db"}


async def test_unfinished_copy_is_somebody_elses_and_left_alone(file: Path, tmp_path: Path) -> None:
    (tmp_path / "copy.db.partial").write_text("theirs")
    with pytest.raises(FileExistsError, match=r"copy\.db\.partial is there: .* remove it"):
        await backup(url_of(file), tmp_path / "copy.db")
    assert (tmp_path / "copy.db.partial").read_text() == "theirs"
    assert files(tmp_path) == {"games.db", "copy.db.partial"}


async def test_of_two_at_once_into_one_file_one_is_refused(file: Path, tmp_path: Path) -> None:
    both = [backup(url_of(file), tmp_path / "copy.db") for _ in range(2)]
    outcomes = await asyncio.gather(*both, return_exceptions=True)
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["FileExistsError", "NoneType"]
    assert files(tmp_path) == {"games.db", "copy.db"}


async def test_folder_that_is_not_there_is_named(file: Path, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        await backup(url_of(file), tmp_path / "nowhere" / "copy.db")


async def test_database_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="OperationalError: unable to open"):
        await backup(url_of(tmp_path / "games.db"), tmp_path / "copy.db")
    assert files(tmp_path) == set()


async def test_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "games.db").write_bytes(b"not a database, but long enough to be one" * 100)
    with pytest.raises(StorageError, match="DatabaseError: file is not a database"):
        await backup(url_of(tmp_path / "games.db"), tmp_path / "copy.db")
    assert files(tmp_path) == {"games.db"}


async def test_copy_that_is_found_damaged_is_none(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite copies damage to values as faithfully as anything else."""
    with closing(sqlite3.connect(file, isolation_level=None)) as database:
        database.execute("CREATE TABLE entry (n INT NOT NULL)")
        database.execute("PRAGMA writable_schema = ON")
        database.execute(
            "UPDATE sqlite_master SET sql = 'CREATE TABLE tally (n INT NOT NULL)'"
            " WHERE name = 'tally'"
        )
        database.execute("INSERT INTO tally VALUES (NULL)")
    with pytest.raises(StorageError, match=r"the copy is damaged.*NULL value in tally\.n"):
        await backup(url_of(file), tmp_path / "copy.db")
    assert files(tmp_path) == {"games.db"}


async def test_copy_gets_its_name_only_when_it_is_on_the_disk(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[tuple[str, set[str]]] = []
    sync = module._sync

    def watched(path: Path) -> None:
        synced.append((path.name, files(tmp_path)))
        sync(path)

    monkeypatch.setattr(module, "_sync", watched)
    await backup(url_of(file), tmp_path / "copy.db")
    before, after = {"games.db", "copy.db.partial"}, {"games.db", "copy.db"}
    assert synced == [("copy.db.partial", before), (tmp_path.name, after)]


async def test_back_up_whose_caller_leaves_is_finished(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on, ended = threading.Event(), threading.Event(), threading.Event()
    copy, sync = module._copy, module._sync

    def slow(source: Path, partial: Path) -> None:
        begun.set()
        go_on.wait(10)
        copy(source, partial)

    def last(path: Path) -> None:
        sync(path)
        if path == tmp_path:
            ended.set()

    monkeypatch.setattr(module, "_copy", slow)
    monkeypatch.setattr(module, "_sync", last)
    task = asyncio.create_task(backup(url_of(file), tmp_path / "copy.db"))
    await asyncio.to_thread(begun.wait, 10)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    go_on.set()
    assert await asyncio.to_thread(ended.wait, 10)
    assert files(tmp_path) == {"games.db", "copy.db"}


@pytest.mark.parametrize("url", ["postgresql://me:hunter2@host/games", "mysql://h/g", "sqlite://"])
async def test_other_database_is_refused_without_its_password(url: str, tmp_path: Path) -> None:
    with pytest.raises(BadDatabase) as refusal:
        await backup(url, tmp_path / "copy.db")
    assert "hunter2" not in str(refusal.value)
    assert ("pg_dump" in str(refusal.value)) == url.startswith("postgresql")
    assert files(tmp_path) == set()
