"""``board``, looked at once and watched."""

import asyncio
import json
import re
from functools import partial

import pytest

from client.client import Client

from .boards import TODAY
from .fake import FakeServer
from .making import Commands, Ran, me
from .tricks import close, keep_silent, refuse, until

pytestmark = pytest.mark.asyncio

CHALLENGE = f"{TODAY}-freecell"

# -- board -----------------------------------------------------------------------------------------


def people(server: FakeServer, *handles: str, board: str = "first") -> None:
    for handle in handles:
        server.boards.run(server.boards.add("freecell"), board, "human", handle)


async def test_board_is_a_table_with_my_row_marked(run: Commands, server: FakeServer) -> None:
    me(server)
    people(server, "bob", "ann")
    server.boards.run(CHALLENGE, "first", "human", "cat", home=31, won=False, undos=2)
    shown = (
        f"{CHALLENGE}, first, human: 3 runs\n"
        "    rank  handle  result   time  moves  undos \n"
        "       1  bob     won      1:20     80      0 \n"
        " >     2  ann     won      1:21     81      0 \n"
        "       3  cat     31 home  1:22     82      2 \n"
    )
    assert await run("board", CHALLENGE) == Ran(0, shown, "")
    assert (await run("board", "freecell")).out == shown


async def test_board_that_is_named_is_the_one_that_is_shown(
    run: Commands, server: FakeServer
) -> None:
    people(server, "bob", board="moves")
    server.boards.run(CHALLENGE, "moves", "bot", "hal")
    assert "  bob  " in (await run("board", "freecell", "--board", "moves")).out
    bots = (await run("board", CHALLENGE, "--board", "moves", "--kind", "bot")).out
    assert bots.startswith(f"{CHALLENGE}, moves, bot: 1 run\n")
    assert "  hal  " in bots
    assert (await run("board", CHALLENGE)).out.startswith(f"{CHALLENGE}, first, human: 0 runs")


def shown_of(out: str) -> list[str]:
    """Handles of a table, mine with its mark."""
    rows = [line.split() for line in out.splitlines()[2:]]
    return [row[2] if row[0] == ">" else row[1] for row in rows]


@pytest.mark.parametrize(
    ("given", "mine", "shown"),
    [
        (["--limit", "2"], 5, ["p0", "p1", "...", "ann"]),
        (["--limit", "2"], 1, ["p0", "ann"]),
        (["--limit", "3", "--around-me"], 4, ["p3", "ann", "p4"]),
        (["--limit", "2"], None, ["p0", "p1"]),
        (["--all"], 5, ["p0", "p1", "p2", "p3", "p4", "ann"]),
        (["--all", "--limit", "4"], None, ["p0", "p1", "p2", "p3", "p4"]),
    ],
)
async def test_part_of_a_board(
    given: list[str], mine: int | None, shown: list[str], run: Commands, server: FakeServer
) -> None:
    me(server)
    handles = [f"p{number}" for number in range(5)]
    if mine is not None:
        handles.insert(mine, "ann")
    people(server, *handles)
    ran = await run("board", CHALLENGE, *given)
    assert shown_of(ran.out) == shown
    assert (ran.out.count("\n >") == 1) == (mine is not None)


async def test_my_row_stands_before_a_page_that_begins_below_it(
    run: Commands, server: FakeServer
) -> None:
    me(server)
    people(server, "ann", "bob", "cat")

    async def second(talk: object, message: dict[str, dict[str, object]]) -> bool:
        message["d"]["cursor"] = "2"
        return False

    server.trick("board.get", second)
    assert shown_of((await run("board", CHALLENGE)).out) == ["ann", "...", "cat"]


async def test_pages_of_a_whole_board_are_as_long_as_they_may_be(
    run: Commands, server: FakeServer
) -> None:
    people(server, *(f"p{number}" for number in range(250)))
    ran = await run("board", CHALLENGE, "--all", "--json")
    told = json.loads(ran.out)
    assert [row["handle"] for row in told["rows"]] == [f"p{number}" for number in range(250)]
    assert (told["total"], told["next"], told["prev"], told["me"]) == (250, None, None, None)
    asked = [(body["limit"], body.get("cursor")) for body in server.bodies("board.get")]
    assert asked == [(100, None), (100, "100"), (100, "200")]


