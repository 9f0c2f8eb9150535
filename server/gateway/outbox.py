"""How much was written that the kernel has not taken, and since when. No I/O."""


class Outbox:
    """Sizes and times of the messages that wait in the transport's buffer, oldest first.

    Mostly empty, and there is one for each connection: an empty list is a tenth of an empty deque.
    """

    __slots__ = ("_bytes", "_waiting")

    def __init__(self) -> None:
        self._waiting: list[tuple[int, float]] = []
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def since(self) -> float:
        """When the oldest message was written. There must be one."""
        return self._waiting[0][1]

    def wrote(self, size: int, now: float) -> None:
        """Count a message of so many bytes."""
        self._waiting.append((size, now))
        self._bytes += size

    def settle(self, buffered: int) -> None:
        """Forget what the kernel has taken whole: all but the last ``buffered`` bytes."""
        taken = 0
        for size, _ in self._waiting:
            if self._bytes - size < buffered:
                break
            self._bytes -= size
            taken += 1
        del self._waiting[:taken]
