"""Plain requests: what is answered, and that every answer protects whoever reads it."""

import asyncio
import json
import logging
import socket
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellmates.protocol import BoardPage, ReplyBody, RequestBody
from server.api import Api
from server.gateway import GatewaySettings, PageTable, Response, plain, standard_pages
from server.gateway.http import Branch, end_of_head
from server.gateway.pages import Readiness
from server.refusals import error_of
from tests.gateway.house import App, OpenHouse, always_ready, crash, patient, upgrade
from tests.server.memory import ManualClock

pytestmark = pytest.mark.asyncio

HOST = b"Host: cells.example\r\n"
SECURITY = {
    b"content-security-policy": b"default-src 'none'; frame-ancestors 'none'",
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
    b"cache-control": b"no-store",
}
SMALL = GatewaySettings(head_bytes=500, handshake_s=0.05, page_s=0.05, close_s=0.05)

END = HOST + b"\r\n"
REQUESTS = {
    "page": (b"GET / HTTP/1.1\r\n" + END, 200),
    "page with a query": (b"GET /healthz?x=1 HTTP/1.1\r\n" + END, 200),
    "ready": (b"GET /readyz HTTP/1.1\r\n" + END, 200),
    "metrics": (b"GET /metrics HTTP/1.1\r\n" + END, 200),
    "schema": (b"GET /schema/asyncapi.json HTTP/1.1\r\n" + END, 200),
    "HEAD": (b"HEAD / HTTP/1.1\r\n" + END, 200),
    "HTTP/1.0 without Host": (b"GET / HTTP/1.0\r\n\r\n", 200),
    "upgrade to another protocol": (b"GET / HTTP/1.1\r\nUpgrade: h2c\r\n" + END, 200),
    "no such page": (b"GET /nothing HTTP/1.1\r\n" + END, 404),
    "another spelling of a page": (b"GET /%68ealthz HTTP/1.1\r\n" + END, 404),
    "path with dots": (b"GET /../healthz HTTP/1.1\r\n" + END, 404),
    "POST": (b"POST / HTTP/1.1\r\nContent-Length: 2\r\n" + END + b"{}", 405),
    "OPTIONS": (b"OPTIONS * HTTP/1.1\r\n" + END, 405),
    "invented method": (b"A-B /ws HTTP/1.1\r\n" + END, 405),
    "no HTTP": (b"hello\r\n\r\n", 400),
    "HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
    "lines without CR": (b"GET / HTTP/1.1\nHost: a\n\n", 400),
    "no Host": (b"GET / HTTP/1.1\r\n\r\n", 400),
    "two Hosts": (b"GET / HTTP/1.1\r\n" + HOST + END, 400),
    "absolute target": (b"GET http://cells.example/ HTTP/1.1\r\n" + END, 400),
    "path that is not ASCII": ("GET /é HTTP/1.1\r\n".encode() + END, 400),
    "header without a colon": (b"GET / HTTP/1.1\r\nHost\r\n" + END, 400),
    "header with a NUL": (b"GET / HTTP/1.1\r\nX: \0\r\n" + END, 400),
    "body with GET": (b"GET / HTTP/1.1\r\nContent-Length: 2\r\n" + END + b"{}", 400),
    "chunked body": (b"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n" + END, 400),
    "head too large": (b"GET / HTTP/1.1\r\nX: " + b"x" * 900 + b"\r\n" + END, 431),
    "head without end": (b"x" * 901, 431),
    "too many headers": (b"GET / HTTP/1.1\r\n" + b"a:\r\n" * 128 + END, 431),
    "no upgrade": (b"GET /ws HTTP/1.1\r\n" + END, 426),
    "HEAD of the WebSocket": (b"HEAD /ws HTTP/1.1\r\n" + END, 405),
    "unknown subprotocol": (upgrade("cellmates.v2.msgpack"), 400),
    "foreign origin": (upgrade(headers={"Origin": "https://evil.example"}), 403),
    "WebSocket elsewhere": (upgrade(path="/"), 404),
    "WebSocket by HTTP/1.0": (upgrade().replace(b"HTTP/1.1", b"HTTP/1.0"), 505),
}


