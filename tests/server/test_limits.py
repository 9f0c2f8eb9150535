"""Rates, storage that fails, and going away."""

import json

import pytest

from server.conversation import APART_MS, WARNINGS
from server.rates import GREETINGS, MOVES_PER_S, REQUESTS

from .world import FakePeer, World, started

pytestmark = pytest.mark.asyncio


async def test_too_many_requests_are_refused_and_then_closed(world: World) -> None:
    caller = await world.greeted()
    ping = json.dumps({"t": "ping", "id": 1})
    for _ in range(REQUESTS.burst - 1 + WARNINGS.burst):
        await caller.conversation.receive(ping)
    refused = caller.peer.sent[-1]["d"]
    assert (refused["code"], refused["context"]) == ("rate-limited", {"key": "requests"})
    assert 0 < refused["retry_after_ms"] <= 50
    assert caller.peer.closed is None
    for _ in range(REQUESTS.burst):
        await caller.conversation.receive(ping)
    assert caller.peer.closed == 4429


async def test_requests_that_nobody_knows_are_counted_too(world: World) -> None:
    caller = await world.greeted()
    unknown = json.dumps({"t": "game.dance", "id": 7})
    codes = []
    for _ in range(2 * REQUESTS.burst + WARNINGS.burst):
        await caller.conversation.receive(unknown)
        codes.append(caller.peer.sent[-1]["d"]["code"])
        assert caller.peer.sent[-1]["re"] == 7
    assert codes[: REQUESTS.burst - 1] == ["unknown-type"] * (REQUESTS.burst - 1)
    assert set(codes[REQUESTS.burst - 1 :]) == {"rate-limited"}
    assert caller.peer.closed == 4429


async def test_refusals_now_and_then_do_not_close(world: World) -> None:
    caller = await world.greeted()
    ping = json.dumps({"t": "ping", "id": 1})
    for _ in range(4 * WARNINGS.burst):
        while caller.peer.sent[-1]["t"] == "ok":
            await caller.conversation.receive(ping)
        caller.peer.sent.append({"t": "ok"})
        world.clock.pass_ms(1_000)
    assert caller.peer.closed is None


async def test_waiting_as_told_is_enough(world: World) -> None:
    caller = await world.greeted()
    ping = json.dumps({"t": "ping", "id": 1})
    while caller.peer.sent[-1]["t"] == "ok":
        await caller.conversation.receive(ping)
    world.clock.pass_ms(caller.peer.sent[-1]["d"]["retry_after_ms"])
    await caller.conversation.receive(ping)
    assert caller.peer.sent[-1]["t"] == "ok"


async def test_new_players_are_limited_by_network(world: World) -> None:
    codes = []
    for number in range(30):
        caller = world.connect(FakePeer(address=f"2001:db8:0:1::{number:x}"))
        await caller.hello()
        answer = await caller.ask("player.create", handle=f"player-{number}", kind="bot")
        codes.append(answer["d"].get("code"))
    assert codes[:20] == [None] * 20
    assert codes[-1] == "rate-limited"
    elsewhere = world.connect(FakePeer(address="2001:db8:0:2::1"))
    await elsewhere.hello()
    await elsewhere.ok("player.create", handle="elsewhere", kind="bot")


async def test_moves_have_a_bucket_of_their_own(world: World) -> None:
    caller, view = await started(world)
    ping = json.dumps({"t": "ping", "id": 1})
    while caller.peer.sent[-1]["t"] == "ok":
        await caller.conversation.receive(ping)
    refused = json.dumps(
        {"t": "game.move", "id": 2, "d": {"game": view["game"], "seq": 1, "move": "12"}}
    )
    for _ in range(2 * MOVES_PER_S):
        await caller.conversation.receive(refused)
        assert caller.peer.sent[-1]["d"]["code"] == "illegal-move"
    await caller.conversation.receive(refused)
    assert caller.peer.sent[-1]["d"]["context"] == {"key": "moves"}


