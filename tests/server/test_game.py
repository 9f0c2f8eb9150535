import pytest
from msgspec.structs import replace

from cellmates.engine import RULESETS, Act, Deal, Game, parse_action
from server.game import (
    BrokenGame,
    Conflict,
    Decision,
    GameOver,
    LiveGame,
    hash_at_start,
    summary_of,
)
from server.records import Entry, GameRecord

from .memory import ManualClock

NOW = ManualClock().now_ms()


def record(deal: int = 1) -> GameRecord:
    state = Game.start(RULESETS["freecell"], Deal.numbered(deal))
    summary = summary_of(state, None, NOW)
    return GameRecord(
        "game", "player", "freecell", 1, str(deal), state.autoplay, None, None, NOW, summary
    )


def decided(live: LiveGame, text: str, at_ms: int = 10) -> Decision:
    decision = live.decide(parse_action(text), live.seq + 1, at_ms)
    assert isinstance(decision, Decision)
    return decision


def test_decision_changes_nothing_until_it_is_applied() -> None:
    live = LiveGame(record(), [])
    decision = decided(live, "6a")
    assert (live.seq, live.hash, live.entries_after(0)) == (0, hash_at_start(record()), [])
    live.apply(decision)
    assert (live.seq, live.hash) == (1, decision.entry.hash)
    assert live.summary == decision.summary
    assert live.entries_after(0) == [decision.entry]


def test_time_of_an_entry_is_never_before_the_one_before_it() -> None:
    live = LiveGame(record(), [])
    live.apply(decided(live, "6a", 500))
    assert decided(live, "6b", 20).entry.at_ms == 500


def test_end_of_a_game_is_noted_with_its_time() -> None:
    live = LiveGame(record(), [])
    live.apply(decided(live, "resign", 70))
    assert (live.status, live.summary.ended, live.summary.elapsed_ms) == ("resigned", NOW + 70, 70)
    with pytest.raises(GameOver, match="the game is over: resigned"):
        live.decide(Act.UNDO, 2, 80)


def test_game_comes_back_from_its_entries() -> None:
    live = LiveGame(record(), [])
    for text in ("6a", "undo", "6b"):
        live.apply(decided(live, text))
    again = LiveGame(replace(record(), summary=live.summary), live.entries_after(0))
    assert again.state == live.state
    assert (again.seq, again.hash, again.status) == (live.seq, live.hash, live.status)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"action": "6h"}, "foundation-order|not the next"),
        ({"action": "x"}, "is not a move"),
        ({"seq": 2}, "gap or wrong hash"),
        ({"hash": "0" * 64}, "gap or wrong hash"),
        ({"at_ms": 11}, "gap or wrong hash"),
    ],
)
def test_entries_that_nobody_recorded_are_refused(change: dict[str, object], says: str) -> None:
    entry = decided(LiveGame(record(), []), "6a").entry
    broken: Entry = replace(entry, **change)
    with pytest.raises(BrokenGame, match=says):
        LiveGame(record(), [broken])


def test_conflict_tells_the_seq() -> None:
    live = LiveGame(record(), [])
    with pytest.raises(Conflict, match="the next action claims 1") as conflict:
        live.decide(Act.UNDO, 5, 0)
    assert conflict.value.seq == 0


def test_repeat_is_known_by_what_it_means_not_by_its_letters() -> None:
    live = LiveGame(record(deal=3), [])
    live.apply(decided(live, "28"))
    live.apply(decided(live, "1a"))
    made = live.decide(parse_action("28v1"), 1, 99)
    assert not isinstance(made, Decision)
    assert made.repeated
    assert (made.entry.at_ms, made.entry.action, made.state.seq) == (10, "28", 1)