@pytest.mark.parametrize(("said", "status"), REQUESTS.values(), ids=REQUESTS.keys())
async def test_every_answer_has_its_status_and_protects(
    house: OpenHouse, said: bytes, status: int
) -> None:
    await house.open(App(), GatewaySettings(head_bytes=900))
    answered, headers, body = parse(await house.ask(said))
    assert answered == status
    assert headers.items() >= SECURITY.items()
    assert headers[b"connection"] == b"close"
    assert b"server" not in headers
    assert int(headers[b"content-length"]) > 0
    assert len(body) == (0 if said.startswith(b"HEAD") else int(headers[b"content-length"]))


async def test_head_is_get_without_the_body(house: OpenHouse) -> None:
    await house.open(App())
    got = parse(await house.ask(b"GET /healthz HTTP/1.1\r\n" + END))
    head = parse(await house.ask(b"HEAD /healthz HTTP/1.1\r\n" + END))
    assert got[2] == b"alive\n"
    assert head == (200, {**got[1], b"date": head[1][b"date"]}, b"")


@pytest.mark.parametrize("method", [b"POST", b"PUT", b"DELETE", b"OPTIONS", b"BREW"])
async def test_other_methods_are_told_which_are_allowed(house: OpenHouse, method: bytes) -> None:
    await house.open(App())
    _, headers, _ = parse(await house.ask(method + b" / HTTP/1.1\r\n" + END))
    assert headers[b"allow"] == b"GET, HEAD"


@pytest.mark.parametrize(
    ("database", "draining", "planner", "status"),
    [
        (True, False, {}, 200),
        (True, False, {"failing": True, "days": {"freecell": 0}}, 200),
        (False, False, {}, 503),
        (True, True, {}, 503),
        (False, True, {"failing": False}, 503),
    ],
)
async def test_a_server_says_whether_it_is_ready_and_why_not(
    house: OpenHouse, database: bool, draining: bool, planner: dict[str, object], status: int
) -> None:
    async def readiness() -> Readiness:
        return Readiness(database, draining, planner)

    pages = standard_pages(
        readiness=readiness, asyncapi=b"{}", metrics=lambda: b"", api=PageTable({}), web={}
    )
    await house.open(App(), pages=pages)
    answered, headers, body = parse(await house.ask(b"GET /readyz HTTP/1.1\r\n" + END))
    assert (answered, headers[b"content-type"]) == (status, b"application/json")
    assert json.loads(body) == {
        "ready": status == 200,
        "database": database,
        "draining": draining,
        "planner": planner,
    }
    answered, _, _ = parse(await house.ask(b"GET /healthz HTTP/1.1\r\n" + END))
    assert answered == 200


@dataclass
class Echo:
    """A branch that answers with what it is asked, in a class of its own."""

    status = 203
    headers: Mapping[str, str] = field(default_factory=lambda: {"X-Branch": "a"})
    body = b""

    async def get(self, path: str, query: str) -> "Echo":
        self.body = f"{path}|{query}".encode()
        return self


BRANCHES = {
    "page on a branch": (b"/api/v1/a%2Fb?c=%20d?e", 203, b"/api/v1/a%2Fb|c=%20d?e"),
    "the branch itself": (b"/api/v1/", 203, b"/api/v1/|"),
    "exact page before the branch": (b"/api/v1/exact", 200, b"page\n"),
    "the branch without its slash": (b"/api/v1", 404, b"nothing here\n"),
    "another beginning": (b"/api/v2/", 404, b"nothing here\n"),
    "the branch further in": (b"/x/api/v1/", 404, b"nothing here\n"),
    "the first of two branches": (b"/api/v1/deep/a", 203, b"/api/v1/deep/a|"),
    "the second of two branches": (b"/other/", 202, b""),
}


@pytest.mark.parametrize(("target", "status", "body"), BRANCHES.values(), ids=BRANCHES.keys())
async def test_exact_pages_come_first_and_branches_by_how_paths_begin(
    house: OpenHouse, target: bytes, status: int, body: bytes
) -> None:
    async def page(_query: str) -> Response:
        return plain(HTTPStatus.OK, "page")

    class Other:
        async def get(self, path: str, query: str) -> Response:
            return Response(202)

    branches: dict[str, Branch] = {"/api/v1/": Echo(), "/api/v1/deep/": Other(), "/other/": Other()}
    await house.open(App(), pages=PageTable({"/api/v1/exact": page}, branches))
    answered, headers, got = parse(await house.ask(b"GET " + target + b" HTTP/1.1\r\n" + END))
    assert (answered, got) == (status, body)
    assert headers.items() >= SECURITY.items()
    assert (b"x-branch" in headers) == (status == 203)


