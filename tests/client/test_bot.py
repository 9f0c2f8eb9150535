"""``bot``: the solver plays, for a bot that has an account of its own."""

import asyncio
import json
from functools import partial
from pathlib import Path

import pytest

from cellmates.engine import RULESETS, Act, Deal, Game, LegalMoves
from cellmates.solver import Cancelled, solve, solve_short
from client.address import websocket_url
from client.bot import play_out, position_of
from client.client import Client
from client.errors import WrongFrame
from client.results import View
from client.shape import read
from client.tokens import Tokens

from .boards import TODAY
from .fake import FakeServer, Talk, Trick
from .making import SOLUTION, Commands, Make, Ran, attempt
from .record import Map, Record
from .tricks import by_another, lose_answer, refuse

pytestmark = pytest.mark.asyncio

CHALLENGE = f"{TODAY}-freecell"


def hal(server: FakeServer) -> str:
    """Token of a bot, which is kept."""
    token = server.player("hal", "bot")
    Tokens.of_bot().keep(websocket_url(server.url), token)
    return token


def today_is(day: str) -> Trick:
    """Let the server say that today is another day."""

    async def trick(talk: Talk, message: Map) -> bool:
        message["d"]["date"] = day
        return False

    return trick


# -- Playing ---------------------------------------------------------------------------------------


async def test_begun_attempt_is_won_from_where_it_stands(run: Commands, server: FakeServer) -> None:
    record = attempt(server, hal(server), server.boards.add("freecell"))
    server.boards.run(CHALLENGE, "first", "bot", "eve", elapsed_ms=5)
    server.trick("game.move", lose_answer)
    ran = await run("bot", "--daily", "freecell")
    moves, home = record.game.moves, record.game.cards_home
    time = f"1:{record.game.seq - 60:02}"
    assert (record.status, home) == ("won", 52)
    assert ran == Ran(
        0,
        f"{CHALLENGE}: won in {time}, {moves} moves, 0 undos\n"
        f"  first: rank 2, won, {time}, {moves} moves, 0 undos\n"
        f"  moves: rank 1, won, {time}, {moves} moves, 0 undos\n",
        "",
    )
    assert [entry[1] for entry in record.entries[:65]] == SOLUTION[:65]


async def test_all_dailies_of_today_are_played_where_none_is_named(
    run: Commands, server: FakeServer
) -> None:
    server.boards.add("eight-off")
    server.boards.add("freecell")
    server.boards.add("freecell", day="2023-11-15")
    token = hal(server)
    won = attempt(server, token, CHALLENGE, 79)
    over = server.deal(server.players[token]["id"], "eight-off", f"{TODAY}-eight-off", 1)
    over.expire()
    ran = await run("bot", "--json")
    eight_off, freecell = (json.loads(line) for line in ran.out.splitlines())
    assert ran.status == 0
    assert freecell == won.view() | {
        "verdict": None,
        "rows": {
            board: server.boards.rows[CHALLENGE, board, "bot"][0] for board in ("first", "moves")
        },
    }
    assert (eight_off["status"], eight_off["verdict"]) == ("expired", None)
    assert eight_off["rows"] == {"first": None}, "an attempt that is not won is on no moves board"
    assert not server.bodies("daily.start"), "both were over"


async def test_attempt_that_was_over_is_told_as_such(run: Commands, server: FakeServer) -> None:
    attempt(server, hal(server), server.boards.add("freecell"), 3, end="resign")
    ran = await run("bot")
    result = "0 cards home, 3 moves, 0 undos"
    assert ran.out == (
        f"{CHALLENGE}: over already, resigned after 0:04, {result}\n"
        "  first: rank 1, 0 home, 0:04, 3 moves, 0 undos\n"
    )
    assert ran.status == 0


