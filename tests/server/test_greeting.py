"""Greeting and frames: what is said first, and what cannot be read."""

import pytest

from cellmates.engine import RULESETS
from server.conversation import (
    BAD_FRAMES_ALLOWED,
    HELLO_S,
)

from .world import Body, World, started

pytestmark = pytest.mark.asyncio


# -- Greeting --------------------------------------------------------------------------------------


async def test_hello_tells_limits_rulesets_and_time(world: World) -> None:
    """Scenario 19: limits are told and not found by being banned."""
    caller = world.connect()
    told = await caller.hello()
    assert told["player"] is None
    assert told["limits"] == {
        "frame_bytes": 4096,
        "requests_burst": 40,
        "requests_per_s": 20,
        "moves_burst": 200,
        "moves_per_s": 100,
        "heartbeat_s": 20,
    }
    assert told["rulesets"] == list(RULESETS)
    assert told["time"] == world.clock.now_ms()
    assert told["server"]["name"] == "cellmates"


@pytest.mark.parametrize("message", ["ping", "game.start", "player.create", "board.get"])
async def test_nothing_is_answered_before_hello(world: World, message: str) -> None:
    bodies: dict[str, Body] = {
        "game.start": {"ruleset": "freecell"},
        "player.create": {"handle": "anna", "kind": "bot"},
        "board.get": {"challenge": "c", "board": "first", "kind": "bot"},
    }
    error = await world.connect().error(message, **bodies.get(message, {}))
    assert error["code"] == "hello-first"


async def test_hello_is_said_once(world: World) -> None:
    caller = await world.greeted()
    client = {"name": "test", "version": "1"}
    assert (await caller.error("hello", proto=1, client=client))["code"] == "forbidden"
    assert caller.peer.closed is None


async def test_unknown_protocol_closes_and_says_what_is_spoken(world: World) -> None:
    caller = world.connect()
    error = await caller.error("hello", proto=2, client={"name": "test", "version": "1"})
    assert (error["code"], error["context"]) == ("unsupported-proto", {"supported": [1]})
    assert caller.peer.closed == 4406


async def test_wrong_token_closes(world: World) -> None:
    caller = world.connect()
    client = {"name": "test", "version": "1"}
    error = await caller.error("hello", proto=1, client=client, token="wrong")
    assert error["code"] == "bad-token"
    assert "wrong" not in error["message"].replace("it is wrong", "")
    assert caller.peer.closed == 4401


async def test_missing_hello_closes_in_time_and_a_said_one_does_not(world: World) -> None:
    silent, polite = world.connect(), await world.greeted()
    silent.peer.timers[HELLO_S].callback()
    assert silent.peer.closed == 4408
    assert polite.peer.timers[HELLO_S].is_off


async def test_hello_with_a_token_lists_unfinished_games(world: World) -> None:
    caller, view = await started(world)
    again = world.connect()
    told = await again.hello(caller.token)
    assert told["player"]["handle"] == "anna"
    assert told["games"] == [{"game": view["game"], "seq": 0, "status": "playing"}]


# -- Frames ----------------------------------------------------------------------------------------


async def test_unknown_type_is_answered_and_the_connection_lives(world: World) -> None:
    """Scenario 18."""
    caller = await world.greeted()
    assert (await caller.error("game.dance"))["code"] == "unknown-type"
    assert (await caller.ok("ping"))["time"] == world.clock.now_ms()
    assert caller.peer.closed is None


async def test_third_bad_frame_closes(world: World) -> None:
    caller = await world.greeted()
    for number in range(BAD_FRAMES_ALLOWED + 1):
        assert caller.peer.closed is None, number
        await caller.conversation.receive("no json")
        assert caller.peer.sent[-1]["d"]["code"] == "bad-frame"
        assert caller.peer.sent[-1]["re"] is None
    assert caller.peer.closed == 4400
    answers = len(caller.peer.sent)
    await caller.conversation.receive("more")
    assert len(caller.peer.sent) == answers


async def test_binary_frame_on_a_json_connection_is_a_bad_frame(world: World) -> None:
    caller = await world.greeted()
    await caller.conversation.receive(b'{"t": "ping", "id": 9}')
    assert caller.peer.sent[-1]["d"]["code"] == "bad-frame"
    assert "text frames" in caller.peer.sent[-1]["d"]["message"]


async def test_bad_request_names_the_field(world: World) -> None:
    caller = await world.player()
    error = await caller.error("game.move", game="g", seq="one", move="3a")
    assert error["code"] == "bad-request"
    assert "seq" in error["context"]["field"]


async def test_crash_is_internal_and_the_connection_lives(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caller, view = await started(world)

    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("server.handlers.hint", broken)
    assert (await caller.error("game.hint", game=view["game"]))["code"] == "internal"
    assert "ZeroDivisionError" in caplog.text
    await caller.ok("ping")
