"""How lies are planted in a day: small changes of what a server says, everything else honest."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeAlias

from cellmates.daily import FIRST
from client.results import BoardRow, Challenge, Entry, Previous, Replay
from client.verifying_runs import Board

from .days import (
    AFTER,
    BEFORE,
    DAY,
    EIGHT_OFF,
    FREECELL,
    OPENS,
    Day,
    Seat,
    announced,
    committed,
    named,
    ranked,
    rewritten,
    row_of,
    sat,
    told,
    wandering,
    winning,
)

Lie: TypeAlias = Callable[[Day], None]

_OTHER_SEED = bytes(range(32))


# -- About a challenge -----------------------------------------------------------------------------


def says(challenge: str = EIGHT_OFF, day: str = DAY, **changes: object) -> Lie:
    """Change what is said of a challenge."""

    def plant(lie: Day) -> None:
        lie.put(challenge, replace(lie.challenge(challenge, day), **changes), day)  # type: ignore[arg-type]

    return plant


def proves(challenge: str = EIGHT_OFF, **changes: object) -> Lie:
    """Change its proof."""

    def plant(lie: Day) -> None:
        own = lie.challenge(challenge)
        assert own.proof is not None
        lie.put(challenge, replace(own, proof=replace(own.proof, **changes)))  # type: ignore[arg-type]

    return plant


def solves(change: Callable[[tuple[str, ...]], tuple[str, ...]], challenge: str) -> Lie:
    def plant(lie: Day) -> None:
        own = lie.challenge(challenge)
        assert own.proof is not None
        solution = change(own.proof.solution)
        lie.put(challenge, replace(own, proof=replace(own.proof, solution=solution)))

    return plant


def commits(previous: Callable[[Day], Previous | None]) -> Lie:
    """Name another challenge as the one before, as if it had been so from the beginning."""

    def plant(lie: Day) -> None:
        own = committed(replace(lie.challenge(EIGHT_OFF), previous=previous(lie)))
        lie.put(EIGHT_OFF, own)
        after = lie.listed[AFTER][0]
        lie.put(after.challenge, replace(after, previous=named(own)), AFTER)

    return plant


def another_day(lie: Day) -> None:
    """Tell another challenge altogether, committed to only when the one after was there."""
    own = lie.challenge(FREECELL)
    another = announced(DAY, "freecell", own.previous, seed=_OTHER_SEED)
    lie.put(FREECELL, told(another, 0, seed=_OTHER_SEED))


def days_swapped(lie: Day) -> None:
    lie.listed = lie.listed | {DAY: lie.listed[BEFORE], BEFORE: lie.listed[DAY]}


def other_ruleset(lie: Day) -> None:
    """Tell of a challenge in a ruleset that has none."""
    own = lie.challenge(EIGHT_OFF)
    lie.put(EIGHT_OFF, replace(own, challenge=f"{DAY}-whist", ruleset="whist"))


def twice(lie: Day) -> None:
    lie.listed[DAY] += lie.listed[DAY][:1]


def other_candidate(challenge: str, number: int) -> Lie:
    """Tell another candidate, with all that belongs to it."""

    def plant(lie: Day) -> None:
        lie.put(challenge, told(lie.challenge(challenge), number))

    return plant


def before_but(lie: Day, **changes: object) -> Previous:
    before = named(lie.listed[BEFORE][0])
    return replace(before, **changes)  # type: ignore[arg-type]


def unlisted(lie: Day) -> Previous:
    lie.listed[BEFORE] = ()
    return Previous("2026-11-30-eight-off-4", "00")


def illegal_after_one(solution: tuple[str, ...]) -> tuple[str, ...]:
    return (solution[0], solution[0], *solution[1:])


# -- About boards ----------------------------------------------------------------------------------


def of_board(
    board: str,
    change: Callable[[Board, Day], Board],
    *,
    kind: str = "human",
    challenge: str = EIGHT_OFF,
) -> Lie:
    """Change a board."""

    def plant(lie: Day) -> None:
        lie.boards[challenge] = [
            change(old, lie) if (old.board, old.kind) == (board, kind) else old
            for old in lie.boards[challenge]
        ]

    return plant


def of_row(board: str, game: str, kind: str = "human", **changes: object) -> Lie:
    """Change a run's row on a board, and nothing else there."""

    def change(old: Board, _: Day) -> Board:
        return replace(
            old,
            rows=tuple(
                replace(row, **changes) if row.game == game else row  # type: ignore[arg-type]
                for row in old.rows
            ),
        )

    return of_board(board, change, kind=kind)


def dropped(board: str, game: str, kind: str = "human") -> Lie:
    """Leave a run out, and let the others move up."""

    def change(old: Board, _: Day) -> Board:
        return ranked(replace(old, rows=tuple(row for row in old.rows if row.game != game)))

    return of_board(board, change, kind=kind)


