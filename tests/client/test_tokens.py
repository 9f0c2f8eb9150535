"""Where tokens are kept, and who can read them."""

import json
import os
import stat
from pathlib import Path

import pytest

from client.tokens import Tokens, TokensUnusable


@pytest.fixture
def tokens(tmp_path: Path) -> Tokens:
    return Tokens.of_user({"XDG_CONFIG_HOME": str(tmp_path / "config")})


def test_tokens_of_the_bot_are_apart(tmp_path: Path, tokens: Tokens) -> None:
    of_bot = Tokens.of_bot({"XDG_CONFIG_HOME": str(tmp_path / "config")})
    tokens.keep("ws://a/ws", "mine")
    assert of_bot.get("ws://a/ws") is None
    of_bot.keep("ws://a/ws", "its")
    assert (tokens.get("ws://a/ws"), of_bot.get("ws://a/ws")) == ("mine", "its")
    assert of_bot.path == tokens.path.with_name("bot-tokens.json")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_one_token_a_server_is_kept(tokens: Tokens) -> None:
    assert tokens.get("ws://a/ws") is None
    tokens.keep("ws://a/ws", "1")
    tokens.keep("ws://b/ws", "2")
    tokens.keep("ws://a/ws", "3")
    again = Tokens(tokens.path)
    assert (again.get("ws://a/ws"), again.get("ws://b/ws")) == ("3", "2")
    again.forget("ws://a/ws")
    assert (tokens.get("ws://a/ws"), tokens.get("ws://b/ws")) == (None, "2")


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o277])
def test_only_the_owner_can_read(umask: int, tokens: Tokens) -> None:
    tokens.path.parent.parent.mkdir()
    before = os.umask(umask)
    try:
        tokens.keep("ws://a/ws", "1")
    finally:
        os.umask(before)
    assert mode(tokens.path) == 0o600
    assert mode(tokens.path.parent) == 0o700
    assert [*tokens.path.parent.iterdir()] == [tokens.path], "nothing is left lying about"


def test_what_others_could_read_they_can_read_no_more(tokens: Tokens) -> None:
    tokens.path.parent.mkdir(mode=0o755, parents=True)
    tokens.path.write_text('{"ws://a/ws": "1"}')
    tokens.path.chmod(0o644)
    assert tokens.get("ws://a/ws") == "1"
    assert mode(tokens.path) == 0o600
    tokens.check()
    assert mode(tokens.path.parent) == 0o700


@pytest.mark.parametrize("text", ["", "[]", "{", '{"ws://a/ws": 1}', "[" * 50_000, "\ufffd"])
def test_file_that_holds_no_tokens_is_told_and_left_alone(text: str, tokens: Tokens) -> None:
    tokens.path.parent.mkdir(parents=True)
    tokens.path.write_text(text, encoding="utf-8")
    with pytest.raises(TokensUnusable, match="does not hold tokens: mend or remove it"):
        tokens.get("ws://a/ws")
    with pytest.raises(TokensUnusable, match="does not hold tokens: mend or remove it"):
        tokens.keep("ws://a/ws", "1")
    assert tokens.path.read_text(encoding="utf-8") == text


def test_bytes_that_are_no_text_are_told(tokens: Tokens) -> None:
    tokens.path.parent.mkdir(parents=True)
    tokens.path.write_bytes(b"\xff")
    with pytest.raises(TokensUnusable, match="it is no text"):
        tokens.get("ws://a/ws")


def test_folder_that_cannot_be_made_is_told(tokens: Tokens) -> None:
    tokens.path.parent.parent.write_text("a file where the folder should be")
    with pytest.raises(TokensUnusable, match="Not a directory"):
        tokens.check()


def test_failed_write_leaves_the_old_file(tokens: Tokens, monkeypatch: pytest.MonkeyPatch) -> None:
    tokens.keep("ws://a/ws", "1")

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(json, "dump", full)
    with pytest.raises(TokensUnusable, match="No space left on device"):
        tokens.keep("ws://a/ws", "2")
    assert tokens.get("ws://a/ws") == "1"
    assert [*tokens.path.parent.iterdir()] == [tokens.path]


@pytest.mark.parametrize("given", ["", "relative/path"])
def test_without_a_folder_of_their_own_tokens_are_in_dot_config(
    given: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/ann")
    path = Tokens.of_user({"XDG_CONFIG_HOME": given}).path
    assert path == Path("/ann/.config/cellmates/tokens.json")
