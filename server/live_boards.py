"""Boards of this process: views in memory that follow what any process has recorded. No SQL.

A challenge's boards are read whole when they are first asked for; from then on all boards tail the
runs by number. Nothing is decided here: what leaves memory is read again when it is asked for.
"""

import asyncio
import logging
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .background import Outage, Sleep
from .boards import Boards, Page
from .clock import Clock
from .journal import Journal, StorageError
from .records import ChallengeRecord, Run

TOP = 10
MOST = 64  # a million runs take half a gigabyte, a thousand half a megabyte
LOOK_S = 0.5
TELL_MS = 1_000
# No commit takes so long, and no clock of another process is so wrong.
WAIT_MS = 60_000
# Below a number that is there, this many may be those of runs that are still being committed.
MOST_GAPS = 5_000

_LOAD_ROWS = 500  # to read so many holds up others for some 8 ms
_TAIL_ROWS = 500
_ROWS_AT_ONCE = 200  # some 3 ms; then others have their turn

_log = logging.getLogger(__name__)

BoardKey = tuple[str, str, str]  # challenge, board, kind


class _Tail:
    """Which numbers of runs have been seen, and which are missing below them."""

    def __init__(self, last: int) -> None:
        """``last`` is the greatest number there is; below it commits may be under way."""
        self.seen = max(0, last - MOST_GAPS)
        self._gaps: dict[int, int] = {}

    @property
    def gaps(self) -> list[int]:
        """Numbers to ask for again, rising."""
        return list(self._gaps)

    def take(self, number: int, asked_ms: int) -> None:
        """A number is there; those that it skips are missing, and only the last of very many."""
        if number <= self.seen:
            self._gaps.pop(number, None)
            return
        skipped = range(max(self.seen + 1, number - MOST_GAPS), number)
        self._gaps.update(dict.fromkeys(skipped, asked_ms))
        self.seen = number
        if len(self._gaps) > MOST_GAPS:
            self._gaps = dict(list(self._gaps.items())[-MOST_GAPS:])

    def give_up(self, asked_ms: int) -> None:
        """Ask no longer for what had been missing for long when it was last asked for."""
        self._gaps = {
            number: since for number, since in self._gaps.items() if asked_ms - since < WAIT_MS
        }


@dataclass(slots=True)
class _Load:
    """Boards that are being read; ``boards`` is there before the first row is read.

    The task ends with them, or with why they cannot be read, which every caller raises.
    """

    task: asyncio.Task[Boards | StorageError]
    boards: Boards | None = None


@dataclass(slots=True)
class _Watch:
    """What the watchers of a board know of it, and when they were last told."""

    known: Page
    told_ms: int | None = None


