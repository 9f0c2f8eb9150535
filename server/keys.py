"""The server's secret key: given, or made once and kept beside the SQLite file."""

import os
from base64 import urlsafe_b64encode
from pathlib import Path
from secrets import token_bytes

from .config import SECRET_BYTES, BadSetting, Settings, check_secret_key

OWNER_ONLY = 0o600


def new_key() -> str:
    """32 random bytes in URL-safe base64."""
    return urlsafe_b64encode(token_bytes(SECRET_BYTES)).decode()


def secret_key(settings: Settings) -> str:
    """The key of these settings; makes and keeps one beside a SQLite file that has none.

    Raises:
        BadSetting: the kept key cannot be read or written, or is none.
    """
    if settings.secret_key is not None:
        return settings.secret_key
    path = Path(f"{settings.sqlite_path}.key")
    try:
        _write_once(path, new_key())
        return check_secret_key(path.read_text(encoding="ascii").strip())
    except (OSError, ValueError) as error:
        raise BadSetting(f"CELLMATES_SECRET_KEY is not set, and {path}: {error}") from None


def _write_once(path: Path, key: str) -> None:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY)
    except FileExistsError:
        return
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(f"{key}\n")
