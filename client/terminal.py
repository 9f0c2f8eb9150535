"""Playing at a terminal, or from a pipe: what is typed is done, and shown."""

import asyncio
import secrets
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import TypeVar, assert_never

from .client import Client
from .errors import NoAnswer, ServerError, Unavailable
from .game import PLAYING, Game
from .keyboard import Keyboard
from .listening import Events
from .results import (
    Draining,
    GameEvent,
    GameExpired,
    GameSummary,
    Happening,
    Moved,
    Resynced,
)
from .screen import Screen
from .sentences import sentence
from .today import attempt_over, ruleset_of, todays
from .tokens import Tokens
from .typed import HELP, Make, NotUnderstood, Tap, Typed, Word, parse_line

T = TypeVar("T")

_RULESET = "freecell"
_PROMPT = "> "
_PATIENCE_S = 2.0
_RANDOM_TRIES = 3
_HANDLE_REFUSED = frozenset({"handle-taken", "handle-invalid"})


@dataclass(frozen=True, slots=True)
class Wish:
    """Which game somebody wants to play; ``daily`` is the ruleset of a daily of today."""

    ruleset: str | None = None
    deal: str | None = None
    game: str | None = None
    is_to_continue: bool = False
    daily: str | None = None


class NothingToContinue(Unavailable):
    """There is no unfinished game."""


