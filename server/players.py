"""Who plays: handles, tokens and accounts.

A token is 256 bits of chance, shown once; only its SHA-256 is kept. Handles are unique by skeleton,
so that nobody can look like somebody else.
"""

import re
from collections.abc import Callable
from hashlib import sha256

from msgspec.structs import replace

from .clock import Clock
from .journal import Journal
from .records import PlayerRecord, Result

DELETED_PLAYER = "deleted player"
_HANDLE = re.compile(r"[A-Za-z0-9_-]{3,20}")

_LOOK_ALIKE = str.maketrans({"0": "o", "1": "i", "l": "i", "-": "_"})
_RESERVED = (
    "admin",
    "administrator",
    "anonymous",
    "api",
    "bot",
    "cellmates",
    "deleted",
    "deleted_player",
    "guest",
    "me",
    "mod",
    "moderator",
    "none",
    "null",
    "operator",
    "root",
    "server",
    "staff",
    "support",
    "system",
    "undefined",
)


class HandleInvalid(Exception):
    """The text may not be a handle; the message says why."""


class BadToken(Exception):
    """Nobody has this token, or nobody has it any more."""


class NotConfirmed(Exception):
    """The handle given as confirmation is not the player's own."""


class NoSuchPlayer(Exception):
    """Nobody has this handle."""


def skeleton(handle: str) -> str:
    """What two handles that look alike have in common."""
    return handle.casefold().translate(_LOOK_ALIKE)


RESERVED = frozenset(map(skeleton, _RESERVED))


def check_handle(handle: str) -> str:
    """Skeleton of a handle that may be taken.

    Raises:
        HandleInvalid: it may not.
    """
    if not _HANDLE.fullmatch(handle):
        raise HandleInvalid("a handle has 3 to 20 of the letters A-Z a-z, digits, _ and -")
    key = skeleton(handle)
    if key in RESERVED:
        raise HandleInvalid("this handle is reserved")
    return key


def token_hash(token: str) -> str:
    """What is kept of a token: lower-case hex SHA-256."""
    return sha256(token.encode()).hexdigest()


class Players:
    """Accounts, as handlers use them."""

    def __init__(
        self,
        journal: Journal,
        clock: Clock,
        new_id: Callable[[], str],
        new_token: Callable[[], str],
    ) -> None:
        """``new_id`` and ``new_token`` give texts that nobody can guess."""
        self._journal = journal
        self._clock = clock
        self._new_id = new_id
        self._new_token = new_token

    async def create(self, handle: str, kind: str) -> tuple[PlayerRecord, str]:
        """Make a player and the token that is shown once.

        Raises:
            HandleInvalid: the handle may not be taken by anyone.
            HandleTaken: somebody has it, or one that looks like it.
            StorageError: it is unknown whether the player was made.
        """
        key = check_handle(handle)
        player = PlayerRecord(self._new_id(), handle, kind, self._clock.now_ms())
        token = self._new_token()
        await self._journal.create_player(player, key, token_hash(token))
        return player, token

    async def by_token(self, token: str) -> PlayerRecord:
        """Return the player who has a token.

        Raises:
            BadToken: nobody has it.
            StorageError: the database did not answer.
        """
        found = await self._journal.player_by_token(token_hash(token))
        if found is None:
            raise BadToken(
                "nobody has this token: it is wrong, was replaced, or its player is gone"
            )
        return found

    async def by_handle(self, handle: str) -> PlayerRecord:
        """Return the player with a handle, or one that looks like it.

        Raises:
            NoSuchPlayer: there is none.
            StorageError: the database did not answer.
        """
        found = None
        if _HANDLE.fullmatch(handle):
            found = await self._journal.player_by_key(skeleton(handle))
        if found is None:
            raise NoSuchPlayer(f"there is no player {handle[:20]!r}")
        return found

    async def rename(self, player: PlayerRecord, handle: str) -> PlayerRecord:
        """Give a player another handle, or the same in other letters.

        Raises:
            HandleInvalid: nobody may take the handle. Nothing has changed, here and below.
            HandleTaken: somebody else has it, or one that looks like it.
            StorageError: it is unknown whether it was changed.
        """
        await self._journal.rename_player(
            player.id, handle, check_handle(handle), self._clock.now_ms()
        )
        return replace(player, handle=handle)

    async def rotate(self, player: PlayerRecord) -> str:
        """Replace a player's token; the old one stops working.

        Raises:
            StorageError: it is unknown which token works.
        """
        token = self._new_token()
        await self._journal.set_token(player.id, token_hash(token), self._clock.now_ms())
        return token

    async def delete(self, player: PlayerRecord, confirm: str) -> None:
        """Forget a player: runs stay under "deleted player", nothing else does.

        Raises:
            NotConfirmed: ``confirm`` is not the player's own handle. Nothing has changed.
            StorageError: it is unknown whether the player is gone.
        """
        if confirm != player.handle:
            raise NotConfirmed("to delete your account, confirm with your own handle")
        await self._journal.delete_player(player.id, self._clock.now_ms())

    async def days_won(self, player: PlayerRecord) -> list[tuple[str, str]]:
        """Return ruleset and day of each daily that a player has won.

        Raises:
            StorageError: the database did not answer.
        """
        return await self._journal.days_won(player.id)

    async def results(self, player: PlayerRecord) -> list[Result]:
        """Return what a player has reached, by ruleset.

        Raises:
            StorageError: the database did not answer.
        """
        return await self._journal.results_of(player.id)
