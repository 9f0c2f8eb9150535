"""The page of figures: made when it is asked for, and at nobody else's cost."""

import asyncio

import pytest

from server.gateway import PageTable, standard_pages
from server.metrics import CONTENT_TYPE
from tests.gateway.house import App, OpenHouse, always_ready

pytestmark = pytest.mark.asyncio


async def test_figures_are_made_when_they_are_asked_for(house: OpenHouse) -> None:
    scrapes: list[int] = []

    def metrics() -> bytes:
        scrapes.append(1)
        return b"scrapes %d\n" % len(scrapes)

    pages = standard_pages(
        readiness=always_ready, asyncapi=b"{}", metrics=metrics, api=PageTable({}), web={}
    )
    await house.open(App(), pages=pages)
    for expected in (b"scrapes 1\n", b"scrapes 2\n"):
        answer = await house.ask(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
        head, _, body = answer.partition(b"\r\n\r\n")
        assert f"\r\nContent-Type: {CONTENT_TYPE}\r\n".encode() in head + b"\r\n"
        assert body == expected


async def test_figures_that_many_ask_for_are_made_in_turns_of_their_own() -> None:
    """They take some milliseconds each, and others are served between them."""
    turn, made_in = 0, []

    def metrics() -> bytes:
        made_in.append(turn)
        return b""

    pages = standard_pages(
        readiness=always_ready, asyncapi=b"{}", metrics=metrics, api=PageTable({}), web={}
    )
    asked = asyncio.gather(*[pages.get("/metrics", "") for _ in range(20)])
    while not asked.done():
        turn += 1
        await asyncio.sleep(0)
    assert len(made_in) == len(set(made_in)) == 20
