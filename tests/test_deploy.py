"""Holds what puts the service to work on a machine to the service itself.

No Docker runs here. What can be known without it is: that the files agree with each other, with the
settings, with the command line and with the lock, and that the checks of health find what they ask.
"""

import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatch
from importlib.metadata import distribution
from ipaddress import ip_network
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from server.config import read_settings
from server.keys import new_key
from server.serving import DRAIN_S
from tests.commands import is_accepted
from tests.e2e.running import running_server

ROOT = Path(__file__).parent.parent
PROMISED_S = 10  # in which a server that is asked to stop has stopped, says the README
Service = dict[str, Any]


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


# -- docker-compose.yml ----------------------------------------------------------------------------

TEXT = read("docker-compose.yml")
COMPOSE: dict[str, Any] = yaml.safe_load(TEXT)
SERVICES: dict[str, Service] = COMPOSE["services"]
OURS = {name: service for name, service in SERVICES.items() if "build" in service}
ONE_SHOT = {name for name, service in SERVICES.items() if service["restart"] == "no"}
CHOSEN = {"SITE": "cells.example", "POSTGRES_PASSWORD": "pw", "CELLMATES_SECRET_KEY": new_key()}
VARIABLE = re.compile(r"\$\{(\w+)(?::([?-])([^}]*))?\}")


def filled_in(text: str, chosen: Mapping[str, str]) -> str:
    """Text as Compose hands it on: ``${NAME:?why}`` has to be set, ``${NAME:-default}`` may be."""

    def value(match: re.Match[str]) -> str:
        name, kind, rest = match.groups()
        if chosen.get(name):
            return chosen[name]
        if kind != "-":
            raise KeyError(f"{name} {rest}")
        return str(rest)

    return VARIABLE.sub(value, text)


def environment(service: Service, chosen: Mapping[str, str] = CHOSEN) -> dict[str, str]:
    return {name: filled_in(str(text), chosen) for name, text in service["environment"].items()}


def seconds(duration: str) -> int:
    match = re.fullmatch(r"(\d+)s", duration)
    assert match, duration
    return int(match[1])


def test_there_are_a_database_a_migration_a_server_and_a_proxy() -> None:
    assert set(SERVICES) == {"postgres", "migrate", "server", "caddy"}
    assert set(OURS) == {"migrate", "server"}
    assert {"migrate"} == ONE_SHOT


@pytest.mark.parametrize("name", SERVICES)
def test_image_is_built_here_or_pinned_to_a_version(name: str) -> None:
    service = SERVICES[name]
    if "build" in service:
        assert service["build"] == "."
        assert (ROOT / "Dockerfile").is_file()
    else:
        assert re.fullmatch(r"[a-z]+:\d+\.\d+(\.\d+)?-[a-z]+", service["image"])


@pytest.mark.parametrize("name", SERVICES)
def test_service_is_asked_for_its_health_unless_it_ends_by_itself(name: str) -> None:
    check = SERVICES[name]["healthcheck"]
    if name in ONE_SHOT:
        assert check == {"disable": True}  # else it would be asked what the image asks a server
    else:
        assert check["test"][0] == "CMD"
        assert set(check) == {"test", "interval", "timeout", "start_period", "retries"}
        assert seconds(check["timeout"]) <= seconds(check["interval"])


def test_services_wait_for_those_they_need() -> None:
    waits = {
        name: {
            needed: condition["condition"] for needed, condition in service["depends_on"].items()
        }
        for name, service in SERVICES.items()
        if "depends_on" in service
    }
    assert waits == {
        "migrate": {"postgres": "service_healthy"},
        "server": {"postgres": "service_healthy", "migrate": "service_completed_successfully"},
        "caddy": {"server": "service_healthy"},
    }


@pytest.mark.parametrize("name", sorted(SERVICES.keys() - ONE_SHOT))
def test_service_comes_back_by_itself_and_may_end_what_it_does(name: str) -> None:
    assert SERVICES[name]["restart"] == "unless-stopped"
    assert seconds(SERVICES[name]["stop_grace_period"]) > PROMISED_S > DRAIN_S


