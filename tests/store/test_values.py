"""What cannot be kept is refused alike on both databases, before either sees it."""

from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from msgspec.structs import replace
from sqlalchemy import event

from cellmates.daily import Figures, Link
from server.records import Attempt, Run
from server.store import Store

from .records import DAY, NOW, OTHER, PLAYER, TOLD, a_challenge, a_game, after, entries, won

pytestmark = pytest.mark.asyncio

[ONE] = entries(1)
ATTEMPT = Attempt(DAY, "p1", 1)
RUN = Run(1, "g1", DAY, "p1", "human", "Annie", Figures(52, 100, 1, 0, 1, NOW))
BAD_TEXT = ["\0", "a\0b", "\ud800", "é\udfff"]
BAD_NUMBERS = [2**63, -(2**63) - 1, 2**64, 10**400]

TEXT_GOES_INTO: dict[str, Callable[[Store, str], Coroutine[Any, Any, object]]] = {
    "game": lambda store, text: store.game(text),
    "entries": lambda store, text: store.entries(text),
    "games_of, player": lambda store, text: store.games_of(text, status=None, before=None, limit=1),
    "games_of, status": lambda store, text: store.games_of("p1", status=text, before=None, limit=1),
    "games_of, before": lambda store, text: store.games_of(
        "p1", status=None, before=(1, text), limit=1
    ),
    "results_of": lambda store, text: store.results_of(text),
    "player": lambda store, text: store.player(text),
    "player_by_key": lambda store, text: store.player_by_key(text),
    "player_by_token": lambda store, text: store.player_by_token(text),
    "create_player, id": lambda store, text: store.create_player(replace(OTHER, id=text), "k", "t"),
    "create_player, handle": lambda store, text: store.create_player(
        replace(OTHER, handle=text), "k", "t"
    ),
    "create_player, key": lambda store, text: store.create_player(OTHER, text, "t"),
    "create_player, token": lambda store, text: store.create_player(OTHER, "k", text),
    "rename_player, id": lambda store, text: store.rename_player(text, "B", "b", NOW),
    "rename_player, handle": lambda store, text: store.rename_player("p1", text, "b", NOW),
    "rename_player, key": lambda store, text: store.rename_player("p1", "B", text, NOW),
    "set_token, id": lambda store, text: store.set_token(text, "t", 1),
    "set_token, token": lambda store, text: store.set_token("p1", text, 1),
    "delete_player": lambda store, text: store.delete_player(text, NOW),
    "create_game, id": lambda store, text: store.create_game(a_game(text)),
    "create_game, deal": lambda store, text: store.create_game(a_game(deal=text)),
    "create_game, status": lambda store, text: store.create_game(a_game(status=text)),
    "append, game": lambda store, text: store.append(text, ONE, after(ONE)),
    "append, action": lambda store, text: store.append("g1", replace(ONE, action=text), after(ONE)),
    "append, status": lambda store, text: store.append("g1", ONE, after(ONE, status=text)),
    "append, attempt": lambda store, text: store.append(
        "g1", ONE, won(ONE), Attempt(text, "p1", 1)
    ),
    "expire, game": lambda store, text: store.expire(text, won(ONE), ATTEMPT),
    "expire, status": lambda store, text: store.expire("g1", won(ONE, status=text), ATTEMPT),
    "expire, player": lambda store, text: store.expire("g1", won(ONE), Attempt(DAY, text, 1)),
    "create_challenge, id": lambda store, text: store.create_challenge(a_challenge(id=text)),
    "create_challenge, sealed": lambda store, text: store.create_challenge(
        a_challenge(sealed=text)
    ),
    "create_challenge, previous": lambda store, text: store.create_challenge(
        a_challenge(previous=Link("before", text))
    ),
    "challenge": lambda store, text: store.challenge(text),
    "challenges_of": lambda store, text: store.challenges_of(text),
    "challenge_before, ruleset": lambda store, text: store.challenge_before(text, "day"),
    "challenge_before, day": lambda store, text: store.challenge_before("freecell", text),
    "tell, challenge": lambda store, text: store.tell(text, TOLD),
    "tell, deal": lambda store, text: store.tell(DAY, replace(TOLD, deal=text)),
    "tell, solution": lambda store, text: store.tell(DAY, replace(TOLD, solution=("1a", text))),
    "attempts_of, player": lambda store, text: store.attempts_of(text, [DAY]),
    "attempts_of, challenge": lambda store, text: store.attempts_of("p1", [DAY, text]),
    "last_attempt, player": lambda store, text: store.last_attempt(text, DAY),
    "last_attempt, challenge": lambda store, text: store.last_attempt("p1", text),
    "under_way": lambda store, text: store.under_way(text),
    "runs": lambda store, text: store.runs(text, None, 9),
    "days_won": lambda store, text: store.days_won(text),
}

