"""Tests of two people who play a served game of Blef, each at a terminal."""

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


class ShortSleepClock(SystemClock):
    """System clock that sleeps at most a millisecond, so that long polls return at once."""

    def sleep(self, duration: timedelta) -> None:
        super().sleep(min(duration, timedelta(milliseconds=1)))


class ScriptedTerminal:
    """Terminal of a person: the scripted input and the captured output."""

    def __init__(self, input_lines: Iterator[str]) -> None:
        self.output = io.StringIO()
        self._typed = input_lines
        self.is_prompted = Event()
        self._console = Console(file=self.output, width=80, highlight=False)

    def build_player(
        self, screen: Screen[Any, BlefPosition, int]
    ) -> TerminalPlayer[BlefPosition, int]:
        advisor = Advisor("greedy", Rules().build_strategy("greedy", Random(0)))
        return TerminalPlayer(screen, self._read_answer, self._console, advisor)

    def _read_answer(self, prompt: str) -> str:
        self.is_prompted.set()
        answer = next(self._typed, None)
        if answer is None:
            raise EOFError
        self.output.write(f"{prompt}{answer}\n")
        return answer


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[tuple[BlefService, str]]:
    isolate_environment(monkeypatch, tmp_path)
    clock = ShortSleepClock()
    games = BlefService(GAME_STORE_FACTORY.open_file(MEMORY_PATH, clock), clock)
    with api_server(API, games, clock=clock) as gateway:
        yield games, gateway.url


def test_two_people_play_a_served_game_to_its_end(service: tuple[BlefService, str]) -> None:
    """Each player sees all cards at the end of a round, and no other hand before that."""
    games, url = service
    game = games.create()
    # Whoever came first starts, as soon as both are there.
    ann_terminal = ScriptedTerminal(cycle(["start", "check", "high card 9"]))
    bob_terminal = ScriptedTerminal(cycle(["check", "high card 9", "recap"]))

    def play(seat: ScriptedTerminal, name: str) -> str:
        return BlefTerminal.play_remote_match(Invitation(url, game, name), seat.build_player)

    with ThreadPoolExecutor(2) as pool:
        ann_result = pool.submit(play, ann_terminal, "ann")
        assert ann_terminal.is_prompted.wait(HANG_SECONDS)
        bob_result = pool.submit(play, bob_terminal, "bob")
        winners = {ann_result.result(timeout=HANG_SECONDS), bob_result.result(timeout=HANG_SECONDS)}
    assert winners in ({"You", "ann"}, {"You", "bob"})
    assert "You came first" in ann_terminal.output.getvalue()
    for terminal in (ann_terminal, bob_terminal):
        page_text = terminal.output.getvalue()
        assert page_text.count("lost the round and ") >= 12
        assert page_text.count(" is out.") + page_text.count(" are out.") == 1
        for block in page_text.split("Your hand: ")[1:]:
            assert not re.search("   (ann|bob): ", block.split("The bet, ")[0]), "before the end"


def test_a_returning_player_keeps_the_seat_and_moves_once_despite_a_lost_response(
    service: tuple[BlefService, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A move that arrived is not repeated after its response is lost; the game continues."""
    games, url = service
    games.randomness = randomness = RecordedRandomness(lambda number: DECK[:number])
    randomness.orders = {2: (0, 1)}
    game = games.create()
    invitation, original_play_action, moves = (
        Invitation(url, game, "ann"),
        BlefClient.play_action,
        list[int](),
    )
    for _ in range(2):
        terminal = ScriptedTerminal(iter(["quit"]))
        with pytest.raises(PlayerQuit):
            BlefTerminal.play_remote_match(invitation, terminal.build_player)
        assert "At the table: ann. The game has not started yet." in terminal.output.getvalue()
    assert games.get_state(game, StateQuery(), timedelta).game.nicknames == ("ann",)
    bob_uuid = games.join(game, "bob")

    def play_and_lose_response(client: BlefClient, game: str, player: str, action: int) -> None:
        original_play_action(client, game, player, action)
        moves.append(action)
        games.play(game, bob_uuid, lambda: CHECK)
        raise Unreachable("POST play: the connection broke.", outcome_unknown=True)

    monkeypatch.setattr(BlefClient, "play_action", play_and_lose_response)
    terminal = ScriptedTerminal(iter(["start", "pair of aces", "quit"]))
    with pytest.raises(PlayerQuit):
        BlefTerminal.play_remote_match(invitation, terminal.build_player)
    first_round = games.get_state(game, StateQuery(round=lambda _: 1), timedelta)
    assert moves == [first_round.position.history[0].action] == [11]
    assert "the connection broke" in terminal.output.getvalue()