@pytest.mark.parametrize("name", OURS)
def test_settings_are_the_servers_and_it_takes_them(name: str) -> None:
    environ = environment(OURS[name])
    assert all(variable.startswith("CELLMATES_") for variable in environ)
    settings = read_settings(environ)
    password = CHOSEN["POSTGRES_PASSWORD"]
    assert settings.database_url == f"postgresql://cellmates:{password}@postgres/cellmates"
    assert settings.secret_key == CHOSEN["CELLMATES_SECRET_KEY"]
    assert settings.origins == ()
    chosen = {"CELLMATES_ORIGINS": "https://a.example", "CELLMATES_LOG_LEVEL": "debug"}
    settings = read_settings(environment(OURS[name], CHOSEN | chosen))
    assert (settings.origins, settings.log_level) == (("https://a.example",), "debug")


def test_database_and_server_mean_the_same_database() -> None:
    environ = environment(SERVICES["postgres"])
    assert environ == {
        "POSTGRES_USER": "cellmates",
        "POSTGRES_DB": "cellmates",
        "POSTGRES_PASSWORD": CHOSEN["POSTGRES_PASSWORD"],
    }
    check = SERVICES["postgres"]["healthcheck"]["test"]
    assert check[1] == "pg_isready"
    assert {"--username=cellmates", "--dbname=cellmates", "--host=127.0.0.1"} <= set(check)
    # Where this image keeps its data from version 18 on; elsewhere nothing would outlive it.
    assert SERVICES["postgres"]["volumes"] == ["postgres:/var/lib/postgresql"]


@pytest.mark.parametrize("name", OURS)
def test_command_is_one_of_the_servers(name: str) -> None:
    program, *words = OURS[name]["command"]
    assert program == "cellmates-server"
    assert is_accepted(words)


def test_a_command_that_is_none_would_be_noticed() -> None:
    assert not is_accepted(["sreve"])
    assert not is_accepted(["db", "downgrade"])


def test_only_the_proxy_can_be_reached_from_outside() -> None:
    assert {name for name, service in SERVICES.items() if "ports" in service} == {"caddy"}
    assert SERVICES["caddy"]["ports"] == ["80:80", "443:443", "443:443/udp"]
    networks = {name: set(service["networks"]) for name, service in SERVICES.items()}
    assert networks == {
        "postgres": {"database"},
        "migrate": {"database"},
        "server": {"database", "proxy"},
        "caddy": {"proxy", "outside"},
    }
    internal = {name for name, network in COMPOSE["networks"].items() if network.get("internal")}
    assert internal == {"database", "proxy"}
    assert not any("network_mode" in service for service in SERVICES.values())


def test_server_believes_the_network_that_it_shares_with_the_proxy_and_no_other() -> None:
    [trusted] = read_settings(environment(SERVICES["server"])).trusted_proxies
    [pool] = COMPOSE["networks"]["proxy"]["ipam"]["config"]
    assert trusted == ip_network(pool["subnet"])
    assert trusted.is_private


def test_every_volume_is_declared_and_every_file_there() -> None:
    used = [volume.split(":")[0] for s in SERVICES.values() for volume in s.get("volumes", ())]
    assert {name for name in used if "/" not in name} == set(COMPOSE["volumes"])
    assert all((ROOT / name).is_file() for name in used if "/" in name)


def test_server_can_hold_as_many_connections_as_it_lets_in() -> None:
    limit = read_settings(environment(SERVICES["server"])).max_connections
    assert SERVICES["server"]["ulimits"]["nofile"] > limit
    assert SERVICES["caddy"]["ulimits"]["nofile"] > 2 * limit


@pytest.mark.parametrize("name", OURS)
def test_what_is_ours_may_do_little(name: str) -> None:
    assert OURS[name]["read_only"] is True
    assert OURS[name]["cap_drop"] == ["ALL"]
    assert OURS[name]["security_opt"] == ["no-new-privileges:true"]


# -- Secrets ---------------------------------------------------------------------------------------

REQUIRED = {match[1] for match in VARIABLE.finditer(TEXT) if match[2] == "?"}
OPTIONAL = {match[1] for match in VARIABLE.finditer(TEXT) if match[2] == "-"}


def test_nothing_secret_is_written_in() -> None:
    assert set(CHOSEN) == REQUIRED
    assert len(VARIABLE.findall(TEXT)) == TEXT.count("$")
    for service in SERVICES.values():
        for name, value in service.get("environment", {}).items():
            if re.search("PASSWORD|KEY|URL", name):
                assert VARIABLE.search(str(value)), name


