"""Whatever a peer sends: nothing comes of it but answers and the errors that are documented.

What is tried is counted and drawn from a seed, so that what is found can be found again. Most of it
is nearly right, because what is only noise is refused at the first door.
"""

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from ipaddress import ip_network
from random import Random
from typing import Any, TypeAlias, cast
from urllib.parse import quote

import msgpack

from cellmates.daily import DAY_MS, BadDay, day_of, opens_at, parse_challenge_id
from cellmates.engine import (
    RULESETS,
    BadBoard,
    BadDeal,
    BadMove,
    Deal,
    Game,
    Move,
    Refusal,
    board_text,
    parse_action,
    parse_board,
    parse_place,
    tap,
)
from cellmates.protocol import SERVER_FRAME_BYTES, Encoding, ErrorCode, ProtocolError
from cellmates.protocol import decode_request as decode
from server.address import client_address, group_of
from server.api import Api
from server.config import BadSetting, read_settings
from server.game import LiveGame
from server.gateway import GatewaySettings, Response
from server.gateway import handshake as handshakes
from server.gateway.http import Refused, end_of_head, read_request, serialise
from server.gateway.websocket import WebSocket
from server.handlers import Guest
from server.journal import Journal
from server.players import HandleInvalid, check_handle, skeleton
from server.refusals import error_of
from server.store import BadDatabase
from server.store.engine import parse_url
from tests.gateway.house import close_frame, frame, upgrade
from tests.protocol.frames import MESSAGES, check_form, written
from tests.server.memory import MemoryJournal
from tests.server.world import Body, FakePeer, World

from .figures import Figures

NOON = opens_at("2027-03-14") + DAY_MS // 2
ENOUGH = 5
STATUSES = {200, 400, 403, 404}  # never 503: nothing is away here
LONGEST_ERROR_BYTES = 1000

# -- What is drawn ---------------------------------------------------------------------------------

TEXTS = (
    *("", " ", "\0", "a\0", "\n", "\r\n", "\x1b[2J", "\u202e", "\ud800", "\ufeff", "\U0010ffff"),
    *("é", "İ", "ß", "\uff11", "٣", "²", "½", "ﬁ", "a" * 65, "a" * 4000, "%00", "%FF", "%", ".."),
    *("null", "true", "NaN", "-0", "1e9", "0x1", "+1", "1_000", "--", "'--", "__proto__", "{}"),
    *("9" * 20, "-1", "0", "1", "00", str(2**53), str(2**63), str(2**64), "1.5", "after/0"),
)
NUMBERS = (0, -1, 1, 2, 7, 100, 101, 255, 2**31, 2**32, 2**53, 2**53 + 1, 2**63 - 1, 2**64 - 1)
Value: TypeAlias = Any  # what a peer sends
VALUES: tuple[Value, ...] = (
    None,
    True,
    False,
    0.5,
    -0.0,
    1e308,
    float("nan"),
    float("inf"),
    -(2**63),
    [],
    {},
    [[]],
)
NEST = 40
OPENINGS = (b"[", b'{"a":', b"\x91", b"\x81\xa0")
DEEP = 4_000


def any_text(chance: Random) -> str:
    kind = chance.randrange(3)
    if kind == 0:
        return chance.choice(TEXTS)
    if kind == 1:
        return "".join(chr(chance.randrange(32, 127)) for _ in range(chance.randrange(12)))
    return "".join(chr(chance.randrange(0x250)) for _ in range(chance.randrange(6)))


def changed_text(chance: Random, text: str, words: Sequence[str] = TEXTS) -> str:
    """A text, here and there another."""
    for _ in range(chance.randint(1, 3)):
        start = chance.randint(0, len(text))
        stop = min(len(text), start + chance.randrange(4))
        middle = (
            "",
            chance.choice(words),
            text[start:stop] * 2,
            text[start:stop].swapcase(),
            chr(chance.randrange(128)),
        )[chance.randrange(5)]
        text = text[:start] + middle + text[stop:]
    return text


