"""A day from opening to proof, over real sockets: two people, a bot, a restart, the close."""

import asyncio
import csv
import io
import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from cellmates.daily import DAILIES, DAY_MS, GRACE_MS, challenge_id, opens_at
from cellmates.engine import RULESETS, Deal
from cellmates.solver import solve
from client.client import Client
from client.game import Game
from client.results import BoardPage, BoardRow, GameExpired
from server.keeper import LATEST_COMMIT_MS

from .planted import plant_day
from .running import RunningServer, running_server

pytestmark = pytest.mark.asyncio

DAY = "2027-03-14"
TEN_O_CLOCK = opens_at(DAY) + 10 * 60 * 60 * 1000
KEY = "A" * 43 + "="
ENOUGH_S = 60.0


@pytest.fixture
def server(tmp_path: Path, database_url: str) -> Iterator[RunningServer]:
    """A server in whose world it is ten in the morning of a day that is planned."""
    plant_day(database_url, KEY, DAY)
    with running_server(
        tmp_path, database_url=database_url, secret_key=KEY, now_ms=TEN_O_CLOCK
    ) as server:
        yield server


@asynccontextmanager
async def player(server: RunningServer, handle: str) -> AsyncIterator[Client]:
    async with Client(server.url, name="test") as client:
        await client.create_player(handle, kind="human")
        yield client


def line_of(game: Game) -> list[str]:
    """Moves that win a game."""
    ruleset = RULESETS[game.view.ruleset]
    layout = Deal.parse(ruleset, game.view.deal).layout(ruleset)
    return [str(move) for move in solve(ruleset, layout).moves]


async def play(game: Game, moves: Sequence[str]) -> None:
    for move in moves:
        await game.move(move)


