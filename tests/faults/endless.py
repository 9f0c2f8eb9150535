"""A game that goes on for as long as somebody plays it."""

RULESET = "eight-off"  # from its start one card can go to and fro between two cells for ever


def to_and_fro(seq: int) -> str:
    """The move that is legal as this action of a game that never gets anywhere."""
    return "ae" if seq % 2 else "ea"