def changed_bytes(chance: Random, data: bytes, other: bytes) -> bytes:
    """Bytes with others among them, some of which mean something where they are."""
    told = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        at = chance.randint(0, len(told))
        kind = chance.randrange(6)
        if chance.random() < 0.01:
            told[at:at] = chance.choice(OPENINGS) * DEEP
        elif kind == 0 and at < len(told):
            told[at] ^= 1 << chance.randrange(8)
        elif kind == 1 and at < len(told):
            told[at] = chance.choice((0, 0x7F, 0x80, 0xC1, 0xC6, 0xC7, 0xD9, 0xDB, 0xDD, 0xDF, 255))
        elif kind == 2:
            told[at : at + chance.randrange(5)] = b""
        elif kind == 3:
            told[at:at] = chance.randbytes(chance.randrange(5))
        elif kind == 4:
            start = chance.randint(0, len(other))
            told[at:at] = other[start : start + chance.randrange(20)]
        else:
            del told[at:]
    return bytes(told)


def any_value(chance: Random, known: Sequence[str] = ()) -> Value:
    kind = chance.randrange(7)
    if kind == 0:
        return chance.choice(NUMBERS)
    if kind == 1:
        return chance.choice(VALUES)
    if kind == 2:
        nested: Value = any_text(chance)
        for _ in range(chance.randrange(NEST)):
            nested = [nested] if chance.random() < 0.5 else {"d": nested}
        return nested
    if kind < 5 and known:
        text = chance.choice(known)
        return text if kind == 3 else changed_text(chance, text)
    return any_text(chance)


def changed_map(chance: Random, told: Body, known: Sequence[str] = ()) -> Body:
    """A map in which something is missing, wrong or too much; so may be the maps in it."""
    told = dict(told)
    for _ in range(chance.randint(1, 2)):
        key = chance.choice([*told, "x", "d", "token"])
        if isinstance(told.get(key), dict) and chance.random() < 0.8:
            told[key] = changed_map(chance, told[key], known)
        elif chance.random() < 0.15:
            told.pop(key, None)
        else:
            told[key] = any_value(chance, known)
    return told


def packed(encoding: Encoding, told: object) -> bytes | str:
    """A frame of plain json or msgpack, also of what is no text."""
    if encoding is Encoding.JSON:
        return json.dumps(told)
    frame: bytes = msgpack.packb(told, unicode_errors="surrogatepass")
    return frame


# -- What is found ---------------------------------------------------------------------------------


@dataclass
class Findings:
    """How often what was tried, how often it was accepted, and what went wrong."""

    tried: dict[str, int] = field(default_factory=dict)
    accepted: dict[str, int] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)

    @contextmanager
    def trying(self, part: str, told: object) -> Iterator[None]:
        """Try something; whatever it raises is a fault, also an assertion of ours."""
        self.tried[part] = self.tried.get(part, 0) + 1
        try:
            yield
        except Exception as error:  # noqa: BLE001 - any at all is what is looked for
            self.wrong.append(f"{part}: {told!r:.300} gives {error!r:.300}")

    def accept(self, part: str) -> None:
        self.accepted[part] = self.accepted.get(part, 0) + 1

    @property
    def is_enough(self) -> bool:
        return len(self.wrong) >= ENOUGH


async def fuzz(*, rounds: int = 1, seed: int = 0, journal: Journal | None = None) -> Figures:
    """Try all doors, so many thousand times each; ``lost`` is how often something else happened.

    ``journal`` is where games are kept; in memory where none is given.
    """
    findings = Findings()
    for number in range(seed, seed + rounds):
        for part in (decoder, texts, heads, frames):
            part(findings, Random(f"{part.__name__} {number}"))
        await Dispatcher(findings, Random(f"dispatcher {number}"), journal, number).run()
        if findings.is_enough:
            break
    shares = {
        part: f"{tried} ({findings.accepted.get(part, 0) * 100 // tried} % accepted)"
        for part, tried in findings.tried.items()
    }
    wrong = "; ".join(findings.wrong[:ENOUGH]) or "none"
    tried = sum(findings.tried.values())
    return Figures("fuzz", tried, len(findings.wrong), 0, more=shares | {"wrong": wrong})


# -- Frames to requests ----------------------------------------------------------------------------


def decoder(findings: Findings, chance: Random, count: int = 20_000) -> None:
    """Frames of both encodings, changed as maps, as bytes, or both."""
    requests = [{"t": t, "id": n, "d": d} for n, (t, d) in enumerate(MESSAGES.items())]
    valid = {code: [written(code, told) for told in requests] for code in Encoding}
    for _ in range(count):
        code = chance.choice([*Encoding])
        kind = chance.randrange(3)
        told: bytes | str = chance.choice(valid[code])
        if kind:
            told = packed(code, changed_map(chance, chance.choice(requests)))
        if kind != 1:
            told = told.encode(errors="surrogatepass") if isinstance(told, str) else told
            told = changed_bytes(chance, told, chance.choice(valid[code]))
        with findings.trying("decoder", told):
            try:
                decode(code, told)
            except ProtocolError as refused:
                check_form(refused)
            else:
                findings.accept("decoder")


