"""An event loop in which no time is lost: where it would wait, its clock goes on instead.

What runs in it is the same every time, if nothing in it asks for the time, for chance or for a
thread elsewhere.
"""

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from contextvars import Context, ContextVar
from typing import Any, TypeVar

T = TypeVar("T")

OWNER: ContextVar[str] = ContextVar("owner", default="")
"""Who a task belongs to: tasks that it starts are the owner's too."""


class Stuck(Exception):
    """Everybody waits, and nothing will ever happen."""


class _Selector(selectors.SelectSelector):
    """Tells of no sockets, and lets time pass instead of waiting for them."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise Stuck
        self.now += max(0.0, timeout)
        return []


class VirtualLoop(asyncio.SelectorEventLoop):
    """Its time begins at 0, in seconds."""

    def __init__(self) -> None:
        self._virtual = _Selector()
        super().__init__(self._virtual)
        self._owned: dict[str, dict[asyncio.Task[Any], None]] = {}  # in the order they were made
        self.set_task_factory(self._new_task)  # type: ignore[arg-type]

    def time(self) -> float:
        """Seconds since the loop was made."""
        return self._virtual.now

    def cancel_all(self, owner: str) -> list[asyncio.Task[Any]]:
        """Cancel the tasks of an owner, in the order in which they were made."""
        tasks = [*self._owned.pop(owner, ())]
        for task in tasks:
            task.cancel()
        return tasks

    def _new_task(
        self,
        loop: asyncio.AbstractEventLoop,
        coroutine: Coroutine[Any, Any, T],
        context: Context | None = None,
    ) -> asyncio.Task[T]:
        task = asyncio.Task(coroutine, loop=loop, context=context)
        owned = self._owned.setdefault(context.get(OWNER, "") if context else OWNER.get(), {})
        owned[task] = None
        task.add_done_callback(lambda task: owned.pop(task, None))
        return task


def run(main: Callable[[VirtualLoop], Coroutine[Any, Any, T]]) -> T:
    """Run what ``main`` makes in a loop of its own, to its end; what goes on then is cancelled.

    Raises:
        Stuck: it waits for something that will never happen.
    """
    loop = VirtualLoop()
    asyncio.set_event_loop(loop)
    try:
        return loop.run_until_complete(main(loop))
    finally:
        rest = asyncio.all_tasks(loop)
        for task in rest:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*rest, return_exceptions=True))
        asyncio.set_event_loop(None)
        loop.close()
