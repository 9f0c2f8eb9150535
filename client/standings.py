"""A day's challenges and the boards, as tables for people. No I/O."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rich.console import Group
from rich.table import Table
from rich.text import Text

from .picture import counted, printable, time_text
from .results import BoardPage, BoardRow, Challenge

_COMMITMENT_SHOWN = 12
_MINE = "bold"
_GAP = "..."


@dataclass(frozen=True, slots=True)
class Which:
    """A board: ``first`` or ``moves`` of a challenge, for ``human`` or ``bot``."""

    challenge: str
    board: str
    kind: str


def standings(which: Which, page: BoardPage) -> Group:
    """A page of a board; my own row is marked, and there even when it is not on the page."""
    title = f"{which.challenge}, {which.board}, {which.kind}: {counted(page.total, 'run')}"
    table = _table("", ">rank", "handle", "result", ">time", ">moves", ">undos")
    for row in _with_mine(page):
        if row is None:
            table.add_row("", *[_GAP] * 6)
        else:
            is_mine = row == page.me
            table.add_row(">" if is_mine else "", *_cells(row), style=_MINE if is_mine else None)
    return Group(Text(printable(title)), table)


def result_of(row: BoardRow) -> str:
    """Result of a run: ``won``, or how many cards it brought home."""
    return "won" if row.won else f"{row.home} home"


def day_table(challenges: Iterable[Challenge], now: int) -> Table:
    """The challenges of a day; ``now`` is the server's time, milliseconds since the epoch."""
    table = _table("challenge", "attempt", ">time left", ">par", "commitment")
    for challenge in challenges:
        par = "-" if challenge.par is None else str(challenge.par)
        attempt = "-" if challenge.attempt is None else challenge.attempt.status
        table.add_row(
            printable(challenge.challenge),
            printable(attempt),
            _time_left(challenge, now),
            par,
            printable(challenge.commitment[:_COMMITMENT_SHOWN]),
        )
    return table


def _with_mine(page: BoardPage) -> Iterator[BoardRow | None]:
    """Rows in order, mine among them; None where rows are left out before or after mine."""
    me = page.me
    is_missing = me is not None and me not in page.rows
    is_before = me is not None and bool(page.rows) and me.rank < page.rows[0].rank
    if is_missing and is_before:
        yield from (me, None)
    yield from page.rows
    if is_missing and not is_before:
        yield from (None, me)


def _cells(row: BoardRow) -> list[str]:
    return [
        str(row.rank),
        printable(row.handle),
        result_of(row),
        time_text(row.elapsed_ms),
        str(row.moves),
        str(row.undos),
    ]


def _time_left(challenge: Challenge, now: int) -> str:
    if now >= challenge.closes:
        return "closed"
    if now < challenge.opens:
        return f"opens in {time_text(challenge.opens - now)}"
    return time_text(challenge.closes - now)


def _table(*names: str) -> Table:
    """Table without lines; a name that begins with ``>`` is of a column of figures."""
    table = Table(box=None)
    for name in names:
        table.add_column(name.removeprefix(">"), justify="right" if name[:1] == ">" else "left")
    return table