async def test_the_api_is_among_the_standard_pages(house: OpenHouse) -> None:
    pages = standard_pages(
        readiness=always_ready, asyncapi=b"{}", metrics=lambda: b"", api=Echo(), web={}
    )
    await house.open(App(), pages=pages)
    got = parse(await house.ask(b"GET /api/v1/daily HTTP/1.1\r\n" + END))
    head = parse(await house.ask(b"HEAD /api/v1/daily HTTP/1.1\r\n" + END))
    assert got[2] == b"/api/v1/daily|"
    assert parse(await house.ask(b"GET /api/v2/daily HTTP/1.1\r\n" + END))[0] == 404
    assert head == (203, {**got[1], b"date": head[1][b"date"]}, b"")


API_PAGES = {
    "a board": (b"/api/v1/boards/2036-12-01-freecell/first/bot?limit=9", 200, b"application/json"),
    "a table": (b"/api/v1/boards/2036-12-01-freecell/first/bot.csv", 200, b"text/csv"),
    "a wrong query": (b"/api/v1/boards/2036-12-01-freecell/first/bot?x", 400, b"application/json"),
    "nothing": (b"/api/v1/nothing", 404, b"application/json"),
}


@pytest.mark.parametrize(("target", "status", "kind"), API_PAGES.values(), ids=API_PAGES.keys())
async def test_the_api_behind_the_gateway_is_open_to_all_and_protects(
    house: OpenHouse, target: bytes, status: int, kind: bytes
) -> None:
    async def answer(request: RequestBody) -> ReplyBody:
        return BoardPage([], 0, None, None, None)

    api = Api(answer=answer, error_of=error_of, clock=ManualClock())
    await house.open(App(), pages=PageTable({}, {"/api/v1/": api}))
    got = parse(await house.ask(b"GET " + target + b" HTTP/1.1\r\n" + END))
    head = parse(await house.ask(b"HEAD " + target + b" HTTP/1.1\r\n" + END))
    assert head == (status, {**got[1], b"date": head[1][b"date"]}, b"")
    assert got[0] == status
    assert got[1][b"content-type"].startswith(kind)
    assert got[1][b"access-control-allow-origin"] == b"*"
    assert int(got[1][b"content-length"]) == len(got[2]) > 0
    unkept = {**SECURITY, b"cache-control": got[1][b"cache-control"]}
    assert got[1].items() >= unkept.items()
    assert (got[1][b"cache-control"] == b"no-store") == (status != 200)


async def test_a_page_may_widen_the_security_headers_and_gets_its_query(house: OpenHouse) -> None:
    async def page(query: str) -> Response:
        headers = {"content-security-policy": "default-src 'self'", "Cache-Control": "max-age=9"}
        return Response(200, headers, query.encode())

    await house.open(App(), pages=PageTable({"/": page}))
    _, headers, body = parse(await house.ask(b"GET /?a=%20b?c HTTP/1.1\r\n" + END))
    assert body == b"a=%20b?c"
    assert headers[b"content-security-policy"] == b"default-src 'self'"
    assert headers[b"cache-control"] == b"max-age=9"
    assert headers[b"x-content-type-options"] == b"nosniff"


async def test_a_page_that_crashes_is_logged_and_answered(
    house: OpenHouse, caplog: pytest.LogCaptureFixture
) -> None:
    await house.open(App(), pages=PageTable({"/": crash}))
    status, headers, body = parse(await house.ask(b"GET / HTTP/1.1\r\n" + END))
    assert status == 500
    assert headers.items() >= SECURITY.items()
    assert b"Broken" not in body
    [record] = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert record.exc_info is not None


async def test_a_page_that_takes_too_long_is_answered_503(house: OpenHouse) -> None:
    async def page(_query: str) -> Response:
        await asyncio.Event().wait()
        raise AssertionError

    await house.open(App(), SMALL, pages=PageTable({"/": page}))
    status, _, _ = parse(await house.ask(b"GET / HTTP/1.1\r\n" + END))
    assert status == 503


