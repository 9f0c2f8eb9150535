"""``play``, typed in and answered."""

import asyncio
import io
import json
import re
import sys
from pathlib import Path

import pytest

from client.__main__ import main

from .fake import FakeServer
from .making import TOP, Commands
from .tricks import answer, by_another, close, lose_answer, refuse

pytestmark = pytest.mark.asyncio


async def test_guest_plays_at_once(run: Commands, server: FakeServer, config: Path) -> None:
    ran = await run("play", "--deal", "1", typed="6a\nt 1\nquit\n3d\n")
    assert (ran.status, ran.err) == (0, "")
    assert ran.out.startswith(TOP)
    assert "6a\nt 1: 1b\n" in ran.out
    assert ran.out.endswith(
        "freecell 1 | 2 moves | 0 undos | score 0 | 0:02\n"
        "Game g1 stays open: play --game g1 goes on with it.\n"
    )
    [player] = server.players.values()
    assert re.fullmatch("guest-[0-9a-f]{8}", player["handle"])
    assert player["kind"] == "human"
    assert [entry[1] for entry in server.games["g1"].entries] == ["6a", "1b"]
    assert json.loads((config / "cellmates" / "tokens.json").read_text()) == {
        server.url: "secret-1"
    }


async def test_token_is_used_the_next_time(run: Commands, server: FakeServer) -> None:
    for deal in ("1", "2"):
        assert (await run("play", "--deal", deal)).status == 0
    assert len(server.players) == 1
    assert [body.get("token") for body in server.bodies("hello")] == [None, "secret-1"]
    again = await run("play", "--handle", "ann")
    assert again.status == 2
    assert "on this server you are guest-" in again.err


