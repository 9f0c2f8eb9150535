"""Peers that do not read, do not answer, or flood: each costs itself, nobody else."""

import asyncio
import socket
import time
from collections.abc import Callable

import pytest

from server.gateway import GatewaySettings
from server.gateway.census import Census
from server.gateway.door import Door, House
from server.gateway.transport import Wire
from tests.gateway.house import (
    BINARY,
    PING,
    PONG,
    App,
    OpenHouse,
    Pipe,
    Talk,
    frame,
    ignore,
    ordinary_pages,
    patient,
    upgrade,
)

pytestmark = pytest.mark.asyncio

MSGPACK = "cellmates.v1.msgpack"
HUGE = 1 << 30


def piped(app: App, settings: GatewaySettings) -> tuple[Pipe, Census]:
    """An open WebSocket on a transport that does as it is told."""
    pipe, census = Pipe(), Census(settings)
    pages = ordinary_pages()
    door = Door(House(app, pages, census, settings, asyncio.get_running_loop()))
    pipe.set_protocol(door)
    door.connection_made(pipe)
    door.data_received(upgrade(MSGPACK))
    pipe.writes.clear()
    return pipe, census


async def ended(pipe: Pipe, census: Census) -> None:
    if not pipe.is_closing():
        pipe.abort()
    async with patient():
        await census.emptied()


async def flood(talk: Talk, size: int, enough: Callable[[], bool]) -> None:
    """Send until the peer is dropped, or enough is sent."""
    async with patient():
        while not talk.is_closed.is_set() and not enough():
            talk.peer.send(bytes(size))
            await asyncio.sleep(0)


async def test_a_peer_that_does_not_read_is_dropped_when_its_outbox_is_full(
    house: OpenHouse, caplog: pytest.LogCaptureFixture
) -> None:
    app = App()
    gateway = await house.open(app)
    raw = await house.raw(MSGPACK, buffer=4096)
    await flood(app.talk, 60_000, lambda: False)
    assert app.talk.was_closed == 1
    assert gateway.connections == 0
    assert await raw.is_gone()
    assert caplog.records == []  # it is no warning


async def test_a_peer_that_does_not_read_is_dropped_when_a_message_waits_too_long(
    house: OpenHouse,
) -> None:
    app = App()
    settings = GatewaySettings(outbox_bytes=HUGE, outbox_messages=HUGE, unread_s=0.05)
    gateway = await house.open(app, settings)
    raw = await house.raw(MSGPACK, buffer=4096)
    [connection] = gateway._census.guests
    transport = connection._wire._transport  # type: ignore[attr-defined]
    high = 1 << 20  # far above where the loop would have others wait
    await flood(app.talk, 60_000, lambda: transport.get_write_buffer_size() > high)
    assert not app.talk.is_closed.is_set()
    await app.all_closed()  # nothing more is sent, and nothing was read
    assert gateway.connections == 0
    assert await raw.is_gone()


@pytest.mark.parametrize(
    ("size", "count", "is_dropped"),
    [(10, 64, False), (10, 65, True), (16_380, 4, False), (16_380, 5, True)],
)
async def test_the_outbox_holds_so_many_messages_and_bytes(
    size: int, count: int, is_dropped: bool
) -> None:
    app = App()
    pipe, census = piped(app, GatewaySettings())
    pipe.takes_all = False
    for _ in range(count):
        app.talk.peer.send(bytes(size))
        await asyncio.sleep(0)
    assert pipe.is_aborted == is_dropped
    assert b"".join(pipe.writes).count(b"\x82") == count
    await ended(pipe, census)


async def test_what_the_kernel_takes_at_once_is_not_counted() -> None:
    app = App()
    pipe, census = piped(app, GatewaySettings())
    for _ in range(1000):
        app.talk.peer.send(bytes(60_000))  # all in one turn
    await asyncio.sleep(0)
    assert not pipe.is_aborted
    assert sum(map(len, pipe.writes)) == 1000 * 60_004
    assert max(map(len, pipe.writes)) <= 65536 + 60_004
    await ended(pipe, census)


async def test_a_peer_that_reads_slowly_but_in_time_is_kept() -> None:
    app = App()
    pipe, census = piped(app, GatewaySettings(unread_s=0.05))
    pipe.takes_all = False
    loop = asyncio.get_running_loop()
    until = loop.time() + 0.2
    while loop.time() < until:
        app.talk.peer.send(bytes(100))
        await asyncio.sleep(0)
        pipe.buffered = min(pipe.buffered, 50)  # the kernel takes all but a bit of the last
        await asyncio.sleep(0.001)
    assert not pipe.is_aborted
    async with patient():
        while not pipe.is_closing():
            await asyncio.sleep(0.001)
    await ended(pipe, census)


async def test_a_silent_peer_is_dropped_and_one_that_answers_pings_is_kept(
    house: OpenHouse,
) -> None:
    app = App()
    gateway = await house.open(app, GatewaySettings(heartbeat_s=0.03, pong_s=0.2))
    silent, alive = await house.raw(MSGPACK), await house.raw(MSGPACK)
    end = asyncio.create_task(silent.rest())
    beats = 0
    while not end.done() or beats < 4:
        first, payload = await alive.frame()
        assert first == PING
        await alive.send(frame(PONG, payload))
        beats += 1
    assert await end == bytes([PING, 0])
    await alive.send(frame(BINARY, b"1"))
    while (await alive.frame())[0] != BINARY:
        pass
    assert gateway.connections == 1
    assert [talk.was_closed for talk in app.talks] == [1, 0]


