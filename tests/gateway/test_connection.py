"""A connection and its conversation: order, answers together, crashes, ends."""

import asyncio
import logging

import pytest
from websockets.exceptions import ProtocolError

from server.gateway import Gateway, GatewaySettings, Peer, server
from server.gateway.door import Door
from tests.gateway.house import (
    BINARY,
    CLOSE,
    PING,
    PONG,
    App,
    Broken,
    OpenHouse,
    Raw,
    Talk,
    as_bytes,
    close_frame,
    echo,
    frame,
    patient,
)

pytestmark = pytest.mark.asyncio

MSGPACK = "cellmates.v1.msgpack"


def numbered(count: int) -> list[bytes]:
    return [b"%d" % number for number in range(count)]


async def answers(raw: Raw, count: int) -> list[bytes]:
    return [(await raw.frame())[1] for _ in range(count)]


async def test_answers_come_in_the_order_of_the_questions(house: OpenHouse) -> None:
    async def now_and_later(talk: Talk, frame: bytes | str) -> None:
        if int(frame) % 3 == 0:
            await asyncio.sleep(0)
        talk.peer.send(b"-" + as_bytes(frame))

    app = App(now_and_later)
    await house.open(app)
    raw = await house.raw(MSGPACK)
    questions = numbered(200)
    await raw.send(b"".join(frame(BINARY, question) for question in questions))
    assert await answers(raw, 200) == [b"-" + question for question in questions]
    assert app.talk.heard == questions


