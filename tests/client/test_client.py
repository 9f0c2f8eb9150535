"""What the client can do, and what it is refused, in both encodings."""

import asyncio
import logging
import socket
from contextlib import AsyncExitStack
from http import HTTPStatus

import pytest
from websockets.asyncio.server import ServerConnection, serve

from cellmates.engine import parse_action
from client.client import Client
from client.errors import (
    CannotConnect,
    ClientError,
    Closed,
    Conflict,
    NoAnswer,
    ServerError,
    WrongFrame,
    WrongRequest,
)
from client.results import Player

from .fake import FakeServer, Talk
from .making import QUICK, SOLUTION, Make
from .record import STARTED, Map
from .tricks import (
    answer,
    keep_silent,
    lose_request,
    refuse,
    until,
)

pytestmark = pytest.mark.asyncio

LINE = "6a 6b 1c undo 2d undo 1d".split()


# -- What it can do --------------------------------------------------------------------------------


async def test_bot_plays_from_nothing(make: Make, server: FakeServer) -> None:
    async with make(name="my-bot", version="0.3") as client:
        assert repr(client) == f"<Client guest at {server.url}>"
        player = await client.create_player("bot-1")
        assert client.me == player == Player("p1", "bot-1", "bot")
        assert client.token == "secret-1"
        game = await client.start_game("freecell", deal="617")
        assert (game.view.deal, game.view.seq, game.view.status) == ("617", 0, "playing")
        moved = await game.move("3a")
        assert (moved.seq, moved.move, moved.repeated) == (1, "3a", False)
        assert await game.hint() is not None
        assert await game.tap("3", depth=0, taps=2) is not None
        assert (await game.undo()).undos == 1
        assert (await game.resign()).status == game.view.status == "resigned"
    assert server.bodies("hello") == [{"proto": 1, "client": {"name": "my-bot", "version": "0.3"}}]
    assert server.bodies("game.tap") == [{"game": "g1", "from": "3", "depth": 0, "taps": 2}]


async def test_view_follows_every_move_of_a_won_game(bot: Client, server: FakeServer) -> None:
    async with bot as client:
        game = await client.start_game("freecell", deal="617")
        for move in SOLUTION:
            await game.move(move)
            assert game.view == (await client.open_game(game.id)).view
        assert (game.view.status, game.view.score) == ("won", 52)


async def test_view_follows_take_backs_and_undos(bot: Client, server: FakeServer) -> None:
    async with bot as client:
        game = await client.start_game("eight-off", deal="130")
        told = server.games[game.id]
        for _ in range(12):
            move = await game.hint()
            assert move is not None
            await game.move(move)
        home = next(suit for suit, count in game.view.home.items() if count)
        for action in (f"{home}{free_cell(game.view.cells)}", "undo", "undo"):
            await (game.undo() if action == "undo" else game.move(action))
            view = told.view()
            assert game.view.undo_left == view["undo_left"]
            assert [[*column] for column in game.view.columns] == view["columns"]
            assert ([*game.view.cells], game.view.home) == (view["cells"], view["home"])


def free_cell(cells: tuple[str | None, ...]) -> str:
    return "abcdefgk"[cells.index(None)]


async def test_players_are_shown_renamed_and_deleted(bot: Client, server: FakeServer) -> None:
    async with bot as client:
        shown = await client.player("ann")
        assert (shown.player.handle, shown.stats["freecell"].won) == ("ann", 1)
        assert (await client.rename("anna")).handle == "anna"
        assert client.me is not None
        assert client.me.handle == "anna"
        with pytest.raises(ServerError, match="bad-request"):
            await client.delete("ann")
        await client.delete("anna")
        assert client.token is None


async def test_lists_come_whole_however_they_are_paged(bot: Client, server: FakeServer) -> None:
    server.page = 2
    async with bot as client:
        games = [await client.start_game("freecell", deal=str(deal)) for deal in range(1, 6)]
        await games[1].resign()
        assert [game.game for game in await client.my_games()] == ["g5", "g4", "g3", "g2", "g1"]
        playing = await client.my_games("playing")
        assert [game.game for game in playing] == ["g5", "g4", "g3", "g1"]
        for action in LINE:
            await (games[0].undo() if action == "undo" else games[0].move(action))
        replay = await client.replay("g1")
    assert [entry.action for entry in replay.entries] == LINE
    assert (replay.result.seq, replay.result.hash) == (7, games[0].view.hash)
    assert replay.next is None


