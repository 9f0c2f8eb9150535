"""Frames to messages: fragments joined, text decoded, limits kept. No I/O."""

from codecs import IncrementalDecoder, getincrementaldecoder

from websockets.frames import Frame, Opcode

_utf8_decoder = getincrementaldecoder("utf-8")


class TooLarge(Exception):
    """A message has more bytes or more fragments than a message may have."""


class Assembly:
    """The message that is being received. The library has seen to the order of its frames."""

    __slots__ = ("_decoder", "_fragments", "_joined", "_max_bytes", "_max_fragments")

    def __init__(self, max_bytes: int, max_fragments: int) -> None:
        self._max_bytes = max_bytes
        self._max_fragments = max_fragments
        self._joined: bytearray | None = None
        self._decoder: IncrementalDecoder | None = None
        self._fragments = 0

    def add(self, frame: Frame) -> bytes | str | None:
        """Take a data frame; the message that it ends, if it ends one.

        Raises:
            TooLarge: it makes the message too large. No further frame may be added, here and below.
            UnicodeDecodeError: text is not UTF-8; said as soon as it is certain.
        """
        if frame.opcode is not Opcode.CONT:
            if frame.fin and len(frame.data) <= self._max_bytes:
                data = bytes(frame.data)
                return data if frame.opcode is Opcode.BINARY else data.decode()
            self._joined, self._fragments = bytearray(), 0
            self._decoder = _utf8_decoder() if frame.opcode is Opcode.TEXT else None
        return self._join(frame)

    def _join(self, frame: Frame) -> bytes | str | None:
        # Fragments are counted because empty ones grow no message, and could go on for ever.
        joined = self._joined
        assert joined is not None, "a continuation of nothing, which the library refuses"
        self._fragments += 1
        joined += frame.data
        if len(joined) > self._max_bytes:
            raise TooLarge(f"message of more than {self._max_bytes} bytes")
        if self._fragments > self._max_fragments:
            raise TooLarge(f"message in more than {self._max_fragments} fragments")
        if self._decoder is not None:
            self._decoder.decode(bytes(frame.data), final=frame.fin)
        if not frame.fin:
            return None
        self._joined = None
        return bytes(joined) if self._decoder is None else joined.decode()
