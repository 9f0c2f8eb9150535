"""The tables as this version of the server expects them; ``migrations/`` leads there."""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
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
player = Table(
    "player",
    metadata,
    Column("id", TEXT, primary_key=True),
    Column("handle", TEXT),
    Column("handle_key", TEXT, unique=True),
    Column("kind", TEXT, nullable=False),
    Column("token_hash", TEXT, unique=True),
    Column("created", INTEGER),
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
)

# The primary key is what fences: of all that claim a seq, in whatever process, one can write it.
entry = Table(
    "entry",
    metadata,
    Column("game", TEXT, ForeignKey("game.id"), primary_key=True),
    Column("seq", INTEGER, primary_key=True, autoincrement=False),
    Column("action", TEXT, nullable=False),
    Column("at_ms", INTEGER, nullable=False),
    Column("hash", TEXT, nullable=False),
)