def command(server: RunningServer, folder: Path, *arguments: str) -> tuple[int, list[str]]:
    """Status and lines of a command of the client, run as a user would."""
    done = subprocess.run(
        [sys.executable, "-m", "client", *arguments, "--server", server.http],
        env={"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(Path.cwd())},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, (done.stdout + done.stderr).splitlines()


def fetched(server: RunningServer, path: str) -> str:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(f"{server.http}{path}") as answer:
        text: str = answer.read().decode()
        return text


def by_handle(page: BoardPage) -> dict[str, BoardRow]:
    return {row.handle: row for row in page.rows}


Games = dict[str, Game]


async def begun(client: Client) -> Games:
    """A client's attempts at all of the day's challenges, by ruleset."""
    challenges = await client.dailies()
    assert [one.challenge for one in challenges] == sorted(
        challenge_id(DAY, ruleset) for ruleset in DAILIES
    )
    return {one.ruleset: await client.start_daily(one.challenge) for one in challenges}


async def play_with_a_restart(server: RunningServer, annas: Games, bertas: Games) -> None:
    """Anna wins all. Berta wins one after an undo, resigns one, and leaves three unfinished."""
    lines = {ruleset: line_of(game) for ruleset, game in annas.items()}
    for ruleset, game in annas.items():
        await play(game, lines[ruleset][:10])
    await play(bertas["freecell"], lines["freecell"][:3])
    await bertas["freecell"].undo()
    assert server.stop() == 0
    server.start()
    for ruleset, game in annas.items():
        await play(game, lines[ruleset][10:])
        assert game.view.status == "won"
    await play(bertas["freecell"], lines["freecell"][2:])
    await play(bertas["eight-off"], lines["eight-off"][:1])
    await bertas["eight-off"].resign()
    await play(bertas["eight-off-2"], lines["eight-off-2"][:2])


async def check_boards(anna: Client, annas: Games) -> None:
    """What the boards say is what was played."""
    first = by_handle(await anna.board(challenge_id(DAY, "freecell"), "first", "human"))
    assert sorted(first) == ["Anna", "Berta"]
    assert (first["Anna"].won, first["Anna"].undos) == (True, 0)
    assert (first["Berta"].won, first["Berta"].undos) == (True, 1)
    assert {row.rank for row in first.values()} == {1, 2}
    assert first["Anna"].moves == annas["freecell"].view.moves
    eight_off = await anna.board(challenge_id(DAY, "eight-off"), "first", "human")
    assert [(row.rank, row.handle, row.won) for row in eight_off.rows] == [
        (1, "Anna", True),
        (2, "Berta", False),
    ]
    assert eight_off.me == eight_off.rows[0]
    for ruleset in DAILIES:
        bots = await anna.board(challenge_id(DAY, ruleset), "moves", "bot")
        assert [row.handle for row in bots.rows] == ["Robot"]
    running = await anna.board(challenge_id(DAY, "eight-off-2"), "first", "human")
    assert [row.handle for row in running.rows] == ["Anna"]


async def close_day(server: RunningServer, berta: Client, bertas: Games) -> None:
    """The day closes, and what is still being played ends with the grace."""
    events = berta.events()
    server.set_clock(opens_at(DAY) + DAY_MS + GRACE_MS + LATEST_COMMIT_MS)
    left = {bertas[ruleset].id for ruleset in ("eight-off-2", "eight-off-4", "eight-off-classic")}
    async with asyncio.timeout(ENOUGH_S):
        async for event in events:
            if isinstance(event, GameExpired):
                left.remove(event.game)
            if not left:
                break
    assert {game.view.status for game in bertas.values()} == {"won", "resigned", "expired"}


async def check_proof(server: RunningServer, folder: Path) -> None:
    """Everybody may know all now; ``verify`` says yes, and CSV says what the boards say."""
    async with Client(server.url, name="test") as guest:
        async with asyncio.timeout(ENOUGH_S):
            while any(one.proof is None for one in await guest.dailies(DAY)):
                await guest.ping()
        status, said = command(server, folder, "verify", DAY)
        assert status == 0, said
        for ruleset in DAILIES:
            page = await guest.board(challenge_id(DAY, ruleset), "first", "human")
            told = fetched(server, f"api/v1/boards/{challenge_id(DAY, ruleset)}/first/human.csv")
            rows = list(csv.DictReader(io.StringIO(told)))
            assert [(row["rank"], row["handle"], row["game"]) for row in rows] == [
                (str(row.rank), row.handle, row.game) for row in page.rows
            ]


async def test_day_is_played_by_all_and_proved_when_it_is_over(
    server: RunningServer, tmp_path: Path
) -> None:
    async with player(server, "Anna") as anna, player(server, "Berta") as berta:
        annas, bertas = await begun(anna), await begun(berta)
        await play_with_a_restart(server, annas, bertas)
        status, said = command(server, tmp_path, "bot", "--daily", "all", "--handle", "Robot")
        assert status == 0, said
        await check_boards(anna, annas)
        # While the day is open its secrets are those of who has played.
        assert (await anna.dailies(DAY))[0].proof is not None
        status, said = command(server, tmp_path, "verify", DAY)
        assert status == 2, said
        await close_day(server, berta, bertas)
        await check_proof(server, tmp_path)
        stats = (await anna.player("Anna")).stats
        assert {stats[ruleset].best_streak for ruleset in DAILIES} == {1}
    assert server.stop() == 0
    log = [json.loads(line) for line in server.log.splitlines()]
    assert [line for line in log if line["level"] == "error"] == []


async def test_fresh_server_plans_its_days_by_itself(tmp_path: Path, sqlite_url: str) -> None:
    with running_server(
        tmp_path, database_url=sqlite_url, plan_days="1", now_ms=TEN_O_CLOCK
    ) as server:
        async with player(server, "Anna") as anna:
            async with asyncio.timeout(2 * ENOUGH_S):
                while len(challenges := await anna.dailies()) < len(DAILIES):
                    await anna.ping()
            game = await anna.start_daily(challenges[0].challenge)
            assert game.view.ranked
        readiness = json.loads(fetched(server, "readyz"))
        assert readiness["planner"] == {
            "planned_until": DAY,
            "failure": None,
            "failing_since": None,
        }
        secret = (tmp_path / "log").read_text()
        assert "cards:" not in secret
