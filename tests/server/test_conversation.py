"""What is said over one connection, without sockets: frames in, frames out."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import pytest

from cellmates.engine import RULESETS, Deal, first_hash, next_hash
from cellmates.protocol import Encoding
from cellmates.solver import solve
from server.conversation import (
    BAD_FRAMES_ALLOWED,
    HELLO_S,
    LIMITS,
    REQUESTS,
    WARNINGS,
    Application,
    Conversation,
    Hall,
)
from server.games import Games
from server.handlers import Handlers
from server.players import Players, token_hash

from .memory import ManualClock, MemoryJournal

pytestmark = pytest.mark.asyncio
Body = dict[str, Any]


@dataclass
class FakeTimer:
    callback: Callable[[], None]
    is_off: bool = False

    def cancel(self) -> None:
        self.is_off = True


@dataclass
class FakePeer:
    address: str = "192.0.2.1"
    encoding: Encoding = Encoding.JSON
    sent: list[Body] = field(default_factory=list)
    closed: int | None = None
    timers: dict[float, FakeTimer] = field(default_factory=dict)

    def send(self, frame: bytes) -> None:
        self.sent.append(json.loads(frame))

    def close(self, code: int, reason: str = "") -> None:
        self.closed = code

    def call_later(self, delay_s: float, callback: Callable[[], None]) -> FakeTimer:
        self.timers[delay_s] = FakeTimer(callback)
        return self.timers[delay_s]


class World:
    """A server without sockets, with a clock that stands still."""

    def __init__(self, journal: MemoryJournal | None = None, **games: int) -> None:
        self.clock = ManualClock()
        self.journal = journal or MemoryJournal()
        ids = count(1)
        self.games = Games(
            self.journal, self.clock, lambda: f"game-{next(ids)}", lambda below: below - 1, **games
        )
        self.hall = Hall()
        handlers = Handlers(
            games=self.games,
            players=Players(
                self.journal,
                self.clock,
                lambda: f"player-{next(ids)}",
                lambda: f"token-{next(ids)}",
            ),
            journal=self.journal,
            clock=self.clock,
            audience=self.hall,
            limits=LIMITS,
        )
        self.application = Application(hall=self.hall, handlers=handlers, clock=self.clock)

    def connect(self, peer: FakePeer | None = None) -> "Caller":
        peer = peer or FakePeer()
        return Caller(self, peer, self.application.opened(peer))

    async def greeted(self, token: str | None = None) -> "Caller":
        caller = self.connect()
        await caller.hello(token)
        return caller

    async def player(self, handle: str = "anna", kind: str = "human") -> "Caller":
        caller = await self.greeted()
        caller.token = (await caller.ok("player.create", handle=handle, kind=kind))["token"]
        return caller


class Caller:
    """A client at the other end of a conversation."""

    def __init__(self, world: World, peer: FakePeer, conversation: Conversation) -> None:
        self.world = world
        self.peer = peer
        self.conversation = conversation
        self.token = ""
        self._ids = count(1)

    async def ask(self, message: str, **body: object) -> Body:
        """Answer to a request; fails when there is not exactly one."""
        self.world.clock.pass_ms(100)
        number = next(self._ids)
        body = {key.rstrip("_"): value for key, value in body.items()}
        await self.conversation.receive(json.dumps({"t": message, "id": number, "d": body}))
        [answer] = [frame for frame in self.peer.sent if frame.get("re") == number]
        return answer

    async def ok(self, message: str, **body: object) -> Body:
        answer = await self.ask(message, **body)
        assert answer["t"] == "ok", answer
        told: Body = answer["d"]
        return told

    async def error(self, message: str, **body: object) -> Body:
        answer = await self.ask(message, **body)
        assert answer["t"] == "error", answer
        told: Body = answer["d"]
        return told

    async def hello(self, token: str | None = None) -> Body:
        client = {"name": "test", "version": "1"}
        return await self.ok("hello", proto=1, client=client, **({"token": token} if token else {}))

    def events(self, name: str = "game.event") -> list[Body]:
        return [frame["d"] for frame in self.peer.sent if frame["t"] == name]


@pytest.fixture
def world() -> World:
    return World()


async def started(
    world: World, ruleset: str = "freecell", **options: object
) -> tuple[Caller, Body]:
    caller = await world.player()
    return caller, await caller.ok("game.start", ruleset=ruleset, deal="1", **options)


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


# -- Players ---------------------------------------------------------------------------------------


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


async def win(caller: Caller, ruleset: str) -> Body:
    view = await caller.ok("game.start", ruleset=ruleset, deal="617")
    layout = Deal.numbered(617).layout(RULESETS[ruleset])
    last: Body = {}
    for seq, move in enumerate(solve(RULESETS[ruleset], layout).moves, 1):
        last = await caller.ok("game.move", game=view["game"], seq=seq, move=str(move))
    assert last["status"] == "won"
    return view | {"seq": last["seq"]}


# -- Games -----------------------------------------------------------------------------------------


async def test_game_view_shows_the_deal(world: World) -> None:
    _, view = await started(world)
    assert view["columns"][0] == "JD KD 2S 4C 3S 6D 6S".split()
    assert view["cells"] == [None] * 4
    assert view["home"] == {"C": 0, "D": 0, "H": 0, "S": 0}
    assert (view["seq"], view["status"], view["autoplay"]) == (0, "playing", "safe")
    assert view["hash"] == first_hash("freecell", 1, "1", "safe")
    assert (view["challenge"], view["ranked"], view["attempt"]) == (None, False, None)
    assert "entries" not in view


async def test_random_deal_is_drawn_where_none_is_given(world: World) -> None:
    caller = await world.player()
    assert (await caller.ok("game.start", ruleset="eight-off"))["deal"] == "32000"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"ruleset": "spider"}, "d.ruleset"),
        ({"ruleset": "freecell", "deal": "0"}, "d.deal"),
        ({"ruleset": "eight-off", "deal": "EO1-C4-AAAAAFA"}, "d.deal"),
        ({"ruleset": "eight-off", "deal": "1", "autoplay": "safe"}, "d.autoplay"),
    ],
)
async def test_wrong_start_says_which_field_is_wrong(world: World, body: Body, field: str) -> None:
    error = await (await world.player()).error("game.start", **body)
    assert error["code"] == "bad-request"
    assert error["context"]["field"] == field
    assert error["context"]["why"]
    assert world.journal.games == {}


async def test_move_is_recorded_before_it_is_answered(world: World) -> None:
    caller, view = await started(world)
    told = await caller.ok("game.move", game=view["game"], seq=1, move="6a")
    [entry] = world.journal.rows[view["game"]]
    assert (entry.seq, entry.action, entry.hash) == (1, "6a", told["hash"])
    assert told["hash"] == next_hash(view["hash"], 1, "6a", told["elapsed_ms"])
    assert told["elapsed_ms"] == 100
    assert (told["move"], told["repeated"], told["stuck"]) == ("6a", False, False)
    assert "view" not in told


@pytest.mark.parametrize(
    ("move", "code", "context"),
    [
        ("9h", "bad-move", {}),
        ("1e", "bad-move", {}),
        ("6h", "illegal-move", {"reason": "foundation-order"}),
        ("11", "illegal-move", {"reason": "same-place"}),
    ],
)
async def test_refused_move_says_why_and_changes_nothing(
    world: World, move: str, code: str, context: Body
) -> None:
    caller, view = await started(world)
    error = await caller.error("game.move", game=view["game"], seq=1, move=move)
    assert (error["code"], error["context"]) == (code, context)
    assert world.journal.rows[view["game"]] == []
    assert (await caller.ok("game.open", game=view["game"]))["hash"] == view["hash"]


async def test_group_that_is_too_long_names_limit_and_length(world: World) -> None:
    caller = await world.player()
    view = await caller.ok("game.start", ruleset="freecell", deal="5", autoplay="off")
    seq = 0
    for move in ("1a", "1b", "1c", "1d"):
        seq += 1
        await caller.ok("game.move", game=view["game"], seq=seq, move=move)
    view = await caller.ok("game.open", game=view["game"])
    error = await caller.error("game.move", game=view["game"], seq=seq + 1, move="2a")
    assert error["context"] == {"reason": "cell-full"}


async def test_sending_again_does_nothing_twice(world: World) -> None:
    """Scenarios 1 and 3: a move that would be legal a second time is repeated, not made again."""
    caller, view = await started(world, "eight-off")
    first = await caller.ok("game.move", game=view["game"], seq=1, move="1e")
    again = await caller.ok("game.move", game=view["game"], seq=1, move="1e")
    assert again == first | {"repeated": True}
    assert len(world.journal.rows[view["game"]]) == 1
    await caller.ok("game.move", game=view["game"], seq=2, move="1f")
    assert await caller.ok("game.move", game=view["game"], seq=1, move="1e") == again
    assert len(world.journal.rows[view["game"]]) == 2


@pytest.mark.parametrize("seq", [1, 3, 9])
async def test_other_action_or_gap_is_a_conflict_that_tells_the_seq(world: World, seq: int) -> None:
    """Scenario 4: a stale move is not dropped in silence."""
    caller, view = await started(world)
    await caller.ok("game.move", game=view["game"], seq=1, move="6a")
    error = await caller.error("game.move", game=view["game"], seq=seq, move="6b")
    assert (error["code"], error["context"]) == ("conflict", {"seq": 1})
    error = await caller.error("game.undo", game=view["game"], seq=1)
    assert error["code"] == "conflict"
    error = await caller.error("game.move", game=view["game"], seq=0, move="6a")
    assert error["code"] == "conflict"


async def test_undo_shows_the_board_and_is_the_servers(world: World) -> None:
    """Scenario 14: nothing that a client does makes an undo uncounted."""
    caller, view = await started(world)
    await caller.ok("game.move", game=view["game"], seq=1, move="6a")
    told = await caller.ok("game.undo", game=view["game"], seq=2)
    assert (told["move"], told["undos"], told["moves"]) == ("undo", 1, 0)
    assert told["view"]["columns"] == view["columns"]
    assert told["view"]["seq"] == 2
    assert told["view"]["hash"] == told["hash"]
    reopened = await world.greeted(caller.token)
    assert (await reopened.ok("game.open", game=view["game"]))["undos"] == 1
    assert (await caller.error("game.undo", game=view["game"], seq=3))["code"] == "nothing-to-undo"


async def test_game_that_is_over_says_how(world: World) -> None:
    caller, view = await started(world)
    told = await caller.ok("game.resign", game=view["game"], seq=1)
    assert (told["move"], told["status"]) == ("resign", "resigned")
    assert (await caller.ok("game.resign", game=view["game"], seq=1))["repeated"]
    error = await caller.error("game.move", game=view["game"], seq=2, move="6a")
    assert (error["code"], error["context"]) == ("game-over", {"status": "resigned"})
    world.clock.pass_ms(60_000)
    reopened = await caller.ok("game.open", game=view["game"])
    assert reopened["elapsed_ms"] == told["elapsed_ms"]


@pytest.mark.parametrize("message", ["game.open", "game.hint", "game.tap", "game.undo"])
async def test_game_of_another_is_not_there(world: World, message: str) -> None:
    _, view = await started(world)
    other = await world.player("berta")
    body: Body = {"game": view["game"]}
    body |= {"from": "1"} if message == "game.tap" else {}
    body |= {"seq": 1} if message == "game.undo" else {}
    assert (await other.error(message, **body))["code"] == "not-found"
    assert (await other.error(message, **body | {"game": "none"}))["code"] == "not-found"
    assert world.games.live == 1


async def test_open_since_gives_the_entries_after_it(world: World) -> None:
    caller, view = await started(world)
    for seq, move in enumerate(("6a", "6b"), 1):
        await caller.ok("game.move", game=view["game"], seq=seq, move=move)
    opened = await caller.ok("game.open", game=view["game"], since=1)
    [[seq, action, at_ms, hash_]] = opened["entries"]
    assert (seq, action, hash_) == (2, "6b", opened["hash"])
    assert at_ms == 200
    assert (await caller.ok("game.open", game=view["game"], since=2))["entries"] == []


async def test_entries_that_fit_no_frame_are_told_as_none(world: World) -> None:
    caller, view = await started(world, "eight-off")
    for seq in range(1, 402):
        move = "ae" if seq % 2 else "ea"
        await caller.ok("game.move", game=view["game"], seq=seq, move=move)
    assert (await caller.ok("game.open", game=view["game"], since=0))["entries"] is None
    assert len((await caller.ok("game.open", game=view["game"], since=1))["entries"]) == 400
    first = await caller.ok("replay.get", game=view["game"])
    assert (len(first["entries"]), first["next"]) == (400, "400")
    second = await caller.ok("replay.get", game=view["game"], cursor="400")
    assert ([entry[0] for entry in second["entries"]], second["next"]) == ([401], None)


async def test_hint_and_tap_are_accepted_moves(world: World) -> None:
    caller, view = await started(world)
    hinted = await caller.ok("game.hint", game=view["game"])
    assert hinted["seq"] == 0
    await caller.ok("game.move", game=view["game"], seq=1, move=hinted["move"])
    tapped = await caller.ok("game.tap", game=view["game"], from_="1")
    await caller.ok("game.move", game=view["game"], seq=2, move=tapped["move"])
    assert (await caller.ok("game.tap", game=view["game"], from_="1", depth=6))["move"] is None
    assert (await caller.error("game.tap", game=view["game"], from_="x"))["code"] == "bad-move"
    await caller.ok("game.resign", game=view["game"], seq=3)
    assert (await caller.ok("game.tap", game=view["game"], from_="1"))["move"] is None
    assert (await caller.ok("game.hint", game=view["game"]))["move"] is None


async def test_other_connections_see_what_was_done(world: World) -> None:
    """Scenarios 2 and 15: both connections live, and each sees every seq of the other's once."""
    caller, view = await started(world)
    other = await world.greeted(caller.token)
    for _ in range(2):
        await other.ok("game.open", game=view["game"])
    await caller.ok("game.move", game=view["game"], seq=1, move="6a")
    await caller.ok("game.move", game=view["game"], seq=1, move="6a")
    await other.ok("game.undo", game=view["game"], seq=2)
    assert [event["entry"][:2] for event in other.events()] == [[1, "6a"]]
    assert other.events()[0]["game"] == view["game"]
    [undone] = caller.events()
    assert undone["entry"][:2] == [2, "undo"]
    assert undone["view"]["seq"] == 2
    other.conversation.closed()
    await caller.ok("game.move", game=view["game"], seq=3, move="6b")
    assert len(other.events()) == 1


