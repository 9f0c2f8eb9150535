"""Processes for peers, so that what the peers cost is not counted as the server's."""

import asyncio
import multiprocessing
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from multiprocessing.connection import Connection
from typing import Any

import uvloop

# The one that servers come from too; what is imported there is there already.
_PROCESSES = multiprocessing.get_context("forkserver")
_ENDED_S = 30.0


class Line:
    """One end of what two processes tell each other: anything that can be pickled."""

    def __init__(self, end: Connection) -> None:
        self._end = end

    def say(self, what: object) -> None:
        self._end.send(what)

    async def hear(self) -> Any:  # noqa: ANN401
        """What the other end says next.

        Raises:
            EOFError: the other process has ended.
        """
        return await asyncio.to_thread(self._end.recv)


Work = Callable[..., Coroutine[Any, Any, None]]


@asynccontextmanager
async def apart(work: Work, *arguments: object) -> AsyncIterator[Line]:
    """A process that does this work, which is called with a line to here and these arguments.

    Work and arguments are pickled. The work should be at its end when the block is left; where the
    block fails, it is broken off.
    """
    here, there = _PROCESSES.Pipe()
    process = _PROCESSES.Process(target=_run, args=(work, there, arguments), daemon=True)
    await asyncio.to_thread(process.start)
    there.close()
    try:
        yield Line(here)
        await asyncio.to_thread(process.join, _ENDED_S)
    finally:
        process.kill()
        await asyncio.to_thread(process.join)
        here.close()


def _run(work: Work, end: Connection, arguments: tuple[object, ...]) -> None:
    uvloop.run(work(Line(end), *arguments))
