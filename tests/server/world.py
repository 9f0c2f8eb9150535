"""A server without sockets, its clock standing still, and who calls it: frames in, frames out."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from typing import Any

from cellmates.daily import Planned, day_of
from cellmates.engine import RULESETS, Deal, Ruleset
from cellmates.protocol import Encoding
from cellmates.solver import solve
from server.conversation import Conversation
from server.house import Chance, House
from server.metrics import Metrics
from server.planner import Solve
from server.rates import Rates
from server.vault import Vault

from .memory import ManualClock, MemoryJournal

Body = dict[str, Any]
KEY = "A" * 43 + "="


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


# Deals that can be won, by ruleset.
WINNABLE = {
    "freecell": 617,
    "eight-off": 617,
    "eight-off-4": 618,
    "eight-off-2": 621,
    "eight-off-classic": 617,
}


async def plan_at_once(ruleset: Ruleset, seed: bytes, progress: Callable[[int], None]) -> Planned:
    """Plan a deal that is known to be winnable, whatever the seed, so that nothing is searched."""
    progress(0)
    line = line_of(ruleset.name)
    order = Deal.numbered(WINNABLE[ruleset.name]).order
    return Planned(0, Deal.of_order(order), line, len(line))


@cache
def line_of(ruleset: str) -> tuple[str, ...]:
    """Moves that win the ruleset's deal."""
    layout = Deal.numbered(WINNABLE[ruleset]).layout(RULESETS[ruleset])
    return tuple(str(move) for move in solve(RULESETS[ruleset], layout).moves)


class World:
    """A server without sockets, with a clock that stands still."""

    def __init__(
        self,
        journal: MemoryJournal | None = None,
        *,
        key: str = KEY,
        first_id: int = 1,
        **most: int,
    ) -> None:
        self.clock = ManualClock()
        self.journal = journal or MemoryJournal()
        self.vault = Vault(key)
        self.next_below: int | None = None
        self.solve: Solve = plan_at_once
        ids = count(first_id)
        self.house = House(
            self.journal,
            self.clock,
            self.vault,
            chance=Chance(
                new_id=lambda: f"id-{next(ids)}",
                new_token=lambda: f"token-{next(ids)}",
                below=lambda below: below - 1 if self.next_below is None else self.next_below,
                seed=lambda length: next(ids).to_bytes(length, "big"),
            ),
            solve=lambda *asked: self.solve(*asked),
            timer=lambda: 0.0,
            metrics=Metrics(),
            rates=Rates(),
            **most,
        )
        self.hall = self.house.hall
        self.games = self.house.games
        self.application = self.house.application

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


async def started(
    world: World, ruleset: str = "freecell", **options: object
) -> tuple[Caller, Body]:
    caller = await world.player()
    return caller, await caller.ok("game.start", ruleset=ruleset, deal="1", **options)


async def win(caller: Caller, ruleset: str) -> Body:
    view = await caller.ok("game.start", ruleset=ruleset, deal=str(WINNABLE[ruleset]))
    return view | {"seq": (await play(caller, view, line_of(ruleset)))["seq"]}


async def play(caller: Caller, view: Body, moves: Sequence[str]) -> Body:
    """Make moves from where a game stands; the last answer."""
    last: Body = {}
    for seq, move in enumerate(moves, view["seq"] + 1):
        last = await caller.ok("game.move", game=view["game"], seq=seq, move=move)
    return last


# -- Dailies --------------------------------------------------------------------------------------

RULESET = "freecell"


def today(world: World) -> str:
    return f"{day_of(world.clock.now)}-{RULESET}"


async def listed(caller: Caller, challenge: str) -> Body:
    found = (await caller.ok("daily.list", date=challenge[:10]))["challenges"]
    [told] = [one for one in found if one["challenge"] == challenge]
    result: Body = told
    return result


async def finished(world: World, handle: str = "anna") -> tuple[Caller, Body]:
    """Somebody who has resigned today's attempt."""
    caller = await world.player(handle)
    view = await caller.ok("daily.start", challenge=today(world))
    await caller.ok("game.resign", game=view["game"], seq=1)
    return caller, view
