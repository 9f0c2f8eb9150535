"""How fast a link lets requests go."""

import pytest

from client.connection import Encoding, Frame
from client.link import Link
from client.results import Limits


class NoSocket:
    async def send(self, frame: Frame) -> None:
        raise AssertionError(frame)

    async def receive(self) -> Frame:
        raise AssertionError

    async def close(self, code: int) -> None:
        raise AssertionError(code)


@pytest.mark.parametrize(
    ("told", "waits"),
    [
        ({"moves_burst": 100, "moves_per_s": 1_000}, [0.0, 0.0, 0.0, 0.0]),
        ({"moves_burst": 1, "moves_per_s": 10}, [0.0, 0.1, 0.2, 0.3]),
        ({}, [1.0, 2.0, 3.0, 4.0]),
    ],
)
def test_moves_are_counted_by_themselves_where_the_greeting_says_so(
    told: dict[str, int], waits: list[float]
) -> None:
    link = Link(NoSocket(), Encoding.JSON, None, hear=lambda _: None, over=lambda: None)
    link.limit(Limits(4096, 1, 1, 20, **told), 0.0)
    moves = ["game.move", "game.undo", "game.resign", "game.move"]
    assert [link.wait_s(move, 0.0) for move in moves] == pytest.approx(waits)
    others = 1.0 if told else 5.0  # the greeting was a request too
    assert link.wait_s("ping", 0.0) == pytest.approx(others)
