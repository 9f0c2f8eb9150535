from typing import get_args

import pytest

from cellmates.protocol import Hello, PlayerCreate, RequestBody
from server.session import MAY_SAY, Bucket, Buckets, NotNow, Rate, State, check

MESSAGES = get_args(RequestBody)


def test_every_message_may_be_said_in_some_state() -> None:
    assert set(MESSAGES) == set().union(*MAY_SAY.values())


@pytest.mark.parametrize(
    ("state", "message", "code"),
    [
        *[(State.GREETING, message, "hello-first") for message in MESSAGES if message is not Hello],
        (State.GUEST, Hello, "forbidden"),
        (State.PLAYING, Hello, "forbidden"),
        (State.PLAYING, PlayerCreate, "forbidden"),
        *[
            (State.GUEST, message, "token-needed")
            for message in sorted(MAY_SAY[State.PLAYING] - MAY_SAY[State.GUEST], key=str)
        ],
    ],
)
def test_what_may_not_be_said_has_its_code(state: State, message: type, code: str) -> None:
    with pytest.raises(NotNow) as refused:
        check(state, message)
    assert refused.value.code == code


@pytest.mark.parametrize("state", State)
def test_what_may_be_said_passes(state: State) -> None:
    for message in MAY_SAY[state]:
        check(state, message)


def test_bucket_gives_its_burst_and_then_its_rate() -> None:
    bucket = Bucket(Rate(3, 2))
    assert [bucket.take(0) for _ in range(5)] == [0, 0, 0, 500, 500]
    assert bucket.take(499) > 0
    assert bucket.take(500) == 0
    assert bucket.take(60_000) == 0
    assert [bucket.take(60_000) for _ in range(3)] == [0, 0, 500]


def test_bucket_loses_nothing_when_time_stands_still_or_goes_back() -> None:
    bucket = Bucket(Rate(1, 1))
    assert bucket.take(1000) == 0
    assert bucket.take(500) == 1000


def test_buckets_are_counted_by_key_and_full_ones_forgotten() -> None:
    buckets = Buckets(Rate(1, 1), most=2)
    assert [buckets.take(key, 0) for key in ("a", "b", "a")] == [0, 0, 1000]
    assert buckets.take("c", 5_000) == 0
    assert sorted(buckets._buckets) == ["c"]
    assert buckets.take("d", 5_000) == 0
    assert buckets.take("c", 5_000) == 1000
