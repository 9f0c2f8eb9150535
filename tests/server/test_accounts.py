"""Players over a conversation: names, tokens, statistics."""

from hashlib import sha256

import pytest

from server.players import token_hash

from .world import World, started, win

pytestmark = pytest.mark.asyncio


async def test_guest_may_look_and_become_a_player(world: World) -> None:
    guest = await world.greeted()
    assert (await guest.error("game.start", ruleset="freecell"))["code"] == "token-needed"
    assert (await guest.ok("daily.list"))["challenges"] == []
    told = await guest.ok("player.create", handle="Anna_1", kind="bot")
    assert told["player"] | {"id": ""} == {"id": "", "handle": "Anna_1", "kind": "bot"}
    assert token_hash(told["token"]) in world.journal.tokens
    assert told["token"] not in repr(world.journal)
    await guest.ok("game.start", ruleset="freecell")
    second = await guest.error("player.create", handle="Berta", kind="bot")
    assert second["code"] == "forbidden"


@pytest.mark.parametrize(
    ("handle", "code"),
    [
        ("ab", "handle-invalid"),
        ("a" * 21, "handle-invalid"),
        ("änna", "handle-invalid"),
        ("an na", "handle-invalid"),
        ("admin", "handle-invalid"),
        ("Adm1n", "handle-invalid"),
        ("gue5t", None),
        ("ANNA", "handle-taken"),
        ("anna_", None),
        ("deleted-player", "handle-invalid"),
    ],
)
async def test_handles_are_checked_by_form_and_skeleton(
    world: World, handle: str, code: str | None
) -> None:
    await world.player("anna")
    guest = await world.greeted()
    answer = await guest.ask("player.create", handle=handle, kind="human")
    assert answer["d"].get("code") == code
    if code == "handle-invalid":
        assert answer["d"]["context"]["why"]


async def test_look_alikes_are_one_handle(world: World) -> None:
    await world.player("il0-x")
    for handle in ("1L0_X", "lio_x", "IlO-x"):
        guest = await world.greeted()
        error = await guest.error("player.create", handle=handle, kind="human")
        assert error["code"] == "handle-taken"


async def test_rename_reaches_every_connection_and_keeps_the_games(world: World) -> None:
    caller, view = await started(world)
    other = await world.greeted(caller.token)
    assert (await caller.ok("player.rename", handle="Anna"))["player"]["handle"] == "Anna"
    assert (await caller.ok("player.rename", handle="berta"))["player"]["handle"] == "berta"
    assert (await other.error("player.delete", confirm="anna"))["code"] == "forbidden"
    assert (await other.ok("game.open", game=view["game"]))["seq"] == 0
    assert (await other.error("player.get", handle="anna"))["code"] == "not-found"
    await world.player("clara")
    assert (await caller.error("player.rename", handle="Clara"))["code"] == "handle-taken"


async def test_only_the_digest_of_a_token_is_kept(world: World) -> None:
    caller = await world.player()
    fresh = (await caller.ok("player.token"))["token"]
    assert [*world.journal.tokens] == [sha256(fresh.encode()).hexdigest()]
    for token in (caller.token, fresh):
        assert token not in repr(world.journal)


async def test_rotated_token_closes_the_other_connections(world: World) -> None:
    caller = await world.player()
    other = await world.greeted(caller.token)
    fresh = (await caller.ok("player.token"))["token"]
    assert other.peer.closed == 4401
    assert caller.peer.closed is None
    await caller.ok("games.mine")
    assert (await world.connect().hello(fresh))["player"]["handle"] == "anna"
    old = world.connect()
    error = await old.error(
        "hello", proto=1, client={"name": "t", "version": "1"}, token=caller.token
    )
    assert error["code"] == "bad-token"


async def test_deleted_player_is_gone_and_the_runs_stay(world: World) -> None:
    caller, view = await started(world)
    other = await world.greeted(caller.token)
    await caller.ok("game.resign", game=view["game"], seq=1)
    assert (await caller.error("player.delete", confirm="Anna"))["code"] == "forbidden"
    await caller.ok("player.delete", confirm="anna")
    assert other.peer.closed == 4401
    assert (await caller.error("games.mine"))["code"] == "token-needed"
    replay = await caller.ok("replay.get", game=view["game"])
    assert replay["header"]["player"] is None
    await caller.ok("player.create", handle="anna", kind="human")


async def test_statistics_count_what_was_played_and_won(world: World) -> None:
    caller, view = await started(world)
    await caller.ok("game.resign", game=view["game"], seq=1)
    await win(caller, "freecell")
    await caller.ok("game.start", ruleset="eight-off")
    stats = (await (await world.greeted()).ok("player.get", handle="ANNA"))["stats"]
    assert stats["freecell"]["played"] == 2
    assert stats["freecell"]["won"] == 1
    assert stats["freecell"]["fewest_moves"] > 60
    assert stats["freecell"]["best_elapsed_ms"] > 0
    assert stats["eight-off"] == {
        "played": 1,
        "won": 0,
        "best_elapsed_ms": None,
        "fewest_moves": None,
        "streak": 0,
        "best_streak": 0,
    }
    assert (await caller.error("player.get", handle="nobody"))["code"] == "not-found"
    assert (await caller.error("player.get", handle="no body"))["code"] == "not-found"
