"""Plain GET for guests: paths become requests of the wire's, replies pages, refusals statuses."""

from urllib.parse import quote

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellmates.engine import BadMove
from cellmates.protocol import (
    Board,
    BoardGet,
    BoardPage,
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
from server.api import _ROUTES, Api
from server.games import NoSuchGame
from server.journal import StorageError
from server.players import NoSuchPlayer
from server.refusals import Error, Refused, error_of

from .library import (
    BOARD,
    CHALLENGE,
    CLOSED,
    PLAYER,
    REPLAY,
    Ask,
    Library,
    body,
    challenge,
    get,
    row,
)
from .memory import ManualClock

pytestmark = pytest.mark.asyncio

# -- From paths to requests, from replies to pages -------------------------------------------------

REQUESTS: dict[str, tuple[str, RequestBody, ReplyBody]] = {
    "today": ("daily", DailyList(), DailyChallenges([challenge()])),
    "a day": ("daily/2026-12-01", DailyList("2026-12-01"), DailyChallenges([challenge()])),
    "a board": (
        BOARD,
        BoardGet(CHALLENGE, "first", "human"),
        BoardPage([row(1)], 1, None, None, None),
    ),
    "a page of a board": (
        f"boards/{CHALLENGE}/moves/bot?limit=1&cursor=after%2F0",
        BoardGet(CHALLENGE, "moves", "bot", 1, "after/0"),
        BoardPage([row(1)], 1, None, None, None),
    ),
    "its keys the other way round": (
        f"{BOARD}?cursor=after/0&limit=100",
        BoardGet(CHALLENGE, "first", "human", 100, "after/0"),
        BoardPage([row(1)], 1, None, None, None),
    ),
    "a replay": ("replays/Ab_-9", ReplayGet("Ab_-9"), REPLAY),
    "a page of a replay": ("replays/g?cursor=400", ReplayGet("g", "400"), REPLAY),
    "a player": ("players/anna", PlayerGet("anna"), PLAYER),
    "a percent-encoded name": ("players/%61nn%C3%A4", PlayerGet("annä"), PLAYER),
    "an encoded slash": ("players/a%2Fb", PlayerGet("a/b"), PLAYER),
    "a plus sign": ("players/a+b", PlayerGet("a+b"), PLAYER),
    "dots": ("players/..", PlayerGet(".."), PLAYER),
    "a table's ending where there are none": ("players/a.csv", PlayerGet("a.csv"), PLAYER),
}


@pytest.mark.parametrize(("target", "asked", "reply"), REQUESTS.values(), ids=REQUESTS.keys())
async def test_a_path_is_a_request_and_the_page_its_reply(
    target: str, asked: RequestBody, reply: ReplyBody
) -> None:
    library = Library()
    answer = await get(target, library.answer)
    assert library.asked == [asked]
    assert answer.status == 200
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.body == msgspec.json.encode(reply)


NO_PATHS = [
    "",
    "nothing",
    "Daily",
    "d%61ily",
    "daily/",
    "daily//",
    "daily/2026-12-01/",
    "daily/2026-12-01/freecell",
    "boards",
    f"boards/{CHALLENGE}",
    f"boards/{CHALLENGE}/first",
    f"{BOARD}/",
    f"{BOARD}/1",
    f"boards//{CHALLENGE}/human",
    "replays",
    "replays/",
    "replays/a/b",
    "players/",
    "players/a/b",
    "/" * 4000,
]


@pytest.mark.parametrize("target", NO_PATHS)
async def test_other_paths_lead_nowhere(target: str) -> None:
    library = Library()
    answer = await get(target, library.answer)
    assert library.asked == []
    assert answer.status == 404
    assert body(answer) == {"code": "not-found", "message": "there is no such path", "context": {}}


async def test_a_path_elsewhere_leads_nowhere() -> None:
    api = Api(answer=Library().answer, error_of=error_of, clock=ManualClock())
    for path in ("daily", "/daily", "/api/v2/daily", ""):
        assert (await api.get(path, "")).status == 404


FIRST_OR_MOVES = "expected one of: first, moves"
DATE = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
LIMITS = "there may be limit and cursor in it"
WRONG: dict[str, tuple[str, str, str]] = {
    "no date": ("daily/today", "date", f"expected str matching regex '{DATE}'"),
    "a long date": ("daily/2026-12-011", "date", "expected str of length <= 10"),
    "no board": (f"boards/{CHALLENGE}/worst/human", "board", FIRST_OR_MOVES),
    "no kind": (f"boards/{CHALLENGE}/first/x.csv", "kind", "expected one of: human, bot"),
    "an encoded ending": (f"{BOARD}%2Ecsv", "kind", "expected one of: human, bot"),
    "a long name": ("players/" + "a" * 65, "handle", "expected str of length <= 64"),
    "a NUL": ("players/a%00", "handle", "a text may not hold NUL"),
    "a half escape": ("players/%6", "path", "it is not percent-encoded"),
    "a wrong escape": ("players/%6g", "path", "it is not percent-encoded"),
    "a bare percent": ("players/%", "path", "it is not percent-encoded"),
    "a space": ("players/a b", "path", "it is not percent-encoded"),
    "a letter that is not ASCII": ("players/é", "path", "it is not percent-encoded"),
    "no UTF-8": ("players/%FF", "path", "it is not UTF-8"),
    "half of a pair": ("players/%ED%A0%80", "path", "it is not UTF-8"),
    "overlong UTF-8": ("players/%C0%AF", "path", "it is not UTF-8"),
    "no number": (f"{BOARD}?limit=ten", "limit", "expected int | null, got str"),
    "a number with a sign": (f"{BOARD}?limit=+1", "limit", "expected int | null, got str"),
    "a number with a zero before": (f"{BOARD}?limit=01", "limit", "expected int | null, got str"),
    "foreign digits": (f"{BOARD}?limit=%D9%A1", "limit", "expected int | null, got str"),
    "foreign digits behind": (f"{BOARD}?limit=1%D9%A1", "limit", "expected int | null, got str"),
    "an endless number": (f"{BOARD}?limit={'9' * 5000}", "limit", "expected int | null, got str"),
    "a null": (f"{BOARD}?limit=null", "limit", "expected int | null, got str"),
    "nothing as a number": (f"{BOARD}?limit=", "limit", "expected int | null, got str"),
    "no rows": (f"{BOARD}?limit=0", "limit", "expected int >= 1"),
    "too many rows": (f"{BOARD}?limit=101", "limit", "expected int <= 100"),
    "a long cursor": (f"{BOARD}?cursor={'x' * 257}", "cursor", "expected str of length <= 256"),
    "an unknown key": (f"{BOARD}?offset=1", "query", LIMITS),
    "a key of the wire's for players": (f"{BOARD}?around=me", "query", LIMITS),
    "a key in capitals": (f"{BOARD}?Limit=1", "query", LIMITS),
    "an empty pair": (f"{BOARD}?limit=1&", "query", LIMITS),
    "a key that is in the path": (f"{BOARD}?kind=bot", "query", LIMITS),
    "a key twice": (f"{BOARD}?limit=1&cursor=x&limit=1", "limit", "is there twice"),
    "a key twice, once encoded": (f"{BOARD}?limit=1&l%69mit=1", "limit", "is there twice"),
    "a wrong escape in a query": (f"{BOARD}?cursor=%G0", "query", "it is not percent-encoded"),
    "a wrong escape in a key": (f"{BOARD}?%=1", "query", "it is not percent-encoded"),
    "no UTF-8 in a query": (f"{BOARD}?cursor=%80", "query", "it is not UTF-8"),
    "a limit of a table": (f"{BOARD}.csv?limit=1", "query", "there may be cursor in it"),
    "a key for a day": ("daily?date=2026-12-01", "query", "there may be nothing in it"),
    "a key for a player": ("players/a?x", "query", "there may be nothing in it"),
    "a limit of a replay": ("replays/a?limit=1", "query", "there may be cursor in it"),
}


@pytest.mark.parametrize(("target", "where", "why"), WRONG.values(), ids=WRONG.keys())
async def test_what_is_wrong_is_said_before_anybody_is_asked(
    target: str, where: str, why: str
) -> None:
    library = Library()
    answer = await get(target, library.answer)
    assert library.asked == []
    assert answer.status == 400
    assert body(answer) == {
        "code": "bad-request",
        "message": f"{where}: {why}",
        "context": {"field": where, "why": why},
    }


async def test_a_semicolon_parts_nothing() -> None:
    library = Library()
    await get("replays/g?cursor=1;cursor=2", library.answer)
    assert library.asked == [ReplayGet("g", "1;cursor=2")]


async def test_no_page_takes_a_token() -> None:
    """One in an address would be in every log between here and its owner."""
    taken = {name for route in _ROUTES.values() for name in (*route.segments, *route.keys)}
    assert taken == {"challenge", "board", "kind", "limit", "cursor", "date", "game", "handle"}
    assert "hello" not in {route.request for route in _ROUTES.values()}


# -- Refusals --------------------------------------------------------------------------------------

SLOW = Error(ErrorCode.RATE_LIMITED, "slow down", {"key": "requests"}, 2001)
STORAGE = "the database did not answer: send the request again, it will tell"
REFUSALS: dict[str, tuple[Error, int, str | None]] = {
    "not-found": (Error(ErrorCode.NOT_FOUND, "no such game", {}), 404, None),
    "bad-cursor": (Error(ErrorCode.BAD_CURSOR, "no cursor", {}), 400, None),
    "bad-request": (Error(ErrorCode.BAD_REQUEST, "no", {"field": "x", "why": "no"}), 400, None),
    "not-yet": (Error(ErrorCode.NOT_YET, "later", {}), 403, None),
    "challenge-not-open": (Error(ErrorCode.CHALLENGE_NOT_OPEN, "later", {}), 403, None),
    "rate-limited": (SLOW, 429, "3"),
    "rate-limited by whole seconds": (
        Error(ErrorCode.RATE_LIMITED, "slow", {"key": "k"}, 2000),
        429,
        "2",
    ),
    "rate-limited for an instant": (
        Error(ErrorCode.RATE_LIMITED, "slow", {"key": "k"}, 1),
        429,
        "1",
    ),
    "internal": (Error(ErrorCode.INTERNAL, "no database", {}, 5000), 503, "5"),
    "internal for a time unknown": (Error(ErrorCode.INTERNAL, "no", {}), 503, "1"),
}


@pytest.mark.parametrize("target", ["daily", BOARD, f"{BOARD}.csv", "replays/g", "players/a"])
@pytest.mark.parametrize(("error", "status", "retry"), REFUSALS.values(), ids=REFUSALS.keys())
async def test_a_refusal_has_its_status_and_says_what_the_wire_says(
    target: str, error: Error, status: int, retry: str | None
) -> None:
    async def refuse(message: RequestBody) -> ReplyBody:
        raise StorageError

    answer = await get(target, refuse, errors=lambda raised: error)
    assert answer.status == status
    assert answer.headers.get("Retry-After") == retry
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert body(answer) == {
        "code": error.code.value,
        "message": error.message,
        "context": error.context,
    }


async def test_the_servers_own_refusals_are_known() -> None:
    raised: list[tuple[Exception, int]] = [
        (NoSuchGame("no game"), 404),
        (NoSuchPlayer("no player"), 404),
        (StorageError(), 503),
        (Refused(ErrorCode.NOT_YET, "later"), 403),
    ]
    for error, status in raised:
        assert (await get("replays/g", raising(error))).status == status


async def test_fields_are_named_without_the_frame_around_them() -> None:
    why = {"field": "d.date", "why": "d.o.a. is no day"}
    refused = Refused(ErrorCode.BAD_REQUEST, "d.date: d.o.a. is no day", why)
    answer = await get("daily/2026-02-30", raising(refused))
    assert body(answer)["message"] == "date: d.o.a. is no day"
    assert body(answer)["context"] == {"field": "date", "why": "d.o.a. is no day"}


@pytest.mark.parametrize("crash", [ZeroDivisionError(), BadMove("9z")])
async def test_a_mistake_of_the_servers_is_passed_on(crash: Exception) -> None:
    with pytest.raises(type(crash)):
        await get("daily", raising(crash))


def raising(error: Exception) -> Ask:
    async def answer(message: RequestBody) -> ReplyBody:
        raise error

    return answer


# -- Whatever is sent ------------------------------------------------------------------------------

WORDS = ["daily", "boards", "replays", "players", "first", "human", "human.csv", "2026-12-01"]
SEGMENTS = st.sampled_from([*WORDS, CHALLENGE, "%00", "%", "..", ""]) | st.text(max_size=12)
KEYS = st.sampled_from(["limit", "cursor", "around", "li%6Dit", "", "%"]) | st.text(max_size=4)
VALUES = st.sampled_from(["1", "100", "101", "", "%2", "after/0", "%FF"]) | st.text(max_size=12)
PAIRS = st.tuples(KEYS, st.sampled_from(["=", "", "=="]), VALUES).map("".join)


@given(
    st.lists(SEGMENTS, max_size=5).map("/".join),
    st.lists(PAIRS, max_size=3).map("&".join),
    st.sampled_from(["/api/v1/", "/api/v1", "/", ""]),
)
async def test_nothing_but_documented_statuses_is_answered(
    path: str, query: str, prefix: str
) -> None:
    api = Api(answer=Library().answer, error_of=error_of, clock=ManualClock(now=CLOSED))
    answer = await api.get(prefix + path, query)
    assert answer.status in (200, 400, 404)
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    lines = "".join(f"{name}: {value}" for name, value in answer.headers.items())
    assert lines.isascii()
    assert lines.isprintable()
    if answer.status != 200:
        assert body(answer).keys() == {"code", "message", "context"}
        assert answer.headers["Cache-Control"] == "no-store"


BOARD_WORDS: st.SearchStrategy[Board] = st.sampled_from(["first", "moves"])


@given(
    st.text(min_size=1, max_size=70),
    BOARD_WORDS | st.text(min_size=1, max_size=7),
    st.none() | st.integers(0, 2**53),
    st.none() | st.text(max_size=260),
)
async def test_a_query_is_held_to_the_rules_of_the_wire(
    named: str, board: str, limit: int | None, cursor: str | None
) -> None:
    said = {"challenge": named, "board": board, "kind": "bot", "limit": limit, "cursor": cursor}
    frame = msgspec.json.encode({"t": "board.get", "id": 1, "d": said})
    pairs = {"limit": limit, "cursor": cursor}
    query = "&".join(
        f"{key}={quote(str(value), safe='')}" for key, value in pairs.items() if value is not None
    )
    target = f"boards/{quote(named, safe='')}/{quote(board, safe='')}/bot?{query}"
    library = Library([])
    answer = await get(target, library.answer)
    try:
        asked, why = [decode_request(Encoding.JSON, frame).body], None
    except ProtocolError as refused:
        asked, why = [], refused.message
    assert [request for request in library.asked if isinstance(request, BoardGet)] == asked
    if why is not None:
        assert answer.status == 400
        assert f"d.{body(answer)['message']}" == why
