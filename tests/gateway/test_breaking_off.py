"""Connections that break off anywhere: so many that anything left behind or logged would show."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

import pytest

from tests.gateway.house import (
    BINARY,
    App,
    OpenHouse,
    Talk,
    close_frame,
    frame,
    patient,
    upgrade,
)

pytestmark = pytest.mark.asyncio

MSGPACK = "cellmates.v1.msgpack"


async def test_a_thousand_abnormal_ends_are_normal(
    house: OpenHouse, caplog: pytest.LogCaptureFixture
) -> None:
    async def talkative(talk: Talk, frame: bytes | str) -> None:
        for _ in range(3):
            talk.peer.send(bytes(1000))
            await asyncio.sleep(0)

    app = App(talkative)
    gateway = await house.open(app)
    tasks = asyncio.all_tasks()
    for start in range(0, 1000, 50):
        await asyncio.gather(
            *(
                WAYS_TO_BREAK_OFF[number % len(WAYS_TO_BREAK_OFF)](house)
                for number in range(start, start + 50)
            )
        )
    await app.all_closed()
    async with patient():
        await gateway._census.emptied()
    assert gateway.connections == 0
    assert gateway._census._groups == {}
    assert asyncio.all_tasks() == tasks
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []
    raw = await house.raw(MSGPACK)
    await raw.send(frame(BINARY, b"1"))
    assert await raw.frame() == (BINARY, bytes(1000))


async def at_once(house: OpenHouse) -> None:
    (await house.knock()).reset()


async def in_the_head(house: OpenHouse) -> None:
    raw = await house.knock()
    await raw.send(upgrade()[:50])
    raw.reset()


async def before_the_answer(house: OpenHouse) -> None:
    raw = await house.knock()
    await raw.send(upgrade())
    raw.reset()


async def before_the_page(house: OpenHouse) -> None:
    raw = await house.knock()
    await raw.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    raw.reset()


async def without_a_word(house: OpenHouse) -> None:
    (await house.raw(MSGPACK)).reset()


async def without_a_close(house: OpenHouse) -> None:
    (await house.raw(MSGPACK)).close()


async def in_a_frame(house: OpenHouse) -> None:
    raw = await house.raw(MSGPACK)
    await raw.send(frame(BINARY, b"12345")[:-1])
    raw.reset()


async def in_an_answer(house: OpenHouse) -> None:
    raw = await house.raw(MSGPACK)
    await raw.send(frame(BINARY, b"1") * 10)
    await raw.frame()
    raw.reset()


async def after_a_violation(house: OpenHouse) -> None:
    raw = await house.raw(MSGPACK)
    await raw.send(frame(BINARY, b"1", mask=None))
    raw.reset()


async def after_its_close(house: OpenHouse) -> None:
    raw = await house.raw(MSGPACK)
    await raw.send(frame(BINARY, b"1") + close_frame(1001))
    raw.reset()


WAYS_TO_BREAK_OFF: list[Callable[[OpenHouse], Awaitable[None]]] = [
    at_once,
    in_the_head,
    before_the_answer,
    before_the_page,
    without_a_word,
    without_a_close,
    in_a_frame,
    in_an_answer,
    after_a_violation,
    after_its_close,
]