async def test_player_gets_no_more_by_more_connections(world: World) -> None:
    caller = await world.player()
    ping = json.dumps({"t": "ping", "id": 1})
    answered, last = 0, caller
    for _ in range(4 * MOVES_PER_S // REQUESTS.burst + 2):
        last = await world.greeted(caller.token)
        world.clock.monotonic -= 100  # which a greeting takes here
        for _ in range(REQUESTS.burst - 1):
            await last.conversation.receive(ping)
            answered += last.peer.sent[-1]["t"] == "ok"
    assert answered <= 4 * MOVES_PER_S
    assert last.peer.sent[-1]["d"]["context"] == {"key": "player or address"}
    stranger = await world.player("berta")
    await stranger.ok("ping")


async def test_greetings_are_limited_by_network(world: World) -> None:
    hello = {"proto": 1, "client": {"name": "test", "version": "1"}}
    frame = json.dumps({"t": "hello", "id": 1, "d": hello})
    codes = []
    for number in range(GREETINGS.burst + 1):
        caller = world.connect(FakePeer(address=f"2001:db8:0:1::{number:x}"))
        await caller.conversation.receive(frame)
        codes.append(caller.peer.sent[-1]["d"].get("code"))
        caller.conversation.closed()
    assert codes == [None] * GREETINGS.burst + ["rate-limited"]
    elsewhere = world.connect(FakePeer(address="2001:db8:0:2::1"))
    await elsewhere.conversation.receive(frame)
    assert elsewhere.peer.sent[-1]["t"] == "ok"


async def test_lost_answer_of_storage_is_internal_and_sending_again_tells(world: World) -> None:
    caller, view = await started(world)
    world.journal.fail_after = True
    error = await caller.error("game.move", game=view["game"], seq=1, move="6a")
    assert (error["code"], error["retry_after_ms"]) == ("internal", 1000)
    assert (await caller.ok("game.move", game=view["game"], seq=1, move="6a"))["repeated"]
    world.journal.fail_before = True
    assert (await caller.error("game.move", game=view["game"], seq=2, move="6b"))[
        "code"
    ] == "internal"
    assert not (await caller.ok("game.move", game=view["game"], seq=2, move="6b"))["repeated"]
    assert [entry.seq for entry in world.journal.rows[view["game"]]] == [1, 2]


async def test_another_process_that_wrote_first_is_a_conflict_then_read_again(world: World) -> None:
    """Scenario 6, across processes: the database decides."""
    caller, view = await started(world)
    twin = World(world.journal)
    elsewhere = await twin.greeted(caller.token)
    await elsewhere.ok("game.open", game=view["game"])
    await caller.ok("game.move", game=view["game"], seq=1, move="6a")
    error = await elsewhere.error("game.move", game=view["game"], seq=1, move="6b")
    assert (error["code"], error["context"]) == ("conflict", {"seq": 1})
    assert (await elsewhere.ok("game.open", game=view["game"]))["seq"] == 1
    made = await elsewhere.ok("game.move", game=view["game"], seq=2, move="6b")
    assert (made["seq"], made["repeated"]) == (2, False)


async def test_same_action_written_by_another_process_is_repeated(world: World) -> None:
    caller, view = await started(world)
    twin = World(world.journal)
    elsewhere = await twin.greeted(caller.token)
    await elsewhere.ok("game.open", game=view["game"])
    made = await caller.ok("game.move", game=view["game"], seq=1, move="6a")
    again = await elsewhere.ok("game.move", game=view["game"], seq=1, move="6a")
    assert again == made | {"repeated": True}


async def test_database_that_is_away_is_internal(world: World) -> None:
    caller = await world.player()
    world.journal.is_away = True
    assert (await caller.error("games.mine"))["retry_after_ms"] == 1000
    world.journal.is_away = False
    assert (await caller.ok("games.mine"))["games"] == []


async def test_draining_is_announced_and_nothing_new_is_answered(world: World) -> None:
    caller, silent = await world.player(), world.connect()
    world.next_below = 0
    world.application.draining(8.0, 2500)
    told = {"deadline": world.clock.now_ms() + 8000, "retry_after_ms": 2500}
    assert caller.events("server.draining") == silent.events("server.draining") == [told]
    error = await caller.error("games.mine")
    assert error["code"] == "draining"
    assert error["retry_after_ms"] > 0


async def test_the_more_there_are_the_further_apart_they_are_told_to_come_back() -> None:
    for connections in (1, 100):
        world = World()  # whose chance is always the greatest there can be
        peers = [world.connect() for _ in range(connections)]
        world.application.draining(8.0, 1_000)
        latest = max(peer.events("server.draining")[0]["retry_after_ms"] for peer in peers)
        assert latest == 1_000 + connections * APART_MS


async def test_nothing_is_left_of_connections_that_are_gone(world: World) -> None:
    caller, view = await started(world)
    other = await world.greeted(caller.token)
    await other.ok("game.open", game=view["game"])
    for one in (caller, other):
        one.conversation.closed()
    assert not world.hall.conversations
    assert not world.hall._of_player
    assert not world.hall._of_game
