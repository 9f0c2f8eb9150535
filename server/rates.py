"""How often who may say what, and what a greeting tells of that. No I/O."""

from cellmates.protocol import CLIENT_FRAME_BYTES, GameHint, Hello, Limits, PlayerCreate

from .records import PlayerRecord
from .session import Buckets, Rate

HEARTBEAT_S = 20
REQUESTS = Rate(40, 20)
MOVES_PER_S = 100
HINTS = Rate(30, 5)  # each takes some 15 ms, so they are counted by network
GREETINGS = Rate(2_000, 200)  # after a restart a whole club comes back from one address
NEW_PLAYERS = Rate(20, 1 / 60)


class Rates:
    """How often who may say what; the buckets that outlive a connection."""

    def __init__(self, moves_per_s: int = MOVES_PER_S) -> None:
        self.moves = Rate(2 * moves_per_s, moves_per_s)
        self._greetings = Buckets(GREETINGS)
        self._new_players = Buckets(NEW_PLAYERS)
        self._hints = Buckets(HINTS)
        self._players = Buckets(Rate(4 * moves_per_s, 2 * moves_per_s))

    @property
    def limits(self) -> Limits:
        """What a greeting tells of them."""
        return Limits(
            frame_bytes=CLIENT_FRAME_BYTES,
            requests_burst=REQUESTS.burst,
            requests_per_s=int(REQUESTS.per_s),
            heartbeat_s=HEARTBEAT_S,
            moves_burst=self.moves.burst,
            moves_per_s=int(self.moves.per_s),
        )

    def wait_ms(self, address: str, player: PlayerRecord | None, message: type, now: int) -> int:
        """Milliseconds to wait before a message may be said; 0 when it may be now."""
        if message is Hello:
            return self._greetings.take(address, now)
        if message is PlayerCreate:
            return self._new_players.take(address, now)
        if message is GameHint:
            return self._hints.take(address, now)
        if player is not None:
            return self._players.take(player.id, now)
        return 0
