"""A day's challenges in a database, planned from seeds whose deals are quickly solved."""

import asyncio
from hashlib import sha256

from cellmates.daily import plan
from cellmates.engine import RULESETS
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
    seed = sha256(f"golden {SEEDS[name]}".encode()).digest()
    return sealed_challenge(vault, RULESETS[name], day, seed, plan(RULESETS[name], seed), None)
