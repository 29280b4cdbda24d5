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
from support.cli import clean

from cardsharp.blef.actions import CHECK
from cardsharp.blef.client import BlefClient
from cardsharp.blef.position import Position
from cardsharp.blef.routes import API
from cardsharp.blef.service import Blef, StateLook
from cardsharp.blef.simulation import Blef as Rules
from cardsharp.blef.store import GAME_STORE
from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.sqlite_file import MEMORY
from cardsharp.errors import Unreachable
from workbench.blef.terminal import Terminal
from workbench.show.person import Advisor, Left, Person
from workbench.show.screen import Invitation, Screen
from workbench.stage.serving import front


class Hasty(SystemClock):
    """A long poll looks every millisecond, so that a whole game takes a moment."""

    def sleep(self, duration: timedelta) -> None:
        super().sleep(min(duration, timedelta(milliseconds=1)))


class Seat:
    """One person: what is typed, and what was seen."""

    def __init__(self, typed: Iterator[str]) -> None:
        self.page = io.StringIO()
        self._typed = typed
        self.asked = Event()
        self._console = Console(file=self.page, width=80, highlight=False)

    def person(self, screen: Screen[Any, Position, int]) -> Person[Position, int]:
        advisor = Advisor("greedy", Rules().strategy("greedy", Random(0)))
        return Person(screen, self._ask, self._console, advisor)

    def _ask(self, prompt: str) -> str:
        self.asked.set()
        answer = next(self._typed, None)
        if answer is None:
            raise EOFError
        self.page.write(f"{prompt}{answer}\n")
        return answer


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[tuple[Blef, str]]:
    clean(monkeypatch, tmp_path)
    clock = Hasty()
    games = Blef(GAME_STORE.in_file(MEMORY, clock), clock)
    with front(API, games, clock=clock) as running:
        yield games, running.url


def test_two_people_play_a_served_game_to_its_end(service: tuple[Blef, str]) -> None:
    """Everybody sees each round's end with all cards, and no other hand before."""
    games, url = service
    game = games.create()
    # Whoever came first starts, as soon as both are there.
    first = Seat(cycle(["start", "check", "high card 9"]))
    second = Seat(cycle(["check", "high card 9", "recap"]))

    def play(seat: Seat, name: str) -> str:
        return Terminal.join(Invitation(url, game, name), seat.person)

    with ThreadPoolExecutor(2) as pool:
        ann = pool.submit(play, first, "ann")
        assert first.asked.wait(30)
        bob = pool.submit(play, second, "bob")
        winners = {ann.result(timeout=60), bob.result(timeout=60)}
    assert winners in ({"you", "ann"}, {"you", "bob"})
    assert "You came first" in first.page.getvalue()
    for seat in (first, second):
        seen = seat.page.getvalue()
        assert seen.count("lost the round.\n") >= 12
        assert seen.count(" is out.") + seen.count(" are out.") == 1
        for block in seen.split("Your hand: ")[1:]:
            assert not re.search("   (ann|bob): ", block.split("-- ")[0]), "before the end"


def test_who_leaves_takes_the_same_seat_again(service: tuple[Blef, str]) -> None:
    games, url = service
    game = games.create()
    wanted = Invitation(url, game, "ann")
    for _ in range(2):
        seat = Seat(iter(["quit"]))
        with pytest.raises(Left):
            Terminal.join(wanted, seat.person)
        assert "Here are ann; the game has not started yet." in seat.page.getvalue()
    assert games.state(game, StateLook(), timedelta).game.nicknames == ("ann",)


def test_a_move_whose_answer_is_lost_is_not_made_again(
    service: tuple[Blef, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has arrived; the game is looked at, and goes on."""
    games, url = service
    game = games.create()
    bob, acted, done = games.join(game, "bob"), BlefClient.act, Event()
    moves: list[int] = []

    def act(client: BlefClient, game: str, player: str, action: int) -> None:
        acted(client, game, player, action)
        moves.append(action)
        raise Unreachable("POST play: the connection broke.", doubtful=True)

    def play_bob() -> None:
        """Start when both are there; bet the lowest, check what somebody else has bet."""
        while not done.wait(0.001):
            sight = games.state(game, StateLook(player_uuid=bob), timedelta)
            if sight.position is None and len(sight.game.players) == 2:
                games.start(game, bob)
            elif sight.position is not None and sight.position.turn == sight.position.me:
                action = 0 if sight.position.last_bet is None else CHECK
                games.play(game, bob, lambda action=action: action)

    monkeypatch.setattr(BlefClient, "act", act)
    seat = Seat(iter(["pair of aces", "quit"]))
    with ThreadPoolExecutor(1) as pool:
        rival = pool.submit(play_bob)
        try:
            with pytest.raises(Left):
                Terminal.join(Invitation(url, game, "ann"), seat.person)
        finally:
            done.set()
        rival.result(timeout=30)
    assert moves == [11]
    first = games.state(game, StateLook(round=lambda _: 1), timedelta)
    assert [move.action for move in first.position.history].count(11) == 1
    assert "the connection broke" in seat.page.getvalue()
