"""The client when connections break, and when others act first, in both encodings."""

import asyncio
from collections.abc import AsyncIterator
from random import Random

import pytest
import pytest_asyncio
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosedError

from cellmates.engine import parse_action
from client.client import Client
from client.errors import (
    Conflict,
    NoAnswer,
)
from client.game import Game
from client.pace import BackOff
from client.results import GameEvent, Moved, OtherEvent
from tests.faults.proxy import ENDS, End, FaultProxy, Split

from .fake import FakeServer, Talk
from .making import QUICK, SOLUTION, Make
from .record import STARTED, Map
from .tricks import answer, by_another, first, lose_answer, lose_request, refuse, soon, until

pytestmark = pytest.mark.asyncio


# -- Broken connections ----------------------------------------------------------------------------


@pytest.mark.parametrize("action", ["6a", "undo", "resign"])
async def test_lost_answer_is_asked_for_again_and_made_once(
    action: str, bot: Client, server: FakeServer
) -> None:
    async with bot as client:
        events = client.events()
        game = await client.start_game("freecell", deal="1")
        await game.move("1c")
        type_ = f"game.{action}" if action in ("undo", "resign") else "game.move"
        server.trick(type_, lose_answer)
        moved = await act(game, action)
        assert (moved.seq, moved.move, moved.repeated) == (2, action, True)
        record = server.games[game.id]
        assert [entry[1] for entry in record.entries] == ["1c", action]
        assert (game.view.seq, game.view.hash) == (2, record.hash)
        if action == "6a":
            assert (await game.move("6b")).seq == 3
        server.trick("ping", first({"t": "the.end", "d": {}}))
        await client.ping()
        assert await soon(anext(events)) == OtherEvent("the.end", {}), "our own action is no news"
    sent = [body for body in server.bodies(type_) if body["seq"] == 2]
    assert sent[0] == sent[1]


async def act(game: Game, action: str) -> Moved:
    match action:
        case "undo":
            return await game.undo()
        case "resign":
            return await game.resign()
        case move:
            return await game.move(move)


async def test_undo_that_would_be_legal_a_second_time_is_made_once(
    bot: Client, server: FakeServer
) -> None:
    async with bot as client:
        game = await client.start_game("freecell", deal="1")
        for move in ("1c", "2d"):
            await game.move(move)
        server.trick("game.undo", lose_answer)
        assert (await game.undo()).repeated
        assert server.games[game.id].game.undos == game.view.undos == 1
        assert game.view.cells == (None, None, "6S", None)


async def test_lost_request_is_sent_again(bot: Client, server: FakeServer) -> None:
    async with bot as client:
        game = await client.start_game("freecell", deal="1")
        await game.move("1c")
        server.trick("game.move", lose_request)
        moved = await game.move("6a")
        assert (moved.seq, moved.repeated) == (2, False)
    assert server.bodies("game.open") == [{"game": "g1", "since": 1}], "resumed, then sent again"


async def test_answer_lost_several_times_is_made_once(bot: Client, server: FakeServer) -> None:
    async with bot as client:
        game = await client.start_game("freecell", deal="1")
        server.trick("game.move", lose_answer, lose_request, lose_answer)
        server.trick("hello", lose_request, lose_answer)
        server.trick("game.open", lose_answer)
        assert (await game.move("6a")).repeated
        assert len(server.games[game.id].entries) == 1


@pytest.mark.parametrize(("deal", "move", "recorded"), [("12", "15v2", "15"), ("1", "1av1", "1a")])
async def test_move_not_in_canonical_form_is_known_again(
    deal: str, move: str, recorded: str, bot: Client, server: FakeServer
) -> None:
    async def record(talk: Talk, message: Map) -> bool:
        talk.server.games["g1"].act(parse_action(recorded))
        talk.socket.transport.abort()
        return True

    async with bot as client:
        events = client.events()
        game = await client.start_game("freecell", deal=deal)
        server.trick("game.move", record)  # sent again it is a conflict: the fake compares texts
        moved = await game.move(move)
        assert (moved.move, moved.repeated) == (recorded, True)
    assert [event async for event in events] == []


async def test_every_call_waits_through_a_reconnect(bot: Client, server: FakeServer) -> None:
    async with bot as client:
        game = await client.start_game("freecell", deal="1")
        server.trick("ping", lose_request)
        times = await asyncio.gather(
            client.ping(), client.my_games(), game.hint(), game.move("6a"), client.replay("g1")
        )
        assert times[0] == STARTED
    assert len(server.talks) == 2


