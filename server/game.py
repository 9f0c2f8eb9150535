"""One authoritative game: decide, and, once that is recorded, apply. No I/O.

A decision changes nothing. ``apply`` cannot fail: it keeps the state that the decision computed.
"""

import msgspec
from msgspec.structs import replace

from cellmates.daily import closes_at, deadline_of, parse_challenge_id
from cellmates.engine import (
    RULESETS,
    Action,
    Autoplay,
    Deal,
    Game,
    Refusal,
    Status,
    first_hash,
    next_hash,
    parse_action,
)

from .records import Attempt, Entry, GameRecord, Summary

EXPIRED = "expired"
RANKED = 1  # the number of the attempt that counts on the board of first attempts


class Conflict(Exception):
    """The claimed seq is taken by another action, or leaves a gap; ``seq`` is the game's now."""

    def __init__(self, seq: int) -> None:
        super().__init__(f"the game is at seq {seq}: the next action claims {seq + 1}")
        self.seq = seq


class GameOver(Exception):
    """The game has ended; ``status`` says how."""

    def __init__(self, status: str) -> None:
        super().__init__(f"the game is over: {status}")
        self.status = status


class Decision(msgspec.Struct, frozen=True):
    """What an action leads to: the entry to record, and the game and summary after it."""

    entry: Entry
    state: Game
    summary: Summary


class Made(msgspec.Struct, frozen=True):
    """A recorded action with the state after it; ``repeated`` when it was recorded before."""

    entry: Entry
    state: Game
    status: str
    repeated: bool


class LiveGame:
    """A game in memory: its record, its entries and the engine's state after them."""

    def __init__(self, record: GameRecord, entries: list[Entry]) -> None:
        """Replay ``entries`` from the deal of ``record``.

        ``attempt`` says which attempt at which challenge it is, and ``deadline``, in ms since the
        epoch, when a ranked one ends at the latest; None where it is no such game.

        Raises:
            BrokenGame: they are not one gapless line of legal actions with the right hashes.
        """
        self.record = record
        self._entries: list[Entry] = []
        ruleset = RULESETS[record.ruleset]
        self._state = Game.start(
            ruleset, Deal.parse(ruleset, record.deal), Autoplay(record.autoplay)
        )
        self._hash = hash_at_start(record)
        self._summary = record.summary
        self.attempt, self.deadline = _attempt(record)
        for entry in entries:
            self._replay(entry)

    @property
    def state(self) -> Game:
        """The engine's game after the last entry."""
        return self._state

    @property
    def seq(self) -> int:
        """Seq of the last entry, 0 before the first."""
        return len(self._entries)

    @property
    def status(self) -> str:
        """``playing``, or how the game ended."""
        return self._summary.status

    @property
    def hash(self) -> str:
        """Hash after the last entry."""
        return self._hash

    @property
    def summary(self) -> Summary:
        """Where the game stands after its last entry."""
        return self._summary

    def entries_after(self, seq: int) -> list[Entry]:
        """Entries with a greater seq, in order."""
        return self._entries[seq:]

    def decide(self, action: Action, seq: int, at_ms: int) -> Decision | Made:
        """What an action leads to, or what came of it when it was recorded before.

        ``at_ms`` is the time since the game's start. Changes nothing.

        Raises:
            Conflict: ``seq`` holds another action, or is not the next.
            GameOver: the game has ended.
            Refusal: the rules refuse the action.
        """
        if 0 < seq <= self.seq:
            return self._repeated(action, seq)
        if seq != self.seq + 1:
            raise Conflict(self.seq)
        if self.status != Status.PLAYING:
            raise GameOver(self.status)
        state = self._state.play(action)
        at_ms = max(at_ms, self._entries[-1].at_ms if self._entries else 0)
        text = str(state.action)
        entry = Entry(seq, text, at_ms, next_hash(self._hash, seq, text, at_ms))
        return Decision(entry, state, summary_of(state, entry, self.record.started))

    def apply(self, decision: Decision) -> Made:
        """Keep what was decided; call it once the entry is recorded."""
        self._entries.append(decision.entry)
        self._state = decision.state
        self._hash = decision.entry.hash
        self._summary = decision.summary
        return Made(decision.entry, decision.state, decision.summary.status, False)

    def expired(self) -> Summary:
        """Where an attempt stands whose time is over. Changes nothing.

        It has taken the whole of its time, whenever the server gets round to ending it.
        """
        assert self.deadline is not None, "only attempts at a challenge expire"
        return replace(
            self._summary,
            status=EXPIRED,
            elapsed_ms=self.deadline - self.record.started,
            ended=self.deadline,
        )

    def expire(self, summary: Summary) -> None:
        """Keep that the attempt has expired; call it once that is recorded."""
        self._summary = summary

    def _repeated(self, action: Action, seq: int) -> Made:
        entry = self._entries[seq - 1]
        try:
            again = self._state.at(seq - 1).play(action)
        except Refusal:
            raise Conflict(self.seq) from None
        if str(again.action) != entry.action:
            raise Conflict(self.seq)
        state = self._state.at(seq)
        return Made(entry, state, state.status, True)

    def _replay(self, entry: Entry) -> None:
        try:
            state = self._state.play(parse_action(entry.action))
        except Refusal as refusal:
            raise BrokenGame(f"game {self.record.id}, entry {entry.seq}: {refusal}") from refusal
        at_ms, text = entry.at_ms, entry.action
        if entry.seq != self.seq + 1 or entry.hash != next_hash(self._hash, entry.seq, text, at_ms):
            raise BrokenGame(f"game {self.record.id}, entry {entry.seq}: gap or wrong hash")
        self._entries.append(entry)
        self._state = state
        self._hash = entry.hash


class BrokenGame(Exception):
    """What storage gave back is no game that this server has recorded."""


def _attempt(record: GameRecord) -> tuple[Attempt | None, int | None]:
    """Which attempt a game is, and its deadline if it is a ranked one."""
    if record.challenge is None or record.attempt is None:
        return None, None
    attempt = Attempt(record.challenge, record.player, record.attempt)
    if record.attempt != RANKED:
        return attempt, None
    day, _ = parse_challenge_id(record.challenge)
    return attempt, deadline_of(closes_at(day))


def hash_at_start(record: GameRecord) -> str:
    """Hash of a game before its first entry."""
    return first_hash(record.ruleset, record.ruleset_version, record.deal, record.autoplay)


def summary_of(state: Game, entry: Entry | None, started: int) -> Summary:
    """Where a game stands after an entry, or before the first.

    It has ended as long after ``started``, in ms since the epoch, as its last entry says, whatever
    became of the wall clock meanwhile.
    """
    elapsed_ms = entry.at_ms if entry else 0
    return Summary(
        status=state.status,
        seq=state.seq,
        home=state.cards_home,
        moves=state.moves,
        undos=state.undos,
        score=state.score,
        elapsed_ms=elapsed_ms,
        hash=entry.hash if entry else "",
        ended=None if state.status is Status.PLAYING else started + elapsed_ms,
    )
