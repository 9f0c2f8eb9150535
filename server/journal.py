"""What the server needs of storage: a port. No SQL, no files, no sockets.

Calls that write return once what they wrote is committed, and a caller that is cancelled while it
waits leaves the write to go on behind it: it may be there or not, and reading tells.
"""

from collections.abc import Sequence
from typing import Protocol

from .records import (
    Attempt,
    ChallengeRecord,
    Entry,
    GameRecord,
    PlayerRecord,
    Result,
    Run,
    Summary,
    Told,
)

# -- What may go wrong -----------------------------------------------------------------------------


class SeqTaken(Exception):
    """The game already has an entry with this seq. Certain: nothing was written."""


class GameTaken(Exception):
    """A game with this id, or this attempt of the player's, is there. Certain: nothing written."""


class ChallengeTaken(Exception):
    """A challenge with this id is there. Certain: nothing was written."""


class HandleTaken(Exception):
    """Another player has this handle, or one that looks like it. Certain: nothing was written."""


class Missing(Exception):
    """There is no such game, player or challenge. Certain: nothing was written."""


class StorageError(Exception):
    """The database is away or refused. A write may have been committed or not; reading tells."""


# -- The port --------------------------------------------------------------------------------------


class Journal(Protocol):
    """Games with their entries, challenges with their runs, and players.

    Every call, those that only read too, raises ``ValueError`` for what no database here can keep,
    before one has seen it: integers that need more than 64 bits with their sign, text with NUL or
    half of a surrogate pair. Nothing is written then.
    """

    async def create_game(self, record: GameRecord) -> None:
        """Keep a new game, which has no entries yet.

        Raises:
            GameTaken: its id, or its attempt at the challenge, is there; nothing is written.
            Missing: nobody has the id ``record.player``; nothing is written.
            StorageError: it is unknown whether the game is there.
            ValueError: of challenge and attempt one is missing; nothing is written. (Besides what
                every call refuses.)
        """

    async def append(
        self, game: str, entry: Entry, after: Summary, attempt: Attempt | None = None
    ) -> None:
        """Keep the next entry of a game, and where the game stands after it, both or neither.

        Once this returns the entry survives a crash. Of several that claim the same seq, from
        whatever process, one wins. The one after it is to be appended when this has returned.
        ``attempt`` is given when the entry ends an attempt: then the run is kept with it, and
        nothing more can be appended.

        Raises:
            SeqTaken: the game has an entry with this seq; nothing is written.
            Missing: there is no such game; nothing is written.
            StorageError: it is unknown whether the entry is there.
            ValueError: ``after`` is not the summary after ``entry``, by its seq and hash, or ends
                an attempt at no time; nothing is written. (Besides what every call refuses.)
        """

    async def expire(self, game: str, after: Summary, attempt: Attempt) -> None:
        """End an attempt without an entry, and keep its run, both or neither.

        ``after`` has the seq and the hash of the game's last entry. Whoever claims the seq behind
        it, in whatever process, is refused from now on; and so is this, where it is claimed.

        Raises:
            SeqTaken: the game has an entry behind that seq, or has expired; nothing is written.
            Missing: there is no such game; nothing is written.
            StorageError: it is unknown whether the attempt has ended.
        """

    async def game(self, game: str) -> GameRecord | None:
        """Return the game with this id, or None.

        Raises:
            StorageError: the database did not answer.
        """

    async def entries(self, game: str, after: int = 0, limit: int | None = None) -> list[Entry]:
        """Return entries whose seq is greater than ``after``, in order, at most ``limit``.

        Raises:
            StorageError: the database did not answer.
        """

    async def games_of(
        self, player: str, *, status: str | None, before: tuple[int, str] | None, limit: int
    ) -> list[GameRecord]:
        """Return a player's games, newest first: by (started, id), both falling.

        ``before`` is the (started, id) of the last game already seen; ``status`` leaves the others
        out.

        Raises:
            StorageError: the database did not answer.
        """

    async def create_challenge(self, record: ChallengeRecord) -> None:
        """Keep a new challenge, which is not told yet.

        Raises:
            ChallengeTaken: its id is there; nothing is written.
            StorageError: it is unknown whether the challenge is there.
        """

    async def challenge(self, challenge: str) -> ChallengeRecord | None:
        """Return the challenge with this id, or None.

        Raises:
            StorageError: the database did not answer.
        """

    async def challenges_of(self, day: str) -> list[ChallengeRecord]:
        """Return the challenges of a day, by the names of their rulesets.

        Raises:
            StorageError: the database did not answer.
        """

    async def challenge_before(self, ruleset: str, day: str) -> ChallengeRecord | None:
        """Return the last challenge of a ruleset before a day, or None.

        Raises:
            StorageError: the database did not answer.
        """

    async def untold(self, closed_at: int) -> list[ChallengeRecord]:
        """Return the challenges that are not told and close at ``closed_at`` or before, by id.

        Raises:
            StorageError: the database did not answer.
        """

    async def tell(self, challenge: str, told: Told) -> None:
        """Keep what everybody may know of a challenge now; telling again changes nothing.

        Raises:
            Missing: there is no such challenge; nothing is written.
            StorageError: it is unknown whether it is told.
        """

    async def attempts_of(self, player: str, challenges: Sequence[str]) -> list[GameRecord]:
        """Return a player's first attempts at these challenges, by the challenges' ids.

        Raises:
            StorageError: the database did not answer.
        """

    async def last_attempt(self, player: str, challenge: str) -> int:
        """Return the number of a player's last attempt at a challenge; 0 where there is none.

        Raises:
            StorageError: the database did not answer.
        """

    async def under_way(self, challenge: str) -> list[GameRecord]:
        """Return the first attempts at a challenge that have not ended, by id.

        Raises:
            StorageError: the database did not answer.
        """

    async def overdue(self, closed_at: int) -> list[GameRecord]:
        """Return the first attempts that have not ended, by id, at challenges that have closed.

        Those that close at ``closed_at`` or before, in ms since the epoch, told or not.

        Raises:
            StorageError: the database did not answer.
        """

    async def runs(self, challenge: str, after: Run | None, limit: int) -> list[Run]:
        """Return valid runs of a challenge in the order of ``FIRST``, then of their numbers.

        At most ``limit`` of them, behind ``after`` where one is given. Attempts of every number.

        Raises:
            StorageError: the database did not answer.
        """

    async def runs_since(self, number: int, gaps: Sequence[int], limit: int) -> list[Run]:
        """Return valid runs with a greater number, or one of ``gaps``, by number.

        At most ``limit``. Numbers are handed out before a run is committed, so that a smaller one
        may come to be seen after a greater: it was a gap until then.

        Raises:
            StorageError: the database did not answer.
        """

    async def last_run(self) -> int:
        """Return the greatest number of a run; 0 where there is none.

        Raises:
            StorageError: the database did not answer.
        """

    async def handles_since(self, changed: int) -> dict[str, str | None]:
        """Return the handles, by player, of those who changed handle or token since that time.

        None is the handle of a deleted player. ``changed`` is in ms since the epoch.

        Raises:
            StorageError: the database did not answer.
        """

    async def tokens_since(self, changed: int) -> dict[str, str | None]:
        """Return the hashes of tokens, by player, of those who changed handle or token since.

        None is that of a deleted player. ``changed`` is in ms since the epoch.

        Raises:
            StorageError: the database did not answer.
        """

    async def days_won(self, player: str) -> list[tuple[str, str]]:
        """Return ruleset and day of each challenge whose ranked attempt a player has won, sorted.

        Raises:
            StorageError: the database did not answer.
        """

    async def create_player(self, player: PlayerRecord, handle_key: str, token_hash: str) -> None:
        """Keep a new player; ``handle_key`` is what handles that look alike have in common.

        Raises:
            HandleTaken: somebody has this key; nothing is written.
            StorageError: it is unknown whether the player is there.
        """

    async def player_by_token(self, token_hash: str) -> PlayerRecord | None:
        """Return the player whose token has this hash, or None.

        Raises:
            StorageError: the database did not answer.
        """

    async def player_by_key(self, handle_key: str) -> PlayerRecord | None:
        """Return the player whose handle has this key, or None.

        Raises:
            StorageError: the database did not answer.
        """

    async def player(self, player: str) -> PlayerRecord | None:
        """Return the player with this id, or None; a deleted player is None.

        Raises:
            StorageError: the database did not answer.
        """

    async def rename_player(self, player: str, handle: str, handle_key: str, now: int) -> None:
        """Give a player another handle; one's own key may be kept.

        ``now``, in ms since the epoch, is when the handle changed.

        Raises:
            HandleTaken: somebody else has this key; nothing is written.
            Missing: there is no such player, or no longer; nothing is written.
            StorageError: it is unknown whether the handle has changed.
        """

    async def set_token(self, player: str, token_hash: str, now: int) -> None:
        """Give a player another token; the old one no longer finds the player.

        ``now``, in ms since the epoch, is when it changed.

        Raises:
            Missing: there is no such player, or no longer; nothing is written.
            StorageError: it is unknown whether the token has changed.
        """

    async def delete_player(self, player: str, now: int) -> None:
        """Forget handle, key, token and age of a player; the games stay, under id and kind alone.

        ``now``, in ms since the epoch, is kept as the time at which the handle went.

        Deleting again, or somebody who never was, does nothing.

        Raises:
            StorageError: it is unknown whether the player is deleted.
        """

    async def results_of(self, player: str) -> list[Result]:
        """Return what a player has reached, a result for each ruleset played, by its name.

        Raises:
            StorageError: the database did not answer.
        """

    async def check(self) -> None:
        """Ask the database for a sign of life.

        Raises:
            StorageError: it gives none.
        """
