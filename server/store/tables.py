"""The tables as this version of the server expects them; ``migrations/`` leads there."""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    text,
)

# SQLite compares text byte by byte. So does Postgres under the collation "C", whatever the locale
# that it was installed with: pages and ties come out alike on both.
TEXT = Text().with_variant(Text(collation="C"), "postgresql")
# 64 bits on both; Postgres would refuse milliseconds since the epoch as a plain INTEGER.
INTEGER = BigInteger()
# SQLite counts up by itself only in what it calls by this name; it has 64 bits there too.
NUMBER = BigInteger().with_variant(Integer(), "sqlite")

# Migrations can only name what has a name on both databases.
metadata = MetaData(
    naming_convention={
        "pk": "%(table_name)s_pkey",
        "uq": "%(table_name)s_%(column_0_N_name)s_key",
        "fk": "%(table_name)s_%(column_0_N_name)s_fkey",
        "ck": "%(table_name)s_%(constraint_name)s_check",
    }
)

# Somebody deleted keeps id and kind, because the runs stay on the boards of people or of bots.
# ``changed`` is when the handle last did, or went.
player = Table(
    "player",
    metadata,
    Column("id", TEXT, primary_key=True),
    Column("handle", TEXT),
    Column("handle_key", TEXT, unique=True),
    Column("kind", TEXT, nullable=False),
    Column("token_hash", TEXT, unique=True),
    Column("created", INTEGER),
    Column("changed", INTEGER),
    Index("player_changed", "changed"),
)

# What an index is partial on stands in queries as it stands here: a database that is given the
# values only when it executes one cannot tell that the index has all the rows.
IS_UNTOLD = text("seed IS NULL")
IS_UNDER_WAY = text("status = 'playing' AND attempt = 1")

# What is null from ``seed`` on is filled in when everybody may know it.
challenge = Table(
    "challenge",
    metadata,
    Column("id", TEXT, primary_key=True),
    Column("day", TEXT, nullable=False),
    Column("ruleset", TEXT, nullable=False),
    Column("ruleset_version", INTEGER, nullable=False),
    Column("planner", TEXT, nullable=False),
    Column("opens", INTEGER, nullable=False),
    Column("closes", INTEGER, nullable=False),
    Column("commitment", TEXT, nullable=False),
    Column("previous_challenge", TEXT),
    Column("previous_commitment", TEXT),
    Column("sealed", TEXT, nullable=False),
    Column("seed", TEXT),
    Column("candidate", INTEGER),
    Column("deal", TEXT),
    Column("par", INTEGER),
    Column("solution", TEXT),
    UniqueConstraint("day", "ruleset"),
    CheckConstraint(
        "(previous_challenge IS NULL) = (previous_commitment IS NULL)", name="previous_link"
    ),
    Index("challenge_of_ruleset", "ruleset", "day"),
    Index("challenge_untold", "closes", sqlite_where=IS_UNTOLD, postgresql_where=IS_UNTOLD),
)

game = Table(
    "game",
    metadata,
    Column("id", TEXT, primary_key=True),
    Column("player", TEXT, ForeignKey("player.id"), nullable=False),
    Column("ruleset", TEXT, nullable=False),
    Column("ruleset_version", INTEGER, nullable=False),
    Column("deal", TEXT, nullable=False),
    Column("autoplay", TEXT, nullable=False),
    Column("challenge", TEXT),
    Column("attempt", INTEGER),
    Column("started", INTEGER, nullable=False),
    Column("status", TEXT, nullable=False),
    Column("seq", INTEGER, nullable=False),
    Column("home", INTEGER, nullable=False),
    Column("moves", INTEGER, nullable=False),
    Column("undos", INTEGER, nullable=False),
    Column("score", INTEGER, nullable=False),
    Column("elapsed_ms", INTEGER, nullable=False),
    Column("hash", TEXT, nullable=False),
    Column("ended", INTEGER),
    Column("validity", TEXT, nullable=False, server_default=text("'ok'")),
    UniqueConstraint("challenge", "player", "attempt"),
    CheckConstraint("(challenge IS NULL) = (attempt IS NULL)", name="attempt_at_challenge"),
    # Pages of a player's games are read backwards, all of them or those of one status. No column
    # that every move changes is in an index, so a move costs the same however many games there are.
    Index("game_of_player", "player", "started", "id"),
    Index("game_of_player_by_status", "player", "status", "started", "id"),
    Index(
        "game_under_way",
        "challenge",
        "id",
        sqlite_where=IS_UNDER_WAY,
        postgresql_where=IS_UNDER_WAY,
    ),
)

# The primary key is what fences: of all that claim a seq, in whatever process, one can write it.
# Behind the last entry of an attempt that has ended stands a row without hash, which is no entry
# and only keeps its seq from being claimed.
entry = Table(
    "entry",
    metadata,
    Column("game", TEXT, ForeignKey("game.id"), primary_key=True),
    Column("seq", INTEGER, primary_key=True, autoincrement=False),
    Column("action", TEXT, nullable=False),
    Column("at_ms", INTEGER, nullable=False),
    Column("hash", TEXT, nullable=False),
)

# Attempts that have ended. Nothing here ever changes, so that the numbers tell what is new. There
# is no key to the player, whom the game names: it would lock the player after the game, and who
# renames locks them the other way round.
result = Table(
    "result",
    metadata,
    Column("number", NUMBER, primary_key=True),
    Column("game", TEXT, ForeignKey("game.id"), nullable=False, unique=True),
    Column("challenge", TEXT, nullable=False),
    Column("player", TEXT, nullable=False),
    Column("attempt", INTEGER, nullable=False),
    Column("home", INTEGER, nullable=False),
    Column("moves", INTEGER, nullable=False),
    Column("undos", INTEGER, nullable=False),
    Column("elapsed_ms", INTEGER, nullable=False),
    Column("ended", INTEGER, nullable=False),
    sqlite_autoincrement=True,
)
Index(
    "result_in_order",
    *(result.c.challenge, result.c.home.desc(), result.c.elapsed_ms),
    *(result.c.moves, result.c.undos, result.c.number),
)
