"""The rules a second time, slow and plain, so that tests can hold the engine against them.

Cards are two characters ("TD"), a column is a list of cards with its open card last, a move is
its text. Nothing here is fast, and nothing here is shared with the engine: an error would have
to be made twice, in two different ways, to go unnoticed.

Not here: undo, score, deal codes, and the end of the game. `refusal` and `legal` look at one
position only, so they never answer "game-over", and in a won position `legal` still lists the
take-backs that the ruleset allows.

`python -m tests.naive` prints what `tests/golden/perft.json` holds.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

RANKS = "A23456789TJQK"
SUITS = "CDHS"
RED = "DH"
COLUMNS = "12345678"
CELLS = "abcdefgk"  # the eighth is k, because h is home
HOME = "h"


@dataclass
class State:
    """A position: eight columns, the cells, and how many cards of each suit are home."""

    columns: list[list[str]]
    cells: list[str | None]
    home: dict[str, int]


@dataclass(frozen=True)
class Rules:
    """What tells one ruleset from another; what is not said is as in the Eight Off app."""

    cells: int
    cells_filled: int
    dealt_in_rows: int = 48
    same_suit: bool = True  # the other way to build is by alternating colour
    kings_only: bool = True  # into an empty column
    limit_doubles: bool = True  # with every empty column
    take_back: bool = True
    automatic: bool = False


TABLE: dict[str, Rules] = {
    "freecell": Rules(
        cells=4,
        cells_filled=0,
        dealt_in_rows=52,
        same_suit=False,
        kings_only=False,
        take_back=False,
        automatic=True,
    ),
    "eight-off": Rules(cells=8, cells_filled=4),
    "eight-off-4": Rules(cells=4, cells_filled=4),
    "eight-off-2": Rules(cells=2, cells_filled=2),
    "eight-off-classic": Rules(cells=8, cells_filled=4, limit_doubles=False),
}


def deal(ruleset: str, number: int) -> State:
    """The position that a deal number names.

    Raises:
        ValueError: the number is not 1 … 2^33 - 1.
    """
    rules = TABLE[ruleset]
    cards = shuffled(number)
    state = State([[] for _ in COLUMNS], [None] * rules.cells, dict.fromkeys(SUITS, 0))
    for position in range(rules.dealt_in_rows):
        state.columns[position % 8].append(cards[position])
    rest = cards[rules.dealt_in_rows :]
    for cell in range(rules.cells_filled):
        state.cells[cell] = rest.pop(0)
    # Only two cells leave cards over: the 51st goes to column 3, the 52nd to column 4.
    for column, card in enumerate(rest, start=3):
        state.columns[column - 1].append(card)
    return state


def shuffled(number: int) -> list[str]:
    """The 52 cards in dealing order.

    Raises:
        ValueError: the number is not 1 … 2^33 - 1.
    """
    if not 1 <= number < 2**33:
        raise ValueError(f"no deal has the number {number}")
    pack = [rank + suit for rank in RANKS for suit in SUITS]
    cards = []
    x = number - 2**32 if number >= 2**32 else number
    while pack:
        # The plain generator keeps 31 bits of x, but only bits 16 to 30 are ever looked at.
        x = (214013 * x + 2531011) % 2**33
        if number < 2**31:
            r = (x >> 16) & 0x7FFF
        elif number < 2**32:
            r = ((x >> 16) & 0x7FFF) | 0x8000
        else:
            r = ((x >> 16) & 0xFFFF) + 1
        index = r % len(pack)
        pack[index], pack[-1] = pack[-1], pack[index]
        cards.append(pack.pop())
    return cards


def rank(card: str) -> int:
    """1 for an Ace … 13 for a King."""
    return RANKS.index(card[0]) + 1


def fits(ruleset: str, card: str, below: str) -> bool:
    """Whether the build rule lets `card` lie on `below`."""
    if rank(card) != rank(below) - 1:
        return False
    if TABLE[ruleset].same_suit:
        return card[1] == below[1]
    return (card[1] in RED) != (below[1] in RED)


def is_sequence(ruleset: str, cards: list[str]) -> bool:
    """Whether each card fits on the one before it."""
    return all(fits(ruleset, card, below) for below, card in pairwise(cards))


def column_at(state: State, place: str) -> list[str]:
    """The column itself, not a copy."""
    return state.columns[int(place) - 1]


def cards_at(state: State, place: str) -> list[str]:
    """The cards in a column, a cell or a foundation, the open one last."""
    if place in COLUMNS:
        return list(column_at(state, place))
    if place in SUITS:
        return [card_rank + place for card_rank in RANKS[: state.home[place]]]
    card = state.cells[CELLS.index(place)]
    return [] if card is None else [card]


def is_won(state: State) -> bool:
    """Whether all 52 cards are home."""
    return sum(state.home.values()) == 52


@cache
def texts(ruleset: str) -> frozenset[str]:
    """Every text that has the form of a move, legal somewhere or not."""
    cells = CELLS[: TABLE[ruleset].cells]
    plain = {
        source + target for source in COLUMNS + cells + SUITS for target in COLUMNS + cells + HOME
    }
    counted = {
        f"{source}{target}v{count:x}"
        for source in COLUMNS
        for target in COLUMNS
        for count in range(1, 14)
    }
    return frozenset(plain | counted)


def asked(text: str) -> int | None:
    """The number after `v`, if there is one."""
    return int(text[3], 16) if len(text) == 4 else None


def refusal(ruleset: str, state: State, text: str) -> str | None:
    """The reason why the move may not be made here, or None if it may."""
    if text not in texts(ruleset):
        return "bad-move"
    source, target = text[0], text[1]
    if source == target or (source in SUITS and target == HOME):
        return "same-place"
    if source in SUITS and not TABLE[ruleset].take_back:
        return "no-take-back"
    cards = cards_at(state, source)
    if len(cards) < (asked(text) or 1):
        return "no-card"
    if target == HOME:
        card = cards[-1]
        return None if rank(card) == state.home[card[1]] + 1 else "foundation-order"
    if target in CELLS:
        return "cell-full" if cards_at(state, target) else None
    if not column_at(state, target):
        return refusal_into_empty(ruleset, state, text)
    if source in COLUMNS:
        return refusal_onto_card(ruleset, state, text)
    return None if fits(ruleset, cards[-1], column_at(state, target)[-1]) else "does-not-fit"


def refusal_onto_card(ruleset: str, state: State, text: str) -> str | None:
    """The reason against a move from a column onto the open card of another."""
    cards = column_at(state, text[0])
    below = column_at(state, text[1])[-1]
    count = rank(below) - rank(cards[-1])
    if not 1 <= count <= len(cards) or asked(text) not in (None, count):
        return "does-not-fit"
    group = cards[-count:]
    if not fits(ruleset, group[0], below):
        return "does-not-fit"
    if not is_sequence(ruleset, group):
        return "not-in-sequence"
    if count > group_limit(ruleset, state, text[1]):
        return "group-too-long"
    return None


def refusal_into_empty(ruleset: str, state: State, text: str) -> str | None:
    """The reason against a move from anywhere into an empty column."""
    count = asked(text) or 1
    group = cards_at(state, text[0])[-count:]
    if not is_sequence(ruleset, group):
        return "not-in-sequence"
    if TABLE[ruleset].kings_only and rank(group[0]) != 13:
        return "kings-only"
    if text[0] in COLUMNS and count > group_limit(ruleset, state, text[1]):
        return "group-too-long"
    return None


def group_limit(ruleset: str, state: State, target: str) -> int:
    """How many cards may go to the column `target` at once, counted before any is lifted."""
    limit = state.cells.count(None) + 1
    if TABLE[ruleset].limit_doubles:
        for place in COLUMNS:
            if place != target and not column_at(state, place):
                limit *= 2
    return limit


def lifted(state: State, text: str) -> int:
    """How many cards a legal move takes along."""
    source, target = text[0], text[1]
    if source in COLUMNS and target in COLUMNS:
        if column_at(state, target):
            return rank(column_at(state, target)[-1]) - rank(column_at(state, source)[-1])
        return asked(text) or 1
    return 1


def canonical(state: State, text: str) -> str:
    """The one text of a legal move: `v` only into an empty column, for two cards or more."""
    count = lifted(state, text)
    if text[1] in COLUMNS and not column_at(state, text[1]) and count > 1:
        return f"{text[:2]}v{count:x}"
    return text[:2]


def legal(ruleset: str, state: State) -> set[str]:
    """The canonical texts of all legal moves."""
    return {
        canonical(state, text) for text in texts(ruleset) if refusal(ruleset, state, text) is None
    }


def play(ruleset: str, state: State, text: str, *, autoplay: bool) -> tuple[State, list[str]]:
    """The position after a move, and the automatic moves that followed it.

    Raises:
        ValueError: the move is not legal. The given position is never changed.
    """
    reason = refusal(ruleset, state, text)
    if reason is not None:
        raise ValueError(f"{text}: {reason}")
    after = moved(state, text)
    automatic: list[str] = []
    if autoplay and TABLE[ruleset].automatic and text[0] not in SUITS:
        while safe := next(safe_moves(ruleset, after), None):
            after = moved(after, safe)
            automatic.append(safe)
    return after, automatic


def moved(state: State, text: str) -> State:
    """A copy of the position with a legal move made in it."""
    source, target = text[0], text[1]
    group = cards_at(state, source)[-lifted(state, text) :]
    after = State([list(column) for column in state.columns], list(state.cells), dict(state.home))
    if source in COLUMNS:
        del column_at(after, source)[-len(group) :]
    elif source in SUITS:
        after.home[source] -= 1
    else:
        after.cells[CELLS.index(source)] = None
    if target in COLUMNS:
        column_at(after, target).extend(group)
    elif target == HOME:
        after.home[group[0][1]] += 1
    else:
        after.cells[CELLS.index(target)] = group[0]
    return after


def safe_moves(ruleset: str, state: State) -> Iterator[str]:
    """The moves home that are safe now, columns first, then cells."""
    for place in COLUMNS + CELLS[: TABLE[ruleset].cells]:
        text = place + HOME
        if refusal(ruleset, state, text) is None and is_safe(state, cards_at(state, place)[-1]):
            yield text


def is_safe(state: State, card: str) -> bool:
    """Whether no card still in play could want to lie on this one."""
    if rank(card) <= 2:
        return True
    other_colour = [suit for suit in SUITS if (suit in RED) != (card[1] in RED)]
    return all(state.home[suit] >= rank(card) - 1 for suit in other_colour)


def stuck(ruleset: str, state: State) -> bool:
    """Whether nothing can be moved, not even after taking a card back to a column."""
    if is_won(state):
        return False
    moves = legal(ruleset, state)
    if any(text[0] not in SUITS for text in moves):
        return False
    for take_back in moves:
        column = take_back[1]
        if column not in COLUMNS:
            continue
        after, _ = play(ruleset, state, take_back, autoplay=False)
        if any(text[0] not in SUITS and text[1] == column for text in legal(ruleset, after)):
            return False
    return True


def perft(ruleset: str, state: State, depth: int, *, autoplay: bool) -> int:
    """The number of ways to make `depth` moves one after another; a won position has none."""
    if depth == 0:
        return 1
    if is_won(state):
        return 0
    moves = legal(ruleset, state)
    if depth == 1:
        return len(moves)  # the same sum, without playing each
    positions = [play(ruleset, state, text, autoplay=autoplay)[0] for text in moves]
    return sum(perft(ruleset, after, depth - 1, autoplay=autoplay) for after in positions)


if __name__ == "__main__":
    counts = {
        ruleset: {
            str(number): [
                perft(ruleset, deal(ruleset, number), depth, autoplay=True)
                for depth in (1, 2, 3, 4)
            ]
            for number in (1, 617, 31465)
        }
        for ruleset in TABLE
    }
    print(json.dumps(counts, indent=2))
