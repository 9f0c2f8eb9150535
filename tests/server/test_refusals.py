"""How exceptions become error replies: all of them, in one place."""

import pytest

from cellmates.engine import BadMove, IllegalMove, NothingToUndo, Reason
from cellmates.protocol import CONTEXTS, ErrorCode
from server.game import BrokenGame, Conflict, GameOver
from server.games import NoSuchGame, TooManyGames
from server.journal import HandleTaken, Missing, StorageError
from server.players import BadToken, HandleInvalid, NoSuchPlayer, NotConfirmed
from server.refusals import Refused, error_of

from .world import World, started


@pytest.mark.parametrize(
    ("error", "code", "context"),
    [
        (BadMove("x"), "bad-move", {}),
        (IllegalMove(Reason.CELL_FULL, "x"), "illegal-move", {"reason": "cell-full"}),
        (
            IllegalMove(Reason.GROUP_TOO_LONG, "x", 3, 4),
            "illegal-move",
            {"reason": "group-too-long", "limit": 3, "length": 4},
        ),
        (NothingToUndo("x"), "nothing-to-undo", {}),
        (Conflict(7), "conflict", {"seq": 7}),
        (GameOver("won"), "game-over", {"status": "won"}),
        (NoSuchGame("x"), "not-found", {}),
        (NoSuchPlayer("x"), "not-found", {}),
        (Missing("x"), "not-found", {}),
        (TooManyGames("x"), "too-many-games", {}),
        (HandleTaken("x"), "handle-taken", {}),
        (HandleInvalid("x"), "handle-invalid", {"why": "x"}),
        (BadToken("x"), "bad-token", {}),
        (NotConfirmed("x"), "forbidden", {}),
        (StorageError("x"), "internal", {}),
        (Refused(ErrorCode.BAD_REQUEST, "x", {"field": "d", "why": "x"}), "bad-request", None),
    ],
)
def test_exception_has_its_code_and_context(
    error: Exception, code: str, context: dict[str, object] | None
) -> None:
    told = error_of(error)
    assert told is not None
    assert told.code == code
    assert context is None or told.context == context
    assert set(told.context) <= set(CONTEXTS.get(told.code, ()))
    assert told.message


def test_storage_that_is_away_says_when_to_come_again() -> None:
    told = error_of(StorageError("secret details of a driver"))
    assert told is not None
    assert told.retry_after_ms == 1000
    assert "secret" not in told.message


@pytest.mark.parametrize("error", [ZeroDivisionError(), KeyError("x"), BrokenGame("x")])
def test_mistake_of_the_servers_is_no_answer(error: Exception) -> None:
    assert error_of(error) is None


@pytest.mark.asyncio
async def test_taken_seq_that_is_not_there_is_the_servers_mistake(
    caplog: pytest.LogCaptureFixture,
) -> None:
    world = World()
    caller, view = await started(world)
    world.journal.seq_is_taken = True
    error = await caller.error("game.move", game=view["game"], seq=1, move="6a")
    assert error["code"] == "internal"
    assert "is taken, and not there" in caplog.text
    world.journal.seq_is_taken = False
    await caller.ok("game.move", game=view["game"], seq=1, move="6a")
