"""A small server to try clients on: it plays by the engine, and misbehaves where a test asks."""

import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from http import HTTPStatus
from types import TracebackType
from typing import Self

import msgpack
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request as HttpRequest
from websockets.http11 import Response
from websockets.typing import Subprotocol

from cellmates.engine import (
    PLACES,
    RULESETS,
    BadDeal,
    Deal,
    Game,
    IllegalMove,
    Refusal,
    first_hash,
    hint,
    parse_action,
    parse_place,
    tap,
)

from .boards import Boards, Which
from .record import STARTED, Map, Record, Refused

LIMITS = {"frame_bytes": 4096, "requests_burst": 1000, "requests_per_s": 1000, "heartbeat_s": 20}


class Talk:
    """One connection to the fake server."""

    def __init__(self, server: "FakeServer", socket: ServerConnection) -> None:
        self.server = server
        self.socket = socket
        self.player: Map | None = None
        self.open: set[str] = set()
        self.watched: set[Which] = set()

    async def send(self, message: Map) -> None:
        is_json = self.socket.subprotocol == "cellmates.v1.json"
        await self.socket.send(json.dumps(message) if is_json else msgpack.packb(message))

    async def event(self, type_: str, **body: object) -> None:
        await self.send({"t": type_, "d": body})

    async def run(self) -> None:
        async for frame in self.socket:
            is_text = isinstance(frame, str)
            assert is_text == (self.socket.subprotocol == "cellmates.v1.json")
            message = json.loads(frame) if is_text else msgpack.unpackb(frame)
            self.server.asked.append((message["t"], message["d"]))
            trick = self.server.next_trick(message["t"])
            if trick is None or not await trick(self, message):
                await self.send(self.answer(message))

    def answer(self, message: Map) -> Map:
        try:
            return {"t": "ok", "re": message["id"], "d": self.do(message["t"], message["d"])}
        except Refused as refused:
            return {"t": "error", "re": message["id"], "d": refused.body}

    def do(self, type_: str, body: Map) -> Map:
        """Do what a request asks.

        Raises:
            Refused: it is not to be done.
        """
        method: Callable[[Map], Map] | None = getattr(self, "on_" + type_.replace(".", "_"), None)
        if method is None:
            raise Refused("unknown-type")
        return method(body)

    # -- Requests ----------------------------------------------------------------------------------

    def on_hello(self, body: Map) -> Map:
        if body["proto"] != 1:
            raise Refused("unsupported-proto", supported=[1])
        if "token" in body:
            if body["token"] not in self.server.players:
                raise Refused("bad-token")
            self.player = self.server.players[body["token"]]
        mine = [record for record in self.server.games.values() if record.player == self.name]
        return {
            "server": {"name": "fake", "version": "1"},
            "proto": 1,
            "time": STARTED,
            "player": self.player,
            "limits": self.server.limits,
            "rulesets": [*RULESETS],
            "games": [
                {"game": record.id, "seq": record.game.seq, "status": record.status}
                for record in mine
            ],
            "a-field-of-later": {"nobody": ["knows"]},
        }

    @property
    def name(self) -> str:
        return "" if self.player is None else str(self.player["id"])

    def on_player_create(self, body: Map) -> Map:
        handles = [player["handle"] for player in self.server.players.values()]
        if body["handle"] in handles:
            raise Refused("handle-taken")
        if len(body["handle"]) < 3:
            raise Refused("handle-invalid", why="it is too short")
        number = len(handles) + 1
        token = f"secret-{number}"
        self.player = {"id": f"p{number}", **body}
        self.server.players[token] = self.player
        return {"player": self.player, "token": token}

    def on_player_token(self, _: Map) -> Map:
        [old] = [token for token, player in self.server.players.items() if player is self.player]
        self.server.players[f"{old}-new"] = self.server.players.pop(old)
        return {"token": f"{old}-new"}

    def on_player_rename(self, body: Map) -> Map:
        assert self.player is not None
        self.player["handle"] = body["handle"]
        return {"player": self.player}

    def on_player_delete(self, body: Map) -> Map:
        assert self.player is not None
        if body["confirm"] != self.player["handle"]:
            raise Refused("bad-request", field="confirm", why="it is not your handle")
        return {}

    def on_player_get(self, body: Map) -> Map:
        for player in self.server.players.values():
            if player["handle"] == body["handle"]:
                stats = {
                    "played": 2,
                    "won": 1,
                    "best_elapsed_ms": 5000,
                    "fewest_moves": 90,
                    "streak": 0,
                    "best_streak": 1,
                }
                return {"player": player, "stats": {"freecell": stats}}
        raise Refused("not-found")

    def on_game_start(self, body: Map) -> Map:
        if self.player is None:
            raise Refused("token-needed")
        ruleset = RULESETS.get(body["ruleset"])
        if ruleset is None:
            raise Refused("bad-request", field="ruleset", why="there is none of that name")
        deal = body.get("deal", "1")
        attempts = self.attempts(deal)
        if attempts and attempts[0].status == "playing":
            raise Refused("not-yet")
        if attempts and not deal.endswith(f"-{ruleset.name}"):
            raise Refused("bad-request", field="d.deal", why="it is of another ruleset")
        return self.start(ruleset.name, deal, len(attempts) + 1 if attempts else None)

    def start(self, ruleset: str, text: str, attempt: int | None = None) -> Map:
        record = self.server.deal(self.name, ruleset, text, attempt)
        self.open.add(record.id)
        return record.view()

    def attempts(self, challenge: str) -> list[Record]:
        """This player's attempts at a challenge, the ranked one first."""
        return [
            record
            for record in self.server.games.values()
            if (record.player, record.challenge) == (self.name, challenge)
        ]

    def on_daily_list(self, body: Map) -> Map:
        listed = []
        for challenge in self.server.boards.listed(body.get("date")):
            attempts = self.attempts(challenge["challenge"])
            attempt = {"game": attempts[0].id, "status": attempts[0].status} if attempts else None
            listed.append(challenge | {"attempt": attempt})
        return {"challenges": listed}

    def on_daily_start(self, body: Map) -> Map:
        if self.player is None:
            raise Refused("token-needed")
        challenge = self.server.boards.challenge(body["challenge"])
        attempts = self.attempts(body["challenge"])
        if attempts:
            self.open.add(attempts[0].id)
            return attempts[0].view()
        return self.start(challenge["ruleset"], body["challenge"], 1)

    def on_board_get(self, body: Map) -> Map:
        handle = None if self.player is None else self.player["handle"]
        return self.server.boards.page(body, handle, self.server.page)

    def on_board_watch(self, body: Map) -> Map:
        self.server.boards.challenge(body["challenge"])
        self.watched.add((body["challenge"], body["board"], body["kind"]))
        return {}

    def on_board_unwatch(self, body: Map) -> Map:
        self.watched.discard((body["challenge"], body["board"], body["kind"]))
        return {}

    def record(self, body: Map) -> Record:
        record = self.server.games.get(body["game"])
        if record is None or record.player != self.name:
            raise Refused("not-found")
        return record

    def on_game_open(self, body: Map) -> Map:
        record = self.record(body)
        self.open.add(record.id)
        return record.view(body.get("since"))

    def on_game_move(self, body: Map) -> Map:
        return self.act(body, body["move"])

    def on_game_undo(self, body: Map) -> Map:
        return self.act(body, "undo")

    def on_game_resign(self, body: Map) -> Map:
        return self.act(body, "resign")

    def act(self, body: Map, action: str) -> Map:
        record, seq = self.record(body), body["seq"]
        assert record.id in self.open, "a client opens a game before it acts in it"
        if seq <= record.game.seq and record.entries[seq - 1][1] == action:
            return record.moved(repeated=True) | {"seq": seq, "move": action}
        if record.expired_ms is not None:
            raise Refused("game-over", status="expired")
        if seq != record.game.seq + 1:
            raise Refused("conflict", seq=record.game.seq)
        try:
            record.act(parse_action(action))
        except IllegalMove as illegal:
            if illegal.reason == "game-over":
                raise Refused("game-over", status=str(record.game.status)) from None
            limits = {"limit": illegal.limit, "length": illegal.length}
            raise Refused("illegal-move", reason=str(illegal.reason), **limits) from None
        except Refusal as refusal:
            raise Refused(str(refusal.reason)) from None
        if record.status != "playing" and self.player is not None:
            self.server.boards.ended(record, self.player)
        return record.moved()

    def on_game_hint(self, body: Map) -> Map:
        game = self.record(body).game
        move = hint(game)
        return {"move": None if move is None else str(move), "seq": game.seq}

    def on_game_tap(self, body: Map) -> Map:
        game = self.record(body).game
        place = parse_place(body["from"])
        assert place < len(PLACES)
        move = tap(game.ruleset, game.position, place, body["depth"], body["taps"])
        return {"move": None if move is None else str(move)}

    def on_games_mine(self, body: Map) -> Map:
        mine = [record for record in self.server.games.values() if record.player == self.name]
        mine = [record for record in mine[::-1] if body.get("status") in (None, record.status)]
        begin = int(body.get("cursor", 0))
        end = begin + self.server.page
        names = ("game", "ruleset", "deal", "challenge", "ranked", "started")
        games = [
            {name: record.view()[name] for name in names} | record.figures()
            for record in mine[begin:end]
        ]
        return {"games": games, "next": str(end) if end < len(mine) else None}

    def on_replay_get(self, body: Map) -> Map:
        record = self.server.games.get(body["game"])
        if record is None:
            raise Refused("not-found")
        view = record.view()
        begin = int(body.get("cursor", 0))
        end = begin + self.server.page
        names = (
            *("ruleset", "ruleset_version", "deal", "autoplay", "started"),
            *("challenge", "attempt"),
        )
        players = [
            player for player in self.server.players.values() if player["id"] == record.player
        ]
        return {
            "header": {name: view[name] for name in names} | {"player": players[0]},
            "entries": record.entries[begin:end],
            "next": str(end) if end < len(record.entries) else None,
            "result": record.figures() | {"home": record.game.cards_home},
        }

    def on_ping(self, _: Map) -> Map:
        return {"time": STARTED}


