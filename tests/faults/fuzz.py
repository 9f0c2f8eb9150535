"""Whatever a peer sends: nothing comes of it but answers and the errors that are documented.

What is tried is counted and drawn from a seed, so that what is found can be found again.
"""

from random import Random

from server.journal import Journal

from .figures import Figures
from .findings import ENOUGH, Findings
from .fuzz_doors import decoder, frames, heads
from .fuzz_requests import Dispatcher
from .fuzz_texts import texts


async def fuzz(*, rounds: int = 1, seed: int = 0, journal: Journal | None = None) -> Figures:
    """Try all doors, so many thousand times each; ``lost`` is how often something else happened.

    ``journal`` is where games are kept; in memory where none is given.
    """
    findings = Findings()
    for number in range(seed, seed + rounds):
        for part in (decoder, texts, heads, frames):
            part(findings, Random(f"{part.__name__} {number}"))
        await Dispatcher(findings, Random(f"dispatcher {number}"), journal, number).run()
        if findings.is_enough:
            break
    shares = {
        part: f"{tried} ({findings.accepted.get(part, 0) * 100 // tried} % accepted)"
        for part, tried in findings.tried.items()
    }
    wrong = "; ".join(findings.wrong[:ENOUGH]) or "none"
    tried = sum(findings.tried.values())
    return Figures("fuzz", tried, len(findings.wrong), 0, more=shares | {"wrong": wrong})