async def test_list_of_games_pages_newest_first(world: World) -> None:
    caller = await world.player()
    names = [(await caller.ok("game.start", ruleset="freecell"))["game"] for _ in range(5)]
    await caller.ok("game.resign", game=names[0], seq=1)
    seen: list[str] = []
    cursor = None
    for _ in range(3):
        page = await caller.ok("games.mine", limit=2, **({"cursor": cursor} if cursor else {}))
        seen += [game["game"] for game in page["games"]]
        cursor = page["next"]
    assert seen == names[::-1]
    assert cursor is None
    resigned = await caller.ok("games.mine", status="resigned")
    assert [game["game"] for game in resigned["games"]] == [names[0]]
    assert (await caller.error("games.mine", cursor="x"))["code"] == "bad-cursor"


async def test_replay_is_for_everybody_once_the_game_is_over(world: World) -> None:
    caller, view = await started(world)
    await caller.ok("game.move", game=view["game"], seq=1, move="6a")
    guest = await world.greeted()
    assert (await guest.error("replay.get", game=view["game"]))["code"] == "not-yet"
    assert len((await caller.ok("replay.get", game=view["game"]))["entries"]) == 1
    await caller.ok("game.resign", game=view["game"], seq=2)
    replay = await guest.ok("replay.get", game=view["game"])
    header = replay["header"]
    digest = first_hash("freecell", header["ruleset_version"], header["deal"], header["autoplay"])
    for seq, action, at_ms, hash_ in replay["entries"]:
        digest = next_hash(digest, seq, action, at_ms)
        assert digest == hash_
    assert replay["result"]["hash"] == digest
    assert replay["result"]["status"] == "resigned"
    assert header["player"]["handle"] == "anna"
    assert (await guest.error("replay.get", game="none"))["code"] == "not-found"
    assert (await guest.error("replay.get", game=view["game"], cursor="-1"))["code"] == "bad-cursor"


