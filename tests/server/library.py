"""An API over a library of one board, a few challenges and a replay, that says what was asked."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from cellmates.protocol import (
    BoardGet,
    BoardPage,
    BoardRow,
    Challenge,
    DailyChallenges,
    DailyList,
    ErrorCode,
    Player,
    PlayerGet,
    PlayerShown,
    Proof,
    Replay,
    ReplayGet,
    ReplayHeader,
    ReplayResult,
    ReplyBody,
    RequestBody,
    WireEntry,
)
from server.api import Answer, Api
from server.refusals import Error, Refused, error_of

from .memory import ManualClock

OPENS = 1_796_083_200_000  # 2026-12-01
DAY_MS = 86_400_000
CHALLENGE = "2026-12-01-freecell"
BOARD = f"boards/{CHALLENGE}/first/human"
CLOSED = OPENS + DAY_MS

Ask = Callable[[RequestBody], Awaitable[ReplyBody]]


def row(number: int, handle: str = "anna") -> BoardRow:
    return BoardRow(number, handle, 52, True, 60_000 + number, 90, 0, f"game-{number}")


def challenge(ruleset: str = "freecell", *, told: bool = False) -> Challenge:
    public: dict[str, Any] = {"deal": "AC", "proof": Proof("00", 0, ["1h"]), "par": 80}
    return Challenge(
        challenge=f"2026-12-01-{ruleset}",
        ruleset=ruleset,
        ruleset_version=1,
        opens=OPENS,
        closes=OPENS + DAY_MS,
        commitment="c0",
        planner="solver-1/1",
        previous=None,
        attempt=None,
        **(public if told else {}),
    )


@dataclass
class Library:
    """Who answers: rows of one board, the challenges of a day, and a list of what was asked."""

    rows: list[BoardRow] = field(default_factory=lambda: [row(1)])
    challenges: list[Challenge] = field(default_factory=lambda: [challenge()])
    asked: list[RequestBody] = field(default_factory=list)

    async def answer(self, message: RequestBody) -> ReplyBody:
        self.asked.append(message)
        match message:
            case DailyList():
                return DailyChallenges(self.challenges)
            case BoardGet():
                return self._page(message)
            case ReplayGet():
                return REPLAY
            case PlayerGet():
                return PLAYER
            case _:
                raise AssertionError(message)

    def _page(self, message: BoardGet) -> BoardPage:
        start = 0
        if message.cursor is not None:
            if not message.cursor.startswith("after/"):
                raise Refused(ErrorCode.BAD_CURSOR, "this cursor is none of board.get's")
            start = int(message.cursor.removeprefix("after/"))
        end = start + (message.limit or 50)
        after = f"after/{end}" if end < len(self.rows) else None
        return BoardPage(self.rows[start:end], len(self.rows), None, after, None)


PLAYER = PlayerShown(Player("p1", "anna", "human"), {})
REPLAY = Replay(
    ReplayHeader("freecell", 1, "#1", "safe", None, OPENS, CHALLENGE, 1),
    [WireEntry(1, "1h", 500, "h1")],
    None,
    ReplayResult("won", 52, 52, 90, 0, 60_000, "h1", 1),
)


async def get(
    target: str,
    answer: Ask | None = None,
    *,
    now: int = OPENS + 1,
    errors: Callable[[Exception], Error | None] = error_of,
) -> Answer:
    """Page for a target under the prefix."""
    path, _, query = f"/api/v1/{target}".partition("?")
    api = Api(answer=answer or Library().answer, error_of=errors, clock=ManualClock(now=now))
    return await api.get(path, query)


def body(answer: Answer) -> Any:  # noqa: ANN401 - JSON
    return json.loads(answer.body)
