"""A board as people look at it: cells and foundations above, columns below, in colours.

Nothing from the server reaches the terminal as it is: what does not print becomes ``?``.
"""

from itertools import zip_longest

from rich.text import Text

from cellmates.engine import RULESETS, BadDeal, Deal

from .board import CELLS, COLUMNS, RANKS, SUITS
from .results import View

_WIDTH = 4
_GAP = " " * 3
_SYMBOLS = dict(zip(SUITS, "♣♦♥♠", strict=True))
_STYLES = {"C": "bold", "D": "bold red", "H": "bold red", "S": "bold"}
_LABEL = _EMPTY = "dim"
_DEAL_SHOWN = 24


def picture(view: View, *, symbols: bool) -> Text:
    """The board of a game; with ``symbols`` suits are drawn, else they are letters."""
    cells = [_card(card, symbols=symbols) for card in view.cells]
    home = [_card(_top(suit, view), symbols=symbols) for suit in SUITS]
    above = _row(_labels(CELLS[: len(cells)])), _row(_labels(SUITS))
    lines = [_beside(*above), _beside(_row(cells), _row(home)), Text()]
    lines.append(_row(_labels(COLUMNS[: len(view.columns)])))
    columns = [[_card(card, symbols=symbols) for card in column] for column in view.columns]
    lines += [_row(row) for row in zip_longest(*columns, fillvalue=Text())]
    for line in lines:
        line.rstrip()
    return Text("\n").join(lines)


def status_line(view: View) -> str:
    """Deal, moves, undos, score and time, in one line."""
    figures = [
        _deal(view),
        counted(view.moves, "move"),
        counted(view.undos, "undo"),
        f"score {view.score}",
        time_text(view.elapsed_ms),
    ]
    if view.undo_left is not None:
        figures[2] += f" ({view.undo_left} left)"
    if view.status != "playing":
        figures.append(view.status)
    return printable(" | ".join(figures))


def time_text(elapsed_ms: int, *, exact: bool = False) -> str:
    """A duration, such as ``4:07`` or ``1:02:33``; ``exact`` to the millisecond."""
    seconds, milliseconds = divmod(elapsed_ms, 1000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    text = f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
    return f"{text}.{milliseconds:03}" if exact else text


def counted(count: int, what: str) -> str:
    """A number of things, such as ``1 move`` or ``2 moves``."""
    return f"{count} {what}{'' if count == 1 else 's'}"


def printable(text: str) -> str:
    """Text that does nothing to a terminal but to be seen."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def _deal(view: View) -> str:
    """Challenge, or ruleset and deal; beside a number its code, where the ruleset has codes."""
    if view.challenge is not None:
        return view.challenge if view.ranked else f"{view.challenge}, practice"
    deal = view.deal if len(view.deal) <= _DEAL_SHOWN else f"{view.deal[:_DEAL_SHOWN]}..."
    ruleset = RULESETS.get(view.ruleset)
    if ruleset is not None:
        try:
            code = Deal.parse(ruleset, view.deal).code(ruleset)
        except BadDeal:
            code = None
        deal += f" ({code})" if code else ""
    return f"{view.ruleset} {deal}"


def _top(suit: str, view: View) -> str | None:
    count = view.home.get(suit, 0)
    return RANKS[count - 1] + suit if 0 < count <= len(RANKS) else None


def _card(card: str | None, *, symbols: bool) -> Text:
    if card is None:
        return Text("-", _EMPTY)
    shown = printable(card)
    suit = shown[-1:]
    text = shown[:-1] + _SYMBOLS[suit] if symbols and suit in _SYMBOLS else shown
    return Text(text, _STYLES.get(suit, ""))


def _labels(places: str) -> list[Text]:
    return [Text(place, _LABEL) for place in places]


def _row(cards: "list[Text] | tuple[Text, ...]") -> Text:
    row = Text()
    for card in cards:
        row.append(" " * (_WIDTH - len(card)))
        row.append_text(card)
    return row


def _beside(left: Text, right: Text) -> Text:
    return Text.assemble(left, _GAP, right)
