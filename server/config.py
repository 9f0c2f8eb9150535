"""Settings from the environment, read once. Every bad one is named, and what is right is said."""

from base64 import urlsafe_b64decode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from ipaddress import ip_network
from urllib.parse import urlsplit

from .address import Network

_PREFIX = "CELLMATES_"
_CLIENTS_OWN = frozenset({"CELLMATES_TOKEN", "CELLMATES_SERVER"})


class BadSetting(ValueError):
    """A setting cannot be used; the message names it and says what is right."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What an operator may choose.

    ``secret_key`` is None where it is to be made. ``moves_per_s`` is how many moves one connection
    may make in the long run; twice as many at once. ``plan_days`` is how many days have their
    dailies planned, today included; with 0 that is left to others.
    """

    host: str = "127.0.0.1"
    port: int = 8410
    database_url: str = "sqlite:///cellmates.db"
    secret_key: str | None = None
    origins: tuple[str, ...] = ()
    trusted_proxies: tuple[Network, ...] = ()
    max_connections: int = 20_000
    max_connections_per_address: int = 200
    moves_per_s: int = 100
    plan_days: int = 8
    log_level: str = "info"

    @property
    def is_sqlite(self) -> bool:
        """Whether the database is a file beside the process."""
        return self.database_url.startswith("sqlite")

    @property
    def sqlite_path(self) -> str:
        """Path of the SQLite file."""
        return _sqlite_path(self.database_url)


def read_settings(environ: Mapping[str, str]) -> Settings:
    """Settings from environment variables.

    Raises:
        BadSetting: a variable is unknown, has a value that cannot be used, or is missing.
    """
    known = {_PREFIX + name.upper(): (name, read) for name, read in _READERS.items()}
    chosen: dict[str, object] = {}
    for variable, text in sorted(environ.items()):
        if not variable.startswith(_PREFIX) or variable in _CLIENTS_OWN:
            continue
        if variable not in known:
            near = get_close_matches(variable, known, 1, 0.8)
            meant = f"did you mean {near[0]}?" if near else f"there are {', '.join(sorted(known))}"
            raise BadSetting(f"{variable} is not a setting: {meant}")
        name, read = known[variable]
        try:
            chosen[name] = read(text.strip())
        except ValueError as error:
            raise BadSetting(f"{variable}: {error}") from None
    settings = Settings(**chosen)  # type: ignore[arg-type]
    if not settings.is_sqlite and settings.secret_key is None:
        raise BadSetting(
            "CELLMATES_SECRET_KEY: with Postgres it must be given, the same for every process: "
            "32 random bytes in URL-safe base64, as `python -m server secret` prints"
        )
    return settings


def _text(text: str) -> str:
    if not text:
        raise ValueError("is empty")
    return text


def _number(low: int, high: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) < 10 and low <= int(text) <= high):
            raise ValueError(f"{text[:20]!r} is not a whole number from {low} to {high}")
        return int(text)

    return read


def _database_url(text: str) -> str:
    scheme = urlsplit(text).scheme.partition("+")[0]
    if scheme not in ("sqlite", "postgresql"):
        raise ValueError(
            "the database is sqlite:///FILE or postgresql://USER:PASSWORD@HOST/NAME, "
            f"not {scheme[:20]!r}"
        )
    if scheme == "sqlite" and not _sqlite_path(text):
        raise ValueError("names no file: write sqlite:///FILE, or sqlite:////FILE from the root")
    return text


def _sqlite_path(url: str) -> str:
    return url.partition(":///")[2].partition("?")[0]


def check_secret_key(text: str) -> str:
    """The text, if it is a key.

    Raises:
        ValueError: it is none.
    """
    try:
        length = len(urlsafe_b64decode(text.encode("ascii")))
    except ValueError:
        length = 0
    if length != SECRET_BYTES:
        raise ValueError("is not 32 bytes in URL-safe base64; `python -m server secret` makes one")
    return text


def _origins(text: str) -> tuple[str, ...]:
    origins = tuple(origin.strip() for origin in text.split(",") if origin.strip())
    for origin in origins:
        parts = urlsplit(origin)
        if parts.scheme not in ("http", "https") or not parts.netloc or parts.path:
            raise ValueError(f"{origin[:40]!r} is not an origin such as https://cells.example")
    return origins


def _networks(text: str) -> tuple[Network, ...]:
    return tuple(ip_network(part.strip()) for part in text.split(",") if part.strip())


def _log_level(text: str) -> str:
    if text not in LOG_LEVELS:
        raise ValueError(f"{text[:20]!r} is not one of {', '.join(LOG_LEVELS)}")
    return text


LOG_LEVELS = ("debug", "info", "warning", "error")
SECRET_BYTES = 32
_READERS: dict[str, Callable[[str], object]] = {
    "host": _text,
    "port": _number(0, 65535),
    "database_url": _database_url,
    "secret_key": check_secret_key,
    "origins": _origins,
    "trusted_proxies": _networks,
    "max_connections": _number(1, 1_000_000),
    "max_connections_per_address": _number(1, 1_000_000),
    "moves_per_s": _number(1, 1_000_000),
    "plan_days": _number(0, 366),
    "log_level": _log_level,
}
