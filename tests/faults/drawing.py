"""What a peer may send, drawn from a seed: texts, bytes, values and maps.

Most of it is nearly right, because what is only noise is refused at the first door.
"""

import json
from collections.abc import Sequence
from random import Random
from typing import Any, TypeAlias

import msgpack

from cellmates.protocol import Encoding
from tests.server.world import Body

TEXTS = (
    *("", " ", "\0", "a\0", "\n", "\r\n", "\x1b[2J", "\u202e", "\ud800", "\ufeff", "\U0010ffff"),
    *("é", "İ", "ß", "\uff11", "٣", "²", "½", "ﬁ", "a" * 65, "a" * 4000, "%00", "%FF", "%", ".."),
    *("null", "true", "NaN", "-0", "1e9", "0x1", "+1", "1_000", "--", "'--", "__proto__", "{}"),
    *("9" * 20, "-1", "0", "1", "00", str(2**53), str(2**63), str(2**64), "1.5", "after/0"),
)
NUMBERS = (0, -1, 1, 2, 7, 100, 101, 255, 2**31, 2**32, 2**53, 2**53 + 1, 2**63 - 1, 2**64 - 1)
Value: TypeAlias = Any  # what a peer sends
VALUES: tuple[Value, ...] = (
    None,
    True,
    False,
    0.5,
    -0.0,
    1e308,
    float("nan"),
    float("inf"),
    -(2**63),
    [],
    {},
    [[]],
)
NEST = 40
OPENINGS = (b"[", b'{"a":', b"\x91", b"\x81\xa0")
DEEP = 4_000


def any_text(chance: Random) -> str:
    kind = chance.randrange(3)
    if kind == 0:
        return chance.choice(TEXTS)
    if kind == 1:
        return "".join(chr(chance.randrange(32, 127)) for _ in range(chance.randrange(12)))
    return "".join(chr(chance.randrange(0x250)) for _ in range(chance.randrange(6)))


def changed_text(chance: Random, text: str, words: Sequence[str] = TEXTS) -> str:
    """A text, here and there another."""
    for _ in range(chance.randint(1, 3)):
        start = chance.randint(0, len(text))
        stop = min(len(text), start + chance.randrange(4))
        middle = (
            "",
            chance.choice(words),
            text[start:stop] * 2,
            text[start:stop].swapcase(),
            chr(chance.randrange(128)),
        )[chance.randrange(5)]
        text = text[:start] + middle + text[stop:]
    return text


def changed_bytes(chance: Random, data: bytes, other: bytes) -> bytes:
    """Bytes with others among them, some of which mean something where they are."""
    told = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        at = chance.randint(0, len(told))
        kind = chance.randrange(6)
        if chance.random() < 0.01:
            told[at:at] = chance.choice(OPENINGS) * DEEP
        elif kind == 0 and at < len(told):
            told[at] ^= 1 << chance.randrange(8)
        elif kind == 1 and at < len(told):
            told[at] = chance.choice((0, 0x7F, 0x80, 0xC1, 0xC6, 0xC7, 0xD9, 0xDB, 0xDD, 0xDF, 255))
        elif kind == 2:
            told[at : at + chance.randrange(5)] = b""
        elif kind == 3:
            told[at:at] = chance.randbytes(chance.randrange(5))
        elif kind == 4:
            start = chance.randint(0, len(other))
            told[at:at] = other[start : start + chance.randrange(20)]
        else:
            del told[at:]
    return bytes(told)


def any_value(chance: Random, known: Sequence[str] = ()) -> Value:
    kind = chance.randrange(7)
    if kind == 0:
        return chance.choice(NUMBERS)
    if kind == 1:
        return chance.choice(VALUES)
    if kind == 2:
        nested: Value = any_text(chance)
        for _ in range(chance.randrange(NEST)):
            nested = [nested] if chance.random() < 0.5 else {"d": nested}
        return nested
    if kind < 5 and known:
        text = chance.choice(known)
        return text if kind == 3 else changed_text(chance, text)
    return any_text(chance)


def changed_map(chance: Random, told: Body, known: Sequence[str] = ()) -> Body:
    """A map in which something is missing, wrong or too much; so may be the maps in it."""
    told = dict(told)
    for _ in range(chance.randint(1, 2)):
        key = chance.choice([*told, "x", "d", "token"])
        if isinstance(told.get(key), dict) and chance.random() < 0.8:
            told[key] = changed_map(chance, told[key], known)
        elif chance.random() < 0.15:
            told.pop(key, None)
        else:
            told[key] = any_value(chance, known)
    return told


def packed(encoding: Encoding, told: object) -> bytes | str:
    """A frame of plain json or msgpack, also of what is no text."""
    if encoding is Encoding.JSON:
        return json.dumps(told)
    frame: bytes = msgpack.packb(told, unicode_errors="surrogatepass")
    return frame
