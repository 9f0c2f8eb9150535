"""The boards of a challenge in memory: who stands where, and pages of that. No I/O.

What counts, and what is before what, `cellmates.daily` says. A row is one integer in a sorted list,
so that a rank is found by halving, and a million rows are nothing that garbage collection walks.
"""

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256

from sortedcontainers import SortedList

from cellmates.daily import BOARDS, FIRST, MOVES, Figures, counts, order_of
from cellmates.engine import PACK

from .records import Run

KINDS = ("human", "bot")

_NUMBER_BITS = 64
_FORWARDS, _BACK = b">", b"<"
_MARK_BYTES = 4


class BadCursor(Exception):
    """The cursor is none of this board's."""


@dataclass(frozen=True, slots=True)
class Row:
    """A run, and its rank: that of the first of those whose order is the same."""

    rank: int
    run: Run


@dataclass(frozen=True, slots=True)
class Page:
    """Rows that follow each other, how many the board has, and somebody's own row wherever it is.

    ``next`` is the cursor of the rows behind these, ``prev`` of those before; None where there are
    none.
    """

    rows: tuple[Row, ...]
    total: int
    me: Row | None
    next: str | None
    prev: str | None


# -- Rows as integers ------------------------------------------------------------------------------


class _Packing:
    """How a board's row becomes an integer: order, number, what else is told, and whose it is.

    Fields stand one behind the other, most significant first, so that less as an integer is less
    as a tuple. Order and number together are the row's position, which says where it stands to
    every process alike; the player's place is this process's own.
    """

    def __init__(self, order: str, rest: str, others: Callable[[Figures], Sequence[int]]) -> None:
        """``order`` and ``rest`` are letters of `struct`; ``others`` gives what is in ``rest``."""
        self._row = struct.Struct(f">{order}Q{rest}I")
        self._most = tuple(
            256 ** struct.Struct(f">{letter}").size - 1 for letter in f"{order}Q{rest}I"
        )
        self._others = others
        self.fields_in_order = len(order)
        self.position_bytes = struct.Struct(f">{order}Q").size
        self._bits_behind = 8 * (self._row.size - self.position_bytes)

    def pack(self, order: Sequence[int], run: Run, place: int) -> int:
        """Row of a run; a figure that its field cannot hold is taken for the nearest that it can.

        Those are 255 cards, 2**32 moves, undos, attempts or players, and 2**64 of anything else.
        """
        fields = (*order, run.number, *self._others(run.figures), place)
        try:
            packed = self._row.pack(*fields)
        except struct.error:
            held = zip(fields, self._most, strict=True)
            packed = self._row.pack(*(max(0, min(field, most)) for field, most in held))
        return int.from_bytes(packed, "big")

    def unpack(self, row: int) -> tuple[int, ...]:
        """Fields of a row."""
        return self._row.unpack(row.to_bytes(self._row.size, "big"))

    def position(self, row: int) -> int:
        """Order and number of a row."""
        return row >> self._bits_behind

    def order(self, row: int) -> int:
        """Order of a row alone."""
        return row >> self._bits_behind + _NUMBER_BITS

    def first_at(self, position: int) -> int:
        """Least row that could stand at a position."""
        return position << self._bits_behind

    def first_of(self, order: int) -> int:
        """Least row that could have an order."""
        return order << _NUMBER_BITS + self._bits_behind


# An attempt takes at most thirty hours, some 2**27 ms, in which nobody makes 2**32 moves.
_PACKINGS = {
    FIRST: _Packing("BQII", "Q", lambda figures: (figures.ended,)),
    MOVES: _Packing("IQ", "QII", lambda run: (run.ended, run.undos, run.attempt)),
}


def _figures_on_first(fields: tuple[int, ...]) -> Figures:
    missing, elapsed_ms, moves, undos, _, ended, _ = fields
    return Figures(len(PACK) - missing, elapsed_ms, moves, undos, 1, ended)


def _figures_on_moves(fields: tuple[int, ...]) -> Figures:
    moves, elapsed_ms, _, ended, undos, attempt, _ = fields
    return Figures(len(PACK), elapsed_ms, moves, undos, attempt, ended)


