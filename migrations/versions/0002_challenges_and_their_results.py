"""Challenges, the results of attempts at them, and when handles change."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
INTEGER = sa.BigInteger()
NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Go there."""
    op.add_column("player", sa.Column("changed", INTEGER))
    op.create_index("player_changed", "player", ["changed"])
    under_way = sa.text("status = 'playing' AND attempt = 1")
    op.create_index(
        "game_under_way",
        "game",
        ["challenge", "id"],
        sqlite_where=under_way,
        postgresql_where=under_way,
    )
    op.create_table(
        "challenge",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("day", TEXT, nullable=False),
        sa.Column("ruleset", TEXT, nullable=False),
        sa.Column("ruleset_version", INTEGER, nullable=False),
        sa.Column("planner", TEXT, nullable=False),
        sa.Column("opens", INTEGER, nullable=False),
        sa.Column("closes", INTEGER, nullable=False),
        sa.Column("commitment", TEXT, nullable=False),
        sa.Column("previous_challenge", TEXT),
        sa.Column("previous_commitment", TEXT),
        sa.Column("sealed", TEXT, nullable=False),
        sa.Column("seed", TEXT),
        sa.Column("candidate", INTEGER),
        sa.Column("deal", TEXT),
        sa.Column("par", INTEGER),
        sa.Column("solution", TEXT),
        sa.PrimaryKeyConstraint("id", name="challenge_pkey"),
        sa.UniqueConstraint("day", "ruleset", name="challenge_day_ruleset_key"),
        sa.CheckConstraint(
            "(previous_challenge IS NULL) = (previous_commitment IS NULL)",
            name=op.f("challenge_previous_link_check"),
        ),
    )
    op.create_index("challenge_of_ruleset", "challenge", ["ruleset", "day"])
    untold = sa.text("seed IS NULL")
    op.create_index(
        "challenge_untold",
        "challenge",
        ["closes"],
        sqlite_where=untold,
        postgresql_where=untold,
    )
    op.create_table(
        "result",
        sa.Column("number", NUMBER, nullable=False),
        sa.Column("game", TEXT, nullable=False),
        sa.Column("challenge", TEXT, nullable=False),
        sa.Column("player", TEXT, nullable=False),
        sa.Column("attempt", INTEGER, nullable=False),
        sa.Column("home", INTEGER, nullable=False),
        sa.Column("moves", INTEGER, nullable=False),
        sa.Column("undos", INTEGER, nullable=False),
        sa.Column("elapsed_ms", INTEGER, nullable=False),
        sa.Column("ended", INTEGER, nullable=False),
        sa.PrimaryKeyConstraint("number", name="result_pkey"),
        sa.ForeignKeyConstraint(["game"], ["game.id"], name="result_game_fkey"),
        sa.UniqueConstraint("game", name="result_game_key"),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "result_in_order",
        "result",
        ["challenge", sa.text("home DESC"), "elapsed_ms", "moves", "undos", "number"],
    )


def downgrade() -> None:
    """Go back; rows of no hash close attempts, and revision 0001 would take them for entries."""
    op.execute("DELETE FROM entry WHERE hash = ''")
    op.drop_table("result")
    op.drop_table("challenge")
    op.drop_index("game_under_way", "game")
    op.drop_index("player_changed", "player")
    op.drop_column("player", "changed")
