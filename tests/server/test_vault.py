"""Sealed secrets: only their key opens them, and what is sealed tells nothing."""

import pytest

from server.records import Told
from server.vault import Vault, WrongKey

KEY, OTHER = "A" * 43 + "=", "B" * 43 + "="
TOLD = Told("ab" * 32, 7, "cards:", 80, ("1a", "2h"))


def test_what_was_sealed_comes_back() -> None:
    assert Vault(KEY).open(Vault(KEY).seal(TOLD)) == TOLD


def test_other_key_opens_nothing() -> None:
    with pytest.raises(WrongKey, match="CELLMATES_SECRET_KEY"):
        Vault(OTHER).open(Vault(KEY).seal(TOLD))


def test_what_was_changed_is_not_opened() -> None:
    sealed = Vault(KEY).seal(TOLD)
    changed = sealed[:100] + ("A" if sealed[100] != "A" else "B") + sealed[101:]
    with pytest.raises(WrongKey):
        Vault(KEY).open(changed)


def test_length_tells_neither_candidate_nor_solution() -> None:
    long = Told("ab" * 32, 123_456, "cards:" + "AC" * 52, 300, ("10h",) * 250)
    assert len(Vault(KEY).seal(TOLD)) == len(Vault(KEY).seal(long))
    assert Vault(KEY).seal(TOLD) != Vault(KEY).seal(TOLD)
