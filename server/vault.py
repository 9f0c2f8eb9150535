"""Seals what nobody may know before its day: under the server's secret key, by Fernet."""

import json

from cryptography.fernet import Fernet, InvalidToken
from msgspec.structs import asdict

from .records import Told

# What is sealed is filled up to a multiple of this, so that its length tells nothing either.
_BLOCK_BYTES = 4096


class WrongKey(Exception):
    """The secrets of a challenge were sealed under another key, or are damaged."""


class Vault:
    """Seals and opens under one key."""

    def __init__(self, key: str) -> None:
        """``key`` is 32 bytes in URL-safe base64."""
        self._fernet = Fernet(key)

    def seal(self, told: Told) -> str:
        """What only this key can open."""
        text = json.dumps(asdict(told)).encode()
        blocks = -(-len(text) // _BLOCK_BYTES)
        return self._fernet.encrypt(text.ljust(blocks * _BLOCK_BYTES)).decode()

    def open(self, sealed: str) -> Told:
        """What was sealed.

        Raises:
            WrongKey: it cannot be opened with this key.
        """
        try:
            fields = json.loads(self._fernet.decrypt(sealed))
        except InvalidToken:
            raise WrongKey(
                "the challenge was sealed under another CELLMATES_SECRET_KEY than this server's"
            ) from None
        return Told(**{**fields, "solution": tuple(fields["solution"])})