@pytest.mark.parametrize("by", ["option", "environment"])
async def test_token_that_is_given_goes_before_the_one_that_is_kept(
    by: str, run: Commands, server: FakeServer, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await run("play")
    token = server.player("bob")
    if by == "environment":
        monkeypatch.setenv("CELLMATES_TOKEN", token)
    given = ["--token", token] if by == "option" else []
    assert (await run("play", *given)).status == 0
    assert server.bodies("hello")[-1]["token"] == token
    assert token not in (config / "cellmates" / "tokens.json").read_text()


async def test_handle_of_ones_own(run: Commands, server: FakeServer) -> None:
    server.player("ann")
    taken = await run("play", "--handle", "ann")
    assert (taken.status, taken.out) == (1, "")
    assert taken.err == "cellmates: Somebody has that handle already, or one that looks like it.\n"
    assert (await run("play", "--handle", "bob")).status == 0
    assert server.players["secret-2"]["handle"] == "bob"


async def test_guest_whose_random_handle_is_taken_gets_another(
    run: Commands, server: FakeServer
) -> None:
    server.trick("player.create", refuse("handle-taken"))
    ran = await run("play")
    assert ran.status == 0
    one, other = server.bodies("player.create")
    assert one["handle"] != other["handle"]


async def test_every_command_of_a_game(run: Commands, server: FakeServer) -> None:
    typed = "help\n\nhint\n1c 2d\nundo\nboard\nt 1 3\ntt 4\nresign\n3a\n"
    ran = await run("play", "--deal", "1", typed=typed)
    assert "  26v3      move 3 cards into an empty column" in ran.out
    assert re.search("^hint: ..$", ran.out, re.MULTILINE)
    assert "1c\n2d\nundo\n" in ran.out
    assert "A tap there moves nothing.\ntt 4: 4a\nresign\n" in ran.out
    assert "The game is over: resigned.\n" in ran.out
    assert "Game g1 stays open" not in ran.out
    assert ran.status == 1, "a tap was refused"
    actions = [entry[1] for entry in server.games["g1"].entries]
    assert actions == ["1c", "2d", "undo", "4a", "resign"]


async def test_refusals_are_said_in_words_and_the_game_goes_on(
    run: Commands, server: FakeServer
) -> None:
    ran = await run("play", "--deal", "1", typed="6a 6a 6b\n6h\nundo undo\nhlep\nS1\n1c\n")
    assert ran.status == 1
    for said in (
        "6a\nThat cell is full.\n",
        "That card is not the next of its suit to go home.\n",
        "There is nothing to undo.\n",
        "'hlep' is not a move: write source and destination",
        "Cards that are home stay there in this game.\n",
    ):
        assert said in ran.out
    actions = [entry[1] for entry in server.games["g1"].entries]
    assert actions == ["6a", "undo", "1c"], "what stands behind a refused move is not done"


@pytest.mark.parametrize(("ruleset", "is_told"), [("freecell", True), ("eight-off", False)])
async def test_stuck_game_is_told_in_freecell_only(
    ruleset: str, is_told: bool, run: Commands, server: FakeServer
) -> None:
    await run("play", "--ruleset", ruleset)
    server.trick("game.open", answer(server.games["g1"].view() | {"stuck": True}))
    ran = await run("play", "--game", "g1")
    assert ("No moves left: undo, or resign." in ran.out) == is_told


async def test_nothing_from_the_server_drives_the_terminal(
    run: Commands, server: FakeServer
) -> None:
    await run("play", "--deal", "1")
    evil = "\x1b]0;owned\x07\x9b2J\r"
    view = server.games["g1"].view()
    columns = [[evil], *view["columns"][1:]]
    server.trick("game.open", answer(view | {"columns": columns, "deal": evil, "game": evil}))
    server.trick("game.move", refuse(evil, why=evil))
    ran = await run("play", "--game", "g1", typed="6a")
    for control in "\x1b\x07\x9b\r":
        assert control not in ran.out + ran.err
    assert "?]0;owned??2J?" in ran.out


async def test_deal_is_shown_with_its_code_where_it_has_one(run: Commands) -> None:
    ran = await run("play", "--ruleset", "eight-off", "--deal", "EO1-C8-AAAAAFA")
    assert "eight-off 130 (EO1-C8-AAAAAFA) | 0 moves | 0 undos (0 left) | score 0" in ran.out


async def test_game_is_gone_on_with(run: Commands, server: FakeServer) -> None:
    nothing = await run("play", "--continue")
    assert (nothing.status, nothing.out) == (1, "")
    assert nothing.err == "cellmates: There is no unfinished game to go on with.\n"
    await run("play", "--deal", "1", typed="6a")
    await run("play", "--ruleset", "eight-off", "--deal", "2")
    await run("play", "--deal", "3", typed="resign")
    assert "eight-off 2 (" in (await run("play", "--continue")).out
    assert "freecell 1 |" in (await run("play", "--continue", "--ruleset", "freecell")).out
    assert "freecell 1 |" in (await run("play", "--game", "g1", typed="1c")).out
    over = await run("play", "--game", "g3", typed="1a")
    assert "The game is over: resigned." in over.out
    assert len(server.games) == 3
    unknown = await run("play", "--game", "g9")
    assert unknown.status == 1
    assert unknown.err == "cellmates: There is no such game, player or challenge.\n"


async def test_wrong_deal_is_said_in_words(run: Commands) -> None:
    ran = await run("play", "--deal", "x")
    assert ran.status == 1
    assert ran.err.startswith("cellmates: The server will not have that: 'x' names no deal")


async def test_lost_answer_is_not_noticed(run: Commands, server: FakeServer) -> None:
    server.trick("game.move", lose_answer)
    ran = await run("play", "--deal", "1", typed="6a 1c")
    assert (ran.status, ran.err) == (0, "")
    assert "6a\n1c\n" in ran.out
    assert len(server.games["g1"].entries) == 2


async def test_conflict_is_said_with_the_board(run: Commands, server: FakeServer) -> None:
    server.trick("game.move", by_another("g1", ["1c"]))
    ran = await run("play", "--deal", "1", typed="6a\n6a")
    assert "Another of your connections moved first; this is how the game stands now.\n" in ran.out
    assert [entry[1] for entry in server.games["g1"].entries] == ["1c", "6a"]


async def test_end_of_the_connection_is_said_and_the_game_named(
    run: Commands, server: FakeServer
) -> None:
    server.trick("game.move", close(4401))
    ran = await run("play", "--deal", "1", "--token", server.player(), typed="6a")
    assert (ran.status, ran.err) == (2, "cellmates: The token is not valid any more (4401).\n")
    assert ran.out.endswith("Game g1 stays open: play --game g1 goes on with it.\n")


async def test_bad_token_is_said(run: Commands, server: FakeServer) -> None:
    ran = await run("play", "--token", "secret-of-nobody")
    assert (ran.status, ran.out) == (2, "")
    assert "The token is not valid, or not any more." in ran.err


async def test_no_server_is_said_with_what_to_do(
    config: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    for command in (["play"], ["replay", "g1"]):
        status = await asyncio.to_thread(main, [*command, "--server", "http://127.0.0.1:1"])
        assert status == 2
        assert "start one with 'make serve', or name another" in capsys.readouterr().err


async def test_json_is_a_line_for_each_answer(run: Commands, server: FakeServer) -> None:
    ran = await run("play", "--deal", "1", "--json", typed="6a 6b\n6a\nhint\nxx\nhelp\nboard\n")
    lines = [json.loads(line) for line in ran.out.splitlines()]
    view, moved, with_auto, refused, hint, wrong, board, last = lines
    record = server.games["g1"]
    assert view["seq"] == 0
    assert (moved["move"], moved["auto"], moved["repeated"]) == ("6a", [], False)
    assert with_auto["auto"] == ["6h", "6h", "bh"]
    assert refused["error"]["code"] == "illegal-move"
    assert refused["error"]["context"]["reason"] == "cell-full"
    assert hint.keys() == {"hint"}
    assert wrong["error"]["code"] is None
    assert board == last == record.view()
    assert ran.status == 1


async def test_refusal_at_the_start_is_json_too(run: Commands) -> None:
    ran = await run("play", "--ruleset", "whist", "--json")
    assert json.loads(ran.out)["error"]["context"]["field"] == "ruleset"
    assert (ran.status, ran.err) == (1, "")


async def test_token_that_cannot_be_kept_makes_no_player(
    run: Commands, server: FakeServer, config: Path
) -> None:
    (config / "cellmates").symlink_to(config / "nowhere")
    ran = await run("play")
    assert ran.status == 2
    assert f"{config}/cellmates/tokens.json" in ran.err
    assert not server.players
