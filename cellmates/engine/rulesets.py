"""The rulesets: rows of data over one engine. A newcomer of the family is one more row.

The table is that of docs/rules.md, which names the source of each row.
"""

from dataclasses import dataclass, field

from .cards import KING, PACK, is_red, rank_of, suit_of
from .moves import CELLS, COLUMNS, FOUNDATIONS, HOME, PLACES
from .words import Word


class Build(Word):
    """Which card may lie on which in a column; always one rank lower."""

    ALTERNATING = "alternating"
    SAME_SUIT = "same-suit"


class EmptyColumn(Word):
    """What an empty column takes, alone or heading its run."""

    ANY = "any"
    KINGS = "kings"


class Group(Word):
    """How many may move together: free cells + 1, doubled by each empty column or not."""

    DOUBLING = "doubling"
    FREE_PLUS_ONE = "free-plus-one"


class Autoplay(Word):
    """Which cards go home by themselves after an action."""

    SAFE = "safe"
    OFF = "off"


class Scoring(Word):
    """What a score counts: cards that are home, or ten points for a card's first arrival there."""

    CARDS_HOME = "cards-home"
    FIRST_ARRIVAL = "first-arrival"


class Taps(Word):
    """What a tap on a card does: one tap does all, or one sends home and two do the rest."""

    ONE = "one"
    TWO = "two"


@dataclass(frozen=True, slots=True)
class Ruleset:
    """One game of the family.

    ``rest`` names the places of the cards that are left when the columns have been dealt full rows,
    in dealing order: a letter is a cell, a digit a column. ``undo_limit`` is a number of actions or
    None for any number; ``codes`` says whether deals have ``EO1-…`` codes. ``lies_on`` is derived:
    for each card the cards that it may lie on in a column. So is ``places``: the indexes into
    ``moves.PLACES`` of the places on this board.
    """

    name: str
    version: int
    columns: int
    cells: int
    rest: str
    build: Build
    empty_column: EmptyColumn
    group: Group
    take_back: bool
    autoplay: Autoplay
    undo_limit: int | None
    scoring: Scoring
    taps: Taps
    codes: bool
    lies_on: tuple[bytes, ...] = field(init=False, repr=False, compare=False)
    places: frozenset[int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "lies_on", tuple(_lies_on(self.build, card) for card in PACK))
        letters = COLUMNS[: self.columns] + CELLS[: self.cells] + FOUNDATIONS + PLACES[HOME]
        object.__setattr__(self, "places", frozenset(PLACES.index(letter) for letter in letters))

    def group_limit(self, free_cells: int, empty_columns: int) -> int:
        """Most cards that may move together, with so many free cells and empty columns.

        The destination is not counted among the empty columns.
        """
        if self.group is Group.DOUBLING:
            return (free_cells + 1) << empty_columns
        return free_cells + 1

    def takes_on_empty(self, card: int) -> bool:
        """Whether an empty column takes this card, alone or heading its run."""
        return self.empty_column is EmptyColumn.ANY or rank_of(card) == KING

    def run_length(self, column: bytes) -> int:
        """Number of cards in sequence at the open end of a column; 0 for an empty one."""
        if not column:
            return 0
        length = 1
        while length < len(column) and column[-length - 1] in self.lies_on[column[-length]]:
            length += 1
        return length


def _lies_on(build: Build, card: int) -> bytes:
    return bytes(
        under
        for under in PACK
        if rank_of(under) == rank_of(card) + 1
        and (
            suit_of(under) == suit_of(card)
            if build is Build.SAME_SUIT
            else is_red(under) != is_red(card)
        )
    )


FREECELL = Ruleset(
    name="freecell",
    version=1,
    columns=8,
    cells=4,
    rest="1234",
    build=Build.ALTERNATING,
    empty_column=EmptyColumn.ANY,
    group=Group.DOUBLING,
    take_back=False,
    autoplay=Autoplay.SAFE,
    undo_limit=None,
    scoring=Scoring.CARDS_HOME,
    taps=Taps.ONE,
    codes=False,
)


def _eight_off_app(name: str, cells: int, rest: str) -> Ruleset:
    return Ruleset(
        name=name,
        version=1,
        columns=8,
        cells=cells,
        rest=rest,
        build=Build.SAME_SUIT,
        empty_column=EmptyColumn.KINGS,
        group=Group.DOUBLING,
        take_back=True,
        autoplay=Autoplay.OFF,
        undo_limit=100,
        scoring=Scoring.FIRST_ARRIVAL,
        taps=Taps.TWO,
        codes=True,
    )


EIGHT_OFF_CLASSIC = Ruleset(
    name="eight-off-classic",
    version=1,
    columns=8,
    cells=8,
    rest="abcd",
    build=Build.SAME_SUIT,
    empty_column=EmptyColumn.KINGS,
    group=Group.FREE_PLUS_ONE,
    take_back=True,
    autoplay=Autoplay.OFF,
    undo_limit=None,
    scoring=Scoring.CARDS_HOME,
    taps=Taps.TWO,
    codes=False,
)

RULESETS = {
    ruleset.name: ruleset
    for ruleset in (
        FREECELL,
        _eight_off_app("eight-off", cells=8, rest="abcd"),
        _eight_off_app("eight-off-4", cells=4, rest="abcd"),
        _eight_off_app("eight-off-2", cells=2, rest="ab34"),
        EIGHT_OFF_CLASSIC,
    )
}
