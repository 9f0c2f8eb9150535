"""Shutting down: nobody new, answers finished, a goodbye, and never longer than the deadline."""

import asyncio
import logging

import pytest

from server.gateway import Gateway, GatewaySettings, PageTable, Response, plain
from tests.gateway.house import (
    BINARY,
    CLOSE,
    App,
    Broken,
    OpenHouse,
    Talk,
    close_frame,
    echo,
    frame,
    patient,
    upgrade,
)

pytestmark = pytest.mark.asyncio

MSGPACK = "cellmates.v1.msgpack"
QUICK = GatewaySettings(drain_s=0.2, close_s=30, handshake_s=30, heartbeat_s=30)


async def drained(gateway: Gateway) -> float:
    """Drain; how many seconds it took."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    async with patient():
        await gateway.drain()
    assert gateway.connections == 0
    assert gateway._census.guests == []
    return loop.time() - began


async def test_everybody_is_told_then_answered_then_closed(house: OpenHouse) -> None:
    may_go_on = asyncio.Event()

    async def work(talk: Talk, frame: bytes | str) -> None:
        await may_go_on.wait()
        for _ in range(20):  # time to read more
            await asyncio.sleep(0)
        await echo(talk, frame)

    app = App(work)
    gateway = await house.open(app)
    raw = await house.raw(MSGPACK)
    await raw.send(frame(BINARY, b"1") + frame(BINARY, b"2"))
    await app.at_work()
    drain = asyncio.create_task(gateway.drain(lambda: app.talk.peer.send(b"draining")))
    assert await raw.frame() == (BINARY, b"draining")
    assert gateway.is_draining
    await raw.send(frame(BINARY, b"not read any more"))
    may_go_on.set()
    assert await raw.frame() == (BINARY, b"1")
    assert await raw.frame() == (BINARY, b"2")
    assert await raw.frame() == (CLOSE, b"\x03\xf4the server restarts")
    assert not drain.done()
    await raw.send(close_frame(1012))
    assert await raw.rest() == b""
    raw.close()
    await drain
    assert app.talk.heard == [b"1", b"2"]
    assert app.talk.was_closed == 1


async def test_nobody_new_is_let_in(house: OpenHouse) -> None:
    gateway = await house.open(App(), GatewaySettings(handshake_s=30, drain_s=30))
    kept = await house.raw(MSGPACK)
    half = await house.knock()
    await half.send(upgrade()[:20])
    await house.ask(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
    drain = asyncio.create_task(gateway.drain())
    assert await kept.close_code() == 1012
    assert await half.is_gone()
    with pytest.raises(ConnectionRefusedError):
        await house.knock()
    kept.close()
    await drain


async def test_a_page_that_is_due_is_still_given(house: OpenHouse) -> None:
    asked, may_go_on = asyncio.Event(), asyncio.Event()

    async def page(_query: str) -> Response:
        asked.set()
        await may_go_on.wait()
        return Response(200, {}, b"late")

    gateway = await house.open(App(), pages=PageTable({"/": page}))
    raw = await house.knock()
    await raw.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    async with patient():
        await asked.wait()
    drain = asyncio.create_task(gateway.drain())
    await asyncio.sleep(0)
    may_go_on.set()
    assert (await raw.rest()).endswith(b"late")
    raw.close()
    async with patient():
        await drain


async def test_the_deadline_holds_whoever_does_not_play_along(
    house: OpenHouse, caplog: pytest.LogCaptureFixture
) -> None:
    cancelled: list[str] = []

    async def never(what: str) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(what)
            raise

    async def work(_talk: Talk, _frame: bytes | str) -> None:
        await never("work")

    async def page(_query: str) -> Response:
        await never("page")
        return plain(500, "never")  # type: ignore[arg-type]

    app = App(work)
    settings = GatewaySettings(
        drain_s=0.2, close_s=30, outbox_bytes=1 << 30, outbox_messages=1 << 30, unread_s=30
    )
    gateway = await house.open(app, settings, pages=PageTable({"/": page}))
    stuck = await house.raw(MSGPACK, buffer=4096)
    await house.raw(MSGPACK)  # hears of the close and does not answer it
    for said in (b"", upgrade()[:-1]):
        await (await house.knock()).send(said)
    await (await house.knock()).send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    at_work = await house.raw(MSGPACK)
    await at_work.send(frame(BINARY, b"1"))
    await app.at_work()
    app.talks[0].peer.send(bytes(20_000_000))
    took_s = await drained(gateway)
    assert 0.19 <= took_s < 3
    assert sorted(cancelled) == ["page", "work"]
    assert [talk.was_closed for talk in app.talks] == [1, 1, 1]
    assert await stuck.is_gone()
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


async def test_a_second_call_forces(house: OpenHouse) -> None:
    async def work(_talk: Talk, _frame: bytes | str) -> None:
        await asyncio.Event().wait()

    app = App(work)
    gateway = await house.open(app, GatewaySettings(drain_s=30))
    for raw in (await house.raw(MSGPACK), await house.raw(MSGPACK)):
        await raw.send(frame(BINARY, b"1"))
    await app.at_work(2)
    first = asyncio.create_task(gateway.drain())
    await asyncio.sleep(0)
    assert await drained(gateway) < 3
    async with patient():
        await first
    assert [talk.was_closed for talk in app.talks] == [1, 1]


async def test_work_that_cannot_be_cancelled_does_not_hold_the_drain(
    house: OpenHouse, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.gateway.server._LAST_WAIT_S", 0.05)
    may_end = asyncio.Event()

    async def stubborn(_talk: Talk, _frame: bytes | str) -> None:
        while not may_end.is_set():
            try:
                await may_end.wait()
            except asyncio.CancelledError:
                continue

    app = App(stubborn)
    gateway = await house.open(app, QUICK)
    raw = await house.raw(MSGPACK)
    await raw.send(frame(BINARY, b"1"))
    await app.at_work()
    async with patient():
        await gateway.drain()
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    may_end.set()
    await app.all_closed()


async def test_a_drain_whose_announcement_crashes_goes_on(
    house: OpenHouse, caplog: pytest.LogCaptureFixture
) -> None:
    def announce() -> None:
        raise Broken

    gateway = await house.open(App())
    raw = await house.raw(MSGPACK)
    drain = asyncio.create_task(gateway.drain(announce))
    assert await raw.close_code() == 1012
    raw.close()
    await drain
    assert [record.levelname for record in caplog.records] == ["ERROR"]


async def test_a_drain_with_nobody_there_is_done_at_once(house: OpenHouse) -> None:
    assert await drained(await house.open(App())) < 3
    assert await drained(Gateway(App(), PageTable({}))) < 3  # one that never started, too


async def test_a_peer_that_is_closing_already_does_not_hold_the_drain(house: OpenHouse) -> None:
    app = App()
    gateway = await house.open(app, GatewaySettings(close_s=30, drain_s=30))
    raw = await house.raw(MSGPACK)
    app.talk.peer.close(4401)
    assert await raw.close_code() == 4401
    drain = asyncio.create_task(drained(gateway))
    await asyncio.sleep(0)
    await raw.send(close_frame(4401))
    raw.close()
    assert await drain < 3