async def test_unfinished_games_are_limited() -> None:
    world = World(most_unfinished=2)
    caller = await world.player()
    for _ in range(2):
        await caller.ok("game.start", ruleset="freecell")
    assert (await caller.error("game.start", ruleset="freecell"))["code"] == "too-many-games"


@pytest.mark.parametrize("message", ["board.get", "board.watch", "daily.start"])
async def test_challenge_that_is_not_there_is_not_found(world: World, message: str) -> None:
    caller = await world.player()
    body = {"challenge": "2026-11-30.freecell"}
    body |= {} if message == "daily.start" else {"board": "first", "kind": "human"}
    assert (await caller.error(message, **body))["code"] == "not-found"
    await caller.ok("board.unwatch", challenge="c", board="first", kind="bot")


# -- Rates, storage, going away --------------------------------------------------------------------


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
    world.application.draining(8.0, 2500)
    told = {"deadline": world.clock.now_ms() + 8000, "retry_after_ms": 2500}
    assert caller.events("server.draining") == silent.events("server.draining") == [told]
    error = await caller.error("games.mine")
    assert error["code"] == "draining"
    assert error["retry_after_ms"] > 0


async def test_nothing_is_left_of_connections_that_are_gone(world: World) -> None:
    caller, view = await started(world)
    other = await world.greeted(caller.token)
    await other.ok("game.open", game=view["game"])
    for one in (caller, other):
        one.conversation.closed()
    assert not world.hall.conversations
    assert not world.hall._of_player
    assert not world.hall._of_game