_FIGURES = {FIRST: _figures_on_first, MOVES: _figures_on_moves}


# -- Boards ----------------------------------------------------------------------------------------


class _Standing:
    """A board, for people and for bots: their rows in order, and each player's row and game.

    Players are their places: 0, 1, 2 … in the order in which they came.
    """

    def __init__(self, board: str) -> None:
        self.packing = _PACKINGS[board]
        self.figures = _FIGURES[board]
        self.rows: dict[str, SortedList[int]] = {kind: SortedList() for kind in KINDS}
        self.row_of: list[int | None] = []
        self.game_of: list[str] = []

    def make_room(self) -> None:
        """One more player may come to have a row."""
        self.row_of.append(None)
        self.game_of.append("")

    def put(self, kind: str, place: int, row: int, game: str) -> bool:
        """Whether a row is now its player's: it is the first, or better than the one before."""
        held = self.row_of[place]
        if held is not None:
            if held <= row:
                return False
            self.rows[kind].remove(held)
        self.rows[kind].add(row)
        self.row_of[place] = row
        self.game_of[place] = game
        return True


class Boards:
    """The boards of one challenge: of first attempts and of fewest moves, people and bots apart.

    Runs may be added in any order and any number of times: the boards are the same.
    """

    def __init__(self, challenge: str, closes: int) -> None:
        """``closes`` is when the challenge closes, in ms since the epoch."""
        self._challenge = challenge
        self._closes = closes
        self._standings = {board: _Standing(board) for board in BOARDS}
        self._places: dict[str, int] = {}
        self._players: list[str] = []
        self._handles: list[str | None] = []
        self._kinds = bytearray()

    @property
    def rows(self) -> int:
        """Number of rows on all boards together."""
        return sum(
            len(rows) for standing in self._standings.values() for rows in standing.rows.values()
        )

    def add(self, run: Run) -> frozenset[tuple[str, str]]:
        """Put a run on the boards where it counts; board and kind of those that are others now.

        A player has one row on a board, the best run. The handle is taken from a player's first
        run; after that `rename` sets it.
        """
        boards = [board for board in BOARDS if counts(board, run.figures, self._closes)]
        if not boards:
            return frozenset()
        place = self._place_of(run)
        kind = KINDS[self._kinds[place]]
        return frozenset((board, kind) for board in boards if self._put(board, kind, place, run))

    def rename(self, player: str, handle: str | None) -> bool:
        """Give a player another handle, None to one who is deleted; whether that is a change."""
        place = self._places.get(player)
        if place is None or self._handles[place] == handle:
            return False
        self._handles[place] = handle
        return True

    def top(self, board: str, kind: str, limit: int) -> Page:
        """First rows of a board."""
        return self.page(board, kind, limit=limit)

    def page(
        self,
        board: str,
        kind: str,
        *,
        limit: int,
        cursor: str | None = None,
        around: str | None = None,
        me: str | None = None,
    ) -> Page:
        """Rows at a cursor, else around a player, else the first; at most ``limit``, at least 1.

        ``around`` and ``me`` are players' ids. A player who has no row is nowhere: there the page
        is the first. A cursor stays right while rows come and go.

        Raises:
            BadCursor: the cursor is none of this board's.
        """
        standing = self._standings[board]
        rows = standing.rows[kind]
        if cursor is not None:
            low, high = self._span_at(board, kind, cursor, limit)
        else:
            held = self._row_of(standing, kind, around)
            middle = 0 if held is None else rows.bisect_left(held) - limit // 2
            low = max(0, min(middle, len(rows) - limit))
            high = min(low + limit, len(rows))
        return Page(
            rows=self._shown(standing, kind, low, high),
            total=len(rows),
            me=self._own_row(standing, kind, me),
            next=self._next(board, kind, high),
            prev=self._prev(board, kind, low),
        )

    # -- Players and rows --------------------------------------------------------------------------

    def _place_of(self, run: Run) -> int:
        place = self._places.get(run.player)
        if place is None:
            place = self._places[run.player] = len(self._players)
            self._players.append(run.player)
            self._handles.append(run.handle)
            self._kinds.append(KINDS.index(run.kind))
            for standing in self._standings.values():
                standing.make_room()
        return place

    def _put(self, board: str, kind: str, place: int, run: Run) -> bool:
        standing = self._standings[board]
        row = standing.packing.pack(order_of(board, run.figures), run, place)
        return standing.put(kind, place, row, run.game)

    def _row_of(self, standing: _Standing, kind: str, player: str | None) -> int | None:
        place = None if player is None else self._places.get(player)
        if place is None or KINDS[self._kinds[place]] != kind:
            return None
        return standing.row_of[place]

    def _own_row(self, standing: _Standing, kind: str, player: str | None) -> Row | None:
        row = self._row_of(standing, kind, player)
        if row is None:
            return None
        return Row(_rank(standing, kind, row), self._run(standing, row))

    def _shown(self, standing: _Standing, kind: str, low: int, high: int) -> tuple[Row, ...]:
        shown: list[Row] = []
        rank, order = 0, -1
        for at, row in enumerate(standing.rows[kind].islice(low, high), low):
            if standing.packing.order(row) != order:
                order = standing.packing.order(row)
                # Those before the first of a page may have the same order.
                rank = at + 1 if shown else _rank(standing, kind, row)
            shown.append(Row(rank, self._run(standing, row)))
        return tuple(shown)

    def _run(self, standing: _Standing, row: int) -> Run:
        fields = standing.packing.unpack(row)
        place = fields[-1]
        return Run(
            number=fields[standing.packing.fields_in_order],
            game=standing.game_of[place],
            challenge=self._challenge,
            player=self._players[place],
            kind=KINDS[self._kinds[place]],
            handle=self._handles[place],
            figures=standing.figures(fields),
        )

    # -- Cursors -----------------------------------------------------------------------------------
    # A cursor is a position, whether or not a row is there, and what it cuts off: the rows from
    # there on, or those before. With them goes a mark of the board it was made for.

    def _next(self, board: str, kind: str, high: int) -> str | None:
        standing = self._standings[board]
        rows = standing.rows[kind]
        if high == len(rows):
            return None
        position = standing.packing.position(rows[high - 1]) + 1 if high else 0
        return self._cursor(board, kind, _FORWARDS, position)

    def _prev(self, board: str, kind: str, low: int) -> str | None:
        standing = self._standings[board]
        rows = standing.rows[kind]
        if low == 0:
            return None
        if low < len(rows):
            position = standing.packing.position(rows[low])
        else:
            position = standing.packing.position(rows[-1]) + 1
        return self._cursor(board, kind, _BACK, position)

    def _cursor(self, board: str, kind: str, direction: bytes, position: int) -> str:
        size = self._standings[board].packing.position_bytes
        return (direction + self._mark(board, kind) + position.to_bytes(size, "big")).hex()

    def _span_at(self, board: str, kind: str, cursor: str, limit: int) -> tuple[int, int]:
        standing = self._standings[board]
        rows = standing.rows[kind]
        for direction in (_FORWARDS, _BACK):
            start = (direction + self._mark(board, kind)).hex()
            if cursor.startswith(start):
                position = _position(cursor[len(start) :], standing.packing.position_bytes)
                at = rows.bisect_left(standing.packing.first_at(position))
                if direction == _BACK:
                    return max(0, at - limit), at
                return at, min(at + limit, len(rows))
        raise BadCursor("this cursor is none of this board's")

    def _mark(self, board: str, kind: str) -> bytes:
        return sha256(f"{self._challenge}/{board}/{kind}".encode()).digest()[:_MARK_BYTES]


def _rank(standing: _Standing, kind: str, row: int) -> int:
    first = standing.packing.first_of(standing.packing.order(row))
    return standing.rows[kind].bisect_left(first) + 1


def _position(text: str, size: int) -> int:
    try:
        told = bytes.fromhex(text)
    except ValueError:
        told = b""
    # Other spellings of the same bytes are none of ours.
    if len(told) != size or told.hex() != text:
        raise BadCursor("this cursor is damaged")
    return int.from_bytes(told, "big")
