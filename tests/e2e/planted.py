"""A day's challenges in a database, planned beforehand from seeds whose deals are quickly solved.

``python -m tests.e2e.planted`` plans them anew; a test holds the file to the planner.
"""

import asyncio
import json
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path

from cellmates.daily import Planned, plan
from cellmates.engine import RULESETS, Deal
from server.planner import sealed_challenge
from server.records import ChallengeRecord
from server.store import Store, upgrade
from server.vault import Vault

# The seed is the digest of "golden" and this number.
SEEDS = {
    "freecell": 1,
    "eight-off": 12,
    "eight-off-4": 5,
    "eight-off-2": 8,
    "eight-off-classic": 12,
}
PLANNED = Path(__file__).parent / "planted.json"


def plant_day(database_url: str, key: str, day: str) -> None:
    """Make the tables, and keep a day's challenges as a planner would."""
    asyncio.run(_plant(database_url, [_challenge(name, Vault(key), day) for name in SEEDS]))


def planted_seed(ruleset: str) -> bytes:
    """Seed of a ruleset's challenge."""
    return sha256(f"golden {SEEDS[ruleset]}".encode()).digest()


def planned_of(ruleset: str) -> Planned:
    """What the planner has made of it, from the file."""
    told = json.loads(PLANNED.read_text("utf-8"))[ruleset]
    deal = Deal.parse(RULESETS[ruleset], told["deal"])
    return Planned(told["candidate"], deal, tuple(told["solution"].split()), told["par"])


async def _plant(database_url: str, records: list[ChallengeRecord]) -> None:
    await upgrade(database_url)
    store = await Store.open(database_url)
    for record in records:
        await store.create_challenge(record)
    await store.close()


def _challenge(name: str, vault: Vault, day: str) -> ChallengeRecord:
    return sealed_challenge(vault, RULESETS[name], day, planted_seed(name), planned_of(name), None)


def _plan_anew() -> None:
    told = {}
    for name in SEEDS:
        planned = plan(RULESETS[name], planted_seed(name))
        solution = " ".join(planned.solution)
        told[name] = asdict(planned) | {"deal": str(planned.deal), "solution": solution}
    PLANNED.write_text(json.dumps(told, indent=2) + "\n")


if __name__ == "__main__":
    _plan_anew()