# -- Memory ----------------------------------------------------------------------------------------


async def test_unused_games_leave_memory_and_come_back_by_replay() -> None:
    world = World(most_live=3)
    caller = await world.player()
    views = [await caller.ok("game.start", ruleset="freecell", deal="1") for _ in range(6)]
    assert world.games.live == 3
    for view in views:
        await caller.ok("game.move", game=view["game"], seq=1, move="6a")
    assert world.games.live == 3
    world.clock.pass_ms(10_000)
    back = await caller.ok("game.open", game=views[0]["game"])
    assert (back["seq"], back["cells"][0]) == (1, "3D")
    assert back["elapsed_ms"] > 10_000
    made = await caller.ok("game.move", game=views[0]["game"], seq=2, move="6b")
    assert made["elapsed_ms"] > 10_000


async def test_time_never_runs_backwards_when_the_wall_clock_does(world: World) -> None:
    caller, view = await started(world)
    first = await caller.ok("game.move", game=view["game"], seq=1, move="6a")
    world.clock.now -= 3_600_000
    world.clock.monotonic += 500
    second = await caller.ok("game.move", game=view["game"], seq=2, move="6b")
    assert second["elapsed_ms"] >= first["elapsed_ms"] + 500
    twin = World(world.journal)
    twin.clock.now = world.clock.now
    elsewhere = await twin.greeted(caller.token)
    third = await elsewhere.ok("game.move", game=view["game"], seq=3, move="6c")
    assert third["elapsed_ms"] >= second["elapsed_ms"]


