"""The journal in a database: the only SQL. What it promises is said in ``server.journal``."""

from .backup import backup
from .engine import BadDatabase
from .schema import NewerSchema, OlderSchema, WrongSchema, check, downgrade, upgrade
from .store import Store

__all__ = [
    "BadDatabase",
    "NewerSchema",
    "OlderSchema",
    "Store",
    "WrongSchema",
    "backup",
    "check",
    "downgrade",
    "upgrade",
]