class Table:
    """Where one player sits: what they type, and where they see what came of it."""

    def __init__(self, client: Client, keyboard: Keyboard, screen: Screen) -> None:
        self._client = client
        self._keyboard = keyboard
        self._screen = screen
        self._was_refused = False

    async def become_player(self, handle: str | None, tokens: Tokens) -> None:
        """Make a player of a guest, and keep their token.

        Raises:
            ServerError: the handle that was given is refused.
            TokensUnusable: the token could not be kept, so no player was made.
        """
        tokens.check()
        tries = 0
        while True:
            try:
                await self._client.create_player(handle or await self._asked_handle(), "human")
                break
            except ServerError as error:
                tries += 1
                may_try = self._keyboard.is_interactive or tries < _RANDOM_TRIES
                if handle or error.code not in _HANDLE_REFUSED or not may_try:
                    raise
                self._screen.say(sentence(error))
        if self._client.token is not None:
            tokens.keep(self._client.url, self._client.token)

    async def play(self, wish: Wish) -> int:
        """Play a game until it is over or left; the exit status.

        Raises:
            NothingToContinue: a game was to be continued and there is none.
            AttemptOver, Unavailable: no attempt at that daily can be made any more, or at all.
            ClientError: there is no game, or no server any more.
        """
        events = self._client.events()
        game = await self._found(wish)
        self._screen.show(game.view)
        try:
            while game.view.status == PLAYING:
                line = await self._next_line(game, events)
                if line is None or not await self._do_line(game, line):
                    break
        finally:
            self._screen.left(game.view)
        return 1 if self._was_refused and not self._keyboard.is_interactive else 0

    async def _asked_handle(self) -> str:
        random = f"guest-{secrets.token_hex(4)}"
        if not self._keyboard.is_interactive:
            return random
        self._screen.ask(f"Your handle, or Enter for {random}: ")
        return (await self._keyboard.line() or "").strip() or random

    async def _found(self, wish: Wish) -> Game:
        if wish.daily is not None:
            return await self._waiting(self._attempt(wish.daily))
        if wish.game is not None:
            return await self._waiting(self._client.open_game(wish.game))
        if wish.is_to_continue or (wish == Wish() and self._keyboard.is_interactive):
            unfinished = await self._waiting(self._client.my_games(PLAYING))
            wanted = [game for game in unfinished if wish.ruleset in (None, game.ruleset)]
            if wish.is_to_continue and not wanted:
                raise NothingToContinue("there is no unfinished game to go on with")
            if wanted and (wish.is_to_continue or await self._agrees(wanted[0])):
                return await self._waiting(self._client.open_game(wanted[0].game))
        ruleset = wish.ruleset or ruleset_of(wish.deal) or _RULESET
        return await self._waiting(self._client.start_game(ruleset, wish.deal))

    async def _attempt(self, ruleset: str) -> Game:
        """The ranked attempt at a daily of today, begun or gone on with."""
        challenge = await todays(self._client, ruleset)
        attempt = challenge.attempt
        if attempt is not None and attempt.status != PLAYING:
            raise attempt_over((await self._client.open_game(attempt.game)).view)
        if attempt is not None:
            self._screen.say("You have begun this attempt before; its clock has run on.")
        return await self._client.start_daily(challenge.challenge)

    async def _agrees(self, game: GameSummary) -> bool:
        self._screen.ask(
            f"You have an unfinished game of {game.ruleset}, deal {game.deal}, "
            f"{game.moves} moves made. Go on with it? [Y/n] "
        )
        answer = await self._keyboard.line()
        return answer is not None and not answer.strip().lower().startswith("n")

    async def _next_line(self, game: Game, events: Events) -> str | None:
        """The next line, or None when there will be none; what happens meanwhile is shown."""
        self._screen.ask(_PROMPT)
        line = asyncio.create_task(self._keyboard.line())
        try:
            while not line.done() and game.view.status == PLAYING:
                event = asyncio.create_task(anext(events))
                await asyncio.wait({line, event}, return_when=asyncio.FIRST_COMPLETED)
                if not event.cancel():
                    self._happened(game, event.result())
            return line.result() if line.done() else None
        finally:
            line.cancel()

    def _happened(self, game: Game, happening: Happening) -> None:
        match happening:
            case GameEvent(game=game.id, entry=entry):
                self._screen.say(f"Another of your connections played {entry.action}.")
                self._screen.show(game.view)
            case Resynced(game=game.id):
                self._screen.say("Others of your connections played on.")
                self._screen.show(game.view)
            case GameExpired(game=game.id):
                self._screen.show(game.view)
            case Draining():
                self._screen.say("The server restarts; the game goes on in a moment.")
            case _:
                return
        self._screen.ask(_PROMPT)

    async def _do_line(self, game: Game, line: str) -> bool:
        """Do what a line says, up to the first refusal; whether to go on."""
        try:
            for typed in parse_line(line):
                if not await self._do(game, typed):
                    return False
        except (ServerError, NoAnswer, NotUnderstood) as error:
            self._was_refused = True
            self._screen.refused(error, game.view)
        return True

    async def _do(self, game: Game, typed: Typed) -> bool:
        match typed:
            case Make(move):
                self._made(move, await self._waiting(game.move(move)), game)
            case Tap():
                await self._tap(game, typed)
            case Word.UNDO:
                self._made(typed, await self._waiting(game.undo()), game)
            case Word.RESIGN:
                self._made(typed, await self._waiting(game.resign()), game)
            case Word.HINT:
                self._screen.hinted(await self._waiting(game.hint()))
            case Word.BOARD:
                self._screen.show(await self._waiting(game.refresh()))
            case Word.HELP:
                self._screen.say(HELP)
            case Word.QUIT:
                return False
            case _:
                assert_never(typed)
        return True

    async def _tap(self, game: Game, tap: Tap) -> None:
        move = await self._waiting(game.tap(tap.place, tap.depth, tap.taps))
        if move is None:
            raise NotUnderstood("a tap there moves nothing")
        self._made(str(tap), await self._waiting(game.move(move)), game)

    def _made(self, typed: str, moved: Moved, game: Game) -> None:
        self._screen.made(typed, moved, game.view)

    async def _waiting(self, answer: Coroutine[object, None, T]) -> T:
        """Wait for an answer, and say so where somebody waits too."""
        asked = asyncio.create_task(answer)
        try:
            await asyncio.wait({asked}, timeout=_PATIENCE_S)
            if not asked.done() and self._keyboard.is_interactive:
                self._screen.say("The server does not answer yet; waiting.")
            return await asked
        finally:
            asked.cancel()
