"""The client when it is sent away, or asked to wait, in both encodings."""

import asyncio
from typing import ClassVar

import pytest

from client.client import Client
from client.connection import CLOSINGS, Again
from client.errors import (
    Closed,
    Conflict,
    ServerError,
    WrongFrame,
)
from client.pace import BackOff
from client.results import Draining, Player
from tests.faults.proxy import FaultProxy

from .fake import FakeServer, Talk
from .making import QUICK, Make
from .record import STARTED, Map
from .tricks import answer, close, first, keep_silent, lose_answer, lose_request, refuse, soon

pytestmark = pytest.mark.asyncio


@pytest.mark.parametrize("code", [code for code in CLOSINGS if code not in (1005, 1006)])
async def test_each_close_code_has_its_reaction(code: int, bot: Client, server: FakeServer) -> None:
    """Scenario 16: the end of a stream is not the end of a game."""
    async with bot as client:
        game = await client.start_game("freecell", deal="1")
        server.trick("game.move", close(code))
        if CLOSINGS[code].again is Again.NO:
            with pytest.raises(Closed) as raised:
                await game.move("6a")
            assert raised.value.code == code
            assert CLOSINGS[code].meaning in str(raised.value)
            with pytest.raises(Closed):
                await client.ping()
        else:
            assert (await game.move("6a")).seq == 1
    assert len(server.talks) == (1 if CLOSINGS[code].again is Again.NO else 2)


@pytest.mark.parametrize("code", [1012, 4401])
async def test_close_that_comes_byte_by_byte_has_its_reaction(
    code: int, server: FakeServer
) -> None:
    async with FaultProxy.before(server.url) as proxy:
        proxy.split = 1
        async with Client(proxy.url, token=server.player(), back_off=QUICK) as client:
            server.trick("ping", close(code))
            if CLOSINGS[code].again is Again.NO:
                with pytest.raises(Closed) as raised:
                    await client.ping()
                assert raised.value.code == code
            else:
                assert await client.ping() == STARTED


async def test_end_without_a_close_is_no_goodbye(server: FakeServer) -> None:
    async with (
        FaultProxy.before(server.url) as proxy,
        Client(proxy.url, token=server.player(), back_off=QUICK) as client,
    ):
        await client.ping()
        proxy.close()
        await proxy.until(lambda: proxy.accepted == 2)
        assert await client.ping() == STARTED


@pytest.mark.parametrize(("code", "again"), [(1001, True), (1012, True), (4429, True)])
async def test_close_waits_as_long_as_the_server_asked(
    code: int, again: bool, bot: Client, server: FakeServer
) -> None:
    async def limited(talk: Talk, message: Map) -> bool:
        await refuse("rate-limited", 80)(talk, message)
        times.append(asyncio.get_running_loop().time())
        await talk.socket.close(code)
        return True

    times: list[float] = []
    server.trick("ping", limited)
    async with bot as client:
        await client.ping()
        assert asyncio.get_running_loop().time() - times[0] >= 0.08
    assert len(server.talks) == 2


async def test_complaint_before_a_close_is_heeded(bot: Client, server: FakeServer) -> None:
    async def complain(talk: Talk, message: Map) -> bool:
        body = {"code": "rate-limited", "message": "", "retry_after_ms": 80}
        await talk.send({"t": "error", "re": None, "d": body})
        times.append(asyncio.get_running_loop().time())
        await talk.socket.close(4429)
        return True

    times: list[float] = []
    server.trick("ping", complain)
    async with bot as client:
        await client.ping()
        assert asyncio.get_running_loop().time() - times[0] >= 0.08


@pytest.mark.parametrize("code", [1006, 1012])
async def test_server_that_said_it_goes_may_go_as_it_likes(
    code: int, bot: Client, server: FakeServer
) -> None:
    async def go(talk: Talk, message: Map) -> bool:
        await talk.event("server.draining", deadline=STARTED, retry_after_ms=80)
        times.append(asyncio.get_running_loop().time())
        return await (lose_request if code == 1006 else close(code))(talk, message)

    times: list[float] = []
    server.trick("ping", go)
    async with bot as client:
        await client.ping()
        assert asyncio.get_running_loop().time() - times[0] >= 0.08


async def test_wait_that_was_asked_for_something_else_is_not_waited_after_a_break(
    make: Make, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Noted, "asked", [])
    server.trick("ping", refuse("internal", 60_000), close(1011))
    async with make(back_off=Noted()) as client:
        await client.ping()
    assert [retry_after_ms for _, _, retry_after_ms in Noted.asked] == [60_000, None]


class Noted(BackOff):
    """Back-off that waits for nothing and notes what it was asked."""

    asked: ClassVar[list[tuple[int, float, int | None]]] = []

    def wait_s(self, failures: int, chance: float, retry_after_ms: int | None = None) -> float:
        self.asked.append((failures, chance, retry_after_ms))
        return 0.0


async def test_back_off_grows_until_something_is_answered(
    make: Make, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Noted, "asked", [])
    token = server.player()
    async with make(token=token, back_off=Noted(), chance=lambda: 0.25) as client:
        game = await client.start_game("freecell", deal="1")
        for _ in range(2):
            server.trick("game.move", lose_request, close(1011))
            server.trick("hello", lose_request)
            server.trick("game.open", lose_answer)
            await game.move("6a" if game.view.seq == 0 else "1c")
    # That a greeting and a game were answered is no sign that all is well again.
    assert Noted.asked == [(failures, 0.25, None) for failures in (0, 1, 2, 3)] * 2


