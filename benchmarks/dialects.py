"""What the load says to each contender, byte for byte, and how it knows a right answer."""

import json
from http.client import HTTPConnection
from typing import Any

import msgpack

from .seats import Later, Script, Wrong, frame

SUBPROTOCOL = "cellmates.v1.msgpack"
RULESET, DEAL = "eight-off", "1"
TO_AND_FRO = ("ea", "ae")  # by the seq's last bit; the cells e to h of this deal are empty
GAME_CHARS = 16
ECHOED_GAME = b"0123456789abcdef"
_HEAD_BYTES = 6  # of a short frame of a client
_JOIN_ROOM, _ROOM_DATA, _ROOM_STATE, _ROOM_STATE_PATCH = 10, 13, 14, 15


def upgrade(path: str, subprotocol: str | None = None) -> bytes:
    """Request for a WebSocket."""
    lines = [
        f"GET {path} HTTP/1.1",
        "Host: 127.0.0.1",
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version: 13",
    ]
    if subprotocol is not None:
        lines.append(f"Sec-WebSocket-Protocol: {subprotocol}")
    return "\r\n".join([*lines, "", ""]).encode()


def token_of(number: int) -> str:
    """Token of the player with this number."""
    return f"token-{number}"


class Moves:
    """Frames of moves to and fro, made once for each seq; only the game's id differs."""

    def __init__(self) -> None:
        self._before: list[bytes] = []
        self._after: list[bytes] = []

    def frame(self, game: bytes, seq: int) -> bytes:
        """Frame of a move."""
        if seq >= len(self._before):
            self._grow(2 * seq + 64)
        return self._before[seq] + game + self._after[seq]

    def _grow(self, size: int) -> None:
        placeholder = "#" * GAME_CHARS
        for seq in range(len(self._before), size):
            body = {"game": placeholder, "seq": seq, "move": TO_AND_FRO[seq % 2]}
            whole = frame(_request("game.move", seq, body))
            before, _, after = whole.partition(placeholder.encode())
            self._before.append(before)
            self._after.append(after)


class Ours:
    """Our protocol, which the rival on Node speaks too. ``starts`` says whether to begin a game."""

    def __init__(self, *, starts: bool = True) -> None:
        self._starts = starts
        self._moves = Moves()
        self._signs: list[bytes] = []

    def upgrade(self, number: int) -> bytes:
        """See ``Dialect``, here and below."""
        return upgrade("/ws", SUBPROTOCOL)

    def greeting(self, number: int) -> Script:
        """Hello with a token, and a new game."""
        yield from _hello(number)
        if not self._starts:
            return b""
        view = _done((yield _request("game.start", 1, {"ruleset": RULESET, "deal": DEAL})))
        game: bytes = view["game"].encode()
        if len(game) != GAME_CHARS:
            raise Wrong(f"the id of a game is {game!r}")
        return game

    def move(self, game: bytes, seq: int) -> bytes:
        return self._moves.frame(game, seq)

    def is_right(self, answer: bytes, seq: int) -> bool:
        if seq >= len(self._signs):
            more = range(len(self._signs), 2 * seq + 64)
            self._signs += [b"\xa3seq" + msgpack.packb(number) for number in more]
        return b"\xa1t\xa2ok" in answer and self._signs[seq] in answer


class Resuming(Ours):
    """Who comes back and opens the game that was being played; games by numbers of players."""

    def __init__(self, games: dict[int, tuple[bytes, int]]) -> None:
        super().__init__()
        self._games = games

    def greeting(self, number: int) -> Script:
        """Hello with a token, and the game; its seq has to be the one that was acknowledged."""
        yield from _hello(number)
        game, seq = self._games[number]
        view = _done((yield _request("game.open", 1, {"game": game.decode()})))
        if view["seq"] != seq:
            raise Wrong(f"game {game!r} is at {view['seq']}, and {seq} were acknowledged")
        return game


class Echo:
    """The same moves to a server that gives them back, over a WebSocket at a path."""

    def __init__(self, path: str = "/", subprotocol: str | None = None) -> None:
        self._request = upgrade(path, subprotocol)
        self._moves = Moves()

    def upgrade(self, number: int) -> bytes:
        """See ``Dialect``, here and below."""
        return self._request

    def greeting(self, number: int) -> Script:
        """Nothing: the handshake is all."""
        yield from ()
        return ECHOED_GAME

    def move(self, game: bytes, seq: int) -> bytes:
        return self._moves.frame(game, seq)

    def is_right(self, answer: bytes, seq: int) -> bool:
        return self._moves.frame(ECHOED_GAME, seq)[_HEAD_BYTES:] == answer


class PlainEcho(Echo):
    """The same over bare TCP."""

    def upgrade(self, number: int) -> bytes:
        """See ``Dialect``, here and below."""
        return b""

    def greeting(self, number: int) -> Script:
        """One echo."""
        yield b"hello"
        return ECHOED_GAME


class Colyseus:
    """Colyseus 0.18: a room is made over HTTP and joined over a WebSocket; a move is a patch."""

    def __init__(self, port: int) -> None:
        self._http = HTTPConnection("127.0.0.1", port)
        self._frames: list[bytes] = []

    def upgrade(self, number: int) -> bytes:
        """See ``Dialect``, here and below."""
        headers = {"Content-Type": "application/json"}
        self._http.request("POST", "/matchmake/create/game", json.dumps({"deal": DEAL}), headers)
        seat = json.loads(self._http.getresponse().read())
        return upgrade(f"/{seat['processId']}/{seat['roomId']}?sessionId={seat['sessionId']}")

    def greeting(self, number: int) -> Script:
        """The server tells of the room, and once that is acknowledged its state."""
        for said, told in ((b"", _JOIN_ROOM), (bytes([_JOIN_ROOM]), _ROOM_STATE)):
            answer = yield said
            if answer[0] != told:
                raise Wrong(f"instead of message {told}: {answer[:200]!r}")
        return b""

    def move(self, game: bytes, seq: int) -> bytes:
        for number in range(len(self._frames), seq + 1):
            body = {"seq": number, "move": TO_AND_FRO[number % 2]}
            payload = bytes([_ROOM_DATA]) + msgpack.packb("move") + msgpack.packb(body)
            self._frames.append(frame(payload))
        return self._frames[seq]

    def is_right(self, answer: bytes, seq: int) -> bool:
        """A patch that begins with the first field of the state, which is the seq."""
        return answer.startswith(bytes([_ROOM_STATE_PATCH, 0x80]) + seq.to_bytes(4, "little"))


def _hello(number: int) -> Script:
    client = {"name": "benchmark", "version": "1"}
    body = {"proto": 1, "client": client, "token": token_of(number)}
    _done((yield _request("hello", 0, body)))
    return b""


def _request(name: str, number: int, body: dict[str, object]) -> bytes:
    packed: bytes = msgpack.packb({"t": name, "id": number, "d": body})
    return packed


def _done(answer: bytes) -> dict[str, Any]:
    told = msgpack.unpackb(answer)
    if told.get("t") != "ok":
        if told.get("d", {}).get("code") == "rate-limited":
            raise Later(told["d"]["retry_after_ms"] / 1000)
        raise Wrong(f"no reply, but {told!r:.300}")
    body: dict[str, Any] = told["d"]
    return body
