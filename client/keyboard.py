"""Lines of standard input while other things go on: from a terminal, a pipe or a file."""

import asyncio
import codecs
import os
import sys
from types import TracebackType
from typing import Self

_AT_ONCE = 65536


class Keyboard:
    """Standard input, line by line; ``is_interactive`` where somebody types them."""

    def __init__(self) -> None:
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._begun = ""
        self._watched: int | None = None
        self.is_interactive = sys.stdin is not None and sys.stdin.isatty()

    async def __aenter__(self) -> Self:
        try:
            number = sys.stdin.fileno()
            asyncio.get_running_loop().add_reader(number, self._readable, number)
            self._watched = number
        except (AttributeError, OSError, ValueError):
            # A file, in memory, closed or none at all: nothing to wait for.
            self._take(_all_at_once())
            self._end()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._unwatch()

    async def line(self) -> str | None:
        """The next line, without its end; None when there are no more."""
        line = await self._lines.get()
        if line is None:
            self._lines.put_nowait(None)
        return line

    def _readable(self, number: int) -> None:
        try:
            read = os.read(number, _AT_ONCE)
        except OSError:  # the terminal is gone
            read = b""
        self._take(self._decode(read, not read))
        if not read:
            self._end()

    def _take(self, text: str) -> None:
        *lines, self._begun = (self._begun + text).split("\n")
        for line in lines:
            self._lines.put_nowait(line)

    def _end(self) -> None:
        self._unwatch()
        if self._begun:
            self._lines.put_nowait(self._begun)
        self._lines.put_nowait(None)

    def _unwatch(self) -> None:
        if self._watched is not None:
            asyncio.get_running_loop().remove_reader(self._watched)
            self._watched = None


def _all_at_once() -> str:
    try:
        return sys.stdin.read()
    except (AttributeError, OSError, ValueError):
        return ""