@pytest.mark.parametrize("name", sorted(REQUIRED))
@pytest.mark.parametrize("left", ["out", "empty"])
def test_what_is_required_is_asked_for_with_a_reason(name: str, left: str) -> None:
    chosen = {**CHOSEN, name: ""}
    if left == "out":
        del chosen[name]
    with pytest.raises(KeyError, match=rf"{name} .+, in \.env"):
        filled_in(TEXT, chosen)


def test_example_of_the_settings_has_what_is_asked_for_and_no_values() -> None:
    lines = [line for line in read(".env.example").splitlines() if line and line[0] != "#"]
    assert {line.removesuffix("=") for line in lines} == REQUIRED
    offered = re.findall(r"^#(\w+)=", read(".env.example"), re.MULTILINE)
    assert set(offered) == OPTIONAL


# -- Caddyfile -------------------------------------------------------------------------------------

CADDYFILE = re.sub(r"\s*#.*", "", read("deploy/Caddyfile"))
HANDLES = dict(re.findall(r"\thandle (\S* ?)\{\n(.*?)\n\t\}", CADDYFILE, re.DOTALL))


def test_proxy_serves_the_site_that_was_chosen() -> None:
    assert re.search(r"^\{\$SITE\} \{$", CADDYFILE, re.MULTILINE)
    assert set(environment(SERVICES["caddy"])) == {"SITE"}


def test_proxy_hands_on_all_but_the_metrics() -> None:
    port = settings_of_the_image()["CELLMATES_PORT"]
    assert {path.strip(): inside.split("\n\t\t") for path, inside in HANDLES.items()} == {
        "/metrics*": ["\t\trespond 404"],
        "/ws": [f"\t\treverse_proxy server:{port}"],
        "": ["\t\tencode zstd gzip", f"reverse_proxy server:{port}"],
    }
    assert CADDYFILE.count("reverse_proxy") == 2
    assert "header_up" not in CADDYFILE  # X-Forwarded-For is Caddy's own
    assert "trusted_proxies" not in CADDYFILE


# -- Dockerfile ------------------------------------------------------------------------------------


def instructions(text: str) -> Iterator[tuple[str, str]]:
    """Instructions of a Dockerfile with what they say, each on one line."""
    for line in re.sub(r"\\\n\s*", "", text).splitlines():
        if line and not line.startswith("#"):
            name, _, rest = line.partition(" ")
            yield name, rest


DOCKERFILE = list(instructions(read("Dockerfile")))
STARTS = [number for number, (name, _) in enumerate(DOCKERFILE) if name == "FROM"]
LAST = DOCKERFILE[STARTS[-1] :]


def said(name: str, within: Sequence[tuple[str, str]] = LAST) -> list[str]:
    return [rest for instruction, rest in within if instruction == name]


def settings_of_the_image() -> dict[str, str]:
    pairs = [pair.split("=", 1) for rest in said("ENV") for pair in shlex.split(rest)]
    return {name: value for name, value in pairs if name.startswith("CELLMATES_")}


def health_check() -> list[str]:
    """Words of the image's check."""
    [rest] = said("HEALTHCHECK")
    words: list[str] = yaml.safe_load(rest.partition(" CMD ")[2])
    return words


def test_both_stages_stand_on_one_python_that_is_pinned() -> None:
    first, last = said("FROM", DOCKERFILE)
    assert first == f"{last} AS build"
    assert re.fullmatch(r"python:3\.11\.\d+-slim-[a-z]+", last)


def test_every_file_copied_is_there_and_not_ignored() -> None:
    copied = [words.split()[:-1] for words in said("COPY", DOCKERFILE) if "--from" not in words]
    names = [name for words in copied for name in words]
    assert {"cellmates", "client", "migrations", "server", "requirements.txt"} <= set(names)
    ignored, *let_through = [line for line in read(".dockerignore").splitlines() if line[0] != "#"]
    assert ignored == "*"
    assert {line[1:] for line in let_through if line[0] == "!"} == set(names)
    assert all((ROOT / name).exists() for name in names)
    assert not any(fnmatch(name, line) for name in names for line in let_through if line[0] != "!")


