"""Many clients, server processes that die, a database and networks that fail, in virtual time.

The rooms are the real ones, from the conversation down to the store and its SQL; sockets, disks and
clocks are simulated. A seed says everything that happens, so what it finds can be found again:

    python -m tests.faults.simulation 17          # one seed, and what happened
    python -m tests.faults.simulation --seeds 10000

A seed that finds a fault is kept in seeds.json, and from then on it is one of the tests.
"""

import argparse
import asyncio
import json
import logging
import sys
import tempfile
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

from cellmates.daily import DAILIES, DAY_MS, GRACE_MS, challenge_id, day_of, opens_at
from cellmates.engine import RULESETS, Act, Action, Deal, Game, LegalMoves, parse_action
from cellmates.protocol import Encoding
from server.boards import Boards
from server.conversation import Conversation
from server.game import LiveGame
from server.house import Chance, House
from server.keeper import LATEST_COMMIT_MS
from server.metrics import Metrics
from server.rates import Rates
from server.records import GameRecord, Run
from server.store import Store, upgrade
from server.vault import Vault
from tests.server.world import KEY, plan_at_once

from .inline import Disk
from .virtual import OWNER, VirtualLoop, run

Body = dict[str, Any]

NOON = opens_at("2027-03-14") + DAY_MS // 2
PLAYERS = 4
PROCESSES = 2
STEPS = 16
ANSWER_S = 5.0
LONGEST_S = 600.0
KEPT = Path(__file__).parent / "seeds.json"


class Gone(Exception):
    """The connection is broken, or no answer has come in time."""


class Broken(AssertionError):
    """A promise was not kept."""


# -- Servers ---------------------------------------------------------------------------------------


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

    def __init__(self, world: "World", name: str) -> None:
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

    def __init__(self, world: "World", chance: Random) -> None:
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


# -- Clients ---------------------------------------------------------------------------------------


@dataclass
class Played:
    """A game, and what its player was told of it."""

    id: str
    ruleset: str
    deal: str
    acknowledged: dict[int, tuple[str, str]] = field(default_factory=dict)
    under_way: int = 0


