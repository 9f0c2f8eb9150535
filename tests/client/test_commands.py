"""``replay`` and ``token``, and which server is meant."""

import asyncio
import json
from pathlib import Path

import pytest

from cellmates.engine import board_text
from client.__main__ import main

from .fake import FakeServer
from .making import Commands, Ran

pytestmark = pytest.mark.asyncio


# -- replay ----------------------------------------------------------------------------------------


async def test_replay_is_printed_and_checked(run: Commands, server: FakeServer) -> None:
    server.page = 2
    await run("play", "--deal", "1", "--handle", "ann", typed="6a 6b undo 1c resign")
    board = (await run("replay", "g1")).out
    record = server.games["g1"]
    lines = board.splitlines()
    assert lines[0] == "freecell 1, autoplay safe, ann, 2023-11-14 22:13:20+00:00"
    assert lines[1:6] == [
        "   1     0:01.000  6a",
        "   2     0:02.000  6b",
        "   3     0:03.000  undo",
        "   4     0:04.000  1c",
        "   5     0:05.000  resign",
    ]
    assert lines[6] == f"hash chain: holds, {record.hash}"
    assert lines[7] == "result: resigned, score 0, 2 moves, 1 undos, 0:05"
    assert "\n".join(lines[8:]) + "\n" == board_text(record.game.position)


async def test_replay_as_json(run: Commands, server: FakeServer) -> None:
    await run("play", "--deal", "1", typed="6a")
    ran = await run("replay", "g1", "--json")
    told = json.loads(ran.out)
    record = server.games["g1"]
    assert told["chain"] == {"holds": True, "broken_at": None}
    assert (told["doubt"], told["board"]) == (None, board_text(record.game.position))
    assert told["entries"] == [
        dict(zip(("seq", "action", "at_ms", "hash"), record.entries[0], strict=True))
    ]
    assert told["result"]["hash"] == record.hash
    assert ran.status == 0


async def test_replay_that_does_not_hold_is_told(run: Commands, server: FakeServer) -> None:
    await run("play", "--deal", "1", typed="6a 1c")
    server.games["g1"].entries[0][2] += 1
    ran = await run("replay", "g1")
    assert ran.status == 1
    assert "hash chain: broken at entry 1\n" in ran.out


async def test_unknown_replay_is_refused(run: Commands) -> None:
    ran = await run("replay", "g9")
    assert (ran.status, ran.out) == (1, "")
    assert ran.err == "cellmates: There is no such game, player or challenge.\n"


@pytest.mark.parametrize("by", ["option", "environment"])
async def test_server_is_named_in_any_form(
    by: str,
    server: FakeServer,
    config: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    http = server.url.replace("ws://", "http://").removesuffix("/ws")
    if by == "environment":
        monkeypatch.setenv("CELLMATES_SERVER", http)
    given = ["--server", http] if by == "option" else []
    assert await asyncio.to_thread(main, ["replay", "g9", *given]) == 1
    assert capsys.readouterr().err == "cellmates: There is no such game, player or challenge.\n"


async def test_what_is_no_server_is_told(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert await asyncio.to_thread(main, ["replay", "g1", "--server", "ftp://x"]) == 2
    assert "that is no address of a server" in capsys.readouterr().err


# -- token -----------------------------------------------------------------------------------------


async def test_token_is_shown_only_when_asked_for(
    run: Commands, server: FakeServer, config: Path
) -> None:
    where = f"token for {server.url} is kept in {config}/cellmates/tokens.json.\n"
    assert await run("token") == Ran(1, f"No {where}", "")
    await run("play")
    assert await run("token") == Ran(0, f"A {where}", "")
    assert json.loads((await run("token", "--json")).out) == {
        "server": server.url,
        "path": f"{config}/cellmates/tokens.json",
        "kept": True,
    }
    shown = await run("token", "--show", shows_token=True)
    assert shown == Ran(0, "secret-1\n", "")
    as_json = await run("token", "--show", "--json", shows_token=True)
    assert json.loads(as_json.out)["token"] == "secret-1"
    assert (await run("token", "--bot")).status == 1, "that is another"
    assert await run("token", "--forget") == Ran(0, f"No {where}", "")
    assert await run("token", "--show") == Ran(1, f"No {where}", "")
