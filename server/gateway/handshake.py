"""Who may open a WebSocket. No I/O."""

from collections.abc import Collection
from http import HTTPStatus

from websockets.http11 import Request
from websockets.http11 import Response as HandshakeResponse

from .http import Refused, plain, with_security
from .websocket import WebSocket

PATH = "/ws"
_LONGEST_REASON = 200
_KEPT = ("Allow", "Upgrade")  # headers of the library's refusals that say what would be right
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}


def is_wanted(request: Request) -> bool:
    """Whether a request asks for a WebSocket, well or badly."""
    offers = (offer for value in request.headers.get_all("Upgrade") for offer in value.split(","))
    return any(offer.strip().lower() == "websocket" for offer in offers)


def accept(ws: WebSocket, request: Request, origins: Collection[str]) -> HandshakeResponse:
    """Response that opens the WebSocket once it is sent.

    Raises:
        Refused: the handshake is malformed, or its origin or all its subprotocols are unknown.
    """
    response = ws.accept(request)
    if response.status_code != HTTPStatus.SWITCHING_PROTOCOLS:
        kept = {name: response.headers[name] for name in _KEPT if name in response.headers}
        text = bytes(response.body).decode().strip()[:_LONGEST_REASON]
        raise Refused(plain(HTTPStatus(response.status_code), text, kept))
    if not _is_welcome(ws.origin, request.headers.get("Host", ""), origins):
        raise Refused(plain(HTTPStatus.FORBIDDEN, "this origin may not connect"))
    for name, value in with_security({}).items():
        response.headers[name] = value
    return response


def _is_welcome(origin: str | None, host: str, origins: Collection[str]) -> bool:
    """Whether an origin is none, ours, or listed. Only browsers send one, and cannot forge it."""
    if origin is None or origin in origins:
        return True
    scheme, separator, rest = origin.lower().partition("://")
    port = _DEFAULT_PORTS.get(scheme)
    if not separator or port is None:
        return False
    return rest.removesuffix(port) == host.lower().removesuffix(port)