async def test_watch_that_is_renewed_is_no_sign_that_all_is_well_again(
    make: Make, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Noted, "asked", [])
    challenge = server.boards.add("freecell")
    async with make(back_off=Noted()) as client:
        events = client.events()
        await client.watch_board(challenge)
        await client.ping()
        server.trick("board.watch", *[close(1011, answered=True)] * 3)
        server.talks[0].socket.transport.abort()
        await soon(anext(events))
    assert [failures for failures, _, _ in Noted.asked] == [0, 1, 2, 3]


async def test_draining_server_gets_no_more_requests_and_is_left(
    bot: Client, server: FakeServer
) -> None:
    draining = {"t": "server.draining", "d": {"deadline": STARTED, "retry_after_ms": 80}}
    async with bot as client:
        events = client.events()
        game = await client.start_game("freecell", deal="1")
        server.trick("ping", first(draining))
        begun = asyncio.get_running_loop().time()
        assert await client.ping() == STARTED, "what was asked is answered"
        assert (await game.move("6a")).seq == 1
        assert asyncio.get_running_loop().time() - begun >= 0.08
        assert await soon(anext(events)) == Draining(STARTED, 80)
    left, came = server.talks
    assert left.socket.close_code == 1000
    assert came.open == {game.id}


async def test_two_connections_of_one_player_live_side_by_side(
    make: Make, server: FakeServer
) -> None:
    token = server.player()
    async with make(token=token) as one, make(token=token) as other:
        game = await one.start_game("freecell", deal="1")
        same = await other.open_game(game.id)
        await game.move("6a")
        with pytest.raises(Conflict):
            await same.move("6b")
        await same.move("6b")
        assert await one.ping() == await other.ping()
    assert len(server.talks) == 2


async def test_client_that_is_sent_away_does_not_come_back(bot: Client, server: FakeServer) -> None:
    # Scenario 15: with kick-old on one side and reconnect on the other two clients never rest.
    async with bot as client:
        await server.talks[0].socket.close(1000)
        with pytest.raises(Closed):
            await client.ping()
    assert len(server.talks) == 1


async def test_bad_token_stops_at_the_door(make: Make, server: FakeServer) -> None:
    server.trick("hello", lambda talk, message: bad_token(talk, message))
    with pytest.raises(ServerError, match="bad-token"):
        async with make(token="wrong"):
            pass
    assert len(server.talks) == 1


async def bad_token(talk: Talk, message: Map) -> bool:
    await talk.send(talk.answer(message))
    await talk.socket.close(4401)
    return True


async def test_token_that_stops_working_while_away_stops_the_client(
    bot: Client, server: FakeServer
) -> None:
    async with bot as client:
        server.players.clear()
        server.trick("ping", lose_request)
        server.trick("hello", bad_token)
        with pytest.raises(ServerError, match="bad-token"):
            await client.ping()
    assert len(server.talks) == 2


async def test_unknown_protocol_version_stops(make: Make, server: FakeServer) -> None:
    server.trick("hello", refuse("unsupported-proto", supported=[2]))
    with pytest.raises(ServerError) as raised:
        async with make():
            pass
    assert raised.value.context == {"supported": [2]}


async def test_new_token_is_used_from_then_on(bot: Client, server: FakeServer) -> None:
    async with bot as client:
        server.trick("player.token", close(4401, answered=True))
        assert await client.rotate_token() == client.token == "secret-1-new"
        assert await client.ping() == STARTED
    assert [body["token"] for body in server.bodies("hello")] == ["secret-1", "secret-1-new"]


async def test_player_made_by_a_guest_is_kept_across_a_reconnect(
    make: Make, server: FakeServer
) -> None:
    async with make() as client:
        await client.create_player("bob")
        server.trick("ping", lose_request)
        await client.ping()
        assert client.me == Player("p1", "bob", "bot")


async def test_greeting_that_is_refused_for_now_is_said_again(
    make: Make, server: FakeServer
) -> None:
    server.trick("hello", refuse("rate-limited", 20, key="address"))
    async with make() as client:
        assert await client.ping() == STARTED
    assert len(server.talks) == 2


async def test_greeting_that_does_not_come_is_asked_for_again(
    make: Make, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("client.line._GREETING_S", 0.05)
    server.trick("hello", keep_silent)
    async with make() as client:
        monkeypatch.undo()
        assert await client.ping() == STARTED


async def test_greeting_without_its_fields_is_told(make: Make, server: FakeServer) -> None:
    server.trick("hello", answer({"proto": 1}))
    with pytest.raises(WrongFrame, match=r"Greeting\.server from the server is missing"):
        async with make():
            pass


async def test_wrong_frame_ends_the_conversation(bot: Client, server: FakeServer) -> None:
    server.trick("ping", answer(re=99))
    async with bot as client:
        for _ in range(2):
            with pytest.raises(WrongFrame, match="not made, or twice"):
                await client.ping()
    assert server.talks[0].socket.close_code == 1002


async def test_frame_that_is_too_large_ends_the_conversation(
    bot: Client, server: FakeServer
) -> None:
    server.trick("ping", first({"t": "large", "d": {"a": "x" * 65536}}))
    async with bot as client:
        with pytest.raises(WrongFrame, match="cannot be read"):
            await client.ping()
    assert len(server.talks) == 1
