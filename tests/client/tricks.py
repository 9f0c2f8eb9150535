"""Tricks that the fake server plays on a client."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from cellmates.engine import parse_action

from .fake import Talk, Trick
from .record import Map, Refused

T = TypeVar("T")


async def lose_answer(talk: Talk, message: Map) -> bool:
    """Do what is asked, and break the connection before the answer."""
    talk.do(message["t"], message["d"])
    talk.socket.transport.abort()
    return True


async def lose_request(talk: Talk, message: Map) -> bool:
    """Break the connection before anything is done."""
    talk.socket.transport.abort()
    return True


async def keep_silent(talk: Talk, message: Map) -> bool:
    """Do not answer."""
    return True


def close(code: int, *, answered: bool = False) -> Trick:
    """Close with a code, before or after the answer."""

    async def trick(talk: Talk, message: Map) -> bool:
        if answered:
            await talk.send(talk.answer(message))
        await talk.socket.close(code)
        return True

    return trick


def refuse(code: str, retry_after_ms: int | None = None, **context: object) -> Trick:
    """Answer with an error."""

    async def trick(talk: Talk, message: Map) -> bool:
        body = Refused(code, retry_after_ms, **context).body
        await talk.send({"t": "error", "re": message["id"], "d": body})
        return True

    return trick


def first(*messages: Map) -> Trick:
    """Send other messages before the answer."""

    async def trick(talk: Talk, message: Map) -> bool:
        for sent in messages:
            await talk.send(sent)
        return False

    return trick


def answer(body: Map | None = None, **more: object) -> Trick:
    """Answer with a body of the test's own, or a message of its own."""

    async def trick(talk: Talk, message: Map) -> bool:
        await talk.send({"t": "ok", "re": message["id"], "d": body or {}} | more)
        return True

    return trick


def by_another(game: str, actions: Iterable[str], then: Trick | None = None) -> Trick:
    """Let another connection act first."""

    async def trick(talk: Talk, message: Map) -> bool:
        for action in actions:
            talk.server.games[game].act(parse_action(action))
        return await then(talk, message) if then else False

    return trick


async def until(is_so: Callable[[], bool]) -> None:
    """Let other tasks run until something is so; a test that waits in vain fails."""
    async with asyncio.timeout(30):
        while not is_so():
            await asyncio.sleep(0.001)


async def soon(awaited: Awaitable[T]) -> T:
    """What is waited for; a test that waits in vain fails."""
    async with asyncio.timeout(30):
        return await awaited
