"""Local match over real HTTP: its server, its thread, and clients that act like pages.

The module also plays branches of stored matches, with a strategy in the person's seat.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

import requests

from cardsharp.analysis.replay import header_of
from cardsharp.play.catalog import get_game as game_called
from cardsharp.play.game import Game
from cardsharp.store.match_log import MatchRecord, MoveRecord
from cardsharp_tools.executors.strategy_reference import BuiltIn
from cardsharp_tools.game_rooms.game_room import GameRoom
from cardsharp_tools.game_rooms.match_branch import BranchPoint
from cardsharp_tools.game_rooms.match_config import AnySitting, MatchConfig
from cardsharp_tools.game_rooms.room_server import serve_room
from support.waiting import HANG_SECONDS

FAST_STRATEGIES = {"deadmansdraw": "draw-3", "blef": "threshold", "euchre": "rules"}
"""Opponents that decide at once, where the default one does not."""


def match_config(game: Game | str, **overrides: Any) -> MatchConfig:  # noqa: ANN401 - what a setting takes
    """Return the configuration of a repeatable match of that game against fast opponents."""
    game_definition = game_called(game) if isinstance(game, str) else game
    partner = BuiltIn("rules") if game_definition.name == "euchre" else None
    opponent = BuiltIn(FAST_STRATEGIES.get(game_definition.name, game_definition.default_strategy))
    return MatchConfig(game_definition, opponent, **{"partner": partner, "seed": "1", **overrides})


@contextmanager
def serve_test_room(
    room: GameRoom, long_poll_timeout: timedelta = timedelta(seconds=5)
) -> Iterator[list["SeatClient"]]:
    """Serve a room whose match runs, and yield the clients of its seats."""
    with serve_room(room, long_poll_timeout=long_poll_timeout) as links:
        thread = Thread(target=room.run, daemon=True)
        thread.start()
        try:
            yield [SeatClient(link) for link in links]
        finally:
            room.stop()
            thread.join(HANG_SECONDS)
            assert not thread.is_alive()


@dataclass
class SeatClient:
    """Client with the link of a seat."""

    link: str
    version: int = 0

    @property
    def path(self) -> str:
        return urlsplit(self.link).path

    @property
    def base(self) -> str:
        return self.link.removesuffix(self.path)

    def page(self) -> str:
        """Load the page as a browser without script does."""
        response = requests.get(self.link, timeout=HANG_SECONDS)
        assert response.status_code == 200
        return response.text

    def updates(self) -> dict[str, Any]:
        """Wait for a change, and return the updates of the seat."""
        response = requests.get(f"{self.link}/news?since={self.version}", timeout=HANG_SECONDS)
        assert response.status_code == 200
        document: dict[str, Any] = response.json()
        self.version = document["version"]
        return document

    def wait_for_text(self, *texts: str) -> str:
        """Wait until the question and the table contain one of these texts, and return both."""
        for _ in range(2000):
            document = self.updates()
            question_html = "".join([document["ask"], *document["parts"].values()])
            if any(text in question_html for text in texts):
                return question_html
        raise AssertionError(f"none of {texts} came")

    def submit_form(self, action: str, **form: object) -> requests.Response:
        """Send a form as a page without script does, and return the page that follows."""
        return requests.post(f"{self.link}/{action}", data=form, timeout=HANG_SECONDS)

    def post_from_script(self, action: str, **form: object) -> str:
        """Send a form as the page's script does, and return the notice."""
        accept = {"Accept": "application/json"}
        response = requests.post(
            f"{self.link}/{action}", data=form, headers=accept, timeout=HANG_SECONDS
        )
        return str(response.json()["notice"])

    def play_to_end(self) -> str:
        """Play to the end with the first choice, or every third time the last; return the HTML."""
        turn = 0
        while "Play again" not in (question_html := self.wait_for_text('id="moves"', "Play again")):
            keys = choice_keys(question_html)
            self.post_from_script(
                "move", number=question_number(question_html), key=keys[-1 if turn % 3 == 2 else 0]
            )
            turn += 1
        return question_html


def question_number(html: str) -> str:
    """Return the number of the page's question."""
    match = re.search(r'name="number" value="(\d+)"', html)
    assert match, html
    return match[1]


def choice_keys(html: str) -> list[str]:
    """Return the keys of the choices on the page."""
    return re.findall(r'name="key" value="(\w+)"\s+data-digits', html)


def play_branch(point: BranchPoint) -> AnySitting:
    """Play the branch from that point to its end, with fast strategies at every seat."""
    config = match_config(point.game, branch_point=point)
    local_match = config.make_match()
    bot = config.make_bot(config.opponent or BuiltIn(""), 1, "sitter")
    local_match.bots = {**local_match.bots, point.seat: bot}
    local_match.play({})
    return local_match


def step_texts(
    record: MatchRecord, moves: Sequence[MoveRecord], game: Game, step_count: int
) -> list[str]:
    """Return the first steps of a match in words, with seats in place of the players' names.

    The card of a discard in Euchre is masked: only a player whose reasons are stored reveals
    it.
    """
    names = header_of(record).names
    steps = [step.description for step in game.replay.load()(record, moves)][:step_count]
    for seat, name in enumerate(names):
        steps = [re.sub(rf"\b{re.escape(name)}\b", f"#{seat}", step) for step in steps]
    return [re.sub("^discarded .*", "discarded", step) for step in steps]
