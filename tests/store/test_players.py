"""What the journal promises about players."""

import pytest
from msgspec.structs import replace

from server.journal import HandleTaken, Journal, Missing
from server.records import Result
from server.store import Store

from .records import NOW, OTHER, PLAYER, a_game, after, entries

pytestmark = pytest.mark.asyncio

# ``store`` knows PLAYER with this key and token.
KEY, TOKEN = "annie", "token of annie"


async def test_player_is_found_by_id_key_and_token(store: Store) -> None:
    await store.create_player(OTHER, "bo", "token of bo")
    for player, key, token in [(PLAYER, KEY, TOKEN), (OTHER, "bo", "token of bo")]:
        assert await store.player(player.id) == player
        assert await store.player_by_key(key) == player
        assert await store.player_by_token(token) == player


async def test_handle_is_no_key_and_nothing_is_found_by_what_nobody_has(store: Store) -> None:
    assert await store.player("p9") is None
    assert await store.player_by_key("Annie") is None
    assert await store.player_by_token(KEY) is None


async def test_key_is_taken_once(store: Store) -> None:
    with pytest.raises(HandleTaken):
        await store.create_player(replace(OTHER, handle="ANNIE"), KEY, "token of bo")
    assert await store.player(OTHER.id) is None
    assert await store.player_by_token("token of bo") is None
    assert await store.player_by_key(KEY) == PLAYER


async def test_player_is_created_once(store: Store) -> None:
    with pytest.raises(HandleTaken):
        await store.create_player(replace(PLAYER, handle="Bo"), "bo", "token of bo")
    assert await store.player(PLAYER.id) == PLAYER


# -- Another handle --------------------------------------------------------------------------------


async def test_renamed_player_has_the_new_handle_and_leaves_the_old(store: Store) -> None:
    await store.rename_player(PLAYER.id, "Anna", "anna", NOW)
    renamed = replace(PLAYER, handle="Anna")
    assert await store.player_by_key("anna") == renamed
    assert await store.player_by_token(TOKEN) == renamed
    assert await store.player_by_key(KEY) is None
    await store.create_player(replace(OTHER, handle="Annie"), KEY, "token of bo")


async def test_player_may_change_a_handle_and_keep_its_key(store: Store) -> None:
    await store.rename_player(PLAYER.id, "ANNIE", KEY, NOW)
    assert await store.player_by_key(KEY) == replace(PLAYER, handle="ANNIE")


async def test_player_cannot_take_the_handle_of_another(store: Store) -> None:
    await store.create_player(OTHER, "bo", "token of bo")
    with pytest.raises(HandleTaken):
        await store.rename_player(PLAYER.id, "BO", "bo", NOW)
    assert await store.player(PLAYER.id) == PLAYER
    assert await store.player_by_key("bo") == OTHER


async def test_nobody_cannot_be_renamed(store: Store) -> None:
    with pytest.raises(Missing):
        await store.rename_player("p9", "Bo", "bo", NOW)
    with pytest.raises(Missing):
        await store.rename_player("p9", "Annie", KEY, NOW)


# -- Which handles have changed --------------------------------------------------------------------


async def test_handles_that_changed_are_told_from_then_on(journal: Journal) -> None:
    await journal.create_player(OTHER, "bo", "token of bo")
    assert await journal.handles_since(0) == {}
    await journal.rename_player(PLAYER.id, "Anna", "anna", NOW)
    await journal.rename_player(OTHER.id, "Bob", "bob", NOW - 1)
    assert await journal.handles_since(NOW - 1) == {PLAYER.id: "Anna", OTHER.id: "Bob"}
    assert await journal.handles_since(NOW) == {PLAYER.id: "Anna"}
    assert await journal.handles_since(NOW + 1) == {}
    await journal.rename_player(OTHER.id, "Bobby", "bob", NOW + 1)
    assert await journal.handles_since(NOW + 1) == {OTHER.id: "Bobby"}


async def test_handle_of_a_deleted_player_is_told_to_be_none(journal: Journal) -> None:
    await journal.delete_player(PLAYER.id, NOW)
    await journal.delete_player(PLAYER.id, NOW + 5)
    await journal.delete_player("p9", NOW)
    assert await journal.handles_since(NOW) == {PLAYER.id: None}
    assert await journal.handles_since(NOW + 1) == {}


async def test_what_was_refused_is_no_change(journal: Journal) -> None:
    await journal.create_player(OTHER, "bo", "token of bo")
    with pytest.raises(HandleTaken):
        await journal.rename_player(PLAYER.id, "Bo", "bo", NOW)
    assert await journal.handles_since(0) == {}


# -- Another token ---------------------------------------------------------------------------------


async def test_other_token_is_told_by_its_hash_from_its_time_on(journal: Journal) -> None:
    await journal.set_token(PLAYER.id, "new token", NOW)
    assert await journal.tokens_since(NOW) == {PLAYER.id: "new token"}
    assert await journal.tokens_since(NOW + 1) == {}
    await journal.delete_player(PLAYER.id, NOW + 5)
    assert await journal.tokens_since(NOW + 5) == {PLAYER.id: None}


async def test_old_token_finds_nobody(store: Store) -> None:
    await store.set_token(PLAYER.id, "new token", 1)
    assert await store.player_by_token("new token") == PLAYER
    assert await store.player_by_token(TOKEN) is None


async def test_nobody_gets_no_token(store: Store) -> None:
    with pytest.raises(Missing):
        await store.set_token("p9", "new token", 1)
    assert await store.player_by_token("new token") is None


# -- Deleted ---------------------------------------------------------------------------------------


async def test_deleted_player_is_not_found_and_the_handle_is_free(store: Store) -> None:
    await store.delete_player(PLAYER.id, NOW)
    assert await store.player(PLAYER.id) is None
    assert await store.player_by_key(KEY) is None
    assert await store.player_by_token(TOKEN) is None
    await store.create_player(replace(OTHER, handle="Annie"), KEY, TOKEN)


async def test_deleted_player_leaves_the_games(store: Store) -> None:
    [one] = entries(1)
    await store.create_game(a_game())
    await store.append("g1", one, after(one))
    await store.delete_player(PLAYER.id, NOW)
    game = replace(a_game(), summary=after(one))
    assert await store.game("g1") == game
    assert await store.entries("g1") == [one]
    assert await store.games_of(PLAYER.id, status=None, before=None, limit=9) == [game]
    assert await store.results_of(PLAYER.id) == [Result("freecell", 1, 0, None, None)]


async def test_deleted_player_stays_deleted(store: Store) -> None:
    await store.delete_player(PLAYER.id, NOW)
    await store.delete_player(PLAYER.id, NOW)
    await store.delete_player("p9", NOW)
    with pytest.raises(Missing):
        await store.set_token(PLAYER.id, "new token", 1)
    with pytest.raises(Missing):
        await store.rename_player(PLAYER.id, "Annie", KEY, NOW)
    assert await store.player(PLAYER.id) is None
    assert await store.player_by_token("new token") is None


async def test_several_players_may_be_deleted(store: Store) -> None:
    await store.create_player(OTHER, "bo", "token of bo")
    await store.delete_player(PLAYER.id, NOW)
    await store.delete_player(OTHER.id, NOW)
    assert [await store.player(player.id) for player in (PLAYER, OTHER)] == [None, None]
