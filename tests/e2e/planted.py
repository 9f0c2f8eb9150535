"""A day's challenges in a database, planned from seeds whose deals are quickly solved."""

import asyncio
from hashlib import sha256

from cellmates.daily import PLANNER, challenge_id, closes_at, commitment, opens_at, plan
from cellmates.engine import RULESETS
from server.journal import ChallengeRecord, Told
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


def plant_day(database_url: str, key: str, day: str) -> None:
    """Make the tables, and keep a day's challenges as a planner would."""
    asyncio.run(_plant(database_url, [_challenge(name, Vault(key), day) for name in SEEDS]))


async def _plant(database_url: str, records: list[ChallengeRecord]) -> None:
    await upgrade(database_url)
    store = await Store.open(database_url)
    for record in records:
        await store.create_challenge(record)
    await store.close()


def _challenge(name: str, vault: Vault, day: str) -> ChallengeRecord:
    ruleset, challenge = RULESETS[name], challenge_id(day, name)
    seed = sha256(f"golden {SEEDS[name]}".encode()).digest()
    planned = plan(ruleset, seed)
    told = Told(seed.hex(), planned.candidate, str(planned.deal), planned.par, planned.solution)
    return ChallengeRecord(
        id=challenge,
        day=day,
        ruleset=name,
        ruleset_version=ruleset.version,
        planner=PLANNER,
        opens=opens_at(day),
        closes=closes_at(day),
        commitment=commitment(
            challenge=challenge,
            ruleset_version=ruleset.version,
            planner=PLANNER,
            seed=seed,
            previous=None,
        ),
        previous=None,
        sealed=vault.seal(told),
    )
