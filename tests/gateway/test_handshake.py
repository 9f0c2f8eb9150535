"""Who gets a WebSocket, in which encoding, and what those are told who get none."""

import asyncio
import base64
import hashlib
from ipaddress import ip_network

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.typing import Subprotocol

from cellmates.protocol import Encoding
from server.gateway import GatewaySettings
from server.gateway.census import Census
from server.gateway.door import Door, House
from tests.gateway.house import (
    BINARY,
    TEXT,
    App,
    OpenHouse,
    Pipe,
    frame,
    ordinary_pages,
    patient,
    upgrade,
)

pytestmark = pytest.mark.asyncio

MSGPACK, JSON, OTHER = "cellmates.v1.msgpack", "cellmates.v1.json", "cellmates.v2.msgpack"
REJECTED = b"HTTP/1.1 400 Bad Request\r\n"


@pytest.mark.parametrize(
    ("offered", "encoding", "told"),
    [
        (None, Encoding.JSON, None),
        (JSON, Encoding.JSON, JSON),
        (MSGPACK, Encoding.MSGPACK, MSGPACK),
        (f"{MSGPACK}, {JSON}", Encoding.MSGPACK, MSGPACK),
        (f"{JSON}, {MSGPACK}", Encoding.JSON, JSON),
        (f"{OTHER},{JSON}", Encoding.JSON, JSON),
    ],
)
async def test_the_first_known_subprotocol_is_spoken_and_without_any_json(
    house: OpenHouse, offered: str | None, encoding: Encoding, told: str | None
) -> None:
    app = App()
    await house.open(app)
    raw = await house.knock()
    await raw.send(upgrade(offered))
    answer = (await raw.head()).decode()
    assert answer.startswith("HTTP/1.1 101 ")
    assert ("Sec-WebSocket-Protocol: " in answer) == (told is not None)
    assert told is None or f"\r\nSec-WebSocket-Protocol: {told}\r\n" in answer
    assert app.talk.peer.encoding is encoding
    await raw.send(frame(BINARY, b"?"))
    assert await raw.frame() == (BINARY if encoding is Encoding.MSGPACK else TEXT, b"?")


@pytest.mark.parametrize("offered", [OTHER, f"{OTHER}, chat", MSGPACK.upper(), ",", "a b"])
async def test_a_client_that_offers_only_unknown_subprotocols_is_refused(
    house: OpenHouse, offered: str
) -> None:
    app = App()
    await house.open(app)
    assert (await house.ask(upgrade(offered))).startswith(REJECTED)
    assert app.talks == []


async def test_the_refusal_of_a_subprotocol_names_those_there_are(house: OpenHouse) -> None:
    await house.open(App())
    answer = await house.ask(upgrade(OTHER))
    assert MSGPACK.encode() in answer
    assert JSON.encode() in answer


@pytest.mark.parametrize(
    ("origin", "host", "is_welcome"),
    [
        (None, "cells.example", True),
        ("https://play.example", "cells.example", True),  # listed
        ("https://play.example:8443", "cells.example", False),
        ("http://play.example", "cells.example", False),
        ("https://play.example/", "cells.example", False),
        ("https://play.example.evil.example", "cells.example", False),
        ("https://cells.example", "cells.example", True),  # the same
        ("https://CELLS.example", "cells.EXAMPLE", True),
        ("http://cells.example:8410", "cells.example:8410", True),
        ("https://cells.example", "cells.example:443", True),
        ("http://cells.example:80", "cells.example", True),
        ("https://cells.example:80", "cells.example", False),
        ("http://cells.example:8410", "cells.example:8411", False),
        ("https://evil.example", "cells.example", False),
        ("cells.example", "cells.example", False),
        ("ftp://cells.example", "cells.example", False),
        ("null", "cells.example", False),
        ("", "cells.example", False),
    ],
)
async def test_an_origin_must_be_listed_the_same_or_absent(
    house: OpenHouse, origin: str | None, host: str, is_welcome: bool
) -> None:
    await house.open(App(), GatewaySettings(origins=frozenset({"https://play.example"})))
    raw = await house.knock()
    await raw.send(upgrade(headers={"Origin": origin, "Host": host}))
    assert (await raw.head()).startswith(b"HTTP/1.1 101 " if is_welcome else b"HTTP/1.1 403 ")


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-WebSocket-Key": None},
        {"Sec-WebSocket-Key": "short"},
        {"Sec-WebSocket-Key": "ü" * 22 + "=="},
        {"Sec-WebSocket-Version": None},
        {"Sec-WebSocket-Version": "8"},
        {"Origin": "https://cells.example\r\nOrigin: https://cells.example"},
    ],
)
async def test_a_malformed_handshake_is_refused(
    house: OpenHouse, headers: dict[str, str | None]
) -> None:
    app = App()
    await house.open(app)
    assert (await house.ask(upgrade(headers=headers))).startswith(REJECTED)
    assert app.talks == []


