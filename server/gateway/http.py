"""HTTP, as little as it takes: one request a connection, GET and HEAD, and headers that protect.

What a request asks for is the application's; how one is refused is said here. No I/O.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from email.utils import formatdate
from http import HTTPStatus
from typing import Protocol

from websockets.exceptions import SecurityError
from websockets.http11 import Request
from websockets.server import ServerProtocol

from .application import Response

METHODS = ("GET", "HEAD")
SECURITY_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
_PLAIN = {"Content-Type": "text/plain; charset=utf-8"}
# A line may end in LF alone here, so that such a head is refused when it ends, not when it is late.
_END_OF_HEAD = re.compile(rb"\n\r?\n")
_LONGEST_END = len(b"\n\r\n")
_REQUEST_LINE = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+) [!-~]+ HTTP/1\.[01]")


class Refused(Exception):
    """A request is answered by the gateway itself."""

    def __init__(self, response: Response) -> None:
        super().__init__(response.status)
        self.response = response


class Answer(Protocol):
    """A page as somebody outside the gateway makes it; what a ``Response`` is."""

    @property
    def status(self) -> int:
        """One of HTTP's."""

    @property
    def headers(self) -> Mapping[str, str]:
        """Those that replace the gateway's own, and others."""

    @property
    def body(self) -> bytes:
        """What HEAD does not get."""


class Branch(Protocol):
    """Who answers for all paths that begin alike."""

    async def get(self, path: str, query: str) -> Answer:
        """Answer for a whole path as it was sent, undecoded; a 404 where there is no page."""


class PageTable:
    """Pages by their exact paths, then branches by how paths begin; all of it given at start."""

    def __init__(
        self,
        pages: Mapping[str, Callable[[str], Awaitable[Response]]],
        branches: Mapping[str, Branch] | None = None,
    ) -> None:
        """Each page is called with the query, as it was sent. Of branches the first one counts."""
        self._pages = dict(pages)
        self._branches = dict(branches or {})

    async def get(self, path: str, query: str) -> Response:
        """Answer of the page at a path, or of the branch that it is on; a 404 without either."""
        page = self._pages.get(path)
        if page is not None:
            return await page(query)
        for beginning, branch in self._branches.items():
            if path.startswith(beginning):
                answer = await branch.get(path, query)
                return Response(answer.status, answer.headers, answer.body)
        return plain(HTTPStatus.NOT_FOUND, "nothing here")


def plain(status: HTTPStatus, text: str, headers: Mapping[str, str] | None = None) -> Response:
    """Answer of one line of text."""
    return Response(status, _PLAIN | dict(headers or {}), f"{text}\n".encode())


def serialise(response: Response, *, is_head: bool = False) -> bytes:
    """Bytes of an answer after which the connection is closed; to HEAD without the body."""
    status = HTTPStatus(response.status)
    headers = with_security(
        {
            "Date": formatdate(usegmt=True),
            "Connection": "close",
            "Content-Length": str(len(response.body)),
        }
        | dict(response.headers)
    )
    lines = [f"HTTP/1.1 {status.value} {status.phrase}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    head = "\r\n".join([*lines, "", ""]).encode("latin-1")
    return head if is_head else head + response.body


def with_security(headers: Mapping[str, str]) -> dict[str, str]:
    """Headers, and those of the security headers that are not among them."""
    given = {name.lower() for name in headers}
    added = {name: value for name, value in SECURITY_HEADERS.items() if name.lower() not in given}
    return {**headers, **added}


def end_of_head(received: bytes | bytearray, searched: int) -> int | None:
    """Where the body begins, None where the head goes on; ``searched`` bytes had no end of it."""
    found = _END_OF_HEAD.search(received, max(0, searched - _LONGEST_END))
    return found and found.end()


def read_request(head: bytes, protocol: ServerProtocol) -> Request:
    """Read a whole head through the library, which may then go on with a handshake.

    Raises:
        Refused: the head is malformed, or the method is none of ours.
    """
    line = _REQUEST_LINE.fullmatch(head.partition(b"\r\n")[0])
    if line is None:
        raise Refused(plain(HTTPStatus.BAD_REQUEST, "not an HTTP/1.1 request"))
    if line[1].decode() not in METHODS:
        allow = ", ".join(METHODS)
        raise Refused(plain(HTTPStatus.METHOD_NOT_ALLOWED, f"only {allow} here", {"Allow": allow}))
    protocol.receive_data(head)
    requests = protocol.events_received()
    if not requests:
        raise Refused(_malformed(protocol))
    (request,) = requests
    assert isinstance(request, Request)
    hosts = len(request.headers.get_all("Host"))
    if hosts > 1 or (hosts == 0 and request.protocol == "HTTP/1.1"):
        raise Refused(plain(HTTPStatus.BAD_REQUEST, "there must be one Host header"))
    if not request.path.startswith("/"):
        raise Refused(plain(HTTPStatus.BAD_REQUEST, "the request target must be a path"))
    return request


def too_large() -> Response:
    """Answer to a head that is larger than a head may be."""
    return plain(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "headers are too large")


def _malformed(protocol: ServerProtocol) -> Response:
    if isinstance(protocol.handshake_exc, SecurityError):
        return too_large()
    return plain(HTTPStatus.BAD_REQUEST, "malformed headers, or a body")
