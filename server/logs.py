"""Logs: JSON lines on standard error, one event a line whatever a name holds."""

import logging
import sys

import structlog


def configure_logs(level: str) -> None:
    """Send the log of all rooms to standard error as JSON, from ``level`` upwards."""
    shared: list[structlog.typing.Processor] = [
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared,
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level.upper())
    logging.getLogger("alembic").setLevel(logging.WARNING)  # it tells of every connection
    # It shows a traceback for each connection that breaks, which whoever asked is told anyway.
    logging.getLogger("sqlalchemy.pool").setLevel(logging.CRITICAL)
