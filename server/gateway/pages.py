"""The pages that every server has: is it alive, is it ready, what does it speak, what is this."""

from collections.abc import Awaitable, Callable
from http import HTTPStatus

from .application import Response
from .http import PageTable, plain

_FRONT = b"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Cellmates</title>
<h1>Cellmates</h1>
<p>A server for FreeCell and Eight Off: the same deals for everybody, every run replayable.</p>
<p>Clients connect to the WebSocket at <code>/ws</code>.
What is said there is described in <a href="/schema/asyncapi.json">AsyncAPI</a>.</p>
</html>
"""


def standard_pages(*, is_ready: Callable[[], Awaitable[bool]], asyncapi: bytes) -> PageTable:
    """Table of ``/``, ``/healthz``, ``/readyz`` and ``/schema/asyncapi.json``.

    ``is_ready`` says whether requests can be served now: the database is there, no drain has begun.
    """

    async def readyz(_query: str) -> Response:
        if await is_ready():
            return plain(HTTPStatus.OK, "ready")
        return plain(HTTPStatus.SERVICE_UNAVAILABLE, "not ready")

    schema = Response(HTTPStatus.OK, {"Content-Type": "application/json"}, asyncapi)
    front = Response(HTTPStatus.OK, {"Content-Type": "text/html; charset=utf-8"}, _FRONT)
    return PageTable(
        {
            "/": _always(front),
            "/healthz": _always(plain(HTTPStatus.OK, "alive")),
            "/readyz": readyz,
            "/schema/asyncapi.json": _always(schema),
        }
    )


def _always(response: Response) -> Callable[[str], Awaitable[Response]]:
    async def page(_query: str) -> Response:
        return response

    return page