async def test_any_request_can_be_made(bot: Client) -> None:
    async with bot as client:
        assert await client.ping() == STARTED
        assert await client.ask("ping", {}, dict) == {"time": STARTED}
        with pytest.raises(ServerError, match="unknown-type"):
            await client.ask("game.dance", {}, dict)
        assert await client.ping() == STARTED, "the connection lives"


async def test_same_game_is_the_same_object(bot: Client) -> None:
    async with bot as client:
        game = await client.start_game("freecell", deal="1")
        await game.move("6a")
        assert await client.open_game(game.id) is game


async def test_game_that_is_opened_again_is_up_to_date(bot: Client, server: FakeServer) -> None:
    async with bot as client:
        game = await client.start_game("freecell", deal="1")
        server.games[game.id].act(parse_action("6a"))
        await client.open_game(game.id)
        assert (game.view.seq, game.view.hash) == (1, server.games[game.id].hash)


async def test_200_games_on_one_connection_do_not_mix(bot: Client, server: FakeServer) -> None:
    async with bot as client:

        async def play(deal: int) -> None:
            game = await client.start_game("freecell", deal=str(deal))
            for move in ("1a", "2b", "3c"):
                assert (await game.move(move)).move == move
            assert game.view.deal == str(deal)
            assert server.games[game.id].hash == game.view.hash

        await asyncio.gather(*(play(deal) for deal in range(1, 201)))


async def test_tasks_at_one_game_take_turns(bot: Client, server: FakeServer) -> None:
    async with bot as client:
        game = await client.start_game("freecell", deal="1")
        await asyncio.gather(*(game.move(move) for move in ("6a", "6b", "6c")))
        assert [entry[1] for entry in server.games[game.id].entries] == ["6a", "6b", "6c"]


# -- Refusals --------------------------------------------------------------------------------------


async def test_refused_move_changes_nothing(bot: Client) -> None:
    async with bot as client:
        game = await client.start_game("freecell", deal="1")
        await game.move("6a")
        before = game.view
        with pytest.raises(ServerError) as raised:
            await game.move("6a")
        assert (raised.value.code, raised.value.context["reason"]) == ("illegal-move", "cell-full")
        assert game.view == before
        assert (await game.move("6b")).seq == 2


async def test_request_that_is_too_long_is_not_sent(bot: Client, server: FakeServer) -> None:
    async with bot as client:
        with pytest.raises(WrongRequest):
            await client.player("x" * 5000)
        assert await client.ping() == STARTED
    assert not server.bodies("player.get")


@pytest.mark.parametrize("code", ["rate-limited", "internal", "draining"])
async def test_refusal_with_retry_after_is_tried_again_no_sooner(
    code: str, bot: Client, server: FakeServer
) -> None:
    times = []

    async def note(talk: Talk, message: Map) -> bool:
        times.append(asyncio.get_running_loop().time())
        return await refuse(code, 80)(talk, message) if len(times) == 1 else False

    server.trick("game.move", note, note)
    async with bot as client:
        game = await client.start_game("freecell", deal="1")
        assert (await game.move("6a")).seq == 1
    assert times[1] - times[0] >= 0.08
    assert server.bodies("game.move") == [{"game": "g1", "seq": 1, "move": "6a"}] * 2


async def test_deadline_tells_what_the_server_said(make: Make, server: FakeServer) -> None:
    server.trick("ping", refuse("internal", 60_000))
    async with make(deadline_s=0.5) as client:
        with pytest.raises(NoAnswer, match="the server said internal"):
            await client.ping()


async def test_requests_keep_to_the_pace_of_the_greeting(make: Make, server: FakeServer) -> None:
    server.limits |= {"requests_burst": 2, "requests_per_s": 50}
    loop = asyncio.get_running_loop()
    async with make() as client:
        begun = loop.time()
        await asyncio.gather(*(client.ping() for _ in range(6)))
        assert loop.time() - begun >= 4 / 50