class LiveBoards:
    """The boards in use, each as true as the last look at the database."""

    def __init__(
        self,
        journal: Journal,
        clock: Clock,
        changed: Callable[[str, str, str, Page], None],
        *,
        most: int = MOST,
    ) -> None:
        """``changed`` is told challenge, board and kind of a watched board, and its new top.

        ``most`` is the number of challenges that nobody watches whose boards stay in memory.
        """
        self._journal = journal
        self._clock = clock
        self._changed = changed
        self._most = most
        self._boards: OrderedDict[str, Boards] = OrderedDict()
        self._loads: dict[str, _Load] = {}
        self._watchers: Counter[BoardKey] = Counter()
        self._watches: dict[BoardKey, _Watch] = {}
        self._stale: set[BoardKey] = set()
        self._turn = asyncio.Lock()
        self._tail: _Tail | None = None
        self._renames_ms = 0
        self._recorded = 0
        self._looked = 0
        self._outage = Outage(_log, "boards cannot be read")

    @property
    def loaded(self) -> int:
        """Number of challenges whose boards are in memory."""
        return len(self._boards)

    @property
    def rows(self) -> int:
        """Number of rows on all boards in memory."""
        return sum(boards.rows for boards in self._boards.values())

    async def page(
        self,
        challenge: ChallengeRecord,
        board: str,
        kind: str,
        *,
        limit: int,
        cursor: str | None = None,
        around: str | None = None,
        me: str | None = None,
    ) -> Page:
        """Page of a board, as `Boards.page` makes it, with all that this process has recorded.

        Raises:
            BadCursor: the cursor is none of this board's.
            StorageError: the database did not answer.
        """
        wanted = self._recorded
        while True:
            boards = await self._ready(challenge)
            if self._looked >= wanted:
                return boards.page(board, kind, limit=limit, cursor=cursor, around=around, me=me)
            await self._look_for(wanted)

    async def load(self, challenge: ChallengeRecord) -> None:
        """Have a challenge's boards in memory, so that whoever watches them misses nothing.

        Raises:
            StorageError: the database did not answer.
        """
        await self._ready(challenge)

    # -- What others tell --------------------------------------------------------------------------

    def ended(self) -> None:
        """This process has recorded a run: whoever asks from now on sees it."""
        self._recorded += 1

    def renamed(self, player: str, handle: str | None) -> None:
        """A player has another handle, or with None is deleted."""
        for challenge, boards in self._all_boards():
            if boards.rename(player, handle):
                self._stale.update(key for key in self._watches if key[0] == challenge)

    def watch(self, challenge: str, board: str, kind: str) -> None:
        """One more wants to know when a board changes; it stays in memory, once it is there."""
        key = (challenge, board, kind)
        self._watchers[key] += 1
        boards = self._boards.get(challenge)
        if boards is not None and key not in self._watches:
            self._watches[key] = _Watch(boards.top(board, kind, TOP))

    def unwatch(self, challenge: str, board: str, kind: str) -> None:
        """One less does."""
        key = (challenge, board, kind)
        self._watchers[key] -= 1
        if self._watchers[key] > 0:
            return
        del self._watchers[key]
        self._watches.pop(key, None)
        self._stale.discard(key)
        if challenge in self._boards:
            self._boards.move_to_end(challenge)
        self._evict()

    # -- Following ---------------------------------------------------------------------------------

    async def follow(self, sleep: Sleep) -> None:
        """Keep all boards true and tell of watched ones, for ever."""
        while True:
            await self.look()
            await sleep(LOOK_S)

    async def look(self) -> None:
        """Look once for what has changed, and tell of it.

        A board is told of when its first rows or their number are others, once a second at most.
        While the database does not answer the boards stay as they are; the log says so once.
        """
        try:
            await self._load_watched()
            await self.catch_up()
        except StorageError as error:
            self._outage.note(error)
        self._tell()

    async def catch_up(self) -> None:
        """Look once for what has been recorded, by any process.

        Raises:
            StorageError: the database did not answer; the next look finds what this one missed.
        """
        async with self._turn:
            await self._look()

    async def _look_for(self, wanted: int) -> None:
        async with self._turn:
            if self._looked >= wanted:
                return
            await self._look()

    async def _look(self) -> None:
        if self._tail is None:
            return
        recorded = self._recorded
        await self._look_for_runs(self._tail)
        await self._look_for_handles()
        self._looked = recorded
        if not self._unloaded():
            self._outage.note(None)

    async def _look_for_runs(self, tail: _Tail) -> None:
        asked_ms = self._clock.monotonic_ms()
        while True:
            found = await self._journal.runs_since(tail.seen, tail.gaps, _TAIL_ROWS)
            for run in found:
                tail.take(run.number, asked_ms)
                self._add(run)
            if len(found) < _TAIL_ROWS:
                break
        tail.give_up(asked_ms)

    async def _look_for_handles(self) -> None:
        now_ms = self._clock.now_ms()
        handles = await self._journal.handles_since(self._renames_ms - WAIT_MS)
        for player, handle in handles.items():
            self.renamed(player, handle)
        self._renames_ms = now_ms

    def _add(self, run: Run) -> None:
        load = self._loads.get(run.challenge)
        boards = load.boards if load else self._boards.get(run.challenge)
        if boards is not None:
            changed = {(run.challenge, *which) for which in boards.add(run)}
            self._stale |= changed & self._watches.keys()

    def _tell(self) -> None:
        now_ms = self._clock.monotonic_ms()
        for key in sorted(self._stale):
            challenge, board, kind = key
            watch = self._watches[key]
            if watch.told_ms is not None and now_ms - watch.told_ms < TELL_MS:
                continue
            self._stale.discard(key)
            top = self._boards[challenge].top(board, kind, TOP)
            if top != watch.known:
                watch.known, watch.told_ms = top, now_ms
                self._changed(challenge, board, kind, top)

    # -- Loading -----------------------------------------------------------------------------------

    async def _load_watched(self) -> None:
        for challenge in self._unloaded() - self._loads.keys():
            record = await self._journal.challenge(challenge)
            if record is not None and challenge not in self._boards:
                self._load_of(record)

    def _unloaded(self) -> set[str]:
        return {challenge for challenge, _, _ in self._watchers} - self._boards.keys()

    async def _ready(self, challenge: ChallengeRecord) -> Boards:
        boards = self._boards.get(challenge.id)
        if boards is not None:
            self._boards.move_to_end(challenge.id)
            return boards
        # Callers who leave do not stop what others wait for.
        loaded = await asyncio.shield(self._load_of(challenge).task)
        if isinstance(loaded, StorageError):
            raise StorageError(str(loaded)) from loaded
        return loaded

    def _load_of(self, challenge: ChallengeRecord) -> _Load:
        load = self._loads.get(challenge.id)
        if load is None:
            task = asyncio.create_task(self._load(challenge), name=f"boards of {challenge.id}")
            load = self._loads[challenge.id] = _Load(task)
        return load

    async def _load(self, challenge: ChallengeRecord) -> Boards | StorageError:
        try:
            boards = await self._read(challenge)
        except StorageError as error:
            self._outage.note(error)
            return error
        finally:
            del self._loads[challenge.id]
        self._boards[challenge.id] = boards
        for key in self._watchers:
            if key[0] == challenge.id:
                self._watches[key] = _Watch(boards.top(*key[1:], TOP))
        self._evict()
        return boards

    async def _read(self, challenge: ChallengeRecord) -> Boards:
        """Read boards whole.

        A run that is recorded meanwhile comes by the tail: it begins, and these boards have what it
        brings, before the first row is read.
        """
        if self._tail is None:
            await self._begin_tail()
        boards = self._loads[challenge.id].boards = Boards(challenge.id, challenge.closes)
        last: Run | None = None
        while True:
            runs = await self._journal.runs(challenge.id, last, _LOAD_ROWS)
            for start in range(0, len(runs), _ROWS_AT_ONCE):
                for run in runs[start : start + _ROWS_AT_ONCE]:
                    boards.add(run)
                await asyncio.sleep(0)
            if len(runs) < _LOAD_ROWS:
                return boards
            last = runs[-1]

    async def _begin_tail(self) -> None:
        async with self._turn:
            if self._tail is not None:
                return
            self._renames_ms = self._clock.now_ms()
            self._tail = _Tail(await self._journal.last_run())

    def _evict(self) -> None:
        watched = {challenge for challenge, _, _ in self._watchers}
        idle = [challenge for challenge in self._boards if challenge not in watched]
        for challenge in idle[: max(0, len(idle) - self._most)]:
            del self._boards[challenge]

    def _all_boards(self) -> Iterator[tuple[str, Boards]]:
        yield from self._boards.items()
        for challenge, load in self._loads.items():
            if load.boards is not None:
                yield challenge, load.boards