def added(board: str, game: str, kind: str = "human") -> Lie:
    """Put a run on a board, with the row that its replay leads to."""

    def change(old: Board, lie: Day) -> Board:
        return ranked(replace(old, rows=(*old.rows, row_of(game, lie.replays[game]))))

    return of_board(board, change, kind=kind)


def replaced(board: str, game: str, by: str) -> Lie:
    return together(dropped(board, game), added(board, by))


def of_rows(
    change: Callable[[tuple[BoardRow, ...]], Iterable[BoardRow]], board: str = FIRST
) -> Lie:
    return of_board(board, lambda old, _: replace(old, rows=tuple(change(old.rows))))


def together(*lies: Lie) -> Lie:
    def plant(day: Day) -> None:
        for lie in lies:
            lie(day)

    return plant


def swap_ranks(rows: tuple[BoardRow, ...]) -> tuple[BoardRow, ...]:
    first, second, *rest = rows
    return (replace(first, rank=2), replace(second, rank=1), *rest)


# -- About runs ------------------------------------------------------------------------------------


def of_replay(game: str, change: Callable[[Replay], Replay]) -> Lie:
    """Change a replay; its rows stay."""

    def plant(lie: Day) -> None:
        lie.replays[game] = change(lie.replays[game])

    return plant


def of_header(game: str, **changes: object) -> Lie:
    """Change a replay's header, and hash all again."""

    def change(old: Replay) -> Replay:
        header = replace(old.header, **changes)  # type: ignore[arg-type]
        return rewritten(replace(old, header=header), old.entries)

    return of_replay(game, change)


def of_result(game: str, **changes: object) -> Lie:
    return of_replay(game, lambda old: replace(old, result=replace(old.result, **changes)))  # type: ignore[arg-type]


def of_entries(game: str, change: Callable[[tuple[Entry, ...]], Iterable[Entry]]) -> Lie:
    """Change a replay's entries, and hash all again."""
    return of_replay(game, lambda old: rewritten(old, change(old.entries)))


def of_entry(game: str, at: int, **changes: object) -> Lie:
    """Change an entry, and hash all again."""

    def change(entries: tuple[Entry, ...]) -> list[Entry]:
        return _changed(entries, at, **changes)

    return of_entries(game, change)


def raw_entry(game: str, at: int, **changes: object) -> Lie:
    """Change an entry, and no hash."""

    def change(old: Replay) -> Replay:
        return replace(old, entries=tuple(_changed(old.entries, at, **changes)))

    return of_replay(game, change)


def _changed(entries: tuple[Entry, ...], at: int, **changes: object) -> list[Entry]:
    changed = [*entries]
    changed[at] = replace(changed[at], **changes)  # type: ignore[arg-type]
    return changed


def without(at: int) -> Callable[[tuple[Entry, ...]], Iterable[Entry]]:
    """Leave an entry out, and number the others again."""

    def change(entries: tuple[Entry, ...]) -> list[Entry]:
        left = [entry for number, entry in enumerate(entries) if number != at]
        return [replace(entry, seq=seq) for seq, entry in enumerate(left, 1)]

    return change


def shown(game: str, *boards: str, kind: str = "human") -> Lie:
    """Let a run's rows say what its replay's result says, and put them where they belong."""

    def change(old: Board, lie: Day) -> Board:
        rows = tuple(
            row_of(game, lie.replays[game]) if row.game == game else row for row in old.rows
        )
        return ranked(replace(old, rows=rows))

    return together(*(of_board(board, change, kind=kind) for board in boards))


def seated(seat: Seat, actions: Callable[[Challenge], list[str]], *boards: str) -> Lie:
    """Put another run on boards."""

    def plant(lie: Day) -> None:
        own = lie.challenge(EIGHT_OFF)
        lie.replays[seat.game] = sat(own, seat, actions(own))
        for board in boards:
            added(board, seat.game, seat.kind)(lie)

    return plant


def kept_back(lie: Day) -> None:
    del lie.replays["bob"]


def by_hand(lie: Day) -> None:
    """Let a ranked run be played without automatic moves."""
    own = lie.challenge(FREECELL)
    seat = Seat("ian", "Ian", OPENS, 1_000, autoplay="off")
    lie.replays["ian"] = sat(own, seat, winning(own, autoplay="off"))
    of_board(FIRST, again("ian"), challenge=FREECELL)(lie)


def again(game: str) -> Callable[[Board, Day], Board]:
    def change(old: Board, lie: Day) -> Board:
        others = [row for row in old.rows if row.game != game]
        return ranked(replace(old, rows=(*others, row_of(game, lie.replays[game]))))

    return change


def resigning(own: Challenge) -> list[str]:
    return [*wandering(own, 2), "resign"]
