"""Simulated players on their devices: they play, lose the line, and find out where they are."""

import asyncio
import json
from dataclasses import dataclass, field
from hashlib import sha256
from random import Random

from cellmates.daily import DAILIES, challenge_id, day_of
from cellmates.engine import RULESETS, Act, Action, Deal, Game, LegalMoves, parse_action

from .processes import Body, Broken, Gone, Link, Stage

STEPS = 16
ANSWER_S = 5.0


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

    def __init__(self, world: Stage, player: "Player", number: int) -> None:
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