class Hand:
    """One device of a player. It plays a game, and after each trouble finds out where that is."""

    def __init__(self, world: "World", player: "Player", number: int) -> None:
        self._world = world
        self._player = player
        self.name = f"{player.handle}/{number}"
        self._chance = Random(f"{world.seed} {self.name}")
        self._link: Link | None = None
        self._ids = 0

    async def live(self) -> None:
        """Play for a while."""
        for _ in range(STEPS):
            await asyncio.sleep(self._chance.uniform(0.01, 1.5))
            try:
                await self._step()
            except Gone:
                self._hang_up()
        self._hang_up()

    async def join(self) -> None:
        """Become a player, however often it takes."""
        while not self._player.token:
            try:
                told = await self._ask(
                    "player.create", handle=self._player.handle, kind=self._player.kind
                )
            except Gone:
                # The answer is lost: the handle may be taken, and nobody knows the token.
                self._player.handle += "x"
                self._hang_up()
                continue
            if told["t"] == "ok":
                self._player.token = told["d"]["token"]
        self._hang_up()

    def _hang_up(self) -> None:
        if self._link is not None:
            self._link.cut()
            self._link = None

    async def _step(self) -> None:
        game = self._player.current
        if game is None:
            await self._begin()
            return
        match self._chance.randrange(10):
            case 0:
                await self._look()
            case 1:
                await self._ask("board.watch", **self._some_board())
            case 2 if self._chance.random() < 0.3:
                self._hang_up()
            case _:
                await self._play(game)

    async def _begin(self) -> None:
        day, ruleset = day_of(self._world.now_ms()), self._chance.choice(DAILIES)
        ways = ["daily", "daily", "free", "practice"]
        match self._chance.choice(ways):
            case "daily":
                told = await self._ask("daily.start", challenge=challenge_id(day, ruleset))
            case "practice":
                told = await self._ask(
                    "game.start", ruleset=ruleset, deal=challenge_id(day, ruleset)
                )
            case _:
                told = await self._ask("game.start", ruleset=ruleset, deal="1")
        if told["t"] == "ok" and told["d"]["status"] == "playing":
            self._player.take(told["d"])

    async def _look(self) -> None:
        told = await self._ask("board.get", **self._some_board(), around="me", limit=5)
        if told["t"] == "ok":
            ranks = [row["rank"] for row in told["d"]["rows"]]
            if ranks != sorted(ranks):
                raise Broken(f"{self.name}: ranks {ranks}")

    def _some_board(self) -> Body:
        day = day_of(self._world.now_ms())
        return {
            "challenge": challenge_id(day, self._chance.choice(DAILIES)),
            "board": self._chance.choice(["first", "moves"]),
            "kind": self._chance.choice(["human", "bot"]),
        }

    async def _play(self, game: Played) -> None:
        """Make an action, and send it again until it is known whether it was made."""
        known = max(game.acknowledged, default=0)
        view = await self._ask("game.open", game=game.id, since=0)
        if view["t"] != "ok":
            return
        state = self._replayed(game, view["d"], known)
        if view["d"]["status"] != "playing":
            self._player.end(game)
            return
        seq, action = state.seq + 1, self._choose(state)
        body = {"game": game.id, "seq": seq, **_move(action)}
        game.under_way += 1
        while True:
            try:
                told = await self._ask(_message(action), **body)
            except Gone:
                self._hang_up()
                await asyncio.sleep(self._chance.uniform(0.05, 1.0))
                continue
            if told["t"] == "error" and told["d"]["code"] in ("internal", "rate-limited"):
                await asyncio.sleep(self._chance.uniform(0.05, 1.0))
                continue
            break
        game.under_way -= 1
        if told["t"] == "ok":
            self._acknowledged(game, seq, told["d"])
            if self._chance.random() < 0.2:
                await self._send_again(game, action, body, told["d"])
        elif told["d"]["code"] not in ("conflict", "game-over"):
            raise Broken(f"{self.name}: {body} got {told['d']}")

    async def _send_again(self, game: Played, action: Action, body: Body, before: Body) -> None:
        """Sending an action again does nothing twice."""
        told = await self._ask(_message(action), **body)
        if told["t"] == "error" and told["d"]["code"] in ("internal", "rate-limited"):
            return
        if told["t"] != "ok" or not told["d"]["repeated"]:
            raise Broken(f"{self.name}: {body} again got {told['d']}")
        if told["d"]["hash"] != before["hash"]:
            raise Broken(f"{self.name}: another hash for {body}")

    def _acknowledged(self, game: Played, seq: int, told: Body) -> None:
        entry = told["move"], told["hash"]
        if told["seq"] != seq or game.acknowledged.setdefault(seq, entry) != entry:
            raise Broken(f"{self.name}: {game.id} {seq} was {game.acknowledged[seq]}, now {told}")
        if told["status"] != "playing":
            self._player.end(game)

    def _replayed(self, game: Played, view: Body, known: int) -> Game:
        """The game that the entries make, which is the one shown; ``known`` have to be there."""
        ruleset = RULESETS[game.ruleset]
        state = Game.start(ruleset, Deal.parse(ruleset, game.deal))
        for number, (seq, action, _, hash_) in enumerate(view["entries"], 1):
            if seq != number:
                raise Broken(f"{self.name}: {game.id} has no {number}")
            state = state.play(parse_action(action))
            if game.acknowledged.get(seq, (action, hash_)) != (action, hash_):
                raise Broken(f"{self.name}: {game.id} {seq} was {game.acknowledged[seq]}")
        if len(view["entries"]) < known:
            raise Broken(f"{self.name}: {game.id} has lost what was acknowledged")
        if (state.seq, state.moves, state.undos) != (view["seq"], view["moves"], view["undos"]):
            raise Broken(f"{self.name}: {game.id} is shown as another than its entries")
        return state

    def _choose(self, state: Game) -> Action:
        if self._chance.random() < 0.03:
            return Act.RESIGN
        choices: list[Action] = [*LegalMoves(state.ruleset, state.position)]
        if state.undoable and (not choices or self._chance.random() < 0.1):
            return Act.UNDO
        return self._chance.choice(choices) if choices else Act.RESIGN

    async def _ask(self, message: str, **body: object) -> Body:
        link = self._link or await self._connect()
        return await self._exchange(link, message, body)

    async def _exchange(self, link: Link, message: str, body: Body) -> Body:
        self._ids += 1
        answer: asyncio.Future[Body] = self._world.loop.create_future()
        if link.is_cut:
            raise Gone("cut")
        link.answers[self._ids] = answer
        link.say(json.dumps({"t": message, "id": self._ids, "d": body}))
        try:
            async with asyncio.timeout(ANSWER_S):
                told = await answer
        except TimeoutError:
            link.cut()
            raise Gone("no answer") from None
        said = json.dumps(told["d"], sort_keys=True)
        self._world.tell(f"{self.name} {message} {body} {told['t']} {_short(said)}")
        return told

    async def _connect(self) -> Link:
        link = self._link = Link(self._world, self._chance)
        self._world.links.append(link)
        self._chance.choice(self._world.processes).accept(link)
        hello: Body = {"proto": 1, "client": {"name": "simulated", "version": "1"}}
        if self._player.token:
            hello["token"] = self._player.token
        told = await self._exchange(link, "hello", hello)
        if told["t"] != "ok":
            link.cut()
            raise Gone("not greeted")
        return link


