"""Enumerations whose members are words of the game."""

from enum import StrEnum


class Word(StrEnum):
    """A member is its text, and its ``repr`` rebuilds it."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self.name}"