async def test_two_hundred_games_on_one_connection_do_not_mix(world: World) -> None:
    """Scenario 7."""
    caller = await world.player()
    views = [
        await caller.ok("game.start", ruleset="freecell", deal=str(number), autoplay="off")
        for number in range(1, 201)
    ]
    for seq, move in enumerate(("1a", "2b", "3c"), 1):
        for view in views:
            told = await caller.ok("game.move", game=view["game"], seq=seq, move=move)
            assert told["seq"] == seq
    for number, view in enumerate(views, 1):
        opened = await caller.ok("game.open", game=view["game"])
        tops = [column[-1] for column in view["columns"][:3]]
        assert opened["cells"][:3] == tops, number


async def test_first_to_claim_a_seq_wins() -> None:
    """Scenario 6: two connections claim one seq at once."""
    world = World()
    caller, view = await started(world)
    other = await world.greeted(caller.token)
    world.journal.gate = asyncio.Event()
    one = asyncio.create_task(caller.ask("game.move", game=view["game"], seq=1, move="6a"))
    two = asyncio.create_task(other.ask("game.move", game=view["game"], seq=1, move="6b"))
    await asyncio.sleep(0)
    world.journal.gate.set()
    assert (await one)["t"] == "ok"
    answer = await two
    assert answer["d"]["code"] == "conflict"
    assert [entry.action for entry in world.journal.rows[view["game"]]] == ["6a"]


