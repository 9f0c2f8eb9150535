"""Every statement of the journal, made once. Values are bound by name when one is executed."""

from typing import Any

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Select,
    and_,
    bindparam,
    exists,
    func,
    insert,
    null,
    or_,
    select,
    tuple_,
    update,
)

from .tables import (
    INTEGER,
    IS_UNDER_WAY,
    IS_UNTOLD,
    TEXT,
    challenge,
    entry,
    game,
    player,
    result,
)
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
        .values(
            handle=bindparam("the_handle"),
            handle_key=bindparam("the_key"),
            changed=bindparam("the_time"),
        ),
    ),
    counted=True,
)
SET_TOKEN = Kind(
    2,
    (
        update(player)
        .where(_THIS_PLAYER)
        .values(token_hash=bindparam("the_token"), changed=bindparam("the_time")),
    ),
    counted=True,
)
DELETE_PLAYER = Kind(
    3,
    (
        update(player)
        .where(_THIS_PLAYER)
        .values(
            handle=null(),
            handle_key=null(),
            token_hash=null(),
            created=null(),
            changed=bindparam("the_time"),
        ),
    ),
)

_CHANGED = player.c.changed >= bindparam("since")
HANDLES_SINCE = select(player.c.id, player.c.handle).where(_CHANGED)
TOKENS_SINCE = select(player.c.id, player.c.token_hash).where(_CHANGED)

# -- Challenges ------------------------------------------------------------------------------------

# The fields of ``ChallengeRecord``, with ``previous`` in two, and then those of ``Told``.
CHALLENGE = (
    *("id", "day", "ruleset", "ruleset_version", "planner", "opens", "closes", "commitment"),
    *("previous_challenge", "previous_commitment", "sealed"),
)
TOLD = ("seed", "candidate", "deal", "par", "solution")

_CHALLENGES = select(*(challenge.c[name] for name in CHALLENGE + TOLD))
ONE_CHALLENGE = _CHALLENGES.where(challenge.c.id == bindparam("the_challenge"))
CHALLENGES_OF = _CHALLENGES.where(challenge.c.day == bindparam("the_day")).order_by(
    challenge.c.ruleset
)
CHALLENGE_BEFORE = (
    _CHALLENGES.where(
        challenge.c.ruleset == bindparam("the_ruleset"), challenge.c.day < bindparam("the_day")
    )
    .order_by(challenge.c.day.desc())
    .limit(1)
)
UNTOLD = _CHALLENGES.where(IS_UNTOLD, challenge.c.closes <= bindparam("the_time")).order_by(
    challenge.c.id
)


def _new(name: str) -> BindParameter[Any]:
    return bindparam(f"new_{name}", type_=challenge.c[name].type)


# Every process plans the same days; that one is planned already is to fail no batch.
_other_challenge = challenge.alias("other")
_IS_PLANNED = exists().where(
    or_(
        _other_challenge.c.id == _new("id"),
        and_(_other_challenge.c.day == _new("day"), _other_challenge.c.ruleset == _new("ruleset")),
    )
)
CREATE_CHALLENGE = Kind(
    4,
    (
        insert(challenge).from_select(
            CHALLENGE, select(*(_new(name) for name in CHALLENGE)).where(~_IS_PLANNED)
        ),
    ),
    counted=True,
)
TELL = Kind(
    5,
    (
        update(challenge)
        .where(challenge.c.id == bindparam("the_challenge"))
        .values({name: func.coalesce(challenge.c[name], _new(name)) for name in TOLD}),
    ),
    counted=True,
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
    .where(
        entry.c.game == bindparam("the_game"),
        entry.c.seq > bindparam("the_seq"),
        entry.c.hash != "",  # what closes an attempt is no entry
    )
    .order_by(entry.c.seq)
)
SOME_ENTRIES = ENTRIES.limit(bindparam("the_limit"))

CREATE_GAME = Kind(6, (insert(game),))
_these: BindParameter[Any] = bindparam("these", expanding=True)
# Rows of entries, of where games stand, and of attempts that have ended.
APPEND = Kind(
    7,
    (
        insert(entry),
        update(game)
        .where(game.c.id == bindparam("the_game"))
        .values({name: bindparam(f"new_{name}") for name in SUMMARY}),
        insert(result),
    ),
    places=Places(
        ("game", "seq"),
        select(entry.c.game, entry.c.seq).where(tuple_(entry.c.game, entry.c.seq).in_(_these)),
    ),
)

# -- Attempts and runs -----------------------------------------------------------------------------

_OF_CHALLENGE = game.c.challenge == bindparam("the_challenge")
_OF_PLAYER = game.c.player == bindparam("the_player")

ATTEMPTS_OF = _GAMES.where(
    _OF_PLAYER,
    game.c.challenge.in_(bindparam("the_challenges", expanding=True)),
    game.c.attempt == 1,
).order_by(game.c.challenge)
LAST_ATTEMPT = select(func.coalesce(func.max(game.c.attempt), 0)).where(_OF_PLAYER, _OF_CHALLENGE)
UNDER_WAY = _GAMES.where(_OF_CHALLENGE, IS_UNDER_WAY).order_by(game.c.id)
OVERDUE = (
    _GAMES.join(challenge, challenge.c.id == game.c.challenge)
    .where(IS_UNDER_WAY, challenge.c.closes <= bindparam("the_time"))
    .order_by(game.c.id)
)

_COUNTS = game.c.validity == "ok"
DAYS_WON = (
    select(challenge.c.ruleset, challenge.c.day)
    .join(game, game.c.challenge == challenge.c.id)
    .where(_OF_PLAYER, _WON, _COUNTS, game.c.attempt == 1)
    .order_by(challenge.c.ruleset, challenge.c.day)
)

# In the order of the fields of ``Run`` and of ``Figures``, with which it ends.
RUN = ("number", "game", "challenge", "player", "kind", "handle")
_FIGURES = ("home", "elapsed_ms", "moves", "undos", "attempt", "ended")

_RUNS = (
    select(
        *(result.c[name] for name in RUN[:4]),
        *(player.c[name] for name in RUN[4:]),
        *(result.c[name] for name in _FIGURES),
    )
    .select_from(result.join(game).join(player, player.c.id == result.c.player))
    .where(_COUNTS)
)


_RISING = [result.c[name] for name in ("elapsed_ms", "moves", "undos", "number")]
_HOME = bindparam("the_home", type_=INTEGER)
_PLACE = tuple_(*(bindparam(f"the_{column.name}", type_=INTEGER) for column in _RISING))


def _runs(*conditions: ColumnElement[bool]) -> AnySelect:
    """Runs of a challenge in the order of the board ``first``."""
    return (
        _RUNS.where(result.c.challenge == bindparam("the_challenge"), *conditions)
        .order_by(result.c.home.desc(), *_RISING)
        .limit(bindparam("the_limit"))
    )


RUNS = _runs()
# Behind a run: the rest with as many cards home, and those with fewer. Asked for in one condition,
# all with as many would be read to find where to go on.
RUNS_BESIDE = _runs(result.c.home == _HOME, tuple_(*_RISING) > _PLACE)
RUNS_BELOW = _runs(result.c.home < _HOME)
RUNS_SINCE = (
    _RUNS.where(
        or_(
            result.c.number > bindparam("the_number"),
            result.c.number.in_(bindparam("the_gaps", expanding=True)),
        )
    )
    .order_by(result.c.number)
    .limit(bindparam("the_limit"))
)
LAST_RUN = select(func.coalesce(func.max(result.c.number), 0))

SIGN_OF_LIFE = select(1)