class Player:
    """Somebody with a token and one game at a time, on one device or on two."""

    def __init__(self, number: int) -> None:
        self.handle = f"player-{number}"
        self.kind = "bot" if number % 2 else "human"
        self.token = ""
        self.current: Played | None = None
        self.games: dict[str, Played] = {}

    def take(self, view: Body) -> None:
        """Go on with a game."""
        game = Played(view["game"], view["ruleset"], view["deal"])
        self.current = self.games.setdefault(game.id, game)

    def end(self, game: Played) -> None:
        """A game is over."""
        if self.current is game:
            self.current = None


def _short(text: str) -> str:
    """The beginning of a text, and a digest of all of it."""
    return f"{text[:60]}… {sha256(text.encode()).hexdigest()[:8]}"


def _message(action: Action) -> str:
    if action is Act.UNDO:
        return "game.undo"
    return "game.resign" if action is Act.RESIGN else "game.move"


def _move(action: Action) -> Body:
    return {} if isinstance(action, Act) else {"move": str(action)}


# -- The world -------------------------------------------------------------------------------------


class World:
    """Everything that a seed says."""

    def __init__(self, seed: int, path: Path, loop: VirtualLoop) -> None:
        self.seed = seed
        self.path = path
        self.loop = loop
        self.links: list[Link] = []
        self.trace = sha256()
        self.lines: list[str] = []
        self._chance = Random(f"{seed} faults")
        self.processes = [Process(self, f"process-{number}") for number in range(PROCESSES)]
        self.players = [Player(number) for number in range(PLAYERS)]

    def now_ms(self) -> int:
        """What the first process's wall clock shows."""
        return self.processes[0].clock.now_ms()

    def tell(self, line: str) -> None:
        """Something happened."""
        line = f"{self.loop.time():.6f} {line}"
        self.trace.update(line.encode())
        self.lines.append(line)

    def connect(self, path: str, **options: Any) -> Any:  # noqa: ANN401
        """Where the store connects: the disk of the process that opens it."""
        for process in self.processes:
            if OWNER.get() == process.name:
                return process.disk.connect(path, **options)
        return Disk(Random(0)).connect(path, **options)

    async def live(self) -> None:
        """Begin, go through trouble, become quiet, and be looked at."""
        for process in self.processes:
            await process.start()
        hands = [Hand(self, player, 0) for player in self.players]
        hands += [Hand(self, player, 1) for player in self.players[: PLAYERS // 2]]
        async with asyncio.timeout(LONGEST_S):
            for hand in hands[:PLAYERS]:
                await hand.join()
            trouble = self.loop.create_task(self._trouble())
            await asyncio.gather(*(hand.live() for hand in hands))
            trouble.cancel()
            with suppress(asyncio.CancelledError):
                await trouble
        await self._heal()
        await self._look()

    async def _trouble(self) -> None:
        while True:
            await asyncio.sleep(self._chance.uniform(0.2, 3.0))
            process = self._chance.choice(self.processes)
            match self._chance.randrange(8):
                case 0 | 1:
                    await process.kill()
                    await asyncio.sleep(self._chance.uniform(0.0, 2.0))
                    await process.start()
                case 2 | 3 if process.links:
                    self._chance.choice(process.links).cut()
                case 4:
                    process.disk.trouble = self._chance.choice([0.0, 0.05, 0.3])
                case 5:
                    process.disk.is_away = not process.disk.is_away
                case 6:
                    process.clock.shift_ms += self._chance.randrange(-60_000, 60_000)
                case 7 if self._chance.random() < 0.2:
                    for each in self.processes:
                        each.clock.shift_ms += DAY_MS // 2
                case _:
                    pass

    async def _heal(self) -> None:
        """All faults are over, and then the day is too."""
        for process in self.processes:
            if process.house is not None:
                await process.kill()
            process.clock.shift_ms += 2 * DAY_MS + GRACE_MS + LATEST_COMMIT_MS
            await process.start()
        await asyncio.sleep(4.0)

    async def _look(self) -> None:
        """Whether everything was kept that was promised."""
        store = self.processes[0].store
        ended: dict[str, str] = {}
        for player in self.players:
            for game in player.games.values():
                record = await store.game(game.id)
                if record is None:
                    raise Broken(f"{game.id} is gone")
                await self._look_at(store, record, game)
                if record.challenge and record.summary.status != "playing":
                    ended[game.id] = record.challenge
        await self._look_at_challenges(store, ended)

    async def _look_at(self, store: Store, record: GameRecord, game: Played) -> None:
        entries = await store.entries(game.id)
        live = LiveGame(record, entries)  # gapless, legal and chained, or it raises
        if live.summary.seq != len(entries) or live.hash != record.summary.hash:
            raise Broken(f"{game.id}: the summary is not that of its entries")
        told = {entry.seq: (entry.action, entry.hash) for entry in entries}
        if not game.acknowledged.items() <= told.items():
            raise Broken(f"{game.id}: acknowledged {game.acknowledged}, kept {told}")
        if record.attempt == 1 and record.summary.status == "playing":
            raise Broken(f"{game.id}: a ranked attempt goes on after the grace")

    async def _look_at_challenges(self, store: Store, ended: dict[str, str]) -> None:
        runs: dict[str, str] = {}
        day = "2027-03-14"
        for number in range(4):
            for challenge in await store.challenges_of(day_of(opens_at(day) + number * DAY_MS)):
                found = await store.runs(challenge.id, None, 1_000)
                for one in found:
                    if runs.setdefault(one.game, challenge.id) != challenge.id:
                        raise Broken(f"{one.game} has two results")
                first = [one.player for one in found if one.figures.attempt == 1]
                if len(first) != len(set(first)):
                    raise Broken(f"{challenge.id}: a second first attempt")
                is_over = challenge.closes + GRACE_MS + LATEST_COMMIT_MS < self.now_ms()
                if is_over and challenge.told is None:
                    raise Broken(f"{challenge.id} is not told")
                await self._compare(challenge.id, challenge.closes, found)
        if not ended.items() <= runs.items():
            raise Broken(f"ended {ended}, results {runs}")

    async def _compare(self, challenge: str, closes: int, found: list[Run]) -> None:
        """The boards of each process are those that the results make."""
        cold = Boards(challenge, closes)
        for one in found:
            cold.add(one)
        for process in self.processes:
            record = await process.store.challenge(challenge)
            assert record is not None
            assert process.house is not None
            for board in ("first", "moves"):
                for kind in ("human", "bot"):
                    live = await process.house.boards.page(record, board, kind, limit=100)
                    if live != cold.page(board, kind, limit=100):
                        raise Broken(f"{process.name}: {challenge} {board} {kind} is another")


@dataclass(frozen=True)
class Outcome:
    """What came of a seed: a digest of all that happened, and what was not kept."""

    trace: str
    lines: list[str]
    broken: str | None


@cache
def _empty_database() -> bytes:
    """A database with its tables and nothing in them."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "empty.db"
        asyncio.run(upgrade(f"sqlite:///{path}"))
        return path.read_bytes()


def _connect(worlds: list["World"], *where: Any, **how: Any) -> Any:  # noqa: ANN401
    return worlds[0].connect(*where, **how)


def simulate(seed: int) -> Outcome:
    """Live through a seed."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        path = Path(folder) / "games.db"
        path.write_bytes(_empty_database())
        worlds: list[World] = []

        def main(loop: VirtualLoop) -> Coroutine[Any, Any, None]:
            worlds.append(World(seed, path, loop))
            return worlds[0].live()

        broken = None
        connects = partial(_connect, worlds)
        with patch("server.store.engine.aiosqlite.connect", connects):
            try:
                run(main)
            except Exception as error:  # noqa: BLE001 - whatever it is, the seed has found it
                broken = f"{type(error).__name__}: {error}"
        return Outcome(worlds[0].trace.hexdigest(), worlds[0].lines, broken)


def kept_seeds() -> dict[int, str]:
    """Seeds that have found a fault once, and what it was."""
    return {int(seed): says for seed, says in json.loads(KEPT.read_text("utf-8")).items()}


def _keep(seed: int, broken: str) -> None:
    kept = kept_seeds()
    kept.setdefault(seed, broken)
    KEPT.write_text(json.dumps({str(one): kept[one] for one in sorted(kept)}, indent=2) + "\n")


def main() -> int:
    """Run seeds, keep those that show a fault, and say which they are."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.simulation")
    parser.add_argument("seed", nargs="?", type=int, help="one seed, with all that happens in it")
    parser.add_argument("--seeds", type=int, default=300, help="so many seeds from 0 on")
    chosen = parser.parse_args()
    logging.disable()
    if chosen.seed is not None:
        outcome = simulate(chosen.seed)
        print("\n".join(outcome.lines))
        print(outcome.trace, outcome.broken or "all promises were kept")
        return 1 if outcome.broken else 0
    found = 0
    for seed in range(chosen.seeds):
        broken = simulate(seed).broken
        if broken:
            found += 1
            _keep(seed, broken)
            print(f"\rseed {seed}: {broken}", flush=True)
        if sys.stderr.isatty():
            print(f"\r{seed + 1} of {chosen.seeds}", end="", file=sys.stderr, flush=True)
    print(f"{chosen.seeds} seeds, {found} with a broken promise")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