async def test_answers_to_one_segment_are_written_together(
    house: OpenHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    writes = counted_writes(monkeypatch)
    await house.open(App())
    raw = await house.raw(MSGPACK)
    writes.clear()
    questions = numbered(20)
    await raw.send(b"".join(frame(BINARY, question) for question in questions))
    assert await answers(raw, 20) == questions
    assert writes == [b"".join(bytes([BINARY, len(text)]) + text for text in questions)]


async def test_an_answer_does_not_wait_for_those_that_take_longer(
    house: OpenHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_go_on = asyncio.Event()

    async def some_wait(talk: Talk, frame: bytes | str) -> None:
        if frame == b"wait":
            await may_go_on.wait()
        talk.peer.send(as_bytes(frame))

    writes = counted_writes(monkeypatch)
    await house.open(App(some_wait))
    raw = await house.raw(MSGPACK)
    writes.clear()
    await raw.send(b"".join(frame(BINARY, text) for text in (b"1", b"2", b"wait", b"3")))
    assert await answers(raw, 2) == [b"1", b"2"]
    assert len(writes) == 1
    may_go_on.set()
    assert await answers(raw, 2) == [b"wait", b"3"]
    assert len(writes) == 2


async def test_what_is_sent_outside_a_conversation_is_written_by_the_turn_too(
    house: OpenHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    writes = counted_writes(monkeypatch)
    app = App()
    await house.open(app)
    raw = await house.raw(MSGPACK)
    writes.clear()
    for text in (b"1", b"2", b"3"):
        app.talk.peer.send(text)
    assert await answers(raw, 3) == [b"1", b"2", b"3"]
    assert len(writes) == 1


async def test_a_crash_closes_its_own_connection_only(
    house: OpenHouse, caplog: pytest.LogCaptureFixture
) -> None:
    async def crash_on_demand(talk: Talk, frame: bytes | str) -> None:
        await echo(talk, frame)
        if frame == b"crash":
            raise Broken

    app = App(crash_on_demand)
    gateway = await house.open(app)
    other, raw = await house.raw(MSGPACK), await house.raw(MSGPACK)
    await raw.send(frame(BINARY, b"crash") + frame(BINARY, b"after"))
    assert await raw.frame() == (BINARY, b"crash")
    assert await raw.close_code() == 1011
    raw.close()
    async with patient():
        await app.talk.is_closed.wait()
    assert app.talk.heard == [b"crash"]
    [record] = errors(caplog)
    assert record.exc_info is not None
    assert record.exc_info[0] is Broken
    await other.send(frame(BINARY, b"1"))
    assert await other.frame() == (BINARY, b"1")
    assert gateway.connections == 1


async def test_a_conversation_that_cannot_begin_closes_its_connection(
    house: OpenHouse, caplog: pytest.LogCaptureFixture
) -> None:
    class Reluctant(App):
        def opened(self, peer: Peer) -> Talk:
            raise Broken

    gateway = await house.open(Reluctant())
    raw = await house.raw(MSGPACK)
    await raw.send(frame(BINARY, b"1"))
    assert await raw.close_code() == 1011
    raw.close()
    await gateway.drain()
    assert len(errors(caplog)) == 1


async def test_a_conversation_that_crashes_at_its_end_is_logged_and_forgotten(
    house: OpenHouse, caplog: pytest.LogCaptureFixture
) -> None:
    class Sore(Talk):
        def closed(self) -> None:
            raise Broken

    class SoreLosers(App):
        def opened(self, peer: Peer) -> Talk:
            return Sore(peer, echo)

    gateway = await house.open(SoreLosers())
    raw = await house.raw(MSGPACK)
    raw.close()
    await gateway.drain()
    assert gateway.connections == 0
    assert len(errors(caplog)) == 1


async def test_closing_sends_what_was_sent_before_and_hears_no_more(house: OpenHouse) -> None:
    async def refuse(talk: Talk, frame: bytes | str) -> None:
        talk.peer.send(b"no")
        talk.peer.close(4400, "bad frames " + "é" * 100)
        talk.peer.send(b"too late")
        talk.peer.close(4401)

    app = App(refuse)
    await house.open(app, GatewaySettings(close_s=30))
    raw = await house.raw(MSGPACK)
    await raw.send(frame(BINARY, b"1") + frame(BINARY, b"2"))
    assert await raw.frame() == (BINARY, b"no")
    first, payload = await raw.frame()
    assert (first, payload[:2]) == (CLOSE, (4400).to_bytes(2, "big"))
    assert payload[2:].decode() == "bad frames " + "é" * 56  # cut to what a close frame holds
    await raw.send(frame(BINARY, b"3") * 100 + frame(PING, b"p") + close_frame(4400))
    assert await raw.frame() == (PONG, b"p")
    assert await raw.rest() == b""
    raw.close()
    await app.all_closed()
    assert app.talk.heard == [b"1"]


async def test_a_close_that_is_not_answered_ends_in_time(house: OpenHouse) -> None:
    app = App()
    await house.open(app, GatewaySettings(close_s=0.05))
    raw = await house.raw(MSGPACK)
    app.talk.peer.close(4401)
    assert await raw.close_code() == 4401
    assert await raw.is_gone()
    await app.all_closed()


async def test_a_close_code_that_may_not_be_sent_changes_nothing(house: OpenHouse) -> None:
    app = App()
    await house.open(app)
    raw = await house.raw(MSGPACK)
    with pytest.raises(ProtocolError):
        app.talk.peer.close(1006)
    await raw.send(frame(BINARY, b"1"))
    assert await raw.frame() == (BINARY, b"1")


async def test_a_message_in_work_is_finished_when_its_peer_has_gone(house: OpenHouse) -> None:
    may_go_on, finished = asyncio.Event(), asyncio.Event()

    async def work(talk: Talk, frame: bytes | str) -> None:
        await may_go_on.wait()
        talk.peer.send(b"nobody there")
        finished.set()

    app = App(work)
    gateway = await house.open(app)
    raw = await house.raw(MSGPACK)
    await raw.send(frame(BINARY, b"1") + frame(BINARY, b"2"))
    await app.at_work()
    raw.reset()
    await house.ask(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")  # the reset has arrived by now
    assert not app.talk.is_closed.is_set()
    assert gateway.connections == 1
    may_go_on.set()
    await app.all_closed()
    assert finished.is_set()
    assert app.talk.heard == [b"1", b"2"]
    assert app.talk.was_closed == 1
    assert gateway.connections == 0


async def test_no_more_is_read_while_too_many_messages_wait(house: OpenHouse) -> None:
    may_go_on = asyncio.Event()

    async def work(talk: Talk, frame: bytes | str) -> None:
        await may_go_on.wait()
        talk.peer.send(b"")

    app = App(work)
    gateway = await house.open(app, GatewaySettings(inbox_frames=4))
    raw = await house.raw(MSGPACK)
    await raw.send(frame(BINARY, b"x" * 2000) * 5)
    flood = asyncio.create_task(raw.send(frame(BINARY, b"x" * 2000) * 10_000))
    [connection] = gateway._census.guests
    async with patient():
        while not connection._wire.is_held:  # type: ignore[attr-defined]
            await asyncio.sleep(0)
    assert len(connection._inbox) <= 5  # type: ignore[attr-defined]
    assert not flood.done()  # the kernel is full: the peer waits, as it should
    may_go_on.set()
    received = 0
    async with patient():
        while not flood.done() or received < 10_005:
            await raw.frame()
            received += 1
    assert len(app.talk.heard) == 10_005


async def test_a_peer_can_be_called_back_until_it_closes(house: OpenHouse) -> None:
    app, called = App(), list[str]()
    await house.open(app)
    raw = await house.raw(MSGPACK)
    peer = app.talk.peer
    peer.call_later(0.0, lambda: called.append("open"))
    peer.call_later(0.0, lambda: called.append("cancelled")).cancel()
    peer.call_later(0.0, lambda: peer.close(4408, "too slow"))
    peer.call_later(0.0, lambda: called.append("closing"))
    assert await raw.close_code() == 4408
    raw.close()
    await app.all_closed()
    peer.call_later(0.0, lambda: called.append("gone"))
    await asyncio.sleep(0.01)
    assert called == ["open"]


async def test_logs_tell_nothing_of_what_was_said(
    house: OpenHouse, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    await house.open(App())
    raw = await house.raw(MSGPACK)
    await raw.send(frame(BINARY, b"sesame") + frame(BINARY, b"sesame", mask=None))
    assert await raw.close_code() == 1002
    assert "sesame" not in caplog.text


def errors(caplog: pytest.LogCaptureFixture) -> list[logging.LogRecord]:
    return [record for record in caplog.records if record.levelno >= logging.ERROR]


def counted_writes(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """What all doors of gateways opened from now on write, write by write."""
    writes: list[bytes] = []

    class Counting:
        def __init__(self, transport: asyncio.Transport) -> None:
            self._transport = transport

        def __getattr__(self, name: str) -> object:
            return getattr(self._transport, name)

        def write(self, data: bytes) -> None:
            writes.append(data)
            self._transport.write(data)

    class WatchedDoor(Door):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            super().connection_made(Counting(transport))  # type: ignore[arg-type]

    monkeypatch.setattr(server, "Door", WatchedDoor)
    assert Gateway.start.__globals__["Door"] is WatchedDoor
    return writes
