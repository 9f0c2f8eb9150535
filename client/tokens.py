"""The tokens that this user was given, one a server, in a file that only they can read.

Tokens of this user's bot are in another file: it is a player of its own.
"""

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

_FOLDER_MODE, _FILE_MODE = 0o700, 0o600


class TokensUnusable(Exception):
    """The file cannot be read or written; the message says why, and never what is in it."""


class Tokens:
    """Tokens by the address of the server, kept from one run to the next."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def of_user(cls, environment: Mapping[str, str] = os.environ) -> "Tokens":
        """Tokens of whoever runs this, in their folder for configuration."""
        return cls(_folder(environment) / "tokens.json")

    @classmethod
    def of_bot(cls, environment: Mapping[str, str] = os.environ) -> "Tokens":
        """Tokens of the bot of whoever runs this, in the same folder."""
        return cls(_folder(environment) / "bot-tokens.json")

    def get(self, server: str) -> str | None:
        """Token for a server, if one is kept.

        Raises:
            TokensUnusable: as for every method.
        """
        return self._read().get(server)

    def keep(self, server: str, token: str) -> None:
        """Keep a token, in place of one for the same server."""
        self._write(self._read() | {server: token})

    def forget(self, server: str) -> None:
        """Keep no token for a server."""
        self._write({name: token for name, token in self._read().items() if name != server})

    def check(self) -> None:
        """See that a token could be kept, before there is one to lose."""
        self._write(self._read())

    def _read(self) -> dict[str, str]:
        try:
            text = self.path.read_text(encoding="utf-8")
            self.path.chmod(_FILE_MODE)
        except FileNotFoundError:
            return {}
        except (OSError, UnicodeDecodeError) as error:
            raise TokensUnusable(f"cannot read {self.path}: {_why(error)}") from None
        try:
            tokens = json.loads(text)
        except (ValueError, RecursionError):
            tokens = None
        if not isinstance(tokens, dict) or not all(
            isinstance(token, str) for token in tokens.values()
        ):
            raise TokensUnusable(f"{self.path} does not hold tokens: mend or remove it")
        return tokens

    def _write(self, tokens: Mapping[str, str]) -> None:
        """Put a whole new file in the place of the old one, so that half of one is never there."""
        try:
            self.path.parent.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
            self.path.parent.chmod(_FOLDER_MODE)
            # Made for the owner's eyes only; whatever the umask took of that is given back.
            number, name = tempfile.mkstemp(prefix=".tokens-", dir=self.path.parent)
            try:
                Path(name).chmod(_FILE_MODE)
                with os.fdopen(number, "w", encoding="utf-8") as file:
                    json.dump(tokens, file, indent=2)
                    file.write("\n")
                Path(name).replace(self.path)
            finally:
                Path(name).unlink(missing_ok=True)
        except OSError as error:
            raise TokensUnusable(f"cannot write {self.path}: {_why(error)}") from None


def _folder(environment: Mapping[str, str]) -> Path:
    given = Path(environment.get("XDG_CONFIG_HOME", ""))
    # A relative path is to be ignored, says the XDG specification.
    return (given if given.is_absolute() else Path.home() / ".config") / "cellmates"


def _why(error: Exception) -> str:
    return error.strerror if isinstance(error, OSError) and error.strerror else "it is no text"
