"""The hash chain that names a game by one hash, so that anyone can check a replay.

Each hash is the lower-case hex SHA-256 of UTF-8 text (docs/protocol.md, game view and entries).
"""

from hashlib import sha256


def first_hash(ruleset: str, ruleset_version: int, deal: str, autoplay: str) -> str:
    """Hash of a game before its first entry; ``deal`` is the deal's canonical text."""
    return _hash("\n".join(("cellmates/1", ruleset, str(ruleset_version), deal, autoplay)))


def next_hash(previous: str, seq: int, action: str, at_ms: int) -> str:
    """Hash after an entry; ``seq`` counts from 1, ``at_ms`` is milliseconds since the start."""
    return _hash(f"{previous}\n{seq} {action} {at_ms}")


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()
