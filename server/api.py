"""What guests may read, as JSON and CSV over plain GET. It answers and decides nothing itself.

A path and its query become a request of the wire's, held to the same rules by the same codec; the
reply's ``d`` is the page. Who may read what is for those to say who answer the requests.
"""

import asyncio
import csv
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from io import StringIO
from types import MappingProxyType
from typing import TypeAlias, assert_never, cast
from urllib.parse import quote, unquote_to_bytes

import msgspec
from msgspec import UNSET
from msgspec.structs import astuple

from cellmates.daily import DAY_MS, BadDay, closes_at, parse_challenge_id
from cellmates.protocol import (
    MOST_ROWS,
    BoardGet,
    BoardPage,
    BoardRow,
    DailyChallenges,
    DailyList,
    Encoding,
    ErrorCode,
    PlayerGet,
    ProtocolError,
    ReplayGet,
    ReplyBody,
    RequestBody,
    decode_request,
)
from cellmates.protocol import Refused as RefusedBody

from .clock import Clock
from .daily_handlers import BoardKey
from .records import PlayerRecord
from .refusals import Error, Refused

PREFIX = "/api/v1/"
CSV_ROWS = 10_000

TOLD_S = 3600
TODAY_S = 60
BOARD_S = 5
REPLAY_S = 3600
PLAYER_S = 30
RETRY_S = 1

_STATUSES = {
    ErrorCode.BAD_REQUEST: HTTPStatus.BAD_REQUEST,
    ErrorCode.BAD_CURSOR: HTTPStatus.BAD_REQUEST,
    ErrorCode.NOT_YET: HTTPStatus.FORBIDDEN,
    ErrorCode.CHALLENGE_NOT_OPEN: HTTPStatus.FORBIDDEN,
    ErrorCode.NOT_FOUND: HTTPStatus.NOT_FOUND,
    ErrorCode.RATE_LIMITED: HTTPStatus.TOO_MANY_REQUESTS,
    ErrorCode.INTERNAL: HTTPStatus.SERVICE_UNAVAILABLE,
}
_TO_BE_RETRIED = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)
_JSON = "application/json"
_CSV = "text/csv; charset=utf-8; header=present"
_OPEN_TO_ALL = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": "Link, Retry-After",
}

_Readable: TypeAlias = DailyList | BoardGet | ReplayGet | PlayerGet

_ENCODED = re.compile(r"(?:[!-$&-~]|%[0-9A-Fa-f]{2})*")
_NUMBER = re.compile(r"0|[1-9][0-9]{0,17}")


