"""Cards as small whole numbers, and their text.

A card is ``4 * rank + suit``: rank 0 (ace) to 12 (king), suit 0 to 3 in the order C D H S. That is
also the order of the classic pack (AC AD AH AS 2C … KS), so a card's number is its place in the
pack. A pile of cards, the open one last, is a ``bytes`` with one card a byte: small, hashable,
quick to slice.
"""

RANKS = "A23456789TJQK"
SUITS = "CDHS"
PACK = bytes(range(52))
ACE, TWO, KING = 0, 1, 12

_TEXTS = tuple(rank + suit for rank in RANKS for suit in SUITS)
_CARDS = {text: card for card, text in enumerate(_TEXTS)}


class BadCard(ValueError):
    """The text names no card."""


def rank_of(card: int) -> int:
    """Rank of a card, 0 (ace) to 12 (king)."""
    return card >> 2


def suit_of(card: int) -> int:
    """Suit of a card: 0 clubs, 1 diamonds, 2 hearts, 3 spades."""
    return card & 3


def is_red(card: int) -> bool:
    """Whether a card is a diamond or a heart."""
    return suit_of(card) in (1, 2)


def card_text(card: int) -> str:
    """Text of a card, such as ``TD``."""
    return _TEXTS[card]


def parse_card(text: str) -> int:
    """Card that a text such as ``TD`` names.

    Raises:
        BadCard: the text is not a rank and a suit, both in capitals.
    """
    try:
        return _CARDS[text]
    except KeyError:
        raise BadCard(_what_is_wrong(text[:8])) from None


def pile_text(pile: bytes) -> str:
    """Texts of a pile's cards with a space between, the open card last."""
    return " ".join([_TEXTS[card] for card in pile])


def parse_pile(text: str) -> bytes:
    """Pile of the cards named in a text, the open card last.

    Raises:
        BadCard: one of the words names no card.
    """
    return bytes([parse_card(word) for word in text.split()])


def _what_is_wrong(text: str) -> str:
    if len(text) == 2 and text[0] in RANKS:
        return f"{text!r} has an unknown suit: suits are C, D, H and S"
    if len(text) == 2 and text[1] in SUITS:
        return f"{text!r} has an unknown rank: ranks are A 2 3 4 5 6 7 8 9 T J Q K"
    return f"{text!r} is not a card: write its rank and its suit, such as TD or AS"
