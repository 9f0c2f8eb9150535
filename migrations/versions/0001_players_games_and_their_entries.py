"""Players, games and their entries."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
INTEGER = sa.BigInteger()


def upgrade() -> None:
    """Go there."""
    op.create_table(
        "player",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("handle", TEXT),
        sa.Column("handle_key", TEXT),
        sa.Column("kind", TEXT, nullable=False),
        sa.Column("token_hash", TEXT),
        sa.Column("created", INTEGER),
        sa.PrimaryKeyConstraint("id", name="player_pkey"),
        sa.UniqueConstraint("handle_key", name="player_handle_key_key"),
        sa.UniqueConstraint("token_hash", name="player_token_hash_key"),
    )
    op.create_table(
        "game",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("player", TEXT, nullable=False),
        sa.Column("ruleset", TEXT, nullable=False),
        sa.Column("ruleset_version", INTEGER, nullable=False),
        sa.Column("deal", TEXT, nullable=False),
        sa.Column("autoplay", TEXT, nullable=False),
        sa.Column("challenge", TEXT),
        sa.Column("attempt", INTEGER),
        sa.Column("started", INTEGER, nullable=False),
        sa.Column("status", TEXT, nullable=False),
        sa.Column("seq", INTEGER, nullable=False),
        sa.Column("home", INTEGER, nullable=False),
        sa.Column("moves", INTEGER, nullable=False),
        sa.Column("undos", INTEGER, nullable=False),
        sa.Column("score", INTEGER, nullable=False),
        sa.Column("elapsed_ms", INTEGER, nullable=False),
        sa.Column("hash", TEXT, nullable=False),
        sa.Column("ended", INTEGER),
        sa.Column("validity", TEXT, nullable=False, server_default=sa.text("'ok'")),
        sa.PrimaryKeyConstraint("id", name="game_pkey"),
        sa.ForeignKeyConstraint(["player"], ["player.id"], name="game_player_fkey"),
        sa.UniqueConstraint(
            "challenge", "player", "attempt", name="game_challenge_player_attempt_key"
        ),
        sa.CheckConstraint(
            "(challenge IS NULL) = (attempt IS NULL)",
            name=op.f("game_attempt_at_challenge_check"),
        ),
    )
    op.create_index("game_of_player", "game", ["player", "started", "id"])
    op.create_index("game_of_player_by_status", "game", ["player", "status", "started", "id"])
    op.create_table(
        "entry",
        sa.Column("game", TEXT, nullable=False),
        sa.Column("seq", INTEGER, autoincrement=False, nullable=False),
        sa.Column("action", TEXT, nullable=False),
        sa.Column("at_ms", INTEGER, nullable=False),
        sa.Column("hash", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("game", "seq", name="entry_pkey"),
        sa.ForeignKeyConstraint(["game"], ["game.id"], name="entry_game_fkey"),
    )


def downgrade() -> None:
    """Go back."""
    op.drop_table("entry")
    op.drop_table("game")
    op.drop_table("player")
