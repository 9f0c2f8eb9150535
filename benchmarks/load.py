"""Load on a server from one thread: many connections, each with one move under way at a time.

Sockets and ``epoll``, without an event loop, tasks or futures, so that one core of load is a match
for one core of server. Every answer is checked, and the first wrong one ends the run. What a
connection says is its dialect's affair.
"""

import select
import socket
from array import array
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import accumulate, islice, repeat, takewhile
from os import write
from random import Random
from time import perf_counter
from typing import Protocol

from .seats import Later, Script, Seat, Wrong, goodbye, read_from, say_next, whole

PATIENCE_S = 10.0  # a server that says nothing for so long to anybody is silent
GREETING_TOGETHER = 50


class Dialect(Protocol):
    """What is said over a connection, and what is right to be answered."""

    def upgrade(self, number: int) -> bytes:
        """Request for the handshake of the connection with this number, asked for once.

        Empty for plain TCP, where the greeting must say something.
        """

    def greeting(self, number: int) -> Script:
        """What is said before the first move."""

    def move(self, game: bytes, seq: int) -> bytes:
        """Whole frame of a move; ``game`` is what the greeting has returned."""

    def is_right(self, answer: bytes, seq: int) -> bool:
        """Whether a payload is the right answer to the move with this seq."""


@dataclass(frozen=True, slots=True)
class Tally:
    """Moves that were sent and answered, ``seconds`` until the last answer, and each's latency.

    ``busy_s`` is the part of the seconds in which the load had something to do.
    """

    seconds: float
    busy_s: float
    latencies_s: "array[float]"

    @property
    def moves(self) -> int:
        """How many they were."""
        return len(self.latencies_s)

    @property
    def per_s(self) -> float:
        """How many a second."""
        return self.moves / self.seconds

    def percentile_ms(self, percent: float) -> float:
        """Latency that so many of a hundred moves did not exceed."""
        ordered = sorted(self.latencies_s)
        return 1000 * ordered[int(percent / 100 * (len(ordered) - 1))]


@dataclass(frozen=True, slots=True)
class Comings:
    """Connections that came and went, and how long that took."""

    number: int
    seconds: float

    @property
    def per_s(self) -> float:
        """How many a second."""
        return self.number / self.seconds


