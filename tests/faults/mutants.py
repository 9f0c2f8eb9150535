"""Servers that lack a safeguard. A harness that does not find them out shows nothing.

``early-ack`` answers before the commit; ``no-repeat-check`` takes an action that is sent again for
a new one; ``no-fencing`` lets whoever claims a number last have it.
"""

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Literal
from unittest.mock import patch

from sqlalchemy.dialects.postgresql import insert  # SQLite's grammar has the same clause

from cellmates.engine import Action
from server.game import LiveGame
from server.store import statements, writer
from server.store.tables import entry
from server.store.writer import Writer


@contextmanager
def early_ack() -> Iterator[None]:
    """The write goes on behind the answer."""
    write = Writer.write
    going_on: set[asyncio.Task[None]] = set()

    async def answered_at_once(writer: Writer, kind: Any, *rest: Any) -> None:  # noqa: ANN401
        if kind is not statements.APPEND:
            await write(writer, kind, *rest)
            return
        task = asyncio.ensure_future(write(writer, kind, *rest))
        going_on.add(task)
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        task.add_done_callback(going_on.discard)

    with patch.object(Writer, "write", answered_at_once):
        yield


@contextmanager
def no_repeat_check() -> Iterator[None]:
    """An action is made whatever number it claims."""
    decide = LiveGame.decide

    def decided(game: LiveGame, action: Action, seq: int, at_ms: int) -> Any:  # noqa: ANN401
        return decide(game, action, game.seq + 1 if 0 < seq <= game.seq else seq, at_ms)

    with patch.object(LiveGame, "decide", decided):
        yield


@contextmanager
def no_fencing() -> Iterator[None]:
    """The last to claim a number writes over what was there."""
    plain = insert(entry)
    over = plain.on_conflict_do_update(
        index_elements=[entry.c.game, entry.c.seq],
        set_={name: plain.excluded[name] for name in ("action", "at_ms", "hash")},
    )
    _, *rest = statements.APPEND.statements
    kind = type(statements.APPEND)(statements.APPEND.order, (over, *rest))
    with patch.object(statements, "APPEND", kind):
        yield


MUTANTS: dict[str, Callable[[], AbstractContextManager[None]]] = {
    "early-ack": early_ack,
    "no-repeat-check": no_repeat_check,
    "no-fencing": no_fencing,
}


# -- Inside a process of its own -------------------------------------------------------------------

Moment = Literal["before", "after"]


@contextmanager
def dying(moment: Moment, commits: int) -> Iterator[None]:
    """The process is killed just before a commit of its writer, or just after it.

    After it nobody has been told yet; before it all rows are written, and none is there.
    """
    transact, execute = Writer._transact, writer._together
    begun = done = 0

    async def executed(*what: Any) -> None:  # noqa: ANN401
        nonlocal begun
        await execute(*what)
        begun += 1
        if moment == "before" and begun >= commits:
            os.kill(os.getpid(), signal.SIGKILL)

    async def transacted(*what: Any, **how: Any) -> Any:  # noqa: ANN401
        nonlocal done
        refused = await transact(*what, **how)
        done += 1
        if moment == "after" and done >= commits:
            os.kill(os.getpid(), signal.SIGKILL)
        return refused

    with (
        patch.object(writer, "_together", executed),
        patch.object(Writer, "_transact", transacted),
    ):
        yield


@dataclass(frozen=True)
class Inside:
    """What a server process is to be like: it goes to its process by name, and is entered there."""

    mutant: str | None = None
    dies: Moment | None = None
    commits: int = 0

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """A server that runs in here is that."""
        with ExitStack() as ways:
            if self.mutant is not None:
                ways.enter_context(MUTANTS[self.mutant]())
            if self.dies is not None:
                ways.enter_context(dying(self.dies, self.commits))
            yield
