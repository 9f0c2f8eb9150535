"""From a seed to deals: candidate after candidate, drawn in a way that anyone can repeat.

Keys and numbers come of HMAC-SHA256; the shuffle is Fisher and Yates's, with rejection sampling, so
that every order of the pack is as likely as any other.
"""

import hmac
from collections.abc import Iterator

from cellmates.engine import PACK, Deal

SEED_BYTES = 32

_DIGEST = "sha256"
_WORD_BYTES = 4
_WORDS = 2 ** (8 * _WORD_BYTES)


def candidate(seed: bytes, number: int) -> Deal:
    r"""Deal number 0, 1, 2 … of a seed.

    The key is HMAC-SHA256(seed, "candidate\n" + number). HMAC-SHA256(key, "cellmates/daily/1\n" +
    counter), for counter 0, 1, 2 …, is read as big-endian numbers of 32 bits each. From the last
    place of the sorted pack to the second, the card there is exchanged with the one at ``number mod
    places``; numbers from the greatest multiple of ``places`` on are passed over. Counters and
    numbers are written in decimal; the sorted pack is AC AD AH AS 2C … KS.
    """
    numbers = _numbers(hmac.digest(seed, f"candidate\n{number}".encode(), _DIGEST))
    order = bytearray(PACK)
    for places in range(len(order), 1, -1):
        pick = _below(places, numbers)
        order[pick], order[places - 1] = order[places - 1], order[pick]
    return Deal.of_order(bytes(order))


def _numbers(key: bytes) -> Iterator[int]:
    counter = 0
    while True:
        block = hmac.digest(key, f"cellmates/daily/1\n{counter}".encode(), _DIGEST)
        for start in range(0, len(block), _WORD_BYTES):
            yield int.from_bytes(block[start : start + _WORD_BYTES], "big")
        counter += 1


def _below(places: int, numbers: Iterator[int]) -> int:
    fair = _WORDS - _WORDS % places
    return next(number for number in numbers if number < fair) % places
