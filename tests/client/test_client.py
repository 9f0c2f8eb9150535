"""The client on a server that misbehaves where it is asked to, in both encodings."""

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from functools import partial
from http import HTTPStatus
from typing import ClassVar

import pytest
import pytest_asyncio
from websockets.asyncio.server import ServerConnection, serve

from cellmates.engine import parse_action
from client.client import Client
from client.connection import CLOSINGS, Again
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
from client.game import Game
from client.pace import BackOff
from client.results import Draining, GameEvent, Moved, OtherEvent, Player, Resynced

from .fake import STARTED, FakeServer, Map, Talk
from .tricks import (
    answer,
    by_another,
    close,
    first,
    keep_silent,
    lose_answer,
    lose_request,
    refuse,
    until,
)

pytestmark = pytest.mark.asyncio

QUICK = BackOff(first_s=0.01, most_s=0.05)
LINE = "6a 6b 1c undo 2d undo 1d".split()

SOLUTION = (
    "83 4a 46 4b 4c 8d 83 81 b1 8b a8 2a 27 c8 72 42 7c d7 4d a4 34 1a 8h d8 7d a1 7a 2d 78 27 "
    "d7 12 1d 16 a6 43 4a d4 74 a7 37 1a 1d 15 17 ah 1a 31 37 35 31 3h c3 83 8c a8 ch 51 2a 5c 54 "
    "58 a2 84 64 28v2 6h 2a ch 2c 2h 6h 6h 61 6h 6h 26 21 5h"
)

Make = Callable[..., Client]


@pytest_asyncio.fixture
async def server() -> AsyncIterator[FakeServer]:
    async with FakeServer() as server:
        yield server


@pytest.fixture(params=["msgpack", "json"])
def make(request: pytest.FixtureRequest, server: FakeServer) -> Make:
    """Clients of the fake server, quick to come back."""
    return partial(Client, server.url, encoding=request.param, back_off=QUICK, deadline_s=10.0)


@pytest.fixture
def bot(make: Make, server: FakeServer) -> Client:
    """A client that has a player."""
    return make(token=server.player())


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
    solution = SOLUTION.split()
    async with bot as client:
        game = await client.start_game("freecell", deal="617")
        for move in solution:
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
        assert await anext(events) == OtherEvent("the.end", {}), "our own action is no news"
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
        server.trick("game.move", lose_request)
        moved = await game.move("6a")
        assert (moved.seq, moved.repeated) == (1, False)
    assert server.bodies("game.open") == [{"game": "g1", "since": 0}], "resumed, then sent again"


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
        heard = [await anext(events), await anext(events)]
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
            heard = await anext(events)
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
        while isinstance(event := await anext(events), GameEvent):
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
        assert await anext(events) == Resynced(game.id, game.view)
        assert game.view.seq == 1


async def test_events_of_others_come_through(bot: Client, server: FakeServer) -> None:
    changed = {"challenge": "c", "board": "first", "kind": "bot", "top": [], "total": 0}
    entry = [4, "6a", 10, "0" * 64]
    server.trick(
        "ping",
        first(
            {"t": "board.changed", "d": changed},
            {"t": "game.event", "d": {"game": "unknown", "entry": entry, "auto": []}},
        ),
    )
    async with bot as client:
        events = client.events()
        await client.ping()
        assert await anext(events) == OtherEvent("board.changed", changed)
        heard = await anext(events)
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
                await anext(events)


# -- Coming back, or not ---------------------------------------------------------------------------


@pytest.mark.parametrize("code", [code for code in CLOSINGS if code not in (1005, 1006)])
async def test_each_close_code_has_its_reaction(code: int, bot: Client, server: FakeServer) -> None:
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
        assert await anext(events) == Draining(STARTED, 80)
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
