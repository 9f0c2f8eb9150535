"""``verify``: what it asks the server for, what it prints, and how it ends."""

import asyncio
import io
import json
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path

import pytest
import pytest_asyncio
from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from client import verification
from client.__main__ import main

from .days import BEFORE, CLOSES, DAY, EIGHT_OFF, FREECELL, Day, honest
from .fake import FakeServer, Talk
from .lies import LIES
from .making import Ran
from .record import Map, Refused
from .test_verifying import CHECKS
from .tricks import answer, refuse

pytestmark = pytest.mark.asyncio


class DayTalk(Talk):
    """A connection to a server that has a day to tell of."""

    server: "DayServer"

    def on_daily_list(self, body: Map) -> Map:
        listed = self.server.day.listed.get(body["date"], ())
        maps = [asdict(challenge) for challenge in listed]
        return {
            "challenges": [
                {name: said for name, said in told.items() if said is not None or name in _NULLS}
                for told in maps
            ]
        }

    def on_board_get(self, body: Map) -> Map:
        self.server.before_board()
        boards = self.server.day.boards[body["challenge"]]
        [board] = [
            board for board in boards if (board.board, board.kind) == (body["board"], body["kind"])
        ]
        begin = int(body.get("cursor", 0))
        end = begin + min(body["limit"], self.server.page)
        return {
            "rows": [asdict(row) for row in board.rows[begin:end]],
            "total": board.total,
            "me": None,
            "next": str(end) if end < len(board.rows) else None,
            "prev": None,
        }

    def on_replay_get(self, body: Map) -> Map:
        replay = self.server.day.replays.get(body["game"])
        if replay is None:
            raise Refused(self.server.refusal)
        begin = int(body.get("cursor", 0))
        end = begin + self.server.page
        return asdict(replay) | {
            "entries": [list(asdict(entry).values()) for entry in replay.entries[begin:end]],
            "next": str(end) if end < len(replay.entries) else None,
        }

    def on_ping(self, _: Map) -> Map:
        return {"time": self.server.day.now}


_NULLS = ("attempt", "previous")


class DayServer(FakeServer):
    """``refusal`` answers for replays that are not there; ``before_board`` is called for each."""

    def __init__(self, day: Day) -> None:
        super().__init__()
        self.day = day
        self.refusal = "not-yet"
        self.before_board: Callable[[], None] = lambda: None

    async def _talk(self, socket: ServerConnection) -> None:
        talk = DayTalk(self, socket)
        self.talks.append(talk)
        with suppress(ConnectionClosed):
            await talk.run()


@pytest_asyncio.fixture
async def server() -> AsyncIterator[DayServer]:
    async with DayServer(honest()) as server:
        yield server


def plant(server: DayServer, *names: str) -> None:
    for name, lie, _ in LIES:
        if name in names:
            lie(server.day)


class Verify:
    """Runs the command against a server."""

    def __init__(self, server: DayServer, capsys: pytest.CaptureFixture[str]) -> None:
        self._server = server
        self._capsys = capsys

    async def __call__(self, *arguments: str, url: str | None = None) -> Ran:
        to = [] if url == "" else ["--server", url or self._server.url]
        status = await asyncio.to_thread(main, ["verify", *arguments, *to])
        printed = self._capsys.readouterr()
        return Ran(status, printed.out, printed.err)