async def test_a_silent_peer_is_dropped_even_when_nothing_can_be_written() -> None:
    app = App()
    settings = GatewaySettings(
        outbox_bytes=HUGE, outbox_messages=HUGE, unread_s=HUGE, heartbeat_s=0.01, pong_s=0.01
    )
    pipe, census = piped(app, settings)
    pipe.takes_all = False
    app.talk.peer.send(bytes(1_000_000))
    async with patient():
        while not pipe.is_closing():
            await asyncio.sleep(0.001)
    await ended(pipe, census)


async def test_a_peer_is_not_called_silent_while_it_is_we_who_do_not_read(
    house: OpenHouse,
) -> None:
    may_go_on = asyncio.Event()

    async def work(talk: Talk, frame: bytes | str) -> None:
        await may_go_on.wait()
        talk.peer.send(b"done")

    app = App(work)
    await house.open(app, GatewaySettings(inbox_frames=1, heartbeat_s=0.05, pong_s=0.05))
    raw = await house.raw(MSGPACK)
    await raw.send(frame(BINARY, b"1") * 2)
    for _ in range(5):
        assert await raw.frame() == (PING, b"")
        await raw.send(frame(PONG))
    assert not app.talk.is_closed.is_set()
    may_go_on.set()
    done = 0
    while done < 2:
        done += await raw.frame() == (BINARY, b"done")


async def test_a_peer_whose_pong_is_here_does_not_pay_for_our_standing_still(
    house: OpenHouse,
) -> None:
    await house.open(App(), GatewaySettings(heartbeat_s=0.08, pong_s=0.08))
    raw = await house.raw(MSGPACK)
    stirs, stir = socket.socketpair()

    def stand_still() -> None:
        stirs.recv(1)
        raw.sock.send(frame(PONG))
        time.sleep(0.15)  # the deadline passes before the loop looks at its sockets again

    asyncio.get_running_loop().add_reader(stirs, stand_still)
    for _ in range(3):
        assert await raw.frame() == (PING, b"")
        stir.send(b"!")
    asyncio.get_running_loop().remove_reader(stirs)
    stirs.close()
    stir.close()


async def test_a_peer_that_was_not_read_is_given_time_to_be_heard() -> None:
    pipe, census = piped(App(), GatewaySettings())
    wire = pipe.protocol
    assert isinstance(wire, Wire)
    wire.hold()
    wire.heard = False
    wire.release()
    assert wire.heard
    await ended(pipe, census)


async def test_a_peer_that_would_read_does_not_pay_for_our_standing_still() -> None:
    app = App()
    pipe, census = piped(app, GatewaySettings(unread_s=0.03))
    pipe.takes_all = False
    app.talk.peer.send(b"1")
    await asyncio.sleep(0)
    time.sleep(0.1)  # the deadline passes before the kernel is asked again
    asyncio.get_running_loop().call_later(0.001, pipe.take)
    await asyncio.sleep(0.1)
    assert not pipe.is_aborted
    await ended(pipe, census)


async def test_bytes_without_a_whole_frame_are_no_sign_of_life() -> None:
    pipe, census = piped(App(), GatewaySettings(heartbeat_s=0.01, pong_s=0.01))
    message = iter(frame(BINARY, bytes(4096)))
    async with patient():
        while not pipe.is_closing():
            assert pipe.protocol is not None
            pipe.protocol.data_received(bytes([next(message)]))
            await asyncio.sleep(0.001)
    await ended(pipe, census)


async def test_a_flood_of_pings_is_answered_up_to_a_limit_and_then_closed(
    house: OpenHouse,
) -> None:
    app = App()
    await house.open(app, GatewaySettings(control_frames=100))
    raw = await house.raw(MSGPACK)
    await raw.send(frame(PING, b"p") * 50_000)
    for _ in range(101):
        assert await raw.frame() == (PONG, b"p")
    assert await raw.close_code() == 4429
    assert await raw.rest() == b""
    raw.close()
    await app.all_closed()


async def test_pings_at_the_pace_of_the_heartbeat_may_go_on_for_ever(house: OpenHouse) -> None:
    await house.open(App(), GatewaySettings(control_frames=3, heartbeat_s=0.1, pong_s=0.1))
    raw = await house.raw(MSGPACK)
    for _ in range(5):
        while await raw.frame() != (PING, b""):
            pass
        await raw.send(frame(PING, b"p"))


@pytest.mark.parametrize("first", [PING, PONG, BINARY])
async def test_a_read_full_of_tiny_frames_is_worked_off_in_many_turns(first: int) -> None:
    app = App(ignore)
    pipe, census = piped(app, GatewaySettings(control_frames=HUGE))
    count = 40_000
    assert pipe.protocol is not None
    pipe.protocol.data_received(frame(first) * count)
    turns = 0
    async with patient():
        while not pipe.is_reading():
            await asyncio.sleep(0)
            turns += 1
        assert turns > 100
        while first == BINARY and len(app.talk.heard) < count:
            await asyncio.sleep(0)
    assert len(b"".join(pipe.writes)) == (2 * count if first == PING else 0)
    await ended(pipe, census)


async def test_others_are_served_while_one_peer_floods(house: OpenHouse) -> None:
    app = App()
    await house.open(app, GatewaySettings(control_frames=HUGE))
    flooder, honest = await house.raw(MSGPACK), await house.raw(MSGPACK)

    await flooder.send(frame(PING) * 20_000)
    pongs = asyncio.create_task(flooder.exactly(len(bytes([PONG, 0])) * 20_000))
    served = 0
    while not pongs.done():
        await honest.send(frame(BINARY, b"1"))
        assert await honest.frame() == (BINARY, b"1")
        served += 1
    assert served > 20
    assert await pongs == bytes([PONG, 0]) * 20_000
