"""Handles and tokens, as accounts know them."""

from hypothesis import given
from hypothesis import strategies as st

from server.players import RESERVED, check_handle, skeleton, token_hash

HANDLES = st.text("AaBbIiLlOo01-_9", min_size=3, max_size=20)


@given(HANDLES)
def test_skeleton_of_a_skeleton_is_itself(handle: str) -> None:
    assert skeleton(skeleton(handle)) == skeleton(handle)


@given(HANDLES)
def test_look_alikes_have_one_skeleton(handle: str) -> None:
    for change, to in (("0", "o"), ("1", "l"), ("I", "i"), ("-", "_"), ("A", "a")):
        assert skeleton(handle.replace(change, to)) == skeleton(handle)


def test_different_handles_are_different() -> None:
    assert len({skeleton(handle) for handle in ("anna", "hanna", "anna2", "anna_")}) == 4


def test_reserved_names_are_kept_by_skeleton() -> None:
    assert skeleton("ADM1N") in RESERVED
    assert check_handle("Admina") == "admina"


def test_what_is_kept_of_a_token_does_not_tell_it() -> None:
    assert token_hash("secret") != "secret"
    assert len(token_hash("secret")) == 64
