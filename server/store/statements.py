"""Every statement of the journal, made once. Values are bound by name when one is executed."""

from typing import Any

from sqlalchemy import (
    BindParameter,
    Select,
    and_,
    bindparam,
    exists,
    func,
    insert,
    select,
    tuple_,
    update,
)

from .tables import INTEGER, TEXT, entry, game, player
from .writer import Kind, Places

AnySelect = Select[*tuple[Any, ...]]

# -- Players ---------------------------------------------------------------------------------------

_IS_THERE = player.c.handle_key.is_not(None)  # a deleted player is a row without handle and key

_PLAYERS = select(player.c.id, player.c.handle, player.c.kind, player.c.created).where(_IS_THERE)
PLAYER = _PLAYERS.where(player.c.id == bindparam("the_player"))
PLAYER_BY_KEY = _PLAYERS.where(player.c.handle_key == bindparam("the_key"))
PLAYER_BY_TOKEN = _PLAYERS.where(player.c.token_hash == bindparam("the_token"))

# A key that is taken is looked for here, and not left to the constraint, so that nobody can make
# batch after batch fail by asking for the same handle. Between processes the constraint decides.
_other = player.alias("other")
_KEY_IS_FREE = ~exists().where(
    _other.c.handle_key == bindparam("the_key"), _other.c.id != bindparam("the_player")
)
_THIS_PLAYER = and_(player.c.id == bindparam("the_player"), _IS_THERE)

CREATE_PLAYER = Kind(
    0,
    (
        insert(player).from_select(
            ["id", "handle", "handle_key", "kind", "token_hash", "created"],
            select(
                bindparam("the_player", type_=TEXT),
                bindparam("the_handle", type_=TEXT),
                bindparam("the_key", type_=TEXT),
                bindparam("the_kind", type_=TEXT),
                bindparam("the_token", type_=TEXT),
                bindparam("the_time", type_=INTEGER),
            ).where(_KEY_IS_FREE),
        ),
    ),
    counted=True,
)
RENAME_PLAYER = Kind(
    1,
    (
        update(player)
        .where(_THIS_PLAYER, _KEY_IS_FREE)
        .values(handle=bindparam("the_handle"), handle_key=bindparam("the_key")),
    ),
    counted=True,
)
SET_TOKEN = Kind(
    2,
    (update(player).where(_THIS_PLAYER).values(token_hash=bindparam("the_token")),),
    counted=True,
)
DELETE_PLAYER = Kind(
    3,
    (
        update(player)
        .where(player.c.id == bindparam("the_player"))
        .values(handle=None, handle_key=None, token_hash=None, created=None),
    ),
)

# -- Games -----------------------------------------------------------------------------------------

# In the order of the fields of ``Summary`` and of ``GameRecord``, which ends in its summary.
SUMMARY = ("status", "seq", "home", "moves", "undos", "score", "elapsed_ms", "hash", "ended")
GAME = (
    *("id", "player", "ruleset", "ruleset_version", "deal", "autoplay"),
    *("challenge", "attempt", "started"),
)

_GAMES = select(*(game.c[name] for name in GAME + SUMMARY))
ONE_GAME = _GAMES.where(game.c.id == bindparam("the_game"))


def _games_of(*, status: bool, before: bool) -> AnySelect:
    """Games of a player, newest first, of one status or of all, from the top or from a game on."""
    games = _GAMES.where(game.c.player == bindparam("the_player"))
    if status:
        games = games.where(game.c.status == bindparam("the_status"))
    if before:
        games = games.where(
            tuple_(game.c.started, game.c.id)
            < tuple_(bindparam("the_time", type_=INTEGER), bindparam("the_game", type_=TEXT))
        )
    return games.order_by(game.c.started.desc(), game.c.id.desc()).limit(bindparam("the_limit"))


# By whether there is a status, and a game to go on from.
GAMES_OF = {
    (status, before): _games_of(status=status, before=before)
    for status in (False, True)
    for before in (False, True)
}

_WON = game.c.status == "won"
RESULTS = (
    select(
        game.c.ruleset,
        func.count(),
        func.count().filter(_WON),
        func.min(game.c.elapsed_ms).filter(_WON),
        func.min(game.c.moves).filter(_WON),
    )
    .where(game.c.player == bindparam("the_player"))
    .group_by(game.c.ruleset)
    .order_by(game.c.ruleset)
)

ENTRIES = (
    select(entry.c.seq, entry.c.action, entry.c.at_ms, entry.c.hash)
    .where(entry.c.game == bindparam("the_game"), entry.c.seq > bindparam("the_seq"))
    .order_by(entry.c.seq)
)
SOME_ENTRIES = ENTRIES.limit(bindparam("the_limit"))

CREATE_GAME = Kind(4, (insert(game),))
_these: BindParameter[Any] = bindparam("these", expanding=True)
APPEND = Kind(
    5,
    (
        insert(entry),
        update(game)
        .where(game.c.id == bindparam("the_game"))
        .values({name: bindparam(f"new_{name}") for name in SUMMARY}),
    ),
    places=Places(
        ("game", "seq"),
        select(entry.c.game, entry.c.seq).where(tuple_(entry.c.game, entry.c.seq).in_(_these)),
    ),
)

SIGN_OF_LIFE = select(1)
