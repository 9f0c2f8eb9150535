"""Requests to answers: a server asked for everything, by several connections and by guests."""

import asyncio
import json
from dataclasses import dataclass, field
from http import HTTPStatus
from random import Random
from typing import Any, cast
from urllib.parse import quote

import msgpack

from cellmates.daily import DAY_MS, day_of, opens_at
from cellmates.engine import RULESETS
from cellmates.protocol import SERVER_FRAME_BYTES, Encoding, ErrorCode
from server.api import Api, Guest
from server.game import LiveGame
from server.gateway import Response
from server.journal import Journal
from server.refusals import error_of
from tests.protocol.frames import MESSAGES
from tests.server.memory import MemoryJournal
from tests.server.world import Body, FakePeer, World

from .drawing import Value, changed_map, changed_text, packed
from .findings import Findings
from .fuzz_doors import check_page

NOON = opens_at("2027-03-14") + DAY_MS // 2
STATUSES = {200, 400, 403, 404}  # never 503: nothing is away here
LONGEST_ERROR_BYTES = 1000
# Some are said more often than the rest, so that there are games to be asked for.
PLAYED = (
    *["game.start", "game.move", "game.undo", "daily.start"] * 2,
    *["game.move"] * 4,
    *("game.resign", "games.mine", "replay.get"),
)


@dataclass
class AnyPeer(FakePeer):
    """A peer of either encoding, that keeps how large its frames are, and its player's games."""

    games: list[str] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)

    def send(self, frame: bytes) -> None:
        is_json = self.encoding is Encoding.JSON
        self.sent.append(json.loads(frame) if is_json else msgpack.unpackb(frame))
        self.sizes.append(len(frame))


