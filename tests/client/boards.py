"""Challenges and boards as the fake server has them."""

from collections import defaultdict
from typing import TypeAlias

from cellmates.daily import DAY_MS, day_of, opens_at

from .record import STARTED, Map, Record, Refused

Which: TypeAlias = tuple[str, ...]

TODAY = day_of(STARTED)


class Boards:
    """Challenges, the deals of them, and rows by board; ``late`` pages come without any rows."""

    def __init__(self) -> None:
        self.deals: dict[str, str] = {}
        self.rows: dict[Which, list[Map]] = defaultdict(list)
        self.late = 0
        self._challenges: dict[str, Map] = {}

    def add(self, ruleset: str, dealt: str = "617", day: str = TODAY, **told: object) -> str:
        """Id of a new challenge."""
        id_ = f"{day}-{ruleset}"
        self.deals[id_] = dealt
        self._challenges[id_] = {
            "challenge": id_,
            "ruleset": ruleset,
            "ruleset_version": 1,
            "opens": opens_at(day),
            "closes": opens_at(day) + DAY_MS,
            "commitment": "c0ffee" * 10 + "abcd",
            "planner": "1/400000",
            "previous": None,
            **told,
        }
        return id_

    def listed(self, date: str | None) -> list[Map]:
        if date == "2026-02-30":
            raise Refused("bad-request", field="d.date", why="there is no such day")
        day = date or TODAY
        return [body for id_, body in self._challenges.items() if id_.startswith(day)]

    def challenge(self, id_: str) -> Map:
        if id_ not in self._challenges:
            raise Refused("not-found")
        return self._challenges[id_]

    def ended(self, record: Record, player: Map) -> None:
        """Take the run of an attempt onto the boards."""
        figures = record.figures()
        is_won = record.status == "won"
        row = {name: figures[name] for name in ("elapsed_ms", "moves", "undos")} | {
            "handle": player["handle"],
            "home": record.game.cards_home,
            "won": is_won,
            "game": record.id,
        }
        if record.challenge is not None and record.attempt == 1:
            self._rank(record.challenge, "first", player["kind"], row)
        if record.challenge is not None and is_won:
            self._rank(record.challenge, "moves", player["kind"], row)

    def run(self, challenge: str, board: str, kind: str, handle: str, **figures: object) -> None:
        """A run by somebody, a little worse than the last where nothing else is said."""
        moves = 80 + len(self.rows[challenge, board, kind])
        row: Map = {"handle": handle, "home": 52, "won": True, "undos": 0, "moves": moves}
        row |= {"elapsed_ms": 1000 * moves, "game": f"{handle}-{board}", **figures}
        self._rank(challenge, board, kind, row)

    def page(self, body: Map, handle: str | None, limit: int) -> Map:
        self.challenge(body["challenge"])
        rows = self.rows[body["challenge"], body["board"], body["kind"]]
        limit = body.get("limit", limit)
        if self.late:
            self.late -= 1
            rows = []
        mine = next((at for at, row in enumerate(rows) if row["handle"] == handle), None)
        begin = int(body.get("cursor", 0))
        if "around" in body and mine is not None:
            begin = max(0, mine - limit // 2)
        end = begin + limit
        return {
            "rows": rows[begin:end],
            "total": len(rows),
            "me": None if mine is None else rows[mine],
            "next": str(end) if end < len(rows) else None,
            "prev": str(max(0, begin - limit)) if begin else None,
        }

    def changed(self, challenge: str, board: str, kind: str) -> Map:
        """Body of the event about a board."""
        rows = self.rows[challenge, board, kind]
        which = {"challenge": challenge, "board": board, "kind": kind}
        return which | {"top": rows[:10], "total": len(rows)}

    def _rank(self, challenge: str, board: str, kind: str, row: Map) -> None:
        rows = self.rows[challenge, board, kind]
        names = ("elapsed_ms", "moves") if board == "first" else ("moves", "elapsed_ms")
        rows.append(dict(row))
        rows.sort(key=lambda row: (-row["home"], *(row[name] for name in names)))
        for number, each in enumerate(rows, 1):
            each["rank"] = number
