"""Players of a server that is a process: they go on regardless, and keep what they were told."""

import asyncio
import itertools
import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from websockets.exceptions import WebSocketException

from cellmates.daily import opens_at, parse_challenge_id
from cellmates.engine import RULESETS, Act, Action, Deal, Game, LegalMoves, parse_action
from server.players import token_hash
from server.records import PlayerRecord
from server.store import Store
from tests.e2e.running import RunningServer
from tests.e2e.stranger import Body, Refused, Stranger

KEY = "A" * 43 + "="
DAY = "2027-03-14"
TEN_O_CLOCK = opens_at(DAY) + 10 * 60 * 60 * 1000
ENOUGH_S = 120.0
RESIGNS = 0.02  # of all actions, so that games end
# A server without its limits for players: they are not what is tried.
LOAD = {"moves_per_s": "20000", "max_connections_per_address": "20000"}
GONE = (OSError, WebSocketException, TimeoutError, EOFError)
PASSING = ("internal", "rate-limited", "draining")  # errors after which one asks again

Tell = Callable[[str], None]


def silent(_: str) -> None:
    """Tell nobody."""


@dataclass
class Score:
    """What all players together have seen; ``lost`` and ``doubled`` say of what."""

    acknowledged: int = 0
    repeated: int = 0
    refused: int = 0
    broken_off: int = 0
    conflicts: int = 0
    lost: set[str] = field(default_factory=set)
    doubled: set[str] = field(default_factory=set)
    news: asyncio.Event = field(default_factory=asyncio.Event)
    is_over: bool = False

    def acknowledge(self, *, repeated: bool) -> None:
        """One more action is acknowledged."""
        self.acknowledged += 1
        self.repeated += repeated
        self.news.set()


async def acknowledgements(score: Score, more: int) -> None:
    """Wait until so many more actions were acknowledged."""
    goal = score.acknowledged + more
    async with asyncio.timeout(ENOUGH_S):
        while score.acknowledged < goal:
            score.news.clear()
            await score.news.wait()


@dataclass
class Played:
    """A game, and what its player was told of it: by seq, the action and the hash."""

    id: str
    acknowledged: dict[int, tuple[str, str]] = field(default_factory=dict)


@dataclass
class Player:
    """Somebody with a token, and one game at a time, whatever number of hands play it.

    First come the attempts at ``challenges``, then practice at them; without any, one free game
    that never ends.
    """

    id: str
    token: str
    challenges: Sequence[str] = ()
    begun: int = 0
    current: Played | None = None
    games: dict[str, Played] = field(default_factory=dict)
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    def take(self, game: str) -> Played:
        """Go on with a game."""
        self.current = self.games.setdefault(game, Played(game))
        return self.current

    def end(self, played: Played) -> None:
        """A game is over."""
        if self.current is played:
            self.current = None


@dataclass(frozen=True)
class Claim:
    """An action that is to be made, and for which seq."""

    played: Played
    seq: int
    action: Action


