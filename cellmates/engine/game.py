"""A game: a deal and the actions of its player, as a value.

Nothing but ruleset, deal, autoplay and actions makes a game; everything else follows from them and
can be computed again with ``Game.replay``. Time is not known here.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Self

from .cards import KING
from .deals import Deal
from .moves import Act, Action, IllegalMove, Move, NothingToUndo, Reason
from .position import Position
from .rules import Played, is_stuck, play
from .rulesets import Autoplay, Ruleset, Scoring
from .words import Word

POINTS_A_CARD = 10


class Status(Word):
    """Whether a game goes on, and if not how it ended."""

    PLAYING = "playing"
    WON = "won"
    RESIGNED = "resigned"


class BadAutoplay(ValueError):
    """The ruleset has no automatic moves."""


@dataclass(frozen=True, slots=True)
class State:
    """What an undo brings back.

    ``arrived`` has bit *c* set when card *c* has been home on this line of play; ``moves`` counts
    the moves of the line, automatic ones too, a group as one.
    """

    position: Position
    arrived: int
    moves: int


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Game:
    """One game after some actions; ``play`` gives the game after one more.

    ``auto`` holds the automatic moves of the last action, ``undoable`` is the number of actions
    that may be undone. Two games are equal when ruleset, deal, autoplay and actions are.
    """

    ruleset: Ruleset
    deal: Deal | Position
    autoplay: Autoplay
    state: State
    status: Status = Status.PLAYING
    undos: int = 0
    undoable: int = 0
    seq: int = 0
    auto: tuple[Move, ...] = ()
    _last: tuple[Action, "Game"] | None = None
    _undone: "Game | None" = None

    @classmethod
    def start(
        cls, ruleset: Ruleset, deal: Deal | Position, autoplay: Autoplay | None = None
    ) -> Self:
        """Game before its first action; ``autoplay`` is the ruleset's own where none is given.

        ``deal`` may be any position, for analysis; cards that are home there count as arrived.

        Raises:
            BadAutoplay: automatic moves are asked for and the ruleset has none.
        """
        if autoplay is None:
            autoplay = ruleset.autoplay
        if autoplay is not Autoplay.OFF and autoplay is not ruleset.autoplay:
            raise BadAutoplay(f"{ruleset.name} has no automatic moves: autoplay can only be off")
        position = deal.layout(ruleset) if isinstance(deal, Deal) else deal
        status = Status.WON if position.is_won else Status.PLAYING
        return cls(ruleset, deal, autoplay, State(position, _arrived(position), 0), status)

    @classmethod
    def replay(
        cls,
        ruleset: Ruleset,
        deal: Deal | Position,
        autoplay: Autoplay,
        actions: Iterable[Action],
    ) -> Self:
        """Game after all of some actions.

        Raises:
            Refusal: an action is refused, as by ``play``.
            BadAutoplay: as by ``start``.
        """
        game = cls.start(ruleset, deal, autoplay)
        for action in actions:
            game = game.play(action)
        return game

    def play(self, action: Action) -> Self:
        """Game after one more action.

        Raises:
            BadMove: a place is not on this board. This game stays as it is, here and below.
            IllegalMove: the rules refuse the move, or the game is over (reason ``game-over``).
            NothingToUndo: no action may be undone.
        """
        if self.status is not Status.PLAYING:
            raise IllegalMove(Reason.GAME_OVER, f"the game is over: {self.status}")
        if isinstance(action, Move):
            return self._moved(play(self.ruleset, self.state.position, action, self.autoplay))
        return self._undo() if action is Act.UNDO else self._resign()

    @property
    def position(self) -> Position:
        """Where the cards lie now."""
        return self.state.position

    @property
    def moves(self) -> int:
        """Moves on the line that led here, automatic ones too, a group as one; undone ones not."""
        return self.state.moves

    @property
    def cards_home(self) -> int:
        """Number of cards on the foundations, 0 to 52."""
        return self.position.cards_home

    @property
    def score(self) -> int:
        """Cards home, or points where the ruleset pays for a card's first arrival."""
        if self.ruleset.scoring is Scoring.FIRST_ARRIVAL:
            return POINTS_A_CARD * self.state.arrived.bit_count()
        return self.cards_home

    @property
    def undo_left(self) -> int | None:
        """Number of actions that may be undone; None where the ruleset sets no limit."""
        return None if self.ruleset.undo_limit is None else self.undoable

    @property
    def is_stuck(self) -> bool:
        """Whether no move is left. The game is not over: undo remains."""
        return is_stuck(self.ruleset, self.position)

    @property
    def action(self) -> Action | None:
        """The last action in its canonical form; None before the first."""
        return None if self._last is None else self._last[0]

    @property
    def actions(self) -> tuple[Action, ...]:
        """All actions in their canonical form, in the order they were made."""
        return tuple(action for action, _ in self._backwards())[::-1]

    def at(self, seq: int) -> "Game":
        """This game as it was after its first ``seq`` actions.

        Raises:
            IndexError: it never was there.
        """
        if not 0 <= seq <= self.seq:
            raise IndexError(f"the game has {self.seq} actions, not {seq}")
        game: Game = self
        for last in self._backwards():
            if game.seq == seq:
                break
            game = last[1]
        return game

    def line(self) -> Iterator[Position]:
        """Positions of the line that led here, this one first, without what was undone."""
        game: Game | None = self
        while game is not None:
            yield game.position
            game = game._undone

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Game):
            return NotImplemented
        return self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def __repr__(self) -> str:
        actions = [str(action) for action in self.actions]
        return (
            f"Game.replay({self.ruleset!r}, {self.deal!r}, {self.autoplay!r}, "
            f"map(parse_action, {actions!r}))"
        )

    def _identity(self) -> tuple[object, ...]:
        return self.ruleset, self.deal, self.autoplay, self.actions

    def _backwards(self) -> Iterator[tuple[Action, "Game"]]:
        """Each action with the game before it, the last one first."""
        last = self._last
        while last is not None:
            yield last
            last = last[1]._last

    def _moved(self, played: Played) -> Self:
        position, limit = played.position, self.ruleset.undo_limit
        return self._next(
            played.move,
            State(
                position,
                self.state.arrived | _arrived(position),
                self.state.moves + 1 + len(played.auto),
            ),
            status=Status.WON if position.is_won else Status.PLAYING,
            undoable=self.undoable + 1 if limit is None else min(limit, self.undoable + 1),
            auto=played.auto,
            undone=self,
        )

    def _undo(self) -> Self:
        before = self._undone
        if before is None or not self.undoable:
            raise NothingToUndo("there is no action left to undo")
        return self._next(
            Act.UNDO,
            before.state,
            undos=self.undos + 1,
            undoable=self.undoable - 1,
            undone=before._undone,
        )

    def _resign(self) -> Self:
        return self._next(Act.RESIGN, self.state, status=Status.RESIGNED, undone=self._undone)

    def _next(
        self,
        action: Action,
        state: State,
        *,
        undone: "Game | None",
        status: Status = Status.PLAYING,
        undos: int | None = None,
        undoable: int | None = None,
        auto: tuple[Move, ...] = (),
    ) -> Self:
        return type(self)(
            self.ruleset,
            self.deal,
            self.autoplay,
            state,
            status,
            self.undos if undos is None else undos,
            self.undoable if undoable is None else undoable,
            self.seq + 1,
            auto,
            (action, self),
            undone,
        )


def _arrived(position: Position) -> int:
    """Bits of the cards that are home."""
    clubs, diamonds, hearts, spades = position.home
    return _RUNS[clubs] | _RUNS[diamonds] << 1 | _RUNS[hearts] << 2 | _RUNS[spades] << 3


_RUNS = tuple(sum(1 << 4 * rank for rank in range(count)) for count in range(KING + 2))