async def test_board_as_json(run: Commands, server: FakeServer) -> None:
    me(server)
    people(server, "bob", "ann")
    told = json.loads((await run("board", "freecell", "--json", "--limit", "1")).out)
    assert (told["challenge"], told["board"], told["kind"]) == (CHALLENGE, "first", "human")
    assert [row["handle"] for row in told["rows"]] == ["bob"]
    assert told["me"] | {"game": ""} == {
        "rank": 2,
        "handle": "ann",
        "home": 52,
        "won": True,
        "elapsed_ms": 81_000,
        "moves": 81,
        "undos": 0,
        "game": "",
    }
    assert told["next"] == "1"


async def test_nothing_on_a_board_drives_the_terminal(run: Commands, server: FakeServer) -> None:
    people(server, "\x1b]0;owned\x07[red]x")
    ran = await run("board", CHALLENGE)
    assert "?]0;owned?[red]x" in ran.out
    assert "\x1b" not in ran.out


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["2026-12-01-freecell"], "There is no such game, player or challenge."),
        (["freecel"], "There is no such game, player or challenge."),
        (["eight-off"], "There is no daily of 'eight-off' today; there is one of freecell."),
    ],
)
async def test_board_that_there_is_not_is_refused(
    given: list[str], said: str, run: Commands, server: FakeServer
) -> None:
    server.boards.add("freecell")
    assert await run("board", *given) == Ran(1, "", f"cellmates: {said}\n")


