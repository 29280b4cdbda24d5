"""A table over real HTTP: its server, the thread that plays, and who asks as a page does.

And branches of stored matches, played to their ends with a strategy in the person's seat.
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
from cardsharp_tools.game_rooms.game_room import GameRoom
from cardsharp_tools.game_rooms.match_branch import BranchPoint
from cardsharp_tools.game_rooms.match_config import AnySitting, MatchConfig
from cardsharp_tools.game_rooms.room_server import serve_room
from support.waiting import HANG_SECONDS

FAST_STRATEGIES = {"deadmansdraw": "draw-3", "blef": "threshold", "euchre": "rules"}
"""Opponents that decide at once, where the default one does not."""


def match_config(game: Game | str, **overrides: Any) -> MatchConfig:  # noqa: ANN401 - what a setting takes
    """A match of that game against quick opponents, always the same."""
    found = game_called(game) if isinstance(game, str) else game
    partner = "rules" if found.name == "euchre" else None
    quick = FAST_STRATEGIES.get(found.name, found.default_strategy)
    return MatchConfig(found, quick, **{"partner": partner, "seed": "1", **overrides})


@contextmanager
def serve_test_room(
    room: GameRoom, long_poll_timeout: timedelta = timedelta(seconds=5)
) -> Iterator[list["SeatClient"]]:
    """The seats of a table that is served, and plays."""
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
    """Whoever has the link of a seat."""

    link: str
    version: int = 0

    @property
    def path(self) -> str:
        return urlsplit(self.link).path

    @property
    def base(self) -> str:
        return self.link.removesuffix(self.path)

    def page(self) -> str:
        """The page, as a browser without script loads it."""
        answer = requests.get(self.link, timeout=HANG_SECONDS)
        assert answer.status_code == 200
        return answer.text

    def updates(self) -> dict[str, Any]:
        """What is new, once there is something."""
        answer = requests.get(f"{self.link}/news?since={self.version}", timeout=HANG_SECONDS)
        assert answer.status_code == 200
        told: dict[str, Any] = answer.json()
        self.version = told["version"]
        return told

    def wait_for_text(self, *texts: str) -> str:
        """The answering part of the page, once it has one of these words."""
        for _ in range(2000):
            asked = str(self.updates()["ask"])
            if any(word in asked for word in texts):
                return asked
        raise AssertionError(f"none of {texts} came")

    def submit_form(self, action: str, **form: object) -> requests.Response:
        """A form is sent as a page without script sends it; the page that follows."""
        return requests.post(f"{self.link}/{action}", data=form, timeout=HANG_SECONDS)

    def post_from_script(self, action: str, **form: object) -> str:
        """A form is sent as the page's script sends it; the notice."""
        accept = {"Accept": "application/json"}
        answer = requests.post(
            f"{self.link}/{action}", data=form, headers=accept, timeout=HANG_SECONDS
        )
        return str(answer.json()["notice"])

    def play_to_end(self) -> str:
        """Play to the end: of what is offered the first, and now and then the last."""
        turn = 0
        while "Play again" not in (asked := self.wait_for_text('id="moves"', "Play again")):
            keys = choice_keys(asked)
            self.post_from_script(
                "move", number=question_number(asked), key=keys[-1 if turn % 3 == 2 else 0]
            )
            turn += 1
        return asked


def question_number(html: str) -> str:
    """Which question it is."""
    found = re.search(r'name="number" value="(\d+)"', html)
    assert found, html
    return found[1]


def choice_keys(html: str) -> list[str]:
    """The keys that may be chosen."""
    return re.findall(r'name="key" value="(\w+)" data-digits', html)


def play_branch(point: BranchPoint) -> AnySitting:
    """The branch from there, played to its end with quick players at every seat."""
    quick = match_config(point.game, branch_point=point)
    sitting = quick.make_match()
    sitter = quick.make_bot(quick.opponent or "", 1, "sitter")
    sitting.bots = {**sitting.bots, point.seat: sitter}
    sitting.play({})
    return sitting


def step_texts(
    record: MatchRecord, moves: Sequence[MoveRecord], game: Game, step_count: int
) -> list[str]:
    """The first so many steps of a match in words, with seats in place of the players' names.

    Of a discard in Euchre only whose reasons are kept is told the card.
    """
    names = header_of(record).names
    steps = [one.description for one in game.replay.load()(record, moves)][:step_count]
    for seat, name in enumerate(names):
        steps = [re.sub(rf"\b{re.escape(name)}\b", f"#{seat}", step) for step in steps]
    return [re.sub("^discard .*", "discard", step) for step in steps]