async def test_idle_client_comes_back_by_itself(bot: Client, server: FakeServer) -> None:
    async with bot as client:
        game = await client.start_game("freecell", deal="1")
        server.talks[0].socket.transport.abort()
        await until(lambda: len(server.talks) == 2 and game.id in server.talks[1].open)


async def test_answer_that_comes_too_late_is_taken_all_the_same(
    make: Make, server: FakeServer
) -> None:
    late: list[Map] = []

    async def delay(talk: Talk, message: Map) -> bool:
        late.append(talk.answer(message))
        return True

    async def deliver(talk: Talk, message: Map) -> bool:
        await talk.send(late[0])
        return False

    server.trick("game.move", delay)
    async with make(token=server.player(), deadline_s=0.5) as client:
        game = await client.start_game("freecell", deal="1")
        with pytest.raises(NoAnswer, match=r"no answer within 0\.5 s"):
            await game.move("6a")
        server.trick("ping", deliver)
        await client.ping()
        assert (game.view.seq, game.view.cells[0]) == (1, "3D")


async def test_time_that_is_up_while_away_is_told(make: Make, server: FakeServer) -> None:
    async with make(deadline_s=0.5, back_off=BackOff(60, 60), chance=lambda: 1.0) as client:
        server.talks[0].socket.transport.abort()
        with pytest.raises(NoAnswer):
            await client.ping()


async def test_reply_from_further_on_is_caught_up_with(bot: Client, server: FakeServer) -> None:
    async with bot as client:
        game = await client.start_game("freecell", deal="1")
        record = server.games[game.id]

        async def far(talk: Talk, message: Map) -> bool:
            for action in ("6a", "1c"):
                record.act(parse_action(action))
            return await answer(record.moved())(talk, message)

        server.trick("game.move", far)
        await game.move("6a")
        assert (await game.move("2d")).seq == 3
        assert game.view.cells == ("3D", None, "6S", "9C")


async def test_undo_without_a_view_is_caught_up_with(bot: Client, server: FakeServer) -> None:
    async with bot as client:
        game = await client.start_game("freecell", deal="1")
        await game.move("6a")
        record = server.games[game.id]

        async def bare(talk: Talk, message: Map) -> bool:
            record.act(parse_action("undo"))
            told = {name: value for name, value in record.moved().items() if name != "view"}
            return await answer(told)(talk, message)

        server.trick("game.undo", bare)
        await game.undo()
        await game.move("1c")
        assert game.view.cells == (None, None, "6S", None)


async def test_view_from_before_is_no_step_back(bot: Client, server: FakeServer) -> None:
    async with bot as client:
        game = await client.start_game("freecell", deal="1")
        record = server.games[game.id]
        before = record.view()
        await game.move("6a")
        server.trick("game.undo", answer(record.moved() | {"repeated": True, "view": before}))
        await game.undo()
        assert game.view.seq == 1


async def test_request_that_waited_for_its_turn_survives_a_break(
    make: Make, server: FakeServer
) -> None:
    server.limits |= {"requests_burst": 1, "requests_per_s": 5}
    async with make() as client:
        await client.ping()
        waiting = asyncio.create_task(client.ping())
        await asyncio.sleep(0)
        server.talks[0].socket.transport.abort()
        assert await waiting == STARTED
    assert len(server.talks) == 2


# -- Broken networks -------------------------------------------------------------------------------


@pytest_asyncio.fixture
async def proxy(server: FakeServer) -> AsyncIterator[FaultProxy]:
    async with FaultProxy.before(server.url) as proxy:
        yield proxy


@pytest.fixture(params=["msgpack", "json"])
def far(request: pytest.FixtureRequest, server: FakeServer, proxy: FaultProxy) -> Client:
    """A client that reaches the server through the proxy."""
    token = server.player()
    return Client(proxy.url, token=token, encoding=request.param, back_off=QUICK)


def to_and_fro(seq: int) -> str:
    return "ae" if seq % 2 else "ea"


@pytest.mark.parametrize("towards", ENDS)
async def test_connection_cut_after_any_byte_doubles_and_loses_nothing(
    towards: End, far: Client, server: FakeServer, proxy: FaultProxy
) -> None:
    """Handshake, greeting, resuming, acting: each is cut in its head, its middle and its end."""
    async with far as client:
        game = await client.start_game("eight-off", deal="1")
        for size in range(1, 900, 29):
            proxy.cut_after(towards, size)
            proxy.cut()
            cut = proxy.accepted + 2  # the connection that is cut, and the one after it
            while proxy.accepted < cut:
                seq = game.view.seq + 1
                assert (await game.move(to_and_fro(seq))).seq == seq
        record = server.games[game.id]
        assert (game.view.seq, game.view.hash) == (record.game.seq, record.hash)
    actions = [entry[1] for entry in record.entries]
    assert actions == [to_and_fro(seq) for seq in range(1, len(actions) + 1)]