# -- Texts of the engine, the calendar and the settings --------------------------------------------

MOVES = ("26v3", "26v", "26", "ah", "1h", "h3", "a1", "undo", "resign", "8d", "1a", "c5v1")
DEALS = ("1", "11982", "4294967295", "EO1-C8-AAAAAFA", "EO1-C4-AAAAAFA", f"cards:{'JD' * 52}")
DAYS = ("2027-03-14", "2028-02-29", "9999-12-31", "0001-01-01", "2027-03-14-eight-off-classic")
ADDRESSES = ("192.0.2.1", "2001:db8::1", "[2001:db8::1]:80", "::ffff:192.0.2.1", "fe80::1%eth0")
URLS = ("sqlite:///games.db", "postgresql://me:secret@host:5432/name?host=/run")


def texts(findings: Findings, chance: Random, count: int = 15_000) -> None:
    """Moves, boards, deals, days, handles, addresses, settings: what is read is read back alike."""
    rulesets = [*RULESETS.values()]
    boards = [board_text(Deal.numbered(1).layout(ruleset)) for ruleset in rulesets]
    lines = [word for board in boards for line in board.splitlines() for word in line.split()]
    games = [Game.start(ruleset, Deal.numbered(1), ruleset.autoplay) for ruleset in rulesets]

    def move(text: str) -> None:
        with suppress(BadMove):
            assert Move.parse(str(Move.parse(text))) == Move.parse(text)
            findings.accept("move")
        with suppress(BadMove):
            tap(rulesets[0], games[0].position, parse_place(text), 1, 1)
        with suppress(Refusal):
            game = chance.choice(games)
            game.play(parse_action(text))

    def board(text: str) -> None:
        ruleset = chance.choice(rulesets)
        with suppress(BadBoard):
            position = parse_board(ruleset, text)
            assert parse_board(ruleset, board_text(position)) == position
            findings.accept("board")

    def deal(text: str) -> None:
        ruleset = chance.choice(rulesets)
        with suppress(BadDeal):
            parsed = Deal.parse(ruleset, text)
            assert Deal.parse(ruleset, str(parsed)) == parsed
            assert Deal.of_layout(ruleset, parsed.layout(ruleset)).order == parsed.order
            findings.accept("deal")

    def day(text: str) -> None:
        with suppress(BadDay):
            parse_challenge_id(text)
            findings.accept("day")
        with suppress(BadDay):
            assert day_of(opens_at(text)) == text
            findings.accept("day")

    def handle(text: str) -> None:
        with suppress(HandleInvalid):
            assert skeleton(check_handle(text)) == check_handle(text)
            findings.accept("handle")

    def address(text: str) -> None:
        group_of(text)
        client_address(text, [text, chance.choice(ADDRESSES)], [ip_network("192.0.2.0/24")])
        findings.accept("address")

    def setting(text: str) -> None:
        names = ("PORT", "ORIGINS", "TRUSTED_PROXIES", "SECRET_KEY", "DATABASE_URL", text)
        with suppress(BadSetting):
            read_settings({f"CELLMATES_{chance.choice(names)}": text})
            findings.accept("setting")
        with suppress(BadDatabase):
            parse_url(text)

    parts: list[tuple[Callable[[str], None], Sequence[str]]] = [
        (move, MOVES),
        (board, boards),
        (deal, DEALS),
        (day, DAYS),
        (handle, ("Anna_1", "admin", "a-b")),
        (address, ADDRESSES),
        (setting, URLS),
    ]
    for number in range(count):
        parse, valid = parts[number % len(parts)]
        words = (*lines, "\n", " ", ":") if parse is board else (*valid, *TEXTS)
        text = any_text(chance) if chance.random() < 0.1 else chance.choice(valid)
        if chance.random() < 0.9:
            text = changed_text(chance, text, words)
        with findings.trying(parse.__name__, text):
            parse(text)


# -- Heads and frames ------------------------------------------------------------------------------

HEADERS = {
    "Origin": "https://cells.example",
    "X-Forwarded-For": "192.0.2.1, 2001:db8::1",
    "Content-Length": "0",
    "Sec-WebSocket-Extensions": "permessage-deflate; client_max_window_bits",
}
SUBPROTOCOLS = (None, "cellmates.v1.json", "cellmates.v1.msgpack, x", ", ,")


