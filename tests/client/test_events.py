"""Events while other things go on, in both encodings."""

import pytest

from cellmates.engine import parse_action
from client.client import Client
from client.errors import (
    Closed,
)
from client.results import GameEvent, OtherEvent, Resynced

from .fake import FakeServer
from .record import STARTED, Map
from .tricks import answer, first, soon, until

pytestmark = pytest.mark.asyncio


# -- Events ----------------------------------------------------------------------------------------


def acted(server: FakeServer, game: str, action: str, *, with_view: bool = False) -> Map:
    """Event that another connection acted, which it does."""
    record = server.games[game]
    record.act(parse_action(action))
    auto = [str(move) for move in record.game.auto]
    body: Map = {"game": game, "entry": record.entries[-1], "auto": auto}
    return {"t": "game.event", "d": body | ({"view": record.view()} if with_view else {})}


@pytest.mark.parametrize("with_view", [True, False])
async def test_events_while_waiting_for_an_answer(
    with_view: bool, bot: Client, server: FakeServer
) -> None:
    async with bot as client:
        events = client.events()
        game = await client.start_game("freecell", deal="1")
        sent = [acted(server, game.id, action, with_view=with_view) for action in ("6a", "1c")]
        server.trick("ping", first(*sent))
        assert await client.ping() == STARTED
        record = server.games[game.id]
        assert (game.view.seq, game.view.hash, game.view.moves) == (2, record.hash, 2)
        assert [[*column] for column in game.view.columns] == record.view()["columns"]
        for event in sent:
            heard = await soon(anext(events))
            assert isinstance(heard, GameEvent)
            assert [heard.entry.seq, heard.entry.action] == event["d"]["entry"][:2]
        assert (await game.move("2d")).seq == 3


@pytest.mark.parametrize("action", ["undo", "resign"])
async def test_events_that_are_no_moves(action: str, bot: Client, server: FakeServer) -> None:
    async with bot as client:
        game = await client.start_game("freecell", deal="1")
        await game.move("6a")
        server.trick("ping", first(acted(server, game.id, action, with_view=action == "undo")))
        await client.ping()
        status = "resigned" if action == "resign" else "playing"
        assert (game.view.seq, game.view.status) == (2, status)


async def test_what_an_event_leaves_open_is_asked_before_the_next_action(
    bot: Client, server: FakeServer
) -> None:
    async with bot as client:
        game = await client.start_game("freecell", deal="1")
        record = server.games[game.id]
        for action in ("6a", "undo"):
            server.trick("ping", first(acted(server, game.id, action)))
            await client.ping()
        await game.move("1c")
        assert (game.view.seq, game.view.undos, game.view.hash) == (3, 1, record.hash)
        assert [*game.view.columns[5]] == record.view()["columns"][5]


async def test_each_seq_is_heard_once_and_in_order_across_a_reconnect(
    bot: Client, server: FakeServer
) -> None:
    async with bot as client:
        events = client.events()
        game = await client.start_game("freecell", deal="1")
        heard_before = acted(server, game.id, "6a")
        server.trick("ping", first(heard_before, heard_before))
        await client.ping()
        acted(server, game.id, "1c")  # while we are away
        server.talks[0].socket.transport.abort()
        await until(lambda: len(server.talks) == 2 and game.id in server.talks[1].open)
        server.trick("ping", first(heard_before, acted(server, game.id, "2d")))
        await client.ping()
        await game.move("3b")
        server.trick("ping", first({"t": "the.end", "d": {}}))
        await client.ping()
        seqs = []
        while isinstance(event := await soon(anext(events)), GameEvent):
            seqs.append(event.entry.seq)
        assert seqs == [1, 2, 3]


async def test_too_much_news_is_told_as_a_whole(bot: Client, server: FakeServer) -> None:
    async with bot as client:
        events = client.events()
        game = await client.start_game("freecell", deal="1")
        acted(server, game.id, "6a")
        view = server.games[game.id].view()
        server.trick("game.open", answer(view | {"entries": None}))
        await game.refresh()
        assert await soon(anext(events)) == Resynced(game.id, game.view)
        assert game.view.seq == 1


async def test_events_of_others_come_through(bot: Client, server: FakeServer) -> None:
    changed = {"challenge": "c", "top": [], "total": 0}
    entry = [4, "6a", 10, "0" * 64]
    server.trick(
        "ping",
        first(
            {"t": "board.of-later", "d": changed},
            {"t": "game.event", "d": {"game": "unknown", "entry": entry, "auto": []}},
        ),
    )
    async with bot as client:
        events = client.events()
        await client.ping()
        assert await soon(anext(events)) == OtherEvent("board.of-later", changed)
        heard = await soon(anext(events))
        assert isinstance(heard, GameEvent)
        assert (heard.game, heard.entry.seq) == ("unknown", 4)


async def test_events_end_with_the_client(bot: Client) -> None:
    async with bot as client:
        events = client.events()
    assert [event async for event in events] == []
    assert [event async for event in bot.events()] == [], "also when asked for too late"


async def test_events_raise_what_ended_the_client(bot: Client, server: FakeServer) -> None:
    async with bot as client:
        events = client.events()
        await server.talks[0].socket.close(4401)
        for _ in range(2):
            with pytest.raises(Closed, match="the token is not valid any more"):
                await soon(anext(events))
