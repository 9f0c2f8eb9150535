"""Where Alembic comes in; ``server.store.schema`` calls it, with a connection in a transaction.

The transaction is one for all revisions: they are all made, or none is. On SQLite foreign keys are
off within, since altering a table there copies and drops it, and are checked here at the end.
"""

from alembic import context
from sqlalchemy import Connection


def run(connection: Connection) -> None:
    """Make the revisions that were asked for."""
    is_sqlite = connection.dialect.name == "sqlite"
    if is_sqlite and connection.exec_driver_sql("PRAGMA foreign_keys").scalar_one():
        raise RuntimeError("foreign keys are on: dropping a table would delete what refers to it")
    context.configure(
        connection=connection,
        target_metadata=context.config.attributes["metadata"],
        render_as_batch=True,
    )
    context.run_migrations()
    if is_sqlite and connection.exec_driver_sql("PRAGMA foreign_key_check").first():
        raise RuntimeError("a migration has left rows that refer to nothing")


run(context.config.attributes["connection"])
