"""A person at a game of Blef that a service serves: two of them, each in a terminal."""

import io
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import cycle
from pathlib import Path
from random import Random
from threading import Event
from typing import Any

import pytest
from rich.console import Console
from support.blef_service import RecordedRandomness
from support.cli import isolate_environment
from support.waiting import HANG_SECONDS

from cardsharp.core.clock import SystemClock
from cardsharp.errors import Unreachable
from cardsharp.games.blef.actions import CHECK
from cardsharp.games.blef.bot.client import BlefClient
from cardsharp.games.blef.cards import DECK
from cardsharp.games.blef.position import BlefPosition
from cardsharp.games.blef.service.game_store import GAME_STORE_FACTORY
from cardsharp.games.blef.service.routes import API
from cardsharp.games.blef.service.service import BlefService, StateQuery
from cardsharp.games.blef.simulation import BlefSimulation as Rules
from cardsharp.store.sqlite_file import MEMORY_PATH
from cardsharp_tools.games.blef.terminal import BlefTerminal
from cardsharp_tools.local_play.game_service import api_server
from cardsharp_tools.terminal.human_player import Advisor, PlayerQuit, TerminalPlayer
from cardsharp_tools.terminal.screen import Invitation, Screen


class Hasty(SystemClock):
    """A long poll looks every millisecond, so that a whole game takes a moment."""

    def sleep(self, duration: timedelta) -> None:
        super().sleep(min(duration, timedelta(milliseconds=1)))


class Seat:
    """One person: what is typed, and what was seen."""

    def __init__(self, typed: Iterator[str]) -> None:
        self.page = io.StringIO()
        self._typed = typed
        self.prompted = Event()
        self._console = Console(file=self.page, width=80, highlight=False)

    def person(self, screen: Screen[Any, BlefPosition, int]) -> TerminalPlayer[BlefPosition, int]:
        advisor = Advisor("greedy", Rules().build_strategy("greedy", Random(0)))
        return TerminalPlayer(screen, self._ask, self._console, advisor)

    def _ask(self, prompt: str) -> str:
        self.prompted.set()
        answer = next(self._typed, None)
        if answer is None:
            raise EOFError
        self.page.write(f"{prompt}{answer}\n")
        return answer


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[tuple[BlefService, str]]:
    isolate_environment(monkeypatch, tmp_path)
    clock = Hasty()
    games = BlefService(GAME_STORE_FACTORY.open_file(MEMORY_PATH, clock), clock)
    with api_server(API, games, clock=clock) as running:
        yield games, running.url


def test_two_people_play_a_served_game_to_its_end(service: tuple[BlefService, str]) -> None:
    """Everybody sees each round's end with all cards, and no other hand before."""
    games, url = service
    game = games.create()
    # Whoever came first starts, as soon as both are there.
    first = Seat(cycle(["start", "check", "high card 9"]))
    second = Seat(cycle(["check", "high card 9", "recap"]))

    def play(seat: Seat, name: str) -> str:
        return BlefTerminal.play_remote_match(Invitation(url, game, name), seat.person)

    with ThreadPoolExecutor(2) as pool:
        ann = pool.submit(play, first, "ann")
        assert first.prompted.wait(HANG_SECONDS)
        bob = pool.submit(play, second, "bob")
        winners = {ann.result(timeout=HANG_SECONDS), bob.result(timeout=HANG_SECONDS)}
    assert winners in ({"you", "ann"}, {"you", "bob"})
    assert "You came first" in first.page.getvalue()
    for seat in (first, second):
        seen = seat.page.getvalue()
        assert seen.count("lost the round.\n") >= 12
        assert seen.count(" is out.") + seen.count(" are out.") == 1
        for block in seen.split("Your hand: ")[1:]:
            assert not re.search("   (ann|bob): ", block.split("-- ")[0]), "before the end"


def test_a_returning_player_keeps_the_seat_and_moves_once_despite_a_lost_response(
    service: tuple[BlefService, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The move has arrived; the game is looked at, and goes on."""
    games, url = service
    games.randomness = chance = RecordedRandomness(lambda number: DECK[:number])
    chance.orders = {2: (0, 1)}
    game = games.create()
    invitation, acted, moves = Invitation(url, game, "ann"), BlefClient.play_action, list[int]()
    for _ in range(2):
        seat = Seat(iter(["quit"]))
        with pytest.raises(PlayerQuit):
            BlefTerminal.play_remote_match(invitation, seat.person)
        assert "Here are ann; the game has not started yet." in seat.page.getvalue()
    assert games.get_state(game, StateQuery(), timedelta).game.nicknames == ("ann",)
    bob = games.join(game, "bob")

    def act(client: BlefClient, game: str, player: str, action: int) -> None:
        acted(client, game, player, action)
        moves.append(action)
        games.play(game, bob, lambda: CHECK)
        raise Unreachable("POST play: the connection broke.", outcome_unknown=True)

    monkeypatch.setattr(BlefClient, "play_action", act)
    seat = Seat(iter(["start", "pair of aces", "quit"]))
    with pytest.raises(PlayerQuit):
        BlefTerminal.play_remote_match(invitation, seat.person)
    first = games.get_state(game, StateQuery(round=lambda _: 1), timedelta)
    assert moves == [first.position.history[0].action] == [11]
    assert "the connection broke" in seat.page.getvalue()