async def test_winning_move_and_resignation_at_once_make_one_end() -> None:
    """Scenario 5: a move that wins and another end in the same moment; the game ends once."""
    world = World()
    caller = await world.player()
    view = await caller.ok("game.start", ruleset="freecell", deal="617")
    moves = solve(RULESETS["freecell"], Deal.numbered(617).layout(RULESETS["freecell"])).moves
    for seq, move in enumerate(moves[:-1], 1):
        await caller.ok("game.move", game=view["game"], seq=seq, move=str(move))
    other = await world.greeted(caller.token)
    world.journal.gate = asyncio.Event()
    last = {"game": view["game"], "seq": len(moves)}
    winning = asyncio.create_task(caller.ask("game.move", **last, move=str(moves[-1])))
    resigning = asyncio.create_task(other.ask("game.resign", **last))
    await asyncio.sleep(0)
    world.journal.gate.set()
    assert (await winning)["d"]["status"] == "won"
    assert (await resigning)["d"]["code"] == "conflict"
    late = await other.error("game.resign", game=view["game"], seq=len(moves) + 1)
    assert (late["code"], late["context"]) == ("game-over", {"status": "won"})
    assert world.journal.games[view["game"]].summary.status == "won"


async def test_cancelled_request_leaves_the_truth_to_the_journal(world: World) -> None:
    caller, view = await started(world)
    world.journal.gate = asyncio.Event()
    task = asyncio.create_task(caller.ask("game.move", game=view["game"], seq=1, move="6a"))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    world.journal.gate.set()
    again = await world.greeted(caller.token)
    assert not (await again.ok("game.move", game=view["game"], seq=1, move="6a"))["repeated"]
    assert len(world.journal.rows[view["game"]]) == 1


async def test_hints_are_limited_by_network(world: World) -> None:
    """They take the server some milliseconds each; more connections do not get more of them."""
    caller, view = await started(world)
    others = [await world.greeted(caller.token) for _ in range(3)]
    codes = []
    for _ in range(12):
        for other in others:
            world.clock.monotonic -= 100
            answer = await other.ask("game.hint", game=view["game"])
            codes.append(answer["d"].get("code"))
    assert codes[:30] == [None] * 30
    assert codes[30:] == ["rate-limited"] * 6