async def test_reply_without_a_field_is_told(bot: Client, server: FakeServer) -> None:
    server.trick("ping", answer({"time": "noon"}), answer({}))
    async with bot as client:
        with pytest.raises(WrongFrame, match=r"Pong\.time from the server is of the wrong kind"):
            await client.ping()
        with pytest.raises(WrongFrame, match=r"Pong\.time from the server is missing"):
            await client.ping()


# -- At the door -----------------------------------------------------------------------------------


async def test_no_server_is_told_at_once() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"ws://127.0.0.1:{taken.getsockname()[1]}/ws"
        with pytest.raises(CannotConnect, match=f"there is no server at {url}"):
            async with Client(url):
                pass


async def test_something_else_than_a_server_is_told(server: FakeServer) -> None:
    with pytest.raises(CannotConnect, match="it answers 404"):
        async with Client(server.url.replace("/ws", "/elsewhere")):
            pass


async def test_server_of_another_protocol_is_told() -> None:
    async def silent(socket: ServerConnection) -> None:
        await socket.wait_closed()

    async with serve(silent, "127.0.0.1", 0, compression=None) as other:
        url = f"ws://127.0.0.1:{other.sockets[0].getsockname()[1]}/ws"
        with pytest.raises(CannotConnect, match=r"does not speak cellmates\.v1\.msgpack"):
            async with Client(url):
                pass


async def test_host_that_cannot_be_is_told() -> None:
    with pytest.raises(CannotConnect, match="no server to be reached"):
        async with Client(f"ws://{'x' * 64}.example/ws"):
            pass


async def test_peer_that_speaks_no_http_is_told() -> None:
    async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail ready\r\n")
        writer.close()

    async with await asyncio.start_server(greet, "127.0.0.1", 0) as mail:
        url = f"ws://127.0.0.1:{mail.sockets[0].getsockname()[1]}/ws"
        with pytest.raises(CannotConnect, match="no Cellmates server"):
            async with Client(url):
                pass


async def test_server_that_is_full_is_tried_again(bot: Client, server: FakeServer) -> None:
    server.refusals = [HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.TOO_MANY_REQUESTS]
    async with bot as client:
        assert await client.ping() == STARTED


async def test_server_that_is_away_for_long_is_waited_for() -> None:
    async with FakeServer() as server:
        url, token = server.url, server.player()
        client = Client(url, token=token, back_off=QUICK)
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(client)
            left = stack.pop_all()
    async with left:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await client.ping()


async def test_client_is_used_as_a_context(make: Make) -> None:
    client = make()
    with pytest.raises(RuntimeError, match="async with"):
        await client.ping()
    async with client:
        pass
    with pytest.raises(Closed, match="the client was closed"):
        await client.ping()


async def test_leaving_closes_as_done(make: Make, server: FakeServer) -> None:
    async with make():
        pass
    await until(lambda: server.talks[0].socket.close_code == 1000)


async def test_leaving_does_not_wait_for_answers(make: Make, server: FakeServer) -> None:
    server.trick("ping", keep_silent)
    async with make() as client:
        asked = asyncio.create_task(client.ping())
        await until(lambda: bool(server.bodies("ping")))
    with pytest.raises(Closed):
        await asked


# -- Secrets ---------------------------------------------------------------------------------------


async def test_token_is_in_no_log_and_no_repr(
    make: Make, server: FakeServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with make() as client:
        await client.create_player("bob")
        token = client.token
        assert token is not None
        server.trick("ping", lose_request)
        await client.ping()
        shown = repr(client) + repr(client.greeting) + repr(client.me)
    ours = [record for record in caplog.records if record.name.startswith("cellmates")]
    assert token not in shown + "".join(record.getMessage() for record in ours)
    assert not [record for record in caplog.records if record.name == "websockets.client"]


async def test_errors_are_all_of_one_family() -> None:
    for error in (Closed, Conflict, NoAnswer, ServerError, WrongFrame, WrongRequest, CannotConnect):
        assert issubclass(error, ClientError)
