"""Texts of the engine, the calendar and the settings: what is read is read back alike."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from ipaddress import ip_network
from random import Random
from typing import TypeAlias

from cellmates.daily import BadDay, day_of, opens_at, parse_challenge_id
from cellmates.engine import (
    RULESETS,
    BadBoard,
    BadDeal,
    BadMove,
    Deal,
    Game,
    Move,
    Refusal,
    board_text,
    parse_action,
    parse_board,
    parse_place,
    tap,
)
from server.address import client_address, group_of
from server.config import BadSetting, read_settings
from server.players import HandleInvalid, check_handle, skeleton
from server.store import BadDatabase
from server.store.engine import parse_url

from .drawing import TEXTS, any_text, changed_text
from .findings import Findings

Parse: TypeAlias = Callable[[Findings, Random, str], None]

RULES = [*RULESETS.values()]
GAMES = [Game.start(ruleset, Deal.numbered(1), ruleset.autoplay) for ruleset in RULES]
BOARDS = [board_text(Deal.numbered(1).layout(ruleset)) for ruleset in RULES]
WORDS = [word for board in BOARDS for line in board.splitlines() for word in line.split()]
MOVES = ("26v3", "26v", "26", "ah", "1h", "h3", "a1", "undo", "resign", "8d", "1a", "c5v1")
DEALS = ("1", "11982", "4294967295", "EO1-C8-AAAAAFA", "EO1-C4-AAAAAFA", f"cards:{'JD' * 52}")
DAYS = ("2027-03-14", "2028-02-29", "9999-12-31", "0001-01-01", "2027-03-14-eight-off-classic")
ADDRESSES = ("192.0.2.1", "2001:db8::1", "[2001:db8::1]:80", "::ffff:192.0.2.1", "fe80::1%eth0")
URLS = ("sqlite:///games.db", "postgresql://me:secret@host:5432/name?host=/run")


def move(findings: Findings, chance: Random, text: str) -> None:
    with suppress(BadMove):
        assert Move.parse(str(Move.parse(text))) == Move.parse(text)
        findings.accept("move")
    with suppress(BadMove):
        tap(RULES[0], GAMES[0].position, parse_place(text), 1, 1)
    with suppress(Refusal):
        game = chance.choice(GAMES)
        game.play(parse_action(text))


def board(findings: Findings, chance: Random, text: str) -> None:
    ruleset = chance.choice(RULES)
    with suppress(BadBoard):
        position = parse_board(ruleset, text)
        assert parse_board(ruleset, board_text(position)) == position
        findings.accept("board")


def deal(findings: Findings, chance: Random, text: str) -> None:
    ruleset = chance.choice(RULES)
    with suppress(BadDeal):
        parsed = Deal.parse(ruleset, text)
        assert Deal.parse(ruleset, str(parsed)) == parsed
        assert Deal.of_layout(ruleset, parsed.layout(ruleset)).order == parsed.order
        findings.accept("deal")


def day(findings: Findings, _: Random, text: str) -> None:
    with suppress(BadDay):
        parse_challenge_id(text)
        findings.accept("day")
    with suppress(BadDay):
        assert day_of(opens_at(text)) == text
        findings.accept("day")


def handle(findings: Findings, _: Random, text: str) -> None:
    with suppress(HandleInvalid):
        assert skeleton(check_handle(text)) == check_handle(text)
        findings.accept("handle")


def address(findings: Findings, chance: Random, text: str) -> None:
    group_of(text)
    client_address(text, [text, chance.choice(ADDRESSES)], [ip_network("192.0.2.0/24")])
    findings.accept("address")


def setting(findings: Findings, chance: Random, text: str) -> None:
    names = ("PORT", "ORIGINS", "TRUSTED_PROXIES", "SECRET_KEY", "DATABASE_URL", text)
    with suppress(BadSetting):
        read_settings({f"CELLMATES_{chance.choice(names)}": text})
        findings.accept("setting")
    with suppress(BadDatabase):
        parse_url(text)


# What reads it, and texts that it accepts.
PARTS: list[tuple[Parse, Sequence[str]]] = [
    (move, MOVES),
    (board, BOARDS),
    (deal, DEALS),
    (day, DAYS),
    (handle, ("Anna_1", "admin", "a-b")),
    (address, ADDRESSES),
    (setting, URLS),
]


def texts(findings: Findings, chance: Random, count: int = 15_000) -> None:
    """Moves, boards, deals, days, handles, addresses and settings, by turns."""
    for number in range(count):
        parse, valid = PARTS[number % len(PARTS)]
        words = (*WORDS, "\n", " ", ":") if parse is board else (*valid, *TEXTS)
        text = any_text(chance) if chance.random() < 0.1 else chance.choice(valid)
        if chance.random() < 0.9:
            text = changed_text(chance, text, words)
        with findings.trying(parse.__name__, text):
            parse(findings, chance, text)
