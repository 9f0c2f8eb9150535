"""What waits to be read is counted by whole messages, from the oldest that is not all taken."""

from hypothesis import given
from hypothesis import strategies as st

from server.gateway.outbox import Outbox


def test_a_message_waits_until_its_last_byte_is_taken() -> None:
    outbox = Outbox()
    outbox.wrote(10, now=1.0)
    outbox.wrote(20, now=2.0)
    outbox.settle(21)
    assert (len(outbox), outbox.since) == (2, 1.0)
    outbox.settle(20)
    assert (len(outbox), outbox.since) == (1, 2.0)
    outbox.settle(1)
    assert len(outbox) == 1
    outbox.settle(0)
    assert len(outbox) == 0


@given(st.lists(st.tuples(st.integers(1, 50), st.integers(0, 60))))
def test_the_count_is_that_of_the_messages_that_hold_the_last_bytes(
    steps: list[tuple[int, int]],
) -> None:
    outbox, sizes, buffered = Outbox(), list[int](), 0
    for size, taken in steps:
        outbox.wrote(size, now=0.0)
        sizes.append(size)
        buffered = max(0, buffered + size - taken)
        outbox.settle(buffered)
        waiting = [at for at in range(len(sizes)) if sum(sizes[at + 1 :]) < buffered]
        assert len(outbox) == len(waiting)