@pytest.mark.parametrize("split", [1, Random(3)])
async def test_whole_game_is_played_however_the_network_splits_it(
    split: Split, far: Client, server: FakeServer, proxy: FaultProxy
) -> None:
    proxy.split = split
    async with far as client:
        game = await client.start_game("freecell", deal="617")
        for move in SOLUTION:
            await game.move(move)
        assert game.view.status == "won"
        assert len((await client.replay(game.id)).entries) == len(SOLUTION)
    assert proxy.accepted == 1


@pytest.mark.parametrize("towards", ENDS)
async def test_server_that_is_only_half_there_is_left_for_a_new_connection(
    towards: End,
    far: Client,
    server: FakeServer,
    proxy: FaultProxy,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The socket stays open and says nothing, or hears nothing: the heartbeat finds out."""
    monkeypatch.setattr("client.dialling._HEARTBEAT_S", 0.2)
    monkeypatch.setattr("client.dialling._CLOSING_S", 0.2)
    async with far as client:
        game = await client.start_game("freecell", deal="1")
        proxy.mute(towards=towards)
        moved = await game.move("6a")
        assert moved.repeated == (towards == "client"), (
            "there it was made, and only the answer lost"
        )
        assert len(server.games[game.id].entries) == 1
    assert proxy.accepted == 2


async def test_call_waits_until_the_network_is_back(far: Client, proxy: FaultProxy) -> None:
    async with far as client:
        game = await client.start_game("freecell", deal="1")
        proxy.refuse()
        proxy.cut()
        moving = asyncio.create_task(game.move("6a"))
        await proxy.until(lambda: proxy.accepted >= 4)
        proxy.admit()
        assert (await moving).seq == 1


async def test_connection_that_is_gone_before_the_handshake_is_tried_again(
    make: Make, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    dialled: list[str] = []

    async def closed_at_once(url: str, **_: object) -> ClientConnection:
        dialled.append(url)
        monkeypatch.undo()
        raise ConnectionClosedError(None, None)

    async with make(token=server.player()) as client:
        monkeypatch.setattr("client.dialling.connect", closed_at_once)
        server.talks[0].socket.transport.abort()
        await until(lambda: len(dialled) == 1)
        assert await client.ping() == STARTED
    assert len(server.talks) == 2


# -- Conflicts -------------------------------------------------------------------------------------


async def test_conflict_is_told_with_the_game_up_to_date(bot: Client, server: FakeServer) -> None:
    async with bot as client:
        events = client.events()
        game = await client.start_game("freecell", deal="1")
        server.trick("game.move", by_another(game.id, ["1c", "2d"]))
        with pytest.raises(Conflict, match="6a was not made: 1c was recorded as 1") as raised:
            await game.move("6a")
        assert (raised.value.seq, raised.value.recorded) == (2, "1c")
        assert (game.view.seq, game.view.hash) == (2, server.games[game.id].hash)
        heard = [await soon(anext(events)), await soon(anext(events))]
        assert [event.entry.action for event in heard if isinstance(event, GameEvent)] == [
            "1c",
            "2d",
        ]
        assert (await game.move("6a")).seq == 3


async def test_conflict_with_our_own_action_is_success(bot: Client, server: FakeServer) -> None:
    async with bot as client:
        game = await client.start_game("freecell", deal="1")
        server.trick("game.move", by_another(game.id, ["6a"], refuse("conflict", seq=1)))
        moved = await game.move("6a")
        assert (moved.seq, moved.move, moved.repeated) == (1, "6a", True)
        assert game.view.cells[0] == "3D"


async def test_conflict_after_a_reconnect_is_told(bot: Client, server: FakeServer) -> None:
    async with bot as client:
        game = await client.start_game("freecell", deal="1")
        server.trick("game.move", by_another(game.id, ["1c"], lose_request))
        with pytest.raises(Conflict):
            await game.move("6a")
        assert (await game.move("6a")).seq == 2


async def test_conflict_about_a_gap_names_no_other_action(bot: Client, server: FakeServer) -> None:
    async with bot as client:
        game = await client.start_game("freecell", deal="1")
        server.trick("game.move", refuse("conflict", seq=0))
        with pytest.raises(Conflict, match="1 was not next") as raised:
            await game.move("6a")
        assert raised.value.recorded is None