class Hand:
    """Plays at random for ever; after a broken connection it sends its last action again.

    With more than one server it changes between them. Where it is ``alone`` with its player's game,
    nobody else can have claimed what it claims.
    """

    def __init__(
        self,
        player: Player,
        servers: Sequence[RunningServer],
        score: Score,
        *,
        seed: str,
        alone: bool = True,
        pause_s: float = 0.0,
    ) -> None:
        """``pause_s`` is how long it thinks about each action, on the average."""
        self.player = player
        self.claim: Claim | None = None
        self._servers = servers
        self._score = score
        self._chance = random.Random(seed)
        self._is_alone = alone
        self._pause_s = pause_s
        self.acknowledged = 0
        self._again = False
        self._known: tuple[Played, Game] | None = None
        self._unfinished: list[str] = []

    async def play(self) -> None:
        """Play until it is over."""
        while not self._score.is_over:
            server = self._chance.choice(self._servers)
            with suppress(*GONE):
                stranger = await Stranger.connect(server.url, open_timeout=5)
                try:
                    await self._visit(stranger)
                finally:
                    stranger.socket.transport.abort()
            await asyncio.sleep(0.005)

    async def _visit(self, stranger: Stranger) -> None:
        welcome = await stranger.hello(self.player.token)
        self._unfinished = [game["game"] for game in welcome["games"]]
        stay = self._chance.randrange(1, 12) if len(self._servers) > 1 else None
        for _ in itertools.count() if stay is None else range(stay):
            if self._score.is_over:
                return
            try:
                await self._step(stranger)
            except GONE:
                self._score.broken_off += 1
                raise
            except Refused as refusal:
                self._refused(refusal)
                await asyncio.sleep(0.02)
            if self._pause_s:
                await asyncio.sleep(self._chance.uniform(0, 2 * self._pause_s))

    async def _step(self, stranger: Stranger) -> None:
        if self.claim is None:
            played = self.player.current or await self._begin(stranger)
            state = await self._state(stranger, played)
            if state is None:
                return
            self.claim = Claim(played, state.seq + 1, self._choose(state))
            self._again = False
        try:
            told = await _make(stranger, self.claim)
        except (*GONE, Refused):
            self._again = True
            raise
        self._made(self.claim, told)

    async def _begin(self, stranger: Stranger) -> Played:
        player = self.player
        async with player.turn:
            if player.current is not None:
                return player.current
            # The answer that told of a game may be lost: the greeting tells of it too.
            if stray := [game for game in self._unfinished if game not in player.games]:
                return player.take(stray[0])
            view: Body | None = None
            if player.challenges:
                with suppress(Refused):  # the day may be over
                    view = await self._attempt(stranger)
            if view is None:
                ruleset = self._chance.choice(list(RULESETS))
                view = await stranger.ask("game.start", ruleset=ruleset, deal="1")
            return player.take(view["game"])

    async def _attempt(self, stranger: Stranger) -> Body:
        player = self.player
        if player.begun == len(player.challenges):
            deal = self._chance.choice(player.challenges)
            _, ruleset = parse_challenge_id(deal)
            return await stranger.ask("game.start", ruleset=ruleset, deal=deal)
        challenge = player.challenges[player.begun]
        player.begun += 1
        try:
            return await stranger.ask("daily.start", challenge=challenge)
        except GONE:
            player.begun -= 1  # sent again it is the same attempt
            raise

    async def _state(self, stranger: Stranger, played: Played) -> Game | None:
        """The game as it stands; None where it is over."""
        if self._known is not None and self._known[0] is played:
            return self._known[1]
        acknowledged = dict(played.acknowledged)
        view = await stranger.ask("game.open", game=played.id, since=0)
        kept = {seq: (action, hash_) for seq, action, _, hash_ in view["entries"]}
        self._score.lost |= missing(played, acknowledged, kept)
        ruleset = RULESETS[view["ruleset"]]
        state = Game.start(ruleset, Deal.parse(ruleset, view["deal"]))
        for action, _ in kept.values():
            state = state.play(parse_action(action))
        if view["status"] != "playing":
            self.player.end(played)
            return None
        self._known = played, state
        return state

    def _made(self, claim: Claim, told: Body) -> None:
        played, seq = claim.played, claim.seq
        entry = told["move"], told["hash"]
        if told["seq"] != seq or (self._is_alone and told["repeated"] and not self._again):
            self._score.doubled.add(f"{played.id} {seq}: made as {told['seq']}")
        if played.acknowledged.setdefault(seq, entry) != entry:
            self._score.lost.add(f"{played.id} {seq}")
        self.acknowledged += 1
        self._score.acknowledge(repeated=told["repeated"] and self._again)
        self.claim = None
        if told["status"] != "playing":
            self.player.end(played)
        if self._known is not None and told["status"] == "playing":
            state = self._known[1].play(claim.action)
            if (state.seq, state.moves) == (told["seq"], told["moves"]):
                self._known = played, state
                return
            self._score.lost.add(f"{played.id} {seq}: another game than its entries make")
        self._known = None

    def _refused(self, refusal: Refused) -> None:
        self._score.refused += refusal.code in PASSING
        claim = self.claim
        if claim is None or refusal.code in PASSING:
            return
        self._score.conflicts += refusal.code == "conflict"
        # Somebody else may have claimed the seq, or ended the game; else it was this hand itself.
        if self._is_alone or refusal.code not in ("conflict", "game-over"):
            wrong = self._score.doubled if self._again else self._score.lost
            wrong.add(f"{claim.played.id} {claim.seq}: {claim.action} got {refusal}")
        self.claim = self._known = None

    def _choose(self, state: Game) -> Action:
        if self.player.challenges and self._chance.random() < RESIGNS:
            return Act.RESIGN
        moves: list[Action] = [*LegalMoves(state.ruleset, state.position)]
        undo: list[Action] = [Act.UNDO] if state.undoable else []
        return self._chance.choice([*moves, *undo])


async def _make(stranger: Stranger, claim: Claim) -> Body:
    where = {"game": claim.played.id, "seq": claim.seq}
    if claim.action is Act.UNDO:
        return await stranger.ask("game.undo", **where)
    if claim.action is Act.RESIGN:
        return await stranger.ask("game.resign", **where)
    return await stranger.ask("game.move", **where, move=str(claim.action))


def missing(
    played: Played, acknowledged: dict[int, tuple[str, str]], kept: dict[int, tuple[str, str]]
) -> set[str]:
    """What was acknowledged and is not there, or is another."""
    return {f"{played.id} {seq}" for seq, entry in acknowledged.items() if kept.get(seq) != entry}


async def create_players(
    url: str, count: int, *, challenges: Sequence[str] = (), prefix: str = "player"
) -> list[Player]:
    """Players with their tokens, made in the database itself."""
    store = await Store.open(url)
    players = []
    for number in range(count):
        name = f"{prefix}-{number}"
        record = PlayerRecord(name, name, "bot" if number % 2 else "human", TEN_O_CLOCK)
        await store.create_player(record, name, token_hash(f"token of {name}"))
        turned = number % len(challenges) if challenges else 0
        players.append(
            Player(name, f"token of {name}", [*challenges[turned:], *challenges[:turned]])
        )
    await store.close()
    return players


DUELS = 4


async def duel(player: Player, servers: Sequence[RunningServer], score: Score) -> list[Hand]:
    """Two hands claim one seq for different actions, each at its own server, one after the other.

    The first is served, and what it was told stays; the other server knows nothing of it yet.
    """
    hands = [Hand(player, [server], score, seed="duel", alone=False) for server in servers]
    strangers = [await Stranger.connect(server.url) for server in servers]
    for stranger in strangers:
        await stranger.hello(player.token)
    view = await strangers[0].ask("game.start", ruleset="freecell", deal="1")
    played = player.take(view["game"])
    for number in range(DUELS):
        for at, (hand, stranger) in enumerate(zip(hands, strangers, strict=True)):
            hand._known = None
            state = await hand._state(stranger, played)
            assert state is not None
            moves = list(LegalMoves(state.ruleset, state.position))
            hand.claim = Claim(played, state.seq + 1, moves[-at])  # the first, and the last
        pairs = list(zip(hands, strangers, strict=True))
        for hand, stranger in pairs if number % 2 else reversed(pairs):
            assert hand.claim is not None
            try:
                hand._made(hand.claim, await _make(stranger, hand.claim))
            except Refused as refusal:
                hand._refused(refusal)
    for stranger in strangers:
        await stranger.close()
    return hands