@dataclass(frozen=True, slots=True)
class Answer:
    """A page, or why there is none, as the gateway wants it."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class _Route:
    """Which request a path is, what its segments say, and which keys its query may have."""

    request: str
    segments: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    is_csv: bool = False


@dataclass(frozen=True, slots=True)
class _Asked:
    request: _Readable
    is_csv: bool = field(kw_only=True)


_BOARD = _Route("board.get", ("challenge", "board", "kind"), ("limit", "cursor"))
_BOARD_CSV = replace(_BOARD, keys=("cursor",), is_csv=True)
_CSV_ENDING = ".csv"

# By first segment and number of those after it.
_ROUTES: Mapping[tuple[str, int], _Route] = MappingProxyType(
    {
        ("daily", 0): _Route("daily.list"),
        ("daily", 1): _Route("daily.list", ("date",)),
        ("boards", 3): _BOARD,
        ("replays", 1): _Route("replay.get", ("game",), ("cursor",)),
        ("players", 1): _Route("player.get", ("handle",)),
    }
)
_NUMBERS = ("limit",)


class Guest:
    """Somebody who only reads, and is not connected."""

    player: PlayerRecord | None = None

    def become(self, player: PlayerRecord | None, token: str | None) -> None:
        """Stay nobody."""

    def hold(self, token: str) -> None:
        """Stay nobody."""

    def follow(self, game: str) -> None:
        """Hear of nothing."""

    def watch(self, board: BoardKey, most: int) -> bool:
        """Hear of nothing."""
        return False

    def unwatch(self, board: BoardKey) -> None:
        """Hear of nothing."""


class Api:
    """Everything under ``/api/v1/``."""

    def __init__(
        self,
        *,
        answer: Callable[[RequestBody], Awaitable[ReplyBody]],
        error_of: Callable[[Exception], Error | None],
        clock: Clock,
    ) -> None:
        """``answer`` answers a request as a guest's; ``error_of`` knows what it raises."""
        self._answer = answer
        self._error_of = error_of
        self._clock = clock

    async def get(self, path: str, query: str) -> Answer:
        """Page for a path under ``PREFIX`` and a query, both as they were sent.

        Raises:
            Exception: whoever answers made a mistake.
        """
        try:
            return await self._page(_read(path, query))
        except Exception as refused:
            error = self._error_of(refused)
            status = error and _STATUSES.get(error.code)
            if not error or not status:
                raise
            return _refusal(status, error)

    async def _page(self, asked: _Asked) -> Answer:
        request = asked.request
        match request:
            case DailyList():
                return await self._daily(request)
            case BoardGet():
                # Whether it still changes is asked before: afterwards it may have ceased to.
                fresh_s = await self._board_fresh_s(request.challenge)
                if asked.is_csv:
                    return await self._board_csv(request, fresh_s)
                return _json(await self._answer(request), fresh_s)
            case ReplayGet():
                return _json(await self._answer(request), REPLAY_S)
            case PlayerGet():
                return _json(await self._answer(request), PLAYER_S)
            case _ as never:
                assert_never(never)

    async def _daily(self, request: DailyList) -> Answer:
        fresh_s = min(TODAY_S, (DAY_MS - self._clock.now_ms() % DAY_MS) // 1000)
        reply = await self._challenges(request)
        is_told = [challenge.deal is not UNSET for challenge in reply.challenges]
        if request.date is not None and is_told and all(is_told):
            fresh_s = TOLD_S
        return _json(reply, fresh_s)

    async def _board_fresh_s(self, challenge: str) -> int:
        """For how long a board may be kept: it changes until the challenge is told."""
        try:
            day, _ = parse_challenge_id(challenge)
        except BadDay:
            return 0
        if self._clock.now_ms() < closes_at(day):
            return BOARD_S
        reply = await self._challenges(DailyList(day))
        told = (known.challenge for known in reply.challenges if known.deal is not UNSET)
        return TOLD_S if challenge in told else BOARD_S

    async def _challenges(self, request: DailyList) -> DailyChallenges:
        return cast("DailyChallenges", await self._answer(request))

    async def _board_csv(self, request: BoardGet, fresh_s: int) -> Answer:
        table = StringIO()
        writer = csv.writer(table)
        writer.writerow(BoardRow.__struct_fields__)
        cursor = request.cursor
        for _ in range(CSV_ROWS // MOST_ROWS):
            page = await self._board_page(request, cursor)
            writer.writerows(map(_cells, page.rows))
            cursor = page.next
            if cursor is None:
                break
            await asyncio.sleep(0)  # a board in memory never waits, and others want their turn
        headers = {} if cursor is None else {"Link": _link(request, cursor)}
        return _shown(table.getvalue().encode(), _CSV, fresh_s, headers)

    async def _board_page(self, request: BoardGet, cursor: str | None) -> BoardPage:
        page = BoardGet(request.challenge, request.board, request.kind, MOST_ROWS, cursor)
        return cast("BoardPage", await self._answer(page))


# -- Reading ---------------------------------------------------------------------------------------


def _read(path: str, query: str) -> _Asked:
    """What is asked for.

    Raises:
        Refused: there is no such path, or it or the query is wrong.
    """
    first, *segments = path.removeprefix(PREFIX).split("/")
    route = _ROUTES.get((first, len(segments)))
    if route is None or "" in segments or not path.startswith(PREFIX):
        raise Refused(ErrorCode.NOT_FOUND, "there is no such path")
    if route is _BOARD and segments[-1].endswith(_CSV_ENDING):
        route = _BOARD_CSV
        segments[-1] = segments[-1].removesuffix(_CSV_ENDING)
    said = dict(zip(route.segments, (_decoded(text, "path") for text in segments), strict=True))
    return _Asked(_request(route.request, said | _query(query, route.keys)), is_csv=route.is_csv)


def _query(query: str, keys: tuple[str, ...]) -> dict[str, str | int]:
    said: dict[str, str | int] = {}
    for key, value in _pairs(query):
        if key not in keys:
            known = " and ".join(keys) or "nothing"
            raise _bad_request("query", f"there may be {known} in it")
        if key in said:
            raise _bad_request(key, "is there twice")
        said[key] = int(value) if key in _NUMBERS and _NUMBER.fullmatch(value) else value
    return said


def _pairs(query: str) -> Iterator[tuple[str, str]]:
    for pair in query.split("&") if query else ():
        key, _, value = pair.partition("=")
        yield _decoded(key, "query"), _decoded(value, "query")


def _decoded(text: str, place: str) -> str:
    """Text without its percent-encoding; a plus sign is one."""
    if not _ENCODED.fullmatch(text):
        raise _bad_request(place, "it is not percent-encoded")
    try:
        return unquote_to_bytes(text).decode()
    except UnicodeDecodeError:
        raise _bad_request(place, "it is not UTF-8") from None


def _request(name: str, said: Mapping[str, str | int]) -> _Readable:
    """The request, as the codec reads it from a frame."""
    frame = msgspec.json.encode({"t": name, "id": 0, "d": said})
    try:
        return cast("_Readable", decode_request(Encoding.JSON, frame).body)
    except ProtocolError as refused:
        raise Refused(refused.code, refused.message, refused.context) from None


def _bad_request(where: str, why: str) -> Refused:
    return Refused(ErrorCode.BAD_REQUEST, f"{where}: {why}", {"field": where, "why": why})


# -- Writing ---------------------------------------------------------------------------------------


def _json(reply: ReplyBody, fresh_s: int) -> Answer:
    return _shown(msgspec.json.encode(reply), _JSON, fresh_s)


def _shown(
    body: bytes, content_type: str, fresh_s: int, headers: Mapping[str, str] | None = None
) -> Answer:
    said = {"Content-Type": content_type, "Cache-Control": f"public, max-age={fresh_s}"}
    return Answer(HTTPStatus.OK, _OPEN_TO_ALL | said | dict(headers or {}), body)


def _refusal(status: HTTPStatus, error: Error) -> Answer:
    """The body of the wire's ``error``; fields have no ``d`` around them here."""
    headers = {"Content-Type": _JSON, "Cache-Control": "no-store"}
    if status in _TO_BE_RETRIED:
        wait_ms = error.retry_after_ms or 0
        headers["Retry-After"] = str(max(RETRY_S, -(-wait_ms // 1000)))
    context = dict(error.context)
    if "field" in context:
        context["field"] = str(context["field"]).removeprefix("d.")
    body = RefusedBody(error.code, error.message.removeprefix("d."), context)
    return Answer(status, _OPEN_TO_ALL | headers, msgspec.json.encode(body))


def _cells(row: BoardRow) -> Iterator[object]:
    """A row of the board as the cells of a table, with JSON's words for yes and no."""
    for value in astuple(row):
        yield str(value).lower() if isinstance(value, bool) else value


def _link(request: BoardGet, cursor: str) -> str:
    path = f"boards/{quote(request.challenge, safe='')}/{request.board}/{request.kind}{_CSV_ENDING}"
    return f'<{PREFIX}{path}?cursor={quote(cursor, safe="")}>; rel="next"'
