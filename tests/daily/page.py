"""Reads docs/daily.md."""

import re
from hashlib import sha256

from tests.protocol.page import ROOT, tables

TEXT = (ROOT / "docs" / "daily.md").read_text(encoding="utf-8")
SAID = " ".join(TEXT.split())


def table(*headings: str) -> list[list[str]]:
    """Body of the one table whose headings begin so, without backticks."""
    [rows] = [rows for rows in tables(TEXT) if rows[0][: len(headings)] == list(headings)]
    return [[cell.replace("`", "") for cell in row] for row in rows[1:]]


def found(pattern: str) -> str:
    """What a pattern's one group matches, at one place of the page and no other."""
    [text] = re.findall(pattern, SAID)
    return str(text)


def seed_of(challenge: str) -> bytes:
    """Seed of an example, as the page says."""
    return sha256(challenge.encode()).digest()