class Crew:
    """Connections to one server on this machine. Close it in the end.

    Raises:
        Wrong: from each call, where the server is not right in everything it says.
        OSError: there is no server.
    """

    def __init__(self, port: int, dialect: Dialect) -> None:
        self._port = port
        self._dialect = dialect
        self._epoll = select.epoll()
        self._idle_s = 0.0
        self._seats: dict[int, Seat] = {}

    def __enter__(self) -> "Crew":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[Seat]:
        return iter(self._seats.values())

    def close(self) -> None:
        """Say goodbye and close every connection."""
        for seat in self._seats.values():
            goodbye(seat)
        self._seats.clear()
        self._epoll.close()

    # -- Greeting ----------------------------------------------------------------------------------

    def join(self, numbers: Iterable[int], together: int = GREETING_TOGETHER) -> None:
        """Open connections and greet, with so many at a time."""
        self._greet(iter(numbers), together, lambda _: None)

    def come_and_go(self, numbers: Iterable[int], together: int, seconds: float) -> Comings:
        """Open connections, greet, and close them again at once, for so long."""
        done = 0

        def leave(seat: Seat) -> None:
            nonlocal done
            done += 1
            self._dismiss(seat)

        began = perf_counter()
        in_time = takewhile(lambda _: perf_counter() < began + seconds, numbers)
        self._greet(in_time, together, leave)
        return Comings(done, perf_counter() - began)

    def _greet(self, numbers: Iterator[int], together: int, told: Callable[[Seat], None]) -> None:
        """Greet with so many at a time; who is told to come later, does so."""
        greeting = sum(1 for _ in map(self._open, islice(numbers, together)))
        later: list[tuple[float, int]] = []
        while greeting:
            for number, _ in self._ready_until(later[0][0]) if later else self._ready():
                seat = self._seats[number]
                try:
                    if self._goes_on(seat):
                        continue
                except Later as told_to:
                    heappush(later, (perf_counter() + told_to.seconds, seat.number))
                    self._dismiss(seat)
                    continue
                told(seat)
                following = next(numbers, None)
                if following is None:
                    greeting -= 1
                else:
                    self._open(following)

            while later and later[0][0] <= perf_counter():
                self._open(heappop(later)[1])

    def _dismiss(self, seat: Seat) -> None:
        self._epoll.unregister(seat.socket)
        del self._seats[seat.socket.fileno()]
        goodbye(seat)

    def _open(self, number: int) -> None:
        """Connect, from an address of its own, so that no limit by address is met."""
        request = self._dialect.upgrade(number)
        connection = socket.socket()
        connection.settimeout(PATIENCE_S)
        connection.bind((f"127.1.{number // 250}.{1 + number % 250}", 0))
        connection.connect(("127.0.0.1", self._port))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.setblocking(False)
        self._epoll.register(connection, select.EPOLLIN)
        seat = Seat(number, connection, self._dialect.greeting(number))
        self._seats[connection.fileno()] = seat
        if request:
            connection.send(request)
        else:
            seat.is_open = True
            say_next(seat, None)

    def _goes_on(self, seat: Seat) -> bool:
        """Read, say the next of the greeting, and tell whether there is more of it."""
        data = read_from(seat)
        if not seat.is_open:
            head, end, data = (seat.rest + data).partition(b"\r\n\r\n")
            seat.rest = b"" if end else head
            if not end:
                return True
            if b" 101 " not in head.partition(b"\r\n")[0]:
                raise Wrong(f"no handshake, but {head[:200]!r}")
            seat.is_open = True
            if not say_next(seat, None):
                return False
        while payload := whole(seat, data):
            data = b""
            if not say_next(seat, payload):
                return False
        return True

    # -- Moves -------------------------------------------------------------------------------------

    def closed_loop(self, seconds: float) -> Tally:
        """Move with everybody, again as soon as the answer is there, for so long.

        With no seconds, everybody makes one move.
        """
        latencies, idle_s = array("d"), self._idle_s
        seats, answered = self._seats, self._answered
        began = perf_counter()
        end = began + seconds
        for seat in seats.values():
            self._move(seat, perf_counter())
        under_way = len(seats)
        while under_way:
            for number, _ in self._ready():
                seat = seats[number]
                if not answered(seat):
                    continue
                now = perf_counter()
                latencies.append(now - seat.since)
                if now < end:
                    self._move(seat, now)
                else:
                    under_way -= 1
        return self._tally(began, idle_s, latencies)

    def open_loop(self, per_s: float, seconds: float, chance: Random) -> Tally:
        """Move at moments drawn beforehand, as independent players do, each in turn.

        A latency counts from the moment drawn, however late the move could be sent.
        """
        gaps = [chance.expovariate(per_s) for _ in range(round(per_s * seconds))]
        began = perf_counter()
        moments = deque(accumulate(gaps, initial=began))
        moments.pop()
        turns = (seat for _ in repeat(None) for seat in tuple(self._seats.values()))
        latencies, idle_s = array("d"), self._idle_s
        left = len(moments)
        while left:
            self._send_due(moments, turns)
            for number, _ in self._ready_until(moments[0]) if moments else self._ready():
                seat = self._seats[number]
                if not self._answered(seat):
                    continue
                left -= 1
                latencies.append(perf_counter() - seat.since)
                if seat.due:
                    self._move(seat, seat.due.popleft())
        return self._tally(began, idle_s, latencies)

    def _tally(self, began: float, idle_s: float, latencies: "array[float]") -> Tally:
        """What was done since ``began``, when the load had been idle for so long."""
        seconds = perf_counter() - began
        return Tally(seconds, seconds - (self._idle_s - idle_s), latencies)

    def _send_due(self, moments: deque[float], turns: Iterator[Seat]) -> None:
        now = perf_counter()
        while moments and moments[0] <= now:
            seat = next(turns)
            if seat.is_busy:
                seat.due.append(moments.popleft())
            else:
                self._move(seat, moments.popleft())

    def _move(self, seat: Seat, since: float) -> None:
        seat.seq += 1
        seat.since = since
        seat.is_busy = True
        write(seat.socket.fileno(), self._dialect.move(seat.game, seat.seq))

    def _answered(self, seat: Seat) -> bool:
        """Whether the answer to the move under way is there, and then it is right."""
        answer = whole(seat, read_from(seat))
        if answer is None:
            return False
        if seat.rest or not self._dialect.is_right(answer, seat.seq):
            raise Wrong(f"to move {seat.seq} the answer is {answer + seat.rest!r:.300}")
        seat.is_busy = False
        return True

    # -- Waiting -----------------------------------------------------------------------------------

    def _ready(self) -> list[tuple[int, int]]:
        ready = self._ready_until(perf_counter() + PATIENCE_S)
        if not ready:
            raise Wrong(f"no answer to anybody for {PATIENCE_S:g} s")
        return ready

    def _ready_until(self, moment: float) -> list[tuple[int, int]]:
        """Who can be read from; nobody once the moment has come.

        Waits awake. To be woken takes no less than a move does, and it is the server that would pay
        for it: whose answer wakes the load has to call upon the other core.
        """
        began = perf_counter()
        ready = self._epoll.poll(0)
        while not ready and perf_counter() < moment:
            ready = self._epoll.poll(0)
        self._idle_s += perf_counter() - began
        return ready