async def test_the_handshake_is_answered_as_the_standard_says_and_protects(
    house: OpenHouse,
) -> None:
    await house.open(App())
    raw = await house.knock()
    await raw.send(upgrade(headers={"Sec-WebSocket-Extensions": "permessage-deflate"}))
    answer = (await raw.head()).decode().lower()
    digest = hashlib.sha1(b"dGhlIHNhbXBsZSBub25jZQ==258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()
    assert f"\r\nsec-websocket-accept: {base64.b64encode(digest).decode().lower()}\r\n" in answer
    assert "sec-websocket-extensions" not in answer
    assert "\r\nserver:" not in answer
    assert "\r\nx-content-type-options: nosniff\r\n" in answer
    assert "\r\ncontent-security-policy: default-src 'none'; frame-ancestors 'none'\r\n" in answer


async def test_a_client_of_the_library_connects_and_is_answered(house: OpenHouse) -> None:
    await house.open(App())
    async with connect(house.url, subprotocols=[Subprotocol(MSGPACK)]) as ws:
        assert ws.subprotocol == MSGPACK
        await ws.send(b"\x80")
        assert await ws.recv() == b"\x80"
    async with connect(house.url) as ws:
        await ws.send("{}")
        assert await ws.recv() == "{}"
    with pytest.raises(InvalidStatus, match="400"):
        await connect(house.url, subprotocols=[Subprotocol("chat")])


async def test_frames_that_come_with_the_handshake_are_answered_after_it(house: OpenHouse) -> None:
    await house.open(App())
    raw = await house.knock()
    await raw.send(upgrade(MSGPACK) + frame(0x89, b"p") + frame(BINARY, b"1") + frame(BINARY, b"2"))
    assert (await raw.head()).startswith(b"HTTP/1.1 101 ")
    assert [await raw.frame() for _ in range(3)] == [(0x8A, b"p"), (BINARY, b"1"), (BINARY, b"2")]


async def test_the_deadline_of_the_handshake_ends_with_it(house: OpenHouse) -> None:
    await house.open(App(), GatewaySettings(handshake_s=0.03, heartbeat_s=0.1, pong_s=0.1))
    raw = await house.raw(MSGPACK)
    for _ in range(2):
        assert await raw.frame() == (0x89, b"")
        await raw.send(frame(0x8A))


async def test_a_request_that_waited_to_be_read_at_the_deadline_is_answered() -> None:
    # A loop that stood still may fire its timers first, and look at its sockets after that.
    app, settings, loop = App(), GatewaySettings(handshake_s=0.03), asyncio.get_running_loop()
    pipe = Pipe()
    door = Door(House(app, ordinary_pages(), Census(settings), settings, loop))
    pipe.set_protocol(door)
    door.connection_made(pipe)
    loop.call_later(0.031, door.data_received, upgrade())
    async with patient():
        while not (pipe.writes or pipe.is_aborted):
            await asyncio.sleep(0.001)
    assert pipe.writes[0].startswith(b"HTTP/1.1 101 ")
    app.talk.peer.close(1000)
    pipe.abort()


async def test_connections_are_limited_in_total(house: OpenHouse) -> None:
    gateway = await house.open(App(), GatewaySettings(connections=2))
    first, _ = await house.raw(), await house.raw()
    answer = await house.ask(upgrade())
    assert answer.startswith(b"HTTP/1.1 503 ")
    assert b"\r\nRetry-After: 5\r\n" in answer
    assert (await house.ask(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")).startswith(
        b"HTTP/1.1 200 "
    )
    assert gateway.connections == 2
    await first.send(frame(0x88, b"\x03\xe8"))
    await first.is_gone()
    first.close()
    await house.raw()  # there is room again


async def test_connections_are_limited_for_each_address(house: OpenHouse) -> None:
    app = App()
    settings = GatewaySettings(
        connections_per_address=1, trusted_proxies=(ip_network("127.0.0.0/8"),)
    )
    await house.open(app, settings)
    for address in ("192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8:0:1::1"):
        raw = await house.knock()
        await raw.send(upgrade(headers={"X-Forwarded-For": address}))
        assert (await raw.head()).startswith(b"HTTP/1.1 101 ")
        assert app.talk.peer.address == address
    for address in ("192.0.2.1", "2001:db8::ffff"):  # an IPv6 network is one customer's
        answer = await house.ask(upgrade(headers={"X-Forwarded-For": address}))
        assert answer.startswith(b"HTTP/1.1 429 ")
        assert b"\r\nRetry-After: 5\r\n" in answer


async def test_a_forwarded_address_is_not_believed_from_just_anybody(house: OpenHouse) -> None:
    app = App()
    await house.open(app, GatewaySettings(trusted_proxies=(ip_network("192.0.2.0/24"),)))
    raw = await house.knock()
    await raw.send(upgrade(headers={"X-Forwarded-For": "192.0.2.1"}))
    await raw.head()
    assert app.talk.peer.address == "127.0.0.1"
