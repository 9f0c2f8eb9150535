"""Bytes at the doors, nearly right: frames to requests, heads, and frames of an open WebSocket."""

from http import HTTPStatus
from random import Random

from cellmates.protocol import Encoding, ProtocolError
from cellmates.protocol import decode_request as decode
from server.address import client_address
from server.gateway import GatewaySettings, Response
from server.gateway import handshake as handshakes
from server.gateway.http import Refused, end_of_head, read_request, serialise
from server.gateway.websocket import WebSocket
from tests.gateway.house import close_frame, frame, upgrade
from tests.protocol.frames import MESSAGES, check_form, written

from .drawing import changed_bytes, changed_map, changed_text, packed
from .findings import Findings

# -- Frames to requests ----------------------------------------------------------------------------


def decoder(findings: Findings, chance: Random, count: int = 20_000) -> None:
    """Frames of both encodings, changed as maps, as bytes, or both."""
    requests = [{"t": t, "id": n, "d": d} for n, (t, d) in enumerate(MESSAGES.items())]
    valid = {code: [written(code, told) for told in requests] for code in Encoding}
    for _ in range(count):
        code = chance.choice([*Encoding])
        kind = chance.randrange(3)
        told: bytes | str = chance.choice(valid[code])
        if kind:
            told = packed(code, changed_map(chance, chance.choice(requests)))
        if kind != 1:
            told = told.encode(errors="surrogatepass") if isinstance(told, str) else told
            told = changed_bytes(chance, told, chance.choice(valid[code]))
        with findings.trying("decoder", told):
            try:
                decode(code, told)
            except ProtocolError as refused:
                check_form(refused)
            else:
                findings.accept("decoder")


# -- Heads and frames ------------------------------------------------------------------------------

HEADERS = {
    "Origin": "https://cells.example",
    "X-Forwarded-For": "192.0.2.1, 2001:db8::1",
    "Content-Length": "0",
    "Sec-WebSocket-Extensions": "permessage-deflate; client_max_window_bits",
}
SUBPROTOCOLS = (None, "cellmates.v1.json", "cellmates.v1.msgpack, x", ", ,")


def heads(findings: Findings, chance: Random, count: int = 6_000) -> None:
    """Requests for a page or a WebSocket: read or refused, and no header makes two of one."""
    for _ in range(count):
        more: dict[str, str | None] = {
            name: changed_text(chance, value).encode("ascii", "ignore").decode()
            for name, value in HEADERS.items()
            if chance.random() < 0.3
        }
        head = upgrade(chance.choice(SUBPROTOCOLS), more, chance.choice(("/ws", "/", "/ws?x=%00")))
        if chance.random() < 0.8:
            head = changed_bytes(chance, head, b'\r\n\r\n Host:: HTTP/1.1\tHTTP/1.0\x00\xff,;="')
        ws = WebSocket(GatewaySettings())
        with findings.trying("head", head):
            end = end_of_head(head, 0)
            try:
                asked = read_request(head[:end], ws)
                client_address("192.0.2.1", asked.headers.get_all("X-Forwarded-For"), [])
                if handshakes.is_wanted(asked):
                    handshakes.accept(ws, asked, frozenset())
                    findings.accept("head")
            except Refused as refused:
                check_page(refused.response)


def check_page(response: Response) -> None:
    """Hold an answer to its form: so many headers as there are, and HTTP's own words."""
    head, _, body = serialise(response).partition(b"\r\n\r\n")
    HTTPStatus(response.status)
    lines = head.split(b"\r\n")
    assert response.status < 500 or response.status == HTTPStatus.HTTP_VERSION_NOT_SUPPORTED
    assert all(b"\n" not in line and b"\r" not in line and b"\0" not in line for line in lines)
    for protecting in (b"Content-Security-Policy", b"X-Content-Type-Options", b"Referrer-Policy"):
        assert sum(line.startswith(protecting + b":") for line in lines) == 1
    assert body == response.body


def frames(findings: Findings, chance: Random, count: int = 6_000) -> None:
    """Frames of an open WebSocket: messages within our limits, or a close with a code."""
    settings = GatewaySettings(frame_bytes=200, fragments=4, control_frames=8)
    for _ in range(count):
        ws = WebSocket(settings)
        asked = read_request(upgrade(), ws)
        ws.send_response(handshakes.accept(ws, asked, frozenset()))
        ws.data_to_send()
        stream = b"".join(_any_frame(chance) for _ in range(chance.randint(1, 6)))
        if chance.random() < 0.5:
            stream = changed_bytes(chance, stream, frame(0x01, b"half"))
        with findings.trying("frame", stream):
            while stream:
                size = chance.randint(1, len(stream))
                ws.receive_data(stream[:size])
                stream = stream[size:]
                for message in ws.messages_received():
                    size = len(message if isinstance(message, bytes) else message.encode())
                    assert size <= settings.frame_bytes
                    findings.accept("frame")
            ws.events_received()
            ws.receive_eof()
            b"".join(ws.data_to_send())


def _any_frame(chance: Random) -> bytes:
    if chance.random() < 0.1:
        return close_frame(chance.choice((0, 999, 1000, 1005, 1015, 3000, 4429, 65535)), b"\xff")
    first = chance.choice((0x81, 0x82, 0x01, 0x02, 0x00, 0x80, 0x88, 0x89, 0x8A, 0x09, 0x83, 0xF1))
    size = chance.choice((0, 1, 2, 30, 125, 126, 200, 201, 400))
    payload = chance.randbytes(size) if chance.random() < 0.3 else b"\xc3\xa9" * (size // 2)
    mask = None if chance.random() < 0.05 else chance.randbytes(4)
    return frame(first, payload, mask)