Trick = Callable[[Talk, Map], Awaitable[bool]]


class FakeServer:
    """Where clients connect to: ``asked`` is what they did, ``refusals`` are HTTP answers to give.

    A trick is asked before a request of its type is answered, once, in the order in which they
    were added; it says whether it has answered.
    """

    def __init__(self) -> None:
        self.players: dict[str, Map] = {}
        self.games: dict[str, Record] = {}
        self.boards = Boards()
        self.talks: list[Talk] = []
        self.asked: list[tuple[str, Map]] = []
        self.refusals: list[HTTPStatus] = []
        self.limits: Map = dict(LIMITS)
        self.page = 100
        self._tricks: list[tuple[str, Trick]] = []
        self._server: Server | None = None

    async def __aenter__(self) -> Self:
        self._server = await serve(
            self._talk,
            "127.0.0.1",
            0,
            subprotocols=[Subprotocol(f"cellmates.v1.{name}") for name in ("msgpack", "json")],
            process_request=self._handshake,
            compression=None,
            close_timeout=1,
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        assert self._server is not None
        for talk in self.talks:
            talk.socket.transport.abort()
        self._server.close()
        await self._server.wait_closed()
        assert not self._tricks or error, "every trick was played"

    @property
    def url(self) -> str:
        assert self._server is not None
        [socket] = self._server.sockets
        return f"ws://127.0.0.1:{socket.getsockname()[1]}/ws"

    def player(self, handle: str = "ann", kind: str = "bot") -> str:
        """Token of a new player."""
        number = len(self.players) + 1
        self.players[f"secret-{number}"] = {"id": f"p{number}", "handle": handle, "kind": kind}
        return f"secret-{number}"

    def deal(self, player: str, ruleset: str, text: str, attempt: int | None = None) -> Record:
        """A new game; with the number of an attempt the deal is named by its challenge."""
        challenge = None if attempt is None else text
        rules = RULESETS[ruleset]
        try:
            deal = Deal.parse(rules, self.boards.deals[text] if challenge else text)
        except BadDeal as error:
            raise Refused("bad-request", field="deal", why=str(error)) from None
        game = Game.start(rules, deal)
        started = first_hash(ruleset, rules.version, str(deal), str(game.autoplay))
        record = Record(f"g{len(self.games) + 1}", player, game, started)
        record.challenge, record.attempt = challenge, attempt
        self.games[record.id] = record
        return record

    async def changed(self, *which: str) -> None:
        """Tell whoever watches a board of its top."""
        event = self.boards.changed(*which)
        for talk in self.talks:
            if which in talk.watched and talk.socket.close_code is None:
                await talk.event("board.changed", **event)

    def trick(self, type_: str, *tricks: Trick) -> None:
        self._tricks += [(type_, trick) for trick in tricks]

    def next_trick(self, type_: str) -> Trick | None:
        for at, (name, trick) in enumerate(self._tricks):
            if name == type_:
                del self._tricks[at]
                return trick
        return None

    def bodies(self, *types: str) -> list[Map]:
        """Requests of some types so far."""
        return [body for type_, body in self.asked if type_ in types]

    async def _talk(self, socket: ServerConnection) -> None:
        talk = Talk(self, socket)
        self.talks.append(talk)
        with suppress(ConnectionClosed):
            await talk.run()

    async def _handshake(self, socket: ServerConnection, request: HttpRequest) -> Response | None:
        if request.path != "/ws":
            return socket.respond(HTTPStatus.NOT_FOUND, "")
        return socket.respond(self.refusals.pop(0), "") if self.refusals else None