@pytest.fixture
def verify(
    server: DayServer,
    config: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Verify:
    monkeypatch.setattr(verification, "_RENAMED_S", 0)
    return Verify(server, capsys)


# -- What holds ------------------------------------------------------------------------------------


async def test_honest_day_holds(verify: Verify) -> None:
    ran = await verify(DAY)
    assert (ran.status, ran.err) == (0, "")
    lines = ran.out.splitlines()
    found = [line.split(":")[0] for line in lines]
    holds = [f"✓ {check}" for check in CHECKS]
    assert found == [EIGHT_OFF, *holds, FREECELL, *holds, "All of it holds"]
    assert lines[-1] == "All of it holds: challenges 2, runs 19."
    assert "✓ par: 78 moves" in lines
    assert "✓ run-moves: 3 runs, 120 actions" in lines


async def test_one_challenge_is_verified_alone(verify: Verify, server: DayServer) -> None:
    ran = await verify(FREECELL)
    assert ran.status == 0
    assert ran.out.splitlines()[0] == FREECELL
    assert ran.out.endswith("All of it holds: challenges 1, runs 3.\n")
    asked = {body["challenge"] for body in server.bodies("board.get")}
    assert asked == {FREECELL}
    assert len(server.bodies("replay.get")) == 3


async def test_json_is_a_line_for_each_check(verify: Verify) -> None:
    ran = await verify(FREECELL, "--json")
    lines = [json.loads(line) for line in ran.out.splitlines()]
    assert [line["check"] for line in lines] == CHECKS
    assert lines[-1] == {
        "check": "winners",
        "challenge": FREECELL,
        "holds": True,
        "says": "who won is on moves too, with no worse run",
        "game": None,
        "seq": None,
    }


async def test_pages_are_put_together(verify: Verify, server: DayServer) -> None:
    server.page = 3
    ran = await verify(DAY)
    assert ran.status == 0
    assert "✓ board-total: first/human 10, first/bot 3, moves/human 7, moves/bot 3\n" in ran.out


async def test_it_asks_as_a_guest(
    verify: Verify, server: DayServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CELLMATES_TOKEN", server.player())
    assert (await verify(FREECELL)).status == 0
    hellos = server.bodies("hello")
    assert hellos
    assert not any("token" in hello for hello in hellos)


async def test_server_may_be_named_by_the_environment(
    verify: Verify, server: DayServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CELLMATES_SERVER", server.url)
    assert (await verify(FREECELL, url="")).status == 0


async def test_progress_is_shown_on_a_terminal(
    verify: Verify, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    ran = await verify(EIGHT_OFF)
    said = [text.strip() for text in ran.err.split("\r")]
    assert "candidate 1 of 1" in said
    assert [text for text in said if text.startswith("run ")] == [
        f"run {number} of 16" for number in range(1, 17)
    ]
    assert said[-2:] == ["", ""]


# -- Lies ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "days swapped",
        "wrong seed",
        "day replaced when it was committed to",
        "a candidate that is lost",
        "ranks 8, 9 for a tie",
        "a move changed",
        "a run improved on the board",
        "a bot on the people's board",
        "two rows for one player",
        "a winner missing on moves",
    ],
)
async def test_verifying_ends_at_the_first_lie(
    name: str, verify: Verify, server: DayServer
) -> None:
    plant(server, name)
    [check] = [check for called, _, check in LIES if called == name]
    ran = await verify(DAY)
    *held, last = [line for line in ran.out.splitlines() if line[0] in "✓✗"]
    assert (ran.status, ran.err) == (1, "")
    assert all(line.startswith("✓ ") for line in held)
    assert last.startswith(f"✗ {check}: 2026-1")


async def test_lie_is_told_with_its_place(verify: Verify, server: DayServer) -> None:
    plant(server, "a hash changed")
    last = (await verify(DAY)).out.splitlines()[-1]
    assert (
        last == f"✗ run-hashes: {EIGHT_OFF}, game ada, entry 4: the hash is not that of the entry"
    )
    plant(server, "par too short")
    last = (await verify(DAY)).out.splitlines()[-1]
    assert last == f"✗ par: {EIGHT_OFF}: par is 88, and has to be 89"


async def test_lie_as_json(verify: Verify, server: DayServer) -> None:
    plant(server, "a hash changed")
    ran = await verify(DAY, "--json")
    assert ran.status == 1
    assert json.loads(ran.out.splitlines()[-1]) == {
        "check": "run-hashes",
        "challenge": EIGHT_OFF,
        "holds": False,
        "says": "the hash is not that of the entry",
        "game": "ada",
        "seq": 4,
    }


@pytest.mark.parametrize("code", ["forbidden", "not-found", "not-yet"])
async def test_replay_kept_back_is_a_lie(code: str, verify: Verify, server: DayServer) -> None:
    plant(server, "a replay kept back")
    server.refusal = code
    ran = await verify(DAY)
    assert ran.status == 1
    assert ran.out.splitlines()[-1].startswith(f"✗ run-replay: {EIGHT_OFF}, game bob: ")


async def test_nothing_from_the_server_moves_the_cursor(verify: Verify, server: DayServer) -> None:
    own = server.day.challenge(FREECELL)
    assert own.proof is not None
    server.day.put(FREECELL, replace(own, proof=replace(own.proof, seed="\x1b[2J")))
    ran = await verify(FREECELL)
    assert ran.status == 1
    assert "\x1b" not in ran.out
    assert ran.out.endswith("?[2J is no seed of 32 bytes in lower-case hex\n")


async def test_signs_can_be_written_anywhere(
    verify: Verify, server: DayServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(server, "par too short")
    out = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(out, "ascii"))
    assert (await verify(EIGHT_OFF)).status == 1
    lines = out.getvalue().decode("ascii").splitlines()
    assert lines[1] == "ok challenge-id: 2026-12-01 in UTC, eight-off-4"
    assert lines[-1].startswith("LIE par: ")


@pytest.mark.parametrize(("answers", "row_count"), [(10, 10), (1, 0)])
async def test_board_without_end_is_a_lie(
    answers: int, row_count: int, verify: Verify, server: DayServer
) -> None:
    rows = [asdict(row) for row in server.day.boards[EIGHT_OFF][0].rows[:row_count]]
    page = {"rows": rows, "total": 99, "me": None, "next": "0", "prev": None}
    server.trick("board.get", *[answer(page)] * answers)
    ran = await verify(EIGHT_OFF)
    assert ran.status == 1
    assert ran.out.splitlines()[-1].startswith(f"✗ board-total: {EIGHT_OFF}: total of first/human")
    assert len(server.bodies("board.get")) == answers + 3


# -- Somebody who takes another name meanwhile -----------------------------------------------------


async def test_renamed_player_is_no_lie(verify: Verify, server: DayServer) -> None:
    plant(server, "another player's run")

    def rename() -> None:
        if len(server.bodies("board.get")) == 5:
            server.day = honest()

    server.before_board = rename
    ran = await verify(EIGHT_OFF)
    assert ran.status == 0
    assert [line.split(":")[0][2:] for line in ran.out.splitlines()[1:-1]] == CHECKS


async def test_another_handle_for_ever_is_a_lie(verify: Verify, server: DayServer) -> None:
    plant(server, "another player's run")
    ran = await verify(EIGHT_OFF)
    assert ran.status == 1
    assert ran.out.splitlines()[-1].startswith(f"✗ run-player: {EIGHT_OFF}, game bob: handle")
    assert len(server.bodies("board.get")) == 8


async def test_boards_that_are_read_again_are_checked_again(
    verify: Verify, server: DayServer
) -> None:
    plant(server, "another player's run")

    def swap() -> None:
        if len(server.bodies("board.get")) == 5:
            server.day = honest()
            plant(server, "two ranks swapped")

    server.before_board = swap
    ran = await verify(EIGHT_OFF)
    assert ran.status == 1
    assert ran.out.splitlines()[-1].startswith("✗ board-ranks: ")


# -- What cannot be verified -----------------------------------------------------------------------


async def test_day_that_goes_on_is_no_lie(verify: Verify, server: DayServer) -> None:
    server.day.now = CLOSES - 1
    ran = await verify(DAY)
    assert ran.status == 2
    assert "✗" not in ran.out
    assert ran.err == f"cellmates: {EIGHT_OFF} is not over: there is nothing to check yet\n"
    assert not server.bodies("board.get", "replay.get")


@pytest.mark.parametrize(
    ("what", "says"),
    [
        ("2026-02-30", "'2026-02-30' is no day: write YYYY-MM-DD"),
        ("today", "'today' is no day: write YYYY-MM-DD"),
        ("", "'' is no day: write YYYY-MM-DD"),
        ("2026-12-01-whist", "'2026-12-01-whist' is no challenge: write YYYY-MM-DD-RULESET"),
        ("2026-02-30-freecell", "'2026-02-30' is no day: write YYYY-MM-DD"),
        ("2026-12-01-eight-off", "the server lists no challenge for 2026-12-01-eight-off"),
        ("2025-01-01", "the server lists no challenge for 2025-01-01"),
        ("\x1b[2J", "'\\x1b[2J' is no day: write YYYY-MM-DD"),
    ],
)
async def test_what_is_not_there_is_said(what: str, says: str, verify: Verify) -> None:
    assert await verify(what) == Ran(2, "", f"cellmates: {says}\n")


@pytest.mark.parametrize("day", ["0001-01-01", "9999-12-31"])
async def test_days_at_the_end_of_time_are_refused(day: str, verify: Verify) -> None:
    ran = await verify(day)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.endswith("is in no year that has four digits\n")


@pytest.mark.parametrize("type_", ["daily.list", "board.get", "replay.get", "ping"])
async def test_server_that_fails_is_no_lie(type_: str, verify: Verify, server: DayServer) -> None:
    server.trick(type_, refuse("internal"))
    ran = await verify(DAY)
    assert ran.status == 2
    assert "✗" not in ran.out
    assert ran.err == "cellmates: The server failed at that. It is not your fault; try again.\n"


async def test_answer_of_another_shape_is_no_lie(verify: Verify, server: DayServer) -> None:
    server.trick("daily.list", answer({"challenges": "none"}))
    ran = await verify(DAY)
    assert (ran.status, ran.out) == (2, "")
    assert "from the server is of the wrong kind" in ran.err


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("http://127.0.0.1:1", "there is no server at ws://127.0.0.1:1/ws"),
        ("ftp://x", "that is no address of a server"),
    ],
)
async def test_server_that_is_not_there_is_said(url: str, says: str, verify: Verify) -> None:
    ran = await verify(DAY, url=url)
    assert (ran.status, ran.out) == (2, "")
    assert says in ran.err


async def test_day_before_is_fetched_by_its_date(verify: Verify, server: DayServer) -> None:
    await verify(DAY)
    dates = [body["date"] for body in server.bodies("daily.list")]
    assert dates[0] == DAY
    assert sorted(dates[1:]) == [BEFORE, "2026-12-02"]