async def test_daily_from_its_deal_and_verdict_as_json(
    run: Commands, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("client.bot.solve_short", solve)
    server.boards.add("eight-off", "130")
    ran = await run("bot", "--daily", "eight-off", "--handle", "hal", "--json")
    told = json.loads(ran.out)
    assert (told["status"], told["verdict"], told["attempt"]) == ("won", "won", 1)
    assert told["rows"]["first"]["handle"] == told["rows"]["moves"]["handle"] == "hal"
    assert (ran.status, ran.err) == (0, "")


async def test_refused_daily_keeps_the_bot_from_none_of_the_others(
    run: Commands, server: FakeServer
) -> None:
    server.boards.add("eight-off")
    attempt(server, hal(server), server.boards.add("freecell"), 74)
    server.trick("daily.start", refuse("challenge-closed"))
    ran = await run("bot")
    assert (ran.status, ran.err) == (1, "cellmates: That challenge is closed.\n")
    assert f"{CHALLENGE}: won in " in ran.out
    server.trick("daily.list", today_is("2023-11-15"))
    server.boards.add("freecell", day="2023-11-15")
    server.boards.add("eight-off", day="2023-11-15")
    server.trick("daily.start", *[refuse("challenge-closed")] * 2)
    assert (await run("bot")).status == 1, "however many are refused"


async def test_one_daily_that_there_is_not(run: Commands, server: FakeServer) -> None:
    server.boards.add("freecell")
    ran = await run("bot", "--daily", "whist")
    assert (ran.status, ran.out) == (1, "")
    assert "There is no daily of 'whist' today" in ran.err


async def test_lost_deal_is_resigned_and_said_to_be_lost(run: Commands, server: FakeServer) -> None:
    ran = await run("bot", "--ruleset", "eight-off-2", "--deal", "1")
    result = "cannot be won, resigned after 0:01, 0 cards home, 0 moves, 0 undos"
    assert ran == Ran(1, f"eight-off-2 1: {result}\n", "")
    assert not server.bodies("board.get")


async def test_deal_that_the_solver_gives_up_stays_open(
    run: Commands, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("client.bot.solve_short", partial(solve_short, budget=10))
    ran = await run("bot", "--ruleset", "freecell", "--deal", "1")
    assert ran == Ran(1, "freecell 1: no way to win was found; game g1 stays open\n", "")
    server.boards.add("freecell")
    attempt_left = await run("bot", "--daily", "freecell", "--json")
    told = json.loads(attempt_left.out)
    assert (told["status"], told["verdict"], told["rows"]) == ("playing", "unknown", {})


@pytest.mark.parametrize("given", [["--ruleset", "eight-off"], []])
async def test_practice_at_a_challenge_counts_by_moves_only(
    given: list[str], run: Commands, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("client.bot.solve_short", solve)
    challenge = server.boards.add("eight-off", "130")
    player = server.players[hal(server)]
    server.deal(player["id"], "eight-off", challenge, 1).expire()
    ran = await run("bot", *given, "--deal", challenge)
    lines = ran.out.splitlines()
    assert lines[0].startswith(f"{challenge}: won in ")
    assert [line.split(":")[0] for line in lines[1:]] == ["  moves"]
    assert (server.games["g2"].attempt, ran.status) == (2, 0)


async def test_game_that_is_of_no_challenge_is_on_no_board(
    run: Commands, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("client.bot.solve_short", solve)
    ran = await run("bot", "--deal", "2")
    [line] = ran.out.splitlines()
    assert line.startswith("freecell 2: won in ")
    assert (ran.status, server.bodies("board.get")) == (0, [])


async def test_random_deal_of_a_ruleset(run: Commands, server: FakeServer) -> None:
    server.trick("game.start", refuse("too-many-games"))
    ran = await run("bot", "--ruleset", "eight-off")
    assert (ran.status, ran.err[:29]) == (1, "cellmates: You have too many ")
    assert server.bodies("game.start") == [{"ruleset": "eight-off"}]


async def test_row_that_comes_late_is_waited_for(
    run: Commands, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("client.bot_commands._ROW_WAIT_S", 0.01)
    token = hal(server)
    attempt(server, token, server.boards.add("freecell"), 74)
    server.boards.late = 7
    assert "  first: rank 1, " in (await run("bot")).out
    day = server.boards.add("freecell", day="2023-11-15")
    server.trick("daily.list", today_is("2023-11-15"))
    attempt(server, token, day, 74)
    server.boards.late = 8
    assert "  first: not on the board\n  moves: rank 1, " in (await run("bot")).out


async def test_row_of_an_attempt_that_was_over_is_asked_for_once(
    run: Commands, server: FakeServer
) -> None:
    attempt(server, hal(server), server.boards.add("freecell"), 79)
    server.boards.late = 1
    assert "  first: not on the board\n  moves: rank 1, " in (await run("bot")).out
    assert len(server.bodies("board.get")) == 2


async def test_clock_that_ends_the_attempt_is_told(run: Commands, server: FakeServer) -> None:
    record = attempt(server, hal(server), server.boards.add("freecell"))
    figures = f"{record.game.cards_home} cards home, {record.game.moves} moves, 0 undos"

    async def expire(talk: Talk, message: Map) -> bool:
        record.expire()
        return False

    server.trick("game.move", expire)
    server.boards.run(CHALLENGE, "first", "bot", "hal", home=7, won=False)
    ran = await run("bot")
    assert ran.out.startswith(
        f"{CHALLENGE}: expired after 30:00:00, {figures}\n  first: rank 1, 7 "
    )
    assert ran.status == 1


async def test_game_in_which_another_bot_acts_is_left_to_it(
    run: Commands, server: FakeServer
) -> None:
    record = attempt(server, hal(server), server.boards.add("freecell"))
    server.trick("game.move", by_another(record.id, ["undo"]))
    ran = await run("bot")
    assert (ran.status, ran.out) == (1, "")
    assert "Another of your connections moved first" in ran.err


async def test_ruleset_that_is_not_known_here_is_not_played(
    run: Commands, server: FakeServer
) -> None:
    record = attempt(server, hal(server), server.boards.add("freecell"))
    for news in ({"ruleset": "whist"}, {"ruleset_version": 9}):

        async def shown(talk: Talk, message: Map, news: Map = news) -> bool:
            body = record.view() | news
            await talk.send({"t": "ok", "re": message["id"], "d": body})
            return True

        server.trick("daily.start", shown)
        ran = await run("bot")
        assert (ran.status, ran.out) == (1, "")
        assert "is not known to this client" in ran.err
    assert not server.bodies("game.move")


# -- Whose it is -----------------------------------------------------------------------------------


async def test_bot_has_an_account_of_its_own(
    run: Commands, server: FakeServer, config: Path
) -> None:
    await run("play", "--handle", "ann", typed="resign")
    mine = (config / "cellmates" / "tokens.json").read_text()
    assert (await run("bot", "--handle", "hal")).status == 0
    assert (await run("bot")).status == 0
    assert [(player["handle"], player["kind"]) for player in server.players.values()] == [
        ("ann", "human"),
        ("hal", "bot"),
    ]
    assert (config / "cellmates" / "tokens.json").read_text() == mine
    assert json.loads((config / "cellmates" / "bot-tokens.json").read_text()) == {
        server.url: "secret-2"
    }
    assert [body.get("token") for body in server.bodies("hello")] == [None, None, "secret-2"]
    other = await run("bot", "--handle", "eve")
    assert other == Ran(2, "", "cellmates: on this server your bot is hal already\n")
    assert (await run("bot", "--handle", "hal")).status == 0


async def test_token_of_a_person_plays_no_bot(
    run: Commands, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.boards.add("freecell")
    token = server.player("ann", "human")
    ran = await run("bot", "--token", token)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith("cellmates: ann is a person: leave the token out, ")
    monkeypatch.setenv("CELLMATES_BOT_TOKEN", token)
    assert (await run("bot")).status == 2
    assert not server.games


async def test_token_for_people_in_the_environment_is_not_the_bots(
    run: Commands, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CELLMATES_TOKEN", server.player("ann", "human"))
    assert (await run("bot")).status == 0
    assert server.bodies("hello")[0].get("token") is None


async def test_bad_token_of_a_bot_is_told_with_what_forgets_it(
    run: Commands, server: FakeServer
) -> None:
    Tokens.of_bot().keep(websocket_url(server.url), "secret-of-nobody")
    ran = await run("bot")
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.endswith("If it was kept: token --bot --forget.\n")
    assert (await run("token", "--bot", "--forget")).status == 0
    assert (await run("bot")).status == 0


async def test_taken_handle_is_refused_and_a_random_one_drawn_again(
    run: Commands, server: FakeServer
) -> None:
    server.player("hal")
    taken = await run("bot", "--handle", "hal")
    assert taken.err == "cellmates: Somebody has that handle already, or one that looks like it.\n"
    server.trick("player.create", refuse("handle-taken"), refuse("handle-invalid", why="so"))
    assert (await run("bot")).status == 0
    assert len({body["handle"] for body in server.bodies("player.create")}) == 4
    Tokens.of_bot().forget(websocket_url(server.url))
    server.trick("player.create", *[refuse("handle-taken")] * 3)
    assert (await run("bot")).status == 1
    server.trick("player.create", refuse("forbidden"))
    ran = await run("bot")
    assert (ran.status, ran.err) == (1, "cellmates: That is not allowed here.\n")
    assert len(server.bodies("player.create")) == 8


async def test_token_that_cannot_be_kept_makes_no_bot(
    run: Commands, server: FakeServer, config: Path
) -> None:
    (config / "cellmates").symlink_to(config / "nowhere")
    ran = await run("bot")
    assert ran.status == 2
    assert f"{config}/cellmates/bot-tokens.json" in ran.err
    assert not server.players


@pytest.mark.parametrize("pace", ["-1", "x", "1.5", "²", "10000000"])
async def test_pace_is_a_number_of_milliseconds(
    pace: str, run: Commands, server: FakeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        await run("bot", "--pace", pace)
    assert ended.value.code == 2
    assert "a pace is a number of milliseconds" in capsys.readouterr().err


async def test_pace_is_waited_between_moves(run: Commands, server: FakeServer) -> None:
    record = attempt(server, hal(server), server.boards.add("freecell"), 74)
    times = []

    async def note(talk: Talk, message: Map) -> bool:
        times.append(asyncio.get_running_loop().time())
        return False

    server.trick("game.move", *[note] * 3)
    assert (await run("bot", "--pace", "40")).status == 0
    assert times[1] - times[0] >= 0.04
    assert times[2] - times[1] >= 0.04
    assert record.status == "won"


# -- The solver ------------------------------------------------------------------------------------


async def test_progress_is_told(make: Make, server: FakeServer) -> None:
    token = server.player()
    attempt(server, token, server.boards.add("freecell"), 60)
    said: list[str] = []
    async with make(token=token) as client:
        game = await client.start_daily(CHALLENGE)
        await play_out(game, say=said.append)
    moves = [text for text in said if text.startswith("move ")]
    assert said[0].endswith(" positions searched")
    assert moves == [f"move {number} of {len(moves)}" for number in range(1, len(moves) + 1)]


async def test_bot_that_is_stopped_stops_to_search(
    bot: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, ended = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def slow(*arguments: object, **options: object) -> object:
        loop.call_soon_threadsafe(begun.set)
        try:
            while True:
                if options["is_cancelled"]():  # type: ignore[operator]
                    raise Cancelled("the search was cancelled")
        finally:
            loop.call_soon_threadsafe(ended.set)

    monkeypatch.setattr("client.bot.solve_short", slow)
    async with bot as client:
        game = await client.start_game("freecell", "1")
        playing = asyncio.create_task(play_out(game))
        async with asyncio.timeout(10):
            await begun.wait()
            playing.cancel()
            await ended.wait()
        with pytest.raises(asyncio.CancelledError):
            await playing


@pytest.mark.parametrize("ruleset", RULESETS)
async def test_position_is_the_one_that_the_view_shows(ruleset: str) -> None:
    record = Record("g1", "p1", Game.start(RULESETS[ruleset], Deal.numbered(3)), "")
    for number in range(60):
        game = record.game
        assert position_of(read(View, record.view())) == game.position
        moves = [*LegalMoves(game.ruleset, game.position)] or [Act.UNDO]
        record.act(moves[number % len(moves)])
    assert record.game.cards_home or ruleset == "eight-off-2"


async def test_cards_that_there_are_not_are_told(bot: Client, server: FakeServer) -> None:
    async with bot as client:
        game = await client.start_game("freecell", "1")
    view = read(View, server.games[game.id].view() | {"cells": ["1X", None, None, None]})
    with pytest.raises(WrongFrame, match="the board from the server has no such cards"):
        position_of(view)