class LatePage:
    """A page that says when it is asked, and answers when it is told to."""

    def __init__(self) -> None:
        self.asked, self.told = asyncio.Event(), asyncio.Event()

    async def get(self, path: str, query: str) -> Response:
        self.asked.set()
        await self.told.wait()
        return plain(HTTPStatus.OK, "late")

    async def is_asked(self) -> None:
        async with patient():
            await self.asked.wait()


async def test_a_client_that_has_closed_its_side_still_gets_the_page(house: OpenHouse) -> None:
    page = LatePage()
    await house.open(App(), pages=page)
    raw = await house.knock()
    await raw.send(b"GET / HTTP/1.1\r\n" + END)
    await page.is_asked()
    raw.sock.shutdown(socket.SHUT_WR)
    await house.raw()  # the end has arrived by now
    page.told.set()
    assert parse(await raw.rest())[2] == b"late\n"


async def test_only_the_first_request_of_a_connection_is_answered(house: OpenHouse) -> None:
    page = LatePage()
    await house.open(App(), pages=page)
    raw = await house.knock()
    await raw.send((b"GET / HTTP/1.1\r\n" + END) * 3)
    await page.is_asked()
    await raw.send(b"GET / HTTP/1.1\r\n" + END)
    await house.raw()  # that has arrived by now
    page.told.set()
    assert (await raw.rest()).count(b"HTTP/1.1 200 OK") == 1


async def test_a_page_is_finished_for_a_client_that_has_gone(
    house: OpenHouse, caplog: pytest.LogCaptureFixture
) -> None:
    page = LatePage()
    gateway = await house.open(App(), pages=page)
    raw = await house.knock()
    await raw.send(b"GET / HTTP/1.1\r\n" + END)
    await page.is_asked()
    raw.reset()
    (await house.raw()).close()  # the reset has arrived by now
    assert gateway._census.guests != []
    page.told.set()
    async with patient():
        await gateway._census.emptied()
    assert caplog.records == []


@pytest.mark.parametrize("said", [b"", b"G", b"GET / HTTP/1.1\r\nHost: a\r\n"])
async def test_a_slow_request_is_dropped(house: OpenHouse, said: bytes) -> None:
    await house.open(App(), SMALL)
    raw = await house.knock()
    await raw.send(said)
    assert await raw.rest() == b""


async def test_bytes_that_trickle_do_not_buy_time(house: OpenHouse) -> None:
    await house.open(App(), SMALL)
    raw = await house.knock()
    end = asyncio.create_task(raw.rest())
    while not end.done():
        with suppress(ConnectionError):
            await raw.send(b"G")
        await asyncio.wait([end], timeout=0.005)
    assert await end == b""


async def test_a_client_that_does_not_close_after_its_answer_is_dropped(house: OpenHouse) -> None:
    gateway = await house.open(App(), SMALL)
    raw = await house.knock()
    await raw.send(b"GET / HTTP/1.1\r\n" + END)
    await raw.rest()  # the answer is complete; this side stays open
    async with patient():
        await gateway._census.emptied()


async def test_sockets_that_say_nothing_are_limited_in_number(house: OpenHouse) -> None:
    await house.open(App(), GatewaySettings(handshakes=2))
    kept = [await house.knock() for _ in range(2)]
    for raw in kept:
        await raw.send(b"G")
    refused = await house.knock()
    assert await refused.is_gone()
    for raw in kept:
        await raw.send(b"ET /healthz HTTP/1.1\r\n" + END)
        assert parse(await raw.rest())[0] == 200


@given(st.binary(max_size=40).map(lambda data: data.replace(b"\0", b"\r\n")), st.data())
async def test_the_end_of_a_head_does_not_depend_on_how_it_came(
    data: bytes, draw: st.DataObject
) -> None:
    cut = draw.draw(st.integers(0, len(data)))
    whole = end_of_head(data, 0)
    first = end_of_head(data[:cut], 0)
    assert (first if first is not None else end_of_head(data, cut)) == whole


def parse(answer: bytes) -> tuple[int, dict[bytes, bytes], bytes]:
    head, separator, body = answer.partition(b"\r\n\r\n")
    assert separator, answer
    line, *fields = head.split(b"\r\n")
    headers = [field.split(b": ", 1) for field in fields]
    names = [name.lower() for name, _ in headers]
    assert len(set(names)) == len(names), "no header twice"
    return (
        int(line.split()[1]),
        dict(zip(names, (value for _, value in headers), strict=True)),
        body,
    )
