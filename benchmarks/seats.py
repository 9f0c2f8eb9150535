"""One connection of the load: what it says next, and its frames to and from the socket."""

import socket
from collections import deque
from collections.abc import Generator
from contextlib import suppress
from dataclasses import dataclass, field
from os import read

READ_BYTES = 65536
BINARY, CLOSE, PING, PONG = 0x82, 0x88, 0x89, 0x8A
# Key of the mask that every frame of a client has: with zeros, masked bytes are the same bytes.
NO_MASK = bytes(4)
GOODBYE = bytes([CLOSE, 0x82]) + NO_MASK + (1000).to_bytes(2)

# Yields payloads to be sent, gets those of the answers, and returns what moves have to name. An
# empty payload is not sent: the server speaks next.
Script = Generator[bytes, bytes, bytes]


class Wrong(Exception):
    """The server has said something wrong, nothing at all, or goodbye."""


class Later(Exception):
    """The server has no room for this connection now: it may come back after ``seconds``."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"come back after {seconds:g} s")
        self.seconds = seconds


@dataclass(slots=True, eq=False)
class Seat:
    """One connection. ``since`` is when its move under way was sent, or ought to have been."""

    number: int
    socket: socket.socket
    greeting: Script
    rest: bytes = b""
    is_open: bool = False
    game: bytes = b""
    seq: int = 0
    since: float = 0.0
    is_busy: bool = False
    due: deque[float] = field(default_factory=deque)


def frame(payload: bytes) -> bytes:
    """Binary frame of a client."""
    size = len(payload)
    if size < 126:
        return bytes([BINARY, 0x80 | size]) + NO_MASK + payload
    return bytes([BINARY, 0x80 | 126]) + size.to_bytes(2) + NO_MASK + payload


def whole(seat: Seat, data: bytes) -> bytes | None:
    """Payload of the first frame in what was read; None where it is not there as a whole.

    What comes after it is kept in ``rest``. Pings are answered.

    Raises:
        Wrong: a frame that is none of these, or a goodbye.
    """
    data = seat.rest + data if seat.rest else data
    while len(data) > 1:
        size, start = data[1] & 0x7F, 2
        if size == 126:
            size, start = int.from_bytes(data[2:4]), 4
        if data[1] & 0x80:  # a plain echo gives a client's own frame back
            start += len(NO_MASK)
        end = start + size
        if len(data) < end or len(data) < start:
            break
        if data[0] == BINARY:
            seat.rest = data[end:]
            return data[start:end]
        if data[0] != PING or size > 125:
            raise Wrong(f"no answer, but {data[:200]!r}")
        seat.socket.send(bytes([PONG, 0x80 | size]) + NO_MASK + data[start:end])
        data = data[end:]
    seat.rest = data
    return None


def read_from(seat: Seat) -> bytes:
    """What has come.

    Raises:
        Wrong: the server is gone.
    """
    try:
        data = read(seat.socket.fileno(), READ_BYTES)
    except ConnectionError as error:
        raise Wrong(f"connection {seat.number} broke: {error}") from error
    if not data:
        raise Wrong(f"connection {seat.number} was closed: {seat.rest[:200]!r}")
    return data


def say_next(seat: Seat, answer: bytes | None) -> bool:
    """Say what the greeting says next; False where it has ended."""
    try:
        payload = next(seat.greeting) if answer is None else seat.greeting.send(answer)
    except StopIteration as ended:
        seat.game = ended.value
        return False
    if payload:
        seat.socket.send(frame(payload))
    return True


def goodbye(seat: Seat) -> None:
    """Say so and close."""
    with suppress(OSError):  # it may be gone already
        seat.socket.send(GOODBYE)
    seat.socket.close()
