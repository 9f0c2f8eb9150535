"""WebSockets as the standard wants them: Autobahn's cases against our gateway.

Behind the gateway everything is sent back as it came. Cases that measure speed with messages of
megabytes take longer, and are tried where ``mass`` asks for them; those of compression are left
out, because the gateway agrees to no extension.
"""

from collections.abc import Mapping

import uvloop
from kosoku import FailureError, run_fuzzingclient
from kosoku._kosoku import CaseResult

from server.gateway import GatewaySettings
from server.gateway.connection import Connection
from tests.gateway.house import BINARY, TEXT, App, OpenHouse, Talk, as_bytes

from .figures import Figures

COMPRESSION = ("12.*", "13.*")
MASS = ("9.*",)
AT_ONCE = 8
LARGEST_BYTES = 32 * 2**20

WIDE = GatewaySettings(
    frame_bytes=LARGEST_BYTES,
    fragments=100_000,
    control_frames=100_000,
    outbox_bytes=2 * LARGEST_BYTES,
    outbox_messages=10_000,
)

# A close in the middle of a message is to be answered with its own code; the library takes it for
# a violation. Its authors know, and say so.
UPSTREAM = {"7.1.5": 1002}
# What is not as a case wants it, and the code that we close with. All but the first send more than
# a client's frame may have.
WITHIN_LIMITS = UPSTREAM | dict.fromkeys(
    ("1.1.6", "1.1.7", "1.1.8", "1.2.6", "1.2.7", "1.2.8", "10.1.1"), 1009
)


def conformance(*, mass: bool = False) -> Figures:
    """Try each case with limits that no case comes near, then with those of production.

    ``lost`` are those that did not end as they are to.
    """
    wide = uvloop.run(_differing(WIDE, () if mass else MASS))
    narrow = uvloop.run(_differing(GatewaySettings(), MASS))
    tried = wide[0] + narrow[0]
    unexpected = _unlike(wide[1], UPSTREAM) + _unlike(narrow[1], WITHIN_LIMITS)
    return Figures(
        "conformance",
        tried,
        len(unexpected),
        0,
        more={
            "passed": f"{wide[0] - len(wide[1])} of {wide[0]}",
            "at our limits": f"{narrow[0] - len(narrow[1])} of {narrow[0]}",
            "unexpected": " ".join(unexpected) or "none",
        },
    )


async def _differing(
    settings: GatewaySettings, excluded: tuple[str, ...]
) -> tuple[int, dict[str, int | None]]:
    """Number of cases tried, and those that failed, with the code that we closed with."""
    house = OpenHouse()
    await house.open(App(send_back), settings)
    try:
        results: list[CaseResult] = await run_fuzzingclient(
            house.url, exclude_cases=[*COMPRESSION, *excluded], concurrency=AT_ONCE
        )
    except FailureError as failure:
        results = failure.results  # all of them, whatever its docstring says
    await house.close()
    return len(results), {
        result.case_id: result.remote_close_code for result in results if not result.passed
    }


def _unlike(found: Mapping[str, int | None], listed: Mapping[str, int]) -> list[str]:
    return sorted({case for case, _ in found.items() ^ listed.items()})


async def send_back(talk: Talk, frame: bytes | str) -> None:
    """Answer text with text and bytes with bytes, which no conversation of ours ever mixes."""
    assert isinstance(talk.peer, Connection)
    wire = talk.peer._wire
    wire._first_byte = BINARY if isinstance(frame, bytes) else TEXT
    wire.send(as_bytes(frame))
