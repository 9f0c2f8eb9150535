"""Positions to hold the page's rules against the engine: from games, and planted ones."""

from collections.abc import Iterator
from random import Random

from cellmates.engine import (
    PACK,
    RULESETS,
    SUITS,
    Deal,
    LegalMoves,
    Position,
    Ruleset,
    card_text,
    play,
)

LONGEST_GAME = 120


def positions(chance: Random, each: int) -> Iterator[tuple[Ruleset, Position]]:
    """So many positions of each ruleset: half of them from games, half planted."""
    for ruleset in RULESETS.values():
        for _ in range(each // 2):
            yield ruleset, planted(chance, ruleset)
        met = (position for _ in range(each) for position in of_game(chance, ruleset))
        for _, position in zip(range(each - each // 2), met, strict=False):
            yield ruleset, position


def of_game(chance: Random, ruleset: Ruleset) -> Iterator[Position]:
    """Some positions of a game that is played at random, a little towards home."""
    position = Deal.numbered(chance.randint(1, 2**31)).layout(ruleset)
    for _ in range(LONGEST_GAME):
        if chance.random() < 0.6:
            yield position
        moves = list(LegalMoves(ruleset, position))
        if not moves:
            break
        move = min(chance.choices(moves, k=3), key=lambda move: str(move)[1] in "abcdefgk")
        position = play(ruleset, position, move, ruleset.autoplay).position


def planted(chance: Random, ruleset: Ruleset) -> Position:
    """Position with long runs, few cards or empty columns, such as games come to late."""
    most = chance.choice([3, 9, 13])
    home = [chance.randint(0, most) for _ in SUITS]
    left = [card for card in PACK if card >> 2 >= home[card & 3]]
    if chance.random() < 0.7:
        left.sort(key=lambda card: -card + 12 * chance.random())
    else:
        chance.shuffle(left)
    columns = [b""] * ruleset.columns
    cells = [b""] * ruleset.cells
    parked = chance.choice([0.05, 0.4])
    used = chance.sample(range(ruleset.columns), chance.randint(1, ruleset.columns))
    for card in left:
        under = [at for at in used if columns[at] and columns[at][-1] in ruleset.lies_on[card]]
        free = [at for at, cell in enumerate(cells) if not cell]
        if free and chance.random() < parked:
            cells[chance.choice(free)] = bytes([card])
        else:
            columns[chance.choice(under if chance.random() < 0.9 and under else used)] += bytes(
                [card]
            )
    clubs, diamonds, hearts, spades = home
    return Position(tuple(columns), tuple(cells), (clubs, diamonds, hearts, spades))


def shown(position: Position) -> dict[str, object]:
    """Position as the wire and the page write it."""
    return {
        "columns": [[card_text(card) for card in column] for column in position.columns],
        "cells": [card_text(cell[0]) if cell else None for cell in position.cells],
        "home": dict(zip(SUITS, position.home, strict=True)),
    }
