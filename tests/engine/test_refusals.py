import pickle

import pytest

from cellmates.engine import BadBoard, BadDeal, BadMove, IllegalMove, NothingToUndo, Reason


@pytest.mark.parametrize(
    "error",
    [
        BadMove("no move"),
        IllegalMove(Reason.GROUP_TOO_LONG, "too many", 3, 4),
        NothingToUndo("nothing"),
        BadDeal("no deal"),
        BadBoard(7, "no board"),
    ],
)
def test_refusals_travel_between_processes(error: Exception) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert vars(again) == vars(error)