@pytest.mark.parametrize(
    "given",
    [
        ["--limit", "0"],
        ["--limit", "101"],
        ["--limit", "x"],
        ["--limit", "²"],
        ["--limit", "1000000000"],
        ["--board", "second"],
        ["--kind", "cat"],
        ["--all", "--around-me"],
    ],
)
async def test_part_of_a_board_that_cannot_be_is_wrong_input(
    given: list[str], run: Commands, server: FakeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        await run("board", "freecell", *given)
    assert ended.value.code == 2
    assert not server.talks
    if "--limit" in given:
        assert "rows are 1 to 100" in capsys.readouterr().err


# -- board --watch ---------------------------------------------------------------------------------


async def watched(run: Commands, server: FakeServer, *given: str) -> "asyncio.Task[Ran]":
    """A command that watches, when it does and has looked."""
    before = len(server.bodies("board.get"))
    task = asyncio.create_task(run("board", "freecell", "--watch", *given))
    await until(lambda: len(server.bodies("board.get")) > before)
    return task


async def change(server: FakeServer, handle: str) -> None:
    """One more run, which is told and looked at."""
    before = len(server.bodies("board.get"))
    people(server, handle)
    other = server.boards.changed(CHALLENGE, "moves", "human")
    await server.talks[-1].event("board.changed", **other)  # not the one that is watched
    await server.talks[-1].event("event.of-later")
    await server.changed(CHALLENGE, "first", "human")
    await until(lambda: len(server.bodies("board.get")) > before)


async def leave(server: FakeServer) -> None:
    """End the conversation for good."""
    await server.talks[-1].socket.close(4401)


async def test_each_change_of_a_watched_board_is_a_line_of_json(
    run: Commands, server: FakeServer
) -> None:
    people(server, "bob")
    task = await watched(run, server, "--json")
    await change(server, "cat")
    server.talks[0].socket.transport.abort()  # the watch is renewed, and nothing has changed
    await until(lambda: len(server.bodies("board.get")) == 4)
    await change(server, "dan")
    await leave(server)
    ran = await task
    lines = [json.loads(line) for line in ran.out.splitlines()]
    assert [[row["handle"] for row in line["rows"]] for line in lines] == [
        ["bob"],
        ["bob", "cat"],
        ["bob", "cat", "dan"],
    ]
    assert (ran.status, ran.err) == (2, "cellmates: The token is not valid any more (4401).\n")
    asked = [body.get("limit") for body in server.bodies("board.get")]
    assert asked == [None, None, 10, None, None], "10 by the client itself, on its way back"
    assert server.talks[0].watched == {(CHALLENGE, "first", "human")}


async def test_each_change_of_a_watched_board_is_a_table_where_it_is_piped(
    run: Commands, server: FakeServer
) -> None:
    people(server, "bob")
    task = await watched(run, server, "--limit", "1")
    people(server, "cat")
    await change(server, "dan")
    await leave(server)
    tables = (await task).out.split(f"{CHALLENGE}, first, human: ")[1:]
    assert [table.split()[0] for table in tables] == ["1", "3"]
    assert all("  bob  " in table for table in tables)


async def test_change_that_cannot_be_looked_at_in_time_ends_no_watch(
    run: Commands, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("client.commands.Client", partial(Client, deadline_s=0.3))
    people(server, "bob")
    task = await watched(run, server, "--json")
    server.trick("board.get", keep_silent)
    await change(server, "cat")
    await change(server, "dan")
    await until(lambda: len(server.bodies("board.get")) >= 3)
    await leave(server)
    assert [len(json.loads(line)["rows"]) for line in (await task).out.splitlines()] == [1, 3]


async def test_board_that_cannot_be_watched_is_refused(run: Commands, server: FakeServer) -> None:
    server.boards.add("freecell")
    server.trick("board.watch", refuse("challenge-not-open"))
    ran = await run("board", "freecell", "--watch")
    assert ran == Ran(1, "", "cellmates: That challenge is not open yet.\n")


async def test_end_of_the_server_while_watching_is_told(run: Commands, server: FakeServer) -> None:
    server.boards.add("freecell")
    server.trick("board.get", close(4400))
    ran = await run("board", "freecell", "--watch")
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith("cellmates: The server could not read this client's frames")


async def test_watched_board_is_drawn_anew_on_a_terminal_as_far_as_there_is_room(
    run: Commands, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("FORCE_COLOR", "1"), ("TERM", "xterm"), ("LINES", "12")):
        monkeypatch.setenv(name, value)
    people(server, *(f"p{number}" for number in range(9)))
    task = await watched(run, server)
    await change(server, "p9")
    await leave(server)
    out = (await task).out
    assert out.count("first, human: 9 runs") == 1
    assert "first, human: 10 runs" in out
    assert "\x1b[1A\x1b[2K" in out, "the table before is wiped"
    assert "p6" in out
    assert "p7" not in out
    assert {body["limit"] for body in server.bodies("board.get")} == {7}


@pytest.mark.parametrize(
    ("given", "lines", "limit"),
    [(["--limit", "3"], "12", 3), (["--all"], "12", 100), ([], "2", 1), ([], "500", 100)],
)
async def test_rows_that_are_asked_for_go_before_the_room_there_is(
    given: list[str],
    lines: str,
    limit: int,
    run: Commands,
    server: FakeServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in (("FORCE_COLOR", "1"), ("TERM", "xterm"), ("LINES", lines)):
        monkeypatch.setenv(name, value)
    people(server, "bob")
    task = await watched(run, server, *given)
    await leave(server)
    await task
    assert [body["limit"] for body in server.bodies("board.get")] == [limit]


async def test_programs_get_json_on_a_terminal_too(
    run: Commands, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    people(server, "bob")
    task = await watched(run, server, "--json")
    await leave(server)
    assert json.loads((await task).out)["total"] == 1


async def test_dumb_terminal_gets_one_table_after_the_other(
    run: Commands, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("FORCE_COLOR", "1"), ("TERM", "dumb")):
        monkeypatch.setenv(name, value)
    people(server, "bob")
    task = await watched(run, server)
    await change(server, "cat")
    await leave(server)
    out = (await task).out
    assert "\x1b[1A" not in out
    assert re.findall("first, human: (.*)", out) == ["1 run", "2 runs"]