def test_image_has_what_was_installed_and_no_tools() -> None:
    assert said("COPY") == ["--from=build /opt/cellmates /opt/cellmates"]
    [run] = said("RUN")
    assert re.match(r"python -m pip uninstall --yes .*\bwheel setuptools pip &&", run)
    assert not re.search(r"apt|install -|curl|requirements", run.replace("install --", ""))


def test_everything_installed_is_vouched_for_by_the_lock() -> None:
    runs = " && ".join(said("RUN", DOCKERFILE[: STARTS[-1]]))
    installs = [
        part for part in runs.split(" && ") if re.search(r"pip (\S+ )*?(install|wheel)", part)
    ]
    assert len(installs) == 4
    assert all("--require-hashes" in part or "--no-index" in part for part in installs)
    assert all("--only-binary :all:" in part for part in installs if "--require-hashes" in part)


def test_process_is_nobody_and_is_asked_to_stop_by_a_signal_it_knows() -> None:
    [user] = said("USER")
    assert re.fullmatch(r"[1-9]\d{4}:[1-9]\d{4}", user)
    assert f"--uid {user.split(':')[0]}" in said("RUN")[0]
    assert said("STOPSIGNAL") == ["SIGTERM"]
    order = [name for name, _ in LAST]
    assert order.index("USER") > order.index("RUN")


def test_image_serves_to_other_containers() -> None:
    settings = read_settings(settings_of_the_image())
    assert settings.host == "0.0.0.0"
    assert said("EXPOSE") == [str(settings.port)]
    [words] = said("CMD")
    program, *rest = yaml.safe_load(words)
    assert program == "cellmates-server"
    assert is_accepted(rest)


@pytest.mark.parametrize(
    ("words", "path"),
    [(health_check(), "/healthz"), (SERVICES["server"]["healthcheck"]["test"][1:], "/readyz")],
    ids=["image", "compose"],
)
def test_check_of_health_asks_the_server_and_tells_when_nobody_answers(
    words: list[str], path: str, tmp_path: Path
) -> None:
    program, *rest = words
    assert program == "python"
    assert f"{path}'" in rest[-1]
    with running_server(tmp_path, database_url=f"sqlite:///{tmp_path}/games.db") as server:
        port = {"CELLMATES_PORT": server.http.rstrip("/").rpartition(":")[2]}
        asked = [sys.executable, *rest]
        assert subprocess.run(asked, env=port, capture_output=True).returncode == 0
    assert subprocess.run(asked, env=port, capture_output=True).returncode == 1


# -- The lock's part that runs the service ---------------------------------------------------------


def locked(*names: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, ROOT / "deploy" / "locked.py", *names],
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )


def pinned(text: str) -> list[str]:
    return re.findall(r"^([a-z0-9-]+)==", text, re.MULTILINE)


def needed(*requirements: str) -> set[str]:
    """Packages that these need, as the packages themselves say that are installed here."""
    found: set[tuple[str, str]] = set()
    further = [(Requirement(text), "") for text in requirements]
    while further:
        requirement, extra = further.pop()
        if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
            continue
        for wanted in ("", *requirement.extras):
            key = canonicalize_name(requirement.name), wanted
            if key not in found:
                found.add(key)
                asked = distribution(requirement.name).requires or []
                further += [(Requirement(text), wanted) for text in asked]
    return {name for name, _ in found}


def test_part_that_runs_the_service_is_what_its_packages_say_they_need() -> None:
    dependencies = tomllib.loads(read("pyproject.toml"))["project"]["dependencies"]
    assert set(pinned(locked().stdout)) == needed(*dependencies)


def test_part_of_the_lock_has_every_hash_that_the_lock_has() -> None:
    part, lock = locked("uvloop").stdout, read("requirements.txt")
    assert pinned(part) == ["uvloop"]
    assert part in lock
    after = lock.split(part)[1].splitlines()
    assert list(takewhile(lambda line: line.startswith(" "), after)) == []
    assert part.count("--hash=") > 10


def test_package_that_is_not_in_the_lock_is_named() -> None:
    ran = locked("uvloop", "no-such-package")
    assert ran.returncode == 1
    assert ran.stdout == ""
    assert "no-such-package: run make lock" in ran.stderr