NUMBER_GOES_INTO: dict[str, Callable[[Store, int], Coroutine[Any, Any, object]]] = {
    "entries, after": lambda store, number: store.entries("g1", number),
    "entries, limit": lambda store, number: store.entries("g1", 0, number),
    "games_of, before": lambda store, number: store.games_of(
        "p1", status=None, before=(number, "g"), limit=1
    ),
    "games_of, limit": lambda store, number: store.games_of(
        "p1", status=None, before=None, limit=number
    ),
    "create_player": lambda store, number: store.create_player(
        replace(OTHER, created=number), "k", "t"
    ),
    "create_game": lambda store, number: store.create_game(a_game(started=number)),
    "create_game, score": lambda store, number: store.create_game(a_game(score=number)),
    "append, at_ms": lambda store, number: store.append(
        "g1", replace(ONE, at_ms=number), after(ONE)
    ),
    "append, ended": lambda store, number: store.append("g1", ONE, after(ONE, ended=number)),
    "append, attempt": lambda store, number: store.append(
        "g1", ONE, won(ONE), replace(ATTEMPT, number=number)
    ),
    "expire, undos": lambda store, number: store.expire("g1", won(ONE, undos=number), ATTEMPT),
    "rename_player": lambda store, number: store.rename_player("p1", "B", "b", number),
    "delete_player": lambda store, number: store.delete_player("p1", number),
    "handles_since": lambda store, number: store.handles_since(number),
    "create_challenge": lambda store, number: store.create_challenge(a_challenge(opens=number)),
    "untold": lambda store, number: store.untold(number),
    "overdue": lambda store, number: store.overdue(number),
    "tell": lambda store, number: store.tell(DAY, replace(TOLD, par=number)),
    "runs, after": lambda store, number: store.runs(DAY, replace(RUN, number=number), 9),
    "runs, limit": lambda store, number: store.runs(DAY, None, number),
    "runs_since, number": lambda store, number: store.runs_since(number, [], 9),
    "runs_since, gaps": lambda store, number: store.runs_since(1, [1, number], 9),
    "runs_since, limit": lambda store, number: store.runs_since(1, [], number),
}


def listen(store: Store) -> list[str]:
    """Every statement that reaches a database from now on."""
    heard: list[str] = []
    for engine in (store.engines.read, store.engines.write):

        @event.listens_for(engine.sync_engine, "before_cursor_execute")
        def hear(*call: object) -> None:
            heard.append(str(call[2]))

    return heard


@pytest.mark.parametrize("place", TEXT_GOES_INTO)
async def test_text_that_cannot_be_kept_is_refused(store: Store, place: str) -> None:
    heard = listen(store)
    for text in BAD_TEXT:
        with pytest.raises(ValueError, match="in text"):
            await TEXT_GOES_INTO[place](store, text)
    assert heard == []


@pytest.mark.parametrize("place", NUMBER_GOES_INTO)
async def test_number_that_cannot_be_kept_is_refused(store: Store, place: str) -> None:
    heard = listen(store)
    for number in BAD_NUMBERS:
        with pytest.raises(ValueError, match="integer beyond 64 bits"):
            await NUMBER_GOES_INTO[place](store, number)
    assert heard == []


async def test_what_was_refused_leaves_the_journal_as_it_was(store: Store) -> None:
    with pytest.raises(ValueError, match="NUL"):
        await store.rename_player(PLAYER.id, "An\0na", "anna", NOW)
    await store.create_game(a_game())
    await store.append("g1", ONE, after(ONE))
    assert await store.player(PLAYER.id) == PLAYER
    assert await store.entries("g1") == [ONE]