class Dispatcher:
    """A server that several connections ask for everything, and an API that guests ask."""

    def __init__(
        self, findings: Findings, chance: Random, journal: Journal | None, number: int
    ) -> None:
        self._findings = findings
        self._chance = chance
        journal = journal or MemoryJournal()
        self._journal = journal
        self._world = World(cast("MemoryJournal", journal), first_id=number * 100_000, most_live=5)
        self._world.clock.now = NOON + number * DAY_MS
        self._known: dict[str, list[str]] = {
            "handle": [],
            "token": [],
            "game": [],
            "cursor": ["0", "after/0"],
            "challenge": [],
        }
        self._players = 0
        self._peers: list[AnyPeer] = []

    async def run(self, count: int = 4_000) -> None:
        """Ask, and look in the end whether every game is what its entries make."""
        await self._world.house.planner.plan(2)
        today = day_of(self._world.clock.now)
        self._known["challenge"] += [f"{today}-{name}" for name in RULESETS]
        self._known["challenge"].append(f"{day_of(self._world.clock.now + DAY_MS)}-freecell")
        callers = [await self._caller() for _ in range(4)]
        for _ in range(count):
            at = self._chance.randrange(len(callers))
            peer, conversation = callers[at]
            if peer.closed is not None or self._chance.random() < 0.01:
                conversation.closed()
                peer, conversation = callers[at] = await self._caller()
            if peer.closed is None:
                await self._ask(peer, conversation)
            self._world.clock.monotonic += 1_000
            if self._findings.is_enough:
                return
        for _ in range(count // 2):
            await self._get()
        for game in self._known["game"]:
            with self._findings.trying("game", game):
                record = await self._journal.game(game)
                if record is not None:
                    LiveGame(record, await self._journal.entries(game))

    async def _caller(self) -> tuple[AnyPeer, Any]:
        """A connection: of nobody yet, of a guest, or of a player, old or new."""
        chance = self._chance
        address = f"2001:db8:{self._players:x}::{chance.randrange(9)}"
        peer = AnyPeer(address, chance.choice([*Encoding]))
        conversation = self._world.application.opened(peer)
        self._players += 1
        if chance.random() < 0.05:
            return peer, conversation
        hello: Body = {"proto": 1, "client": {"name": "fuzz", "version": "1"}}
        if self._known["token"] and chance.random() < 0.6:
            hello["token"] = chance.choice(self._known["token"])
        await conversation.receive(packed(peer.encoding, {"t": "hello", "id": 1, "d": hello}))
        if "token" not in hello and chance.random() < 0.9:
            made = {"handle": f"fuzz-{self._players}", "kind": chance.choice(("human", "bot"))}
            asked = {"t": "player.create", "id": 2, "d": made}
            await conversation.receive(packed(peer.encoding, asked))
        for told in peer.sent:
            self._learn(told)
        return peer, conversation

    async def _ask(self, peer: AnyPeer, conversation: Any) -> None:  # noqa: ANN401
        chance = self._chance
        t = chance.choice([*MESSAGES, *PLAYED])
        told: Body = {"t": t, "id": chance.choice((0, 1, 77, 2**53)), "d": self._body(t, peer)}
        if chance.random() < 0.4:
            known = [text for texts in self._known.values() for text in texts[-20:]]
            told["d"] = changed_map(chance, told["d"], known)
        asked = packed(peer.encoding, told)
        before = len(peer.sent)
        with self._findings.trying("request", told):
            async with asyncio.timeout(20):
                await conversation.receive(asked)
            answers = [one for one in peer.sent[before:] if one["t"] in ("ok", "error")]
            [answer] = answers
            assert max(peer.sizes[before:]) <= SERVER_FRAME_BYTES, "the frame is too large"
            if answer["t"] == "ok":
                assert answer["re"] == told["id"]
                self._findings.accept("request")
                self._learn(answer)
                if t in ("game.start", "daily.start"):
                    peer.games.append(answer["d"]["game"])
            else:
                self._check_error(answer, told)
        del peer.sent[:], peer.sizes[:]

    def _check_error(self, answer: Body, asked: Body) -> None:
        error = answer["d"]
        code = ErrorCode(error["code"])
        assert code is not ErrorCode.INTERNAL, error
        assert answer["re"] == (None if code is ErrorCode.BAD_FRAME else asked["id"])
        text = json.dumps(error)
        assert len(text) <= LONGEST_ERROR_BYTES, "the error is too long"
        shown = {token for token in self._known["token"] if token in text}
        assert all(token in json.dumps(asked) for token in shown), "it shows a token"

    def _body(self, t: str, peer: AnyPeer) -> Body:
        """What a client says who plays along."""
        chance = self._chance
        body: Body = dict(MESSAGES[t])
        for key in body:
            if texts := self._known.get({"confirm": "handle"}.get(key, key)):
                body[key] = chance.choice(texts[-20:])
        if "game" in body and peer.games and chance.random() < 0.8:
            body["game"] = chance.choice(peer.games[-3:])
        if "seq" in body:
            body["seq"] = chance.choice((1, 1, 2, 3, 4, 5, 41))
        if "move" in body:
            body["move"] = chance.choice(("6a", "6b", "1a", "2b", "3c", "26", "ah", "1h", "5d"))
        if "ruleset" in body:
            body["ruleset"] = chance.choice([*RULESETS])
            body["deal"] = chance.choice((None, "1", "617", *self._known["challenge"]))
            del body["autoplay"]
        if t == "player.create":
            body["handle"] = f"fuzz-{self._players}x{chance.randrange(99)}"
        if t == "player.delete" and chance.random() < 0.9:
            body["confirm"] = "nobody"
        if t == "daily.list":
            body["date"] = chance.choice(self._known["challenge"])[:10]
        if t == "board.get" and chance.random() < 0.5:
            body |= {"cursor": None, "around": chance.choice((None, "me"))}
        if "cursor" in body and chance.random() < 0.5:
            body["cursor"] = changed_text(chance, body["cursor"] or "0")
        elif t in ("games.mine", "replay.get"):
            body["cursor"] = None
        return body

    def _learn(self, told: Value) -> None:
        """Keep what may be said again: ids, tokens, handles and cursors."""
        if isinstance(told, list):
            for one in told:
                self._learn(one)
        if not isinstance(told, dict):
            return
        for key, value in told.items():
            texts = self._known.get({"next": "cursor", "prev": "cursor"}.get(str(key), str(key)))
            if texts is not None and isinstance(value, str) and value not in texts[-50:]:
                texts.append(value)
            self._learn(value)

    async def _get(self) -> None:
        """Ask for a page of the API, as the gateway does."""
        chance = self._chance
        api = Api(
            answer=lambda asked: self._world.house.handlers.answer(Guest(), asked),
            error_of=error_of,
            clock=self._world.clock,
        )

        def one(name: str) -> str:
            return quote(chance.choice(self._known[name]), safe="")

        board = f"boards/{one('challenge')}/{chance.choice(('first', 'moves'))}/human"
        page = chance.choice(
            (
                *("daily", f"daily/{one('challenge')[:10]}", f"replays/{one('game')}"),
                *(f"players/{one('handle')}", board, f"{board}.csv"),
            )
        )
        path = f"/api/v1/{page}"
        query = chance.choice(("", "limit=2", f"cursor={one('cursor')}", "limit=1&cursor=0"))
        if chance.random() < 0.5:
            path = changed_text(chance, path)
            query = changed_text(chance, query)
        with self._findings.trying("page", (path, query)):
            answer = await api.get(path, query)
            check_page(Response(answer.status, answer.headers, answer.body))
            assert answer.status in STATUSES, answer.body
            if answer.status == HTTPStatus.OK:
                self._findings.accept("page")
                if answer.headers["Content-Type"] == "application/json":
                    self._learn(json.loads(answer.body))
            else:
                assert len(answer.body) <= LONGEST_ERROR_BYTES