def heads(findings: Findings, chance: Random, count: int = 6_000) -> None:
    """Requests for a page or a WebSocket: read or refused, and no header makes two of one."""
    for _ in range(count):
        more: dict[str, str | None] = {
            name: changed_text(chance, value).encode("ascii", "ignore").decode()
            for name, value in HEADERS.items()
            if chance.random() < 0.3
        }
        head = upgrade(chance.choice(SUBPROTOCOLS), more, chance.choice(("/ws", "/", "/ws?x=%00")))
        if chance.random() < 0.8:
            head = changed_bytes(chance, head, b'\r\n\r\n Host:: HTTP/1.1\tHTTP/1.0\x00\xff,;="')
        ws = WebSocket(GatewaySettings())
        with findings.trying("head", head):
            end = end_of_head(head, 0)
            try:
                asked = read_request(head[:end], ws)
                client_address("192.0.2.1", asked.headers.get_all("X-Forwarded-For"), [])
                if handshakes.is_wanted(asked):
                    handshakes.accept(ws, asked, frozenset())
                    findings.accept("head")
            except Refused as refused:
                _check_page(refused.response)


def _check_page(response: Response) -> None:
    """Hold an answer to its form: so many headers as there are, and HTTP's own words."""
    head, _, body = serialise(response).partition(b"\r\n\r\n")
    HTTPStatus(response.status)
    lines = head.split(b"\r\n")
    assert response.status < 500 or response.status == HTTPStatus.HTTP_VERSION_NOT_SUPPORTED
    assert all(b"\n" not in line and b"\r" not in line and b"\0" not in line for line in lines)
    for protecting in (b"Content-Security-Policy", b"X-Content-Type-Options", b"Referrer-Policy"):
        assert sum(line.startswith(protecting + b":") for line in lines) == 1
    assert body == response.body


def frames(findings: Findings, chance: Random, count: int = 6_000) -> None:
    """Frames of an open WebSocket: messages within our limits, or a close with a code."""
    settings = GatewaySettings(frame_bytes=200, fragments=4, control_frames=8)
    for _ in range(count):
        ws = WebSocket(settings)
        asked = read_request(upgrade(), ws)
        ws.send_response(handshakes.accept(ws, asked, frozenset()))
        ws.data_to_send()
        stream = b"".join(_any_frame(chance) for _ in range(chance.randint(1, 6)))
        if chance.random() < 0.5:
            stream = changed_bytes(chance, stream, frame(0x01, b"half"))
        with findings.trying("frame", stream):
            while stream:
                size = chance.randint(1, len(stream))
                ws.receive_data(stream[:size])
                stream = stream[size:]
                for message in ws.messages_received():
                    size = len(message if isinstance(message, bytes) else message.encode())
                    assert size <= settings.frame_bytes
                    findings.accept("frame")
            ws.events_received()
            ws.receive_eof()
            b"".join(ws.data_to_send())


def _any_frame(chance: Random) -> bytes:
    if chance.random() < 0.1:
        return close_frame(chance.choice((0, 999, 1000, 1005, 1015, 3000, 4429, 65535)), b"\xff")
    first = chance.choice((0x81, 0x82, 0x01, 0x02, 0x00, 0x80, 0x88, 0x89, 0x8A, 0x09, 0x83, 0xF1))
    size = chance.choice((0, 1, 2, 30, 125, 126, 200, 201, 400))
    payload = chance.randbytes(size) if chance.random() < 0.3 else b"\xc3\xa9" * (size // 2)
    mask = None if chance.random() < 0.05 else chance.randbytes(4)
    return frame(first, payload, mask)


# -- Requests to answers ---------------------------------------------------------------------------


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
            _check_page(Response(answer.status, answer.headers, answer.body))
            assert answer.status in STATUSES, answer.body
            if answer.status == HTTPStatus.OK:
                self._findings.accept("page")
                if answer.headers["Content-Type"] == "application/json":
                    self._learn(json.loads(answer.body))
            else:
                assert len(answer.body) <= LONGEST_ERROR_BYTES


# Said more often than the rest, so that there are games to be asked for.
PLAYED = (
    *["game.start", "game.move", "game.undo", "daily.start"] * 2,
    *["game.move"] * 4,
    *("game.resign", "games.mine", "replay.get"),
)
