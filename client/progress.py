"""A line on the terminal that says how far something is, and is wiped when that is over."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_WIDTH = 40


@contextmanager
def progress() -> Iterator[Callable[[str], None] | None]:
    """What writes over that line, as long as this lasts; None where nobody looks."""
    if not sys.stderr.isatty():
        yield None
        return
    try:
        yield _say
    finally:
        _say("")


def _say(text: str) -> None:
    """Write over the last line of a terminal."""
    print(f"\r{text[:_WIDTH]:<{_WIDTH}}", end="\r", file=sys.stderr, flush=True)
