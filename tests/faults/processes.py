"""Simulated server processes over the real rooms, and the networks that lead to them."""

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Protocol

from cellmates.daily import DAY_MS, opens_at
from cellmates.protocol import Encoding
from server.conversation import Conversation
from server.house import Chance, House
from server.metrics import Metrics
from server.rates import Rates
from server.store import Store
from server.vault import Vault
from tests.server.world import KEY, plan_at_once

from .inline import Disk
from .virtual import OWNER, VirtualLoop

Body = dict[str, Any]

NOON = opens_at("2027-03-14") + DAY_MS // 2


class Gone(Exception):
    """The connection is broken, or no answer has come in time."""


class Broken(AssertionError):
    """A promise was not kept."""


class Stage(Protocol):
    """The world, as those who live in it see it."""

    seed: int
    path: Path
    loop: VirtualLoop
    processes: list["Process"]

    def now_ms(self) -> int:
        """What the wall clock of a process shows."""

    def tell(self, line: str) -> None:
        """Something happened."""


@dataclass
class WorldClock:
    """The clocks of a machine: the wall's can be set, the monotonic one only goes on."""

    loop: VirtualLoop
    shift_ms: int = NOON

    def now_ms(self) -> int:
        return self.shift_ms + int(self.loop.time() * 1000)

    def monotonic_ms(self) -> int:
        return int(self.loop.time() * 1000)


class Process:
    """A server process: it starts, and it is killed."""

    def __init__(self, world: Stage, name: str) -> None:
        self._world = world
        self.name = name
        self.disk = Disk(Random(f"{world.seed} {name}"))
        self.clock = WorldClock(world.loop)
        self.links: list[Link] = []
        self.house: House | None = None
        self._starts = 0

    async def start(self) -> None:
        """Come up, with a new memory."""
        self._starts += 1
        self.disk = Disk(self.disk.chance)
        chance = Random(f"{self._world.seed} {self.name} {self._starts}")
        token = OWNER.set(self.name)
        try:
            store = await Store.open(f"sqlite:///{self._world.path}")
            self.store = store
            self.house = House(
                store,
                self.clock,
                Vault(KEY),
                chance=Chance(
                    new_id=lambda: f"{chance.getrandbits(64):016x}",
                    new_token=lambda: f"{chance.getrandbits(256):064x}",
                    below=chance.randrange,
                    seed=chance.randbytes,
                ),
                solve=plan_at_once,
                timer=self._world.loop.time,
                metrics=Metrics(),
                rates=Rates(),
                most_live=3,
            )
            for work in (
                self.house.keeper.run(asyncio.sleep),
                self.house.boards.follow(asyncio.sleep),
                self.house.planner.run(2, asyncio.sleep),
            ):
                self._world.loop.create_task(work)
        finally:
            OWNER.reset(token)
        self._world.tell(f"{self.name} is up")

    async def kill(self) -> None:
        """Be gone from one instant to the next."""
        self._world.tell(f"{self.name} is killed")
        self.house = None
        self.disk.die()
        for link in tuple(self.links):
            link.cut()
        tasks = self._world.loop.cancel_all(self.name)
        await asyncio.gather(*tasks, return_exceptions=True)

    def accept(self, link: "Link") -> None:
        """Take a connection."""
        if self.house is None:
            link.cut()
            return
        token = OWNER.set(self.name)
        try:
            self.links.append(link)
            conversation = self.house.application.opened(link)
            self._world.loop.create_task(self._serve(link, conversation))
        finally:
            OWNER.reset(token)

    async def _serve(self, link: "Link", conversation: Conversation) -> None:
        while (frame := await link.inbox.get()) is not None:
            await conversation.receive(frame)
        conversation.closed()
        self.links.remove(link)


@dataclass
class Timer:
    """A call that can be called off."""

    handle: asyncio.TimerHandle

    def cancel(self) -> None:
        self.handle.cancel()


class Link:
    """A connection with its delays; what is under way when it is cut is lost."""

    def __init__(self, world: Stage, chance: Random) -> None:
        self._world = world
        self._chance = chance
        self.inbox: asyncio.Queue[str | None] = asyncio.Queue()
        self.answers: dict[int, asyncio.Future[Body]] = {}
        self.events: list[Body] = []
        self.is_cut = False
        self._arrives = {True: 0.0, False: 0.0}

    # As the server sees it

    address = "192.0.2.1"
    encoding = Encoding.JSON

    def send(self, frame: bytes) -> None:
        self._after_a_while(True, lambda: self._hear(json.loads(frame)))

    def close(self, code: int, reason: str = "") -> None:
        self._world.tell(f"closed {code}")
        self._after_a_while(True, self.cut)

    def call_later(self, delay_s: float, callback: Any) -> Timer:  # noqa: ANN401
        return Timer(self._world.loop.call_later(delay_s, callback))

    # As the client does

    def say(self, frame: str) -> None:
        """Send a frame."""
        self._after_a_while(False, lambda: self.inbox.put_nowait(frame))

    def cut(self) -> None:
        """Break, for both at once."""
        if not self.is_cut:
            self.is_cut = True
            self.inbox.put_nowait(None)
            for answer in self.answers.values():
                if not answer.done():
                    answer.set_exception(Gone("cut"))

    def _hear(self, message: Body) -> None:
        if "re" not in message:
            self.events.append(message)
            return
        answer = self.answers.pop(message["re"], None)
        if answer is None:
            raise Broken(f"an answer that nobody waits for: {message}")
        answer.set_result(message)

    def _after_a_while(self, is_outward: bool, callback: Any) -> None:  # noqa: ANN401
        now = self._world.loop.time()
        arrives = max(self._arrives[is_outward], now + self._chance.uniform(0.001, 0.05))
        self._arrives[is_outward] = arrives + 1e-6
        self._world.loop.call_at(arrives, lambda: None if self.is_cut else callback())
