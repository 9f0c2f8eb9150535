"""The load of the benchmark: it plays right with our server, and finds out one that is wrong."""

import asyncio
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from threading import Thread

import msgpack
import pytest

from benchmarks.dialects import GAME_CHARS, Ours, Resuming, token_of
from benchmarks.load import Crew
from benchmarks.seats import Seat, Wrong, frame, whole
from server.players import token_hash
from server.records import PlayerRecord
from server.store import Store
from tests.e2e.running import running_server

PLAYERS = 5
GAME = "g" * GAME_CHARS
PATIENCE_S = 10.0


# -- A right server --------------------------------------------------------------------------------


@pytest.fixture
def port(sqlite_url: str, tmp_path: Path) -> Iterator[int]:
    """Port of a server that has the players."""
    asyncio.run(plant(sqlite_url))
    with running_server(tmp_path, database_url=sqlite_url) as server:
        yield int(server.http.rstrip("/").rpartition(":")[2])


async def plant(url: str) -> None:
    store = await Store.open(url)
    for number in range(PLAYERS):
        player = PlayerRecord(f"player-{number}", f"player-{number}", "bot", 0)
        await store.create_player(player, player.handle, token_hash(token_of(number)))
    await store.close()


def test_every_move_of_every_player_is_made(port: int) -> None:
    with Crew(port, Ours()) as crew:
        crew.join(range(PLAYERS))
        made = [crew.closed_loop(0).moves for _ in range(3)]
        made.append(crew.open_loop(10_000, 0.002, Random(1)).moves)
        games = {seat.number: (seat.game, seat.seq) for seat in crew}
    assert made == [PLAYERS, PLAYERS, PLAYERS, 20]
    assert [seq for _, seq in games.values()] == [3 + 20 // PLAYERS] * PLAYERS
    with Crew(port, Resuming(games)) as crew:
        crew.join(range(PLAYERS), together=PLAYERS)  # it asks the server for each game's seq


def test_a_game_that_is_not_where_it_was_left_is_found_out(port: int) -> None:
    with Crew(port, Ours()) as crew:
        crew.join([0])
        [seat] = crew
    with Crew(port, Resuming({0: (seat.game, 1)})) as crew, pytest.raises(Wrong, match="is at 0"):
        crew.join([0])


def test_a_wrong_token_is_found_out(port: int) -> None:
    with Crew(port, Ours()) as crew, pytest.raises(Wrong, match="bad-token"):
        crew.join([PLAYERS])


def test_no_websocket_is_found_out(port: int) -> None:
    class Lost(Ours):
        def upgrade(self, number: int) -> bytes:
            return super().upgrade(number).replace(b"/ws", b"/nowhere")

    with Crew(port, Lost()) as crew, pytest.raises(Wrong, match="404"):
        crew.join([0])


# -- Liars -----------------------------------------------------------------------------------------

Answer = Callable[[int], bytes]


def ok(seq: int, body: dict[str, object]) -> bytes:
    return served(msgpack.packb({"t": "ok", "re": seq, "d": body}))


def served(payload: bytes, first: int = 0x82) -> bytes:
    """Frame of a server."""
    size = len(payload)
    assert size < 126
    return bytes([first, size]) + payload


def moved(seq: int) -> bytes:
    return ok(seq, {"seq": seq, "move": "ae"})


def refused(seq: int) -> bytes:
    context = {"seq": seq}  # the right number does not make it right
    body = {"code": "conflict", "message": "", "context": context}
    return served(msgpack.packb({"t": "error", "re": seq, "d": body}))


@contextmanager
def liar(*talks: Sequence[bytes]) -> Iterator[int]:
    """Port of a server that says these things, one for each message, a connection a talk."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(PATIENCE_S)
        talking = Thread(target=lie, args=(listener, talks))
        talking.start()
        try:
            yield listener.getsockname()[1]
        finally:
            talking.join()


def lie(listener: socket.socket, talks: Sequence[Sequence[bytes]]) -> None:
    for answers in talks:
        peer, _ = listener.accept()
        peer.settimeout(PATIENCE_S)
        with peer, peer.makefile("rb") as said:
            while said.readline().strip():
                pass
            peer.sendall(b"HTTP/1.1 101 Switching Protocols\r\n\r\n")
            for answer in answers:
                _, size = said.read(2)
                said.read((size & 0x7F) + 4)
                peer.sendall(answer)


HONEST = [ok(0, {}), ok(1, {"game": GAME})]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (moved(2), "to move 1 the answer"),
        (moved(0), "to move 1 the answer"),
        (refused(1), "conflict"),
        (moved(1) + moved(2), "to move 1 the answer"),
        (served(b"\x03\xe8", 0x88), "no answer, but"),
        (served(b"text", 0x81), "no answer, but"),
        (moved(1)[:-1], "was closed"),
        (b"", "was closed"),
    ],
    ids=["ahead", "behind", "error", "twice", "goodbye", "text", "half", "nothing"],
)
def test_a_wrong_answer_ends_the_run(answer: bytes, why: str) -> None:
    with liar([*HONEST, answer]) as port, Crew(port, Ours()) as crew:
        crew.join([0])
        with pytest.raises(Wrong, match=why):
            crew.closed_loop(0)


@pytest.mark.parametrize("pieces", [HONEST[:1], [*HONEST[:1], refused(1)]])
def test_a_wrong_greeting_ends_the_run(pieces: Sequence[bytes]) -> None:
    with liar(pieces) as port, Crew(port, Ours()) as crew, pytest.raises(Wrong):
        crew.join([0])


def test_who_is_told_to_come_later_comes_again() -> None:
    body = {"code": "rate-limited", "message": "", "context": {}, "retry_after_ms": 1}
    later = served(msgpack.packb({"t": "error", "re": 0, "d": body}))
    with liar([later], [*HONEST, moved(1)]) as port, Crew(port, Ours()) as crew:
        crew.join([0])
        assert crew.closed_loop(0).moves == 1


def test_a_right_answer_behind_a_ping_is_right() -> None:
    with liar([*HONEST, served(b"", 0x89) + moved(1)]) as port, Crew(port, Ours()) as crew:
        crew.join([0])
        assert crew.closed_loop(0).moves == 1


# -- Frames ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [0, 1, 125, 126, 4096])
def test_a_frame_is_read_however_it_is_cut(size: int) -> None:
    payload = bytes(range(256)) * 16
    sent = frame(payload[:size])
    for cut in {1, 2, 3, 5, len(sent) - 1}:
        one, other = socket.socketpair()
        with one, other:
            seat = Seat(0, one, Ours().greeting(0))
            assert whole(seat, sent[:cut]) is None
            assert whole(seat, sent[cut:] + b"next") == payload[:size]
            assert seat.rest == b"next"


def test_a_ping_is_answered_with_what_it_says() -> None:
    one, other = socket.socketpair()
    with one, other:
        seat = Seat(0, one, Ours().greeting(0))
        assert whole(seat, served(b"you?", 0x89)) is None
        assert other.recv(100) == b"\x8a\x84\0\0\0\0you?"
