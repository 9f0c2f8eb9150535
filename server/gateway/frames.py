"""The short path: what was read cut into frames, and the ordinary ones taken apart. No I/O.

Of a frame that is not ordinary only the end is found, so that the library gets it whole: what it
means, and whether it may be, the library says.
"""

import struct

try:
    from websockets.speedups import apply_mask
except ImportError:  # built without its C part, as the library may be
    from websockets.utils import apply_mask

FINAL = 0x80  # bit of the first byte
TEXT = FINAL | 0x01
BINARY = FINAL | 0x02

_MASKED = 0x80  # bit of the second byte
_MASK_BYTES = 4
_LEAST_BYTES = 2 + _MASK_BYTES
_OPCODES = frozenset((0x0, 0x1, 0x2, 0x8, 0x9, 0xA))
# What the second byte says instead of a length that stands behind it, in so many bytes.
_LONGER_LENGTHS = {126: 2, 127: 8}
_SHORT, _MEDIUM, _LONG = struct.Struct("!BB"), struct.Struct("!BBH"), struct.Struct("!BBQ")


def ordinary_message(data: bytes, at: int, most: int) -> tuple[bytes | str, int] | None:
    """The message of the frame at ``at``, and where the frame ends; None where it is not ordinary.

    Ordinary is a masked frame that is all there and is a message by itself, binary or UTF-8, of at
    most ``most`` bytes and less than 64 KiB, without reserved bits, its length written as shortly
    as can be.
    """
    there = len(data)
    if there - at < _LEAST_BYTES:
        return None
    first, length, start = data[at], data[at + 1] - _MASKED, at + _LEAST_BYTES
    if length == 126:
        length, start = int.from_bytes(data[at + 2 : at + 4], "big"), start + 2
        if length < 126:
            return None
    elif not 0 <= length < 126:
        return None
    end = start + length
    if length > most or end > there or (first != BINARY and first != TEXT):
        return None
    payload = apply_mask(data[start:end], data[start - _MASK_BYTES : start])
    if first == BINARY:
        return payload, end
    try:
        return payload.decode(), end
    except UnicodeDecodeError:
        return None


def frame_end(data: bytes, at: int, most: int) -> int | None:
    """Where the frame at ``at`` ends, whatever it is; None while it is not all there.

    A frame that the library refuses at sight need not come whole, and ends where the data does: one
    of an unknown kind, one that is not masked, one whose payload is of more than ``most`` bytes.
    """
    there = len(data)
    if there - at < 2:
        return None
    length = data[at + 1] - _MASKED
    if data[at] & 0x0F not in _OPCODES or length < 0:
        return there
    start = at + 2
    if length in _LONGER_LENGTHS:
        start += _LONGER_LENGTHS[length]
        if there < start:
            return None
        length = int.from_bytes(data[at + 2 : start], "big")
    if length > most:
        return there
    end = start + _MASK_BYTES + length
    return end if end <= there else None


def server_frame(first: int, payload: bytes) -> bytes:
    """A server's frame with this first byte: not masked, and in one piece."""
    length = len(payload)
    if length < 126:
        return _SHORT.pack(first, length) + payload
    if length < 65536:
        return _MEDIUM.pack(first, 126, length) + payload
    return _LONG.pack(first, 127, length) + payload
