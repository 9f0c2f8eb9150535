"""The day's challenges: which there are, when they may begin, who may know what of them."""

from collections.abc import Sequence
from dataclasses import dataclass

from cellmates.daily import day_of, opens_at
from cellmates.engine import RULESETS, Deal, Ruleset, Status

from .clock import Clock
from .journal import Journal
from .records import ChallengeRecord, GameRecord, PlayerRecord, Told
from .vault import Vault


class NoSuchChallenge(Exception):
    """There is no challenge with this id."""


class NotOpenYet(Exception):
    """The challenge opens later."""


class Closed(Exception):
    """The challenge has closed, and no attempt at it can begin any more."""


class NotYet(Exception):
    """This may be told to those who have ended their ranked attempt, and to others later."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A challenge as somebody may see it: their ranked attempt, and the secrets or None."""

    record: ChallengeRecord
    attempt: GameRecord | None
    told: Told | None


class Dailies:
    """Challenges, as handlers use them."""

    def __init__(self, journal: Journal, clock: Clock, vault: Vault) -> None:
        self._journal = journal
        self._clock = clock
        self._vault = vault

    @property
    def today(self) -> str:
        """The day that it is in UTC."""
        return day_of(self._clock.now_ms())

    async def of_day(self, day: str, player: PlayerRecord | None) -> list[Seen]:
        """Return the challenges of a day as a player, or a guest, may see them.

        Raises:
            BadDay: the text names no day.
            StorageError: the database did not answer, here and below.
            WrongKey: what the player may see cannot be opened, here and below.
        """
        opens_at(day)
        return await self._seen(await self._journal.challenges_of(day), player)

    async def find(self, challenge: str) -> ChallengeRecord:
        """Return a challenge that has opened.

        Raises:
            NoSuchChallenge: there is none with this id.
            NotOpenYet: it opens later.
        """
        record = await self._journal.challenge(challenge)
        if record is None:
            raise NoSuchChallenge(f"there is no challenge {challenge[:40]!r}")
        if self._clock.now_ms() < record.opens:
            raise NotOpenYet("this challenge has not opened yet")
        return record

    async def attempt(self, player: PlayerRecord, challenge: str) -> GameRecord | None:
        """Return a player's ranked attempt at a challenge, whether it has ended or not."""
        return next(iter(await self._journal.attempts_of(player.id, [challenge])), None)

    def deal_to_start(self, record: ChallengeRecord) -> tuple[Ruleset, Deal]:
        """Return what is played in a challenge, for an attempt that begins now.

        Raises:
            Closed: no attempt may begin any more.
        """
        # Told by another process it may be whose clock is ahead of this one's.
        if self._clock.now_ms() >= record.closes or record.told is not None:
            raise Closed("this challenge has closed")
        return self._deal(record, self._secrets(record))

    async def deal_to_practise(
        self, player: PlayerRecord, challenge: str
    ) -> tuple[Ruleset, Deal, int]:
        """Return what is played in a challenge, and the number of the player's next attempt.

        Raises:
            NoSuchChallenge: there is none with this id.
            NotOpenYet: it opens later.
            NotYet: the player has to end the ranked attempt first.
        """
        record = await self.find(challenge)
        [seen] = await self._seen([record], player)
        if seen.told is None:
            raise NotYet("practise when you have ended your ranked attempt: it is daily.start's")
        last = await self._journal.last_attempt(player.id, challenge)
        return *self._deal(record, seen.told), max(last, 1) + 1

    async def may_see(self, challenge: str, player: PlayerRecord | None) -> bool:
        """Whether a player, or a guest, may see how others have played a challenge."""
        record = await self._journal.challenge(challenge)
        if record is None:
            return False
        [seen] = await self._seen([record], player)
        return seen.told is not None

    async def _seen(
        self, records: Sequence[ChallengeRecord], player: PlayerRecord | None
    ) -> list[Seen]:
        attempts: dict[str | None, GameRecord] = {}
        if player is not None and records:
            ids = [record.id for record in records]
            found = await self._journal.attempts_of(player.id, ids)
            attempts = {game.challenge: game for game in found}
        return [self._as_seen(record, attempts.get(record.id)) for record in records]

    def _as_seen(self, record: ChallengeRecord, attempt: GameRecord | None) -> Seen:
        told = record.told
        if told is None and attempt is not None and attempt.summary.status != Status.PLAYING:
            told = self._secrets(record)
        return Seen(record, attempt, told)

    def _secrets(self, record: ChallengeRecord) -> Told:
        """The secrets of a challenge; nobody gets them before it opens, whatever asks.

        Raises:
            NotOpenYet: it opens later.
        """
        if self._clock.now_ms() < record.opens:
            raise NotOpenYet("this challenge has not opened yet")
        return record.told or self._vault.open(record.sealed)

    def _deal(self, record: ChallengeRecord, told: Told) -> tuple[Ruleset, Deal]:
        ruleset = RULESETS[record.ruleset]
        return ruleset, Deal.parse(ruleset, told.deal)
