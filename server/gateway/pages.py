"""The pages that every server has: is it alive, is it ready, how is it, what does it speak."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus

import msgspec

from ..metrics import CONTENT_TYPE
from .application import Response
from .http import Answer, Branch, PageTable, plain

API = "/api/v1/"
_JSON = {"Content-Type": "application/json"}


@dataclass(frozen=True, slots=True)
class Readiness:
    """Whether requests can be served now: the database is there, and no drain has begun.

    ``planner`` says how the days ahead are planned, for people and alarms; trouble there keeps
    nobody from playing, so it does not count.
    """

    database: bool
    draining: bool
    planner: Mapping[str, object]

    @property
    def is_ready(self) -> bool:
        """Whether a proxy should send clients here."""
        return self.database and not self.draining


def standard_pages(
    *,
    readiness: Callable[[], Awaitable[Readiness]],
    asyncapi: bytes,
    metrics: Callable[[], bytes],
    api: Branch,
    web: Mapping[str, Answer],
) -> PageTable:
    """Table of ``/healthz``, ``/readyz``, ``/metrics``, ``/schema/asyncapi.json``, and of ``web``.

    ``metrics`` makes the page of figures; ``api`` answers for all paths under ``/api/v1/``. ``web``
    has the files of the page in the browser by their paths, ``/`` among them.
    """

    async def readyz(_query: str) -> Response:
        found = await readiness()
        status = HTTPStatus.OK if found.is_ready else HTTPStatus.SERVICE_UNAVAILABLE
        says = {
            "ready": found.is_ready,
            "database": found.database,
            "draining": found.draining,
            "planner": dict(found.planner),
        }
        return Response(status, _JSON, msgspec.json.encode(says))

    files = {
        path: _always(Response(file.status, file.headers, file.body)) for path, file in web.items()
    }
    return PageTable(
        files
        | {
            "/healthz": _always(plain(HTTPStatus.OK, "alive")),
            "/readyz": readyz,
            "/metrics": _figures(metrics),
            "/schema/asyncapi.json": _always(Response(HTTPStatus.OK, _JSON, asyncapi)),
        },
        {API: api},
    )


def _figures(metrics: Callable[[], bytes]) -> Callable[[str], Awaitable[Response]]:
    """The page of figures. It takes some milliseconds, so it is made once in a turn of the loop."""
    making = asyncio.Lock()

    async def page(_query: str) -> Response:
        async with making:
            await asyncio.sleep(0)
            return Response(HTTPStatus.OK, {"Content-Type": CONTENT_TYPE}, metrics())

    return page


def _always(response: Response) -> Callable[[str], Awaitable[Response]]:
    async def page(_query: str) -> Response:
        return response

    return page
