"""The rules of FreeCell and Eight Off: standard library only, no I/O, no clock, no chance."""

from .boardtext import BadBoard, board_text, parse_board
from .cards import PACK, RANKS, SUITS, BadCard, card_text, parse_card, parse_pile, pile_text
from .chain import first_hash, next_hash
from .deals import LAST_NUMBER, LAST_RANDOM, BadDeal, Deal
from .game import BadAutoplay, Game, State, Status
from .hints import hint
from .moves import (
    PLACES,
    Act,
    Action,
    BadMove,
    IllegalMove,
    Move,
    NothingToUndo,
    Reason,
    Refusal,
    parse_action,
    parse_place,
)
from .position import Position
from .rules import LegalMoves, Played, is_stuck, play, tap
from .rulesets import (
    RULESETS,
    Autoplay,
    Build,
    EmptyColumn,
    Group,
    Ruleset,
    Scoring,
    Taps,
)

__all__ = [
    "LAST_NUMBER",
    "LAST_RANDOM",
    "PACK",
    "PLACES",
    "RANKS",
    "RULESETS",
    "SUITS",
    "Act",
    "Action",
    "Autoplay",
    "BadAutoplay",
    "BadBoard",
    "BadCard",
    "BadDeal",
    "BadMove",
    "Build",
    "Deal",
    "EmptyColumn",
    "Game",
    "Group",
    "IllegalMove",
    "LegalMoves",
    "Move",
    "NothingToUndo",
    "Played",
    "Position",
    "Reason",
    "Refusal",
    "Ruleset",
    "Scoring",
    "State",
    "Status",
    "Taps",
    "board_text",
    "card_text",
    "first_hash",
    "hint",
    "is_stuck",
    "next_hash",
    "parse_action",
    "parse_board",
    "parse_card",
    "parse_pile",
    "parse_place",
    "pile_text",
    "play",
    "tap",
]
