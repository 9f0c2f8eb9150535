from ipaddress import ip_network
from pathlib import Path

import pytest

from server.config import BadSetting, Settings, read_settings
from server.keys import new_key, secret_key

KEY = "A" * 43 + "="


def test_nothing_set_serves_on_loopback_with_a_file_beside_it() -> None:
    settings = read_settings({"PATH": "/bin", "CELLMATES_TOKEN": "a client's"})
    assert settings == Settings()
    assert (settings.host, settings.port) == ("127.0.0.1", 8410)
    assert settings.is_sqlite
    assert settings.sqlite_path == "cellmates.db"


def test_every_setting_is_read() -> None:
    settings = read_settings(
        {
            "CELLMATES_HOST": "::1",
            "CELLMATES_PORT": "0",
            "CELLMATES_DATABASE_URL": "postgresql://cells@localhost/cells",
            "CELLMATES_SECRET_KEY": KEY,
            "CELLMATES_ORIGINS": "https://cells.example, http://localhost:3000",
            "CELLMATES_TRUSTED_PROXIES": "10.0.0.0/8,::1",
            "CELLMATES_MAX_CONNECTIONS": "10",
            "CELLMATES_MAX_CONNECTIONS_PER_ADDRESS": "5",
            "CELLMATES_MOVES_PER_S": "7",
            "CELLMATES_LOG_LEVEL": "debug",
        }
    )
    assert settings == Settings(
        host="::1",
        port=0,
        database_url="postgresql://cells@localhost/cells",
        secret_key=KEY,
        origins=("https://cells.example", "http://localhost:3000"),
        trusted_proxies=(ip_network("10.0.0.0/8"), ip_network("::1")),
        max_connections=10,
        max_connections_per_address=5,
        moves_per_s=7,
        log_level="debug",
    )
    assert not settings.is_sqlite


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("PORT", "eighty", "is not a whole number from 0 to 65535"),
        ("PORT", "65536", "is not a whole number from 0 to 65535"),
        ("PORT", "-1", "is not a whole number"),
        ("PORT", "\u0668\u0660", "is not a whole number"),
        ("HOST", "", "is empty"),
        ("DATABASE_URL", "mysql://x", "sqlite:///FILE or postgresql://"),
        ("DATABASE_URL", "games.db", "sqlite:///FILE or postgresql://"),
        ("DATABASE_URL", "sqlite://", "names no file: write sqlite:///FILE"),
        ("DATABASE_URL", "sqlite:///", "names no file"),
        ("SECRET_KEY", "short", "32 bytes in URL-safe base64"),
        ("SECRET_KEY", "ä" * 44, "32 bytes in URL-safe base64"),
        ("ORIGINS", "cells.example", "is not an origin such as https://cells.example"),
        ("ORIGINS", "https://cells.example/path", "is not an origin"),
        ("TRUSTED_PROXIES", "10.0.0.1/8", "has host bits set"),
        ("MAX_CONNECTIONS", "0", "from 1 to"),
        ("LOG_LEVEL", "loud", "is not one of debug, info, warning, error"),
        ("PROT", "80", "is not a setting: did you mean CELLMATES_PORT"),
        ("XYZZY", "1", "is not a setting: there are CELLMATES_DATABASE_URL"),
    ],
)
def test_bad_setting_is_named_and_says_what_is_right(name: str, text: str, says: str) -> None:
    with pytest.raises(BadSetting, match=f"^CELLMATES_{name}") as caught:
        read_settings({f"CELLMATES_{name}": text})
    assert says in str(caught.value)


def test_postgres_needs_a_key() -> None:
    with pytest.raises(BadSetting, match=r"^CELLMATES_SECRET_KEY: with Postgres it must be given"):
        read_settings({"CELLMATES_DATABASE_URL": "postgresql://cells@localhost/cells"})


def test_key_is_made_once_and_only_its_owner_may_read_it(tmp_path: Path) -> None:
    settings = Settings(database_url=f"sqlite:///{tmp_path}/games.db")
    key = secret_key(settings)
    assert secret_key(settings) == key
    [file] = tmp_path.iterdir()
    assert file.name == "games.db.key"
    assert file.stat().st_mode & 0o777 == 0o600
    assert secret_key(Settings(secret_key=KEY)) == KEY
    assert new_key() != new_key()


def test_kept_key_that_is_none_is_named(tmp_path: Path) -> None:
    (tmp_path / "games.db.key").write_text("gone wrong")
    with pytest.raises(BadSetting, match=r"CELLMATES_SECRET_KEY is not set, and .*games.db.key"):
        secret_key(Settings(database_url=f"sqlite:///{tmp_path}/games.db"))
    with pytest.raises(BadSetting, match="No such file"):
        secret_key(Settings(database_url=f"sqlite:///{tmp_path}/nowhere/games.db"))
