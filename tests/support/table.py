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

from cardsharp.cloud.ports import MatchRecord, MoveRecord
from cardsharp.game import Game
from cardsharp.games import game as game_called
from cardsharp.replay import header_of
from support.waiting import HANG_SECONDS
from workbench.table.branch import BranchPoint
from workbench.table.room import Room
from workbench.table.served import table_served
from workbench.table.setting import AnySitting, Setting

QUICK = {"deadmansdraw": "draw-3", "blef": "threshold", "euchre": "rules"}
"""Opponents that decide at once, where the default one does not."""


def setting(game: Game | str, **more: Any) -> Setting:  # noqa: ANN401 - what a setting takes
    """A match of that game against quick opponents, always the same."""
    found = game_called(game) if isinstance(game, str) else game
    partner = "rules" if found.name == "euchre" else None
    quick = QUICK.get(found.name, found.default_strategy)
    return Setting(found, quick, **{"partner": partner, "seed": "1", **more})


@contextmanager
def playing(room: Room, hold: timedelta = timedelta(seconds=5)) -> Iterator[list["Seat"]]:
    """The seats of a table that is served, and plays."""
    with table_served(room, hold=hold) as links:
        thread = Thread(target=room.run, daemon=True)
        thread.start()
        try:
            yield [Seat(link) for link in links]
        finally:
            room.stop()
            thread.join(HANG_SECONDS)
            assert not thread.is_alive()


@dataclass
class Seat:
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

    def news(self) -> dict[str, Any]:
        """What is new, once there is something."""
        answer = requests.get(f"{self.link}/news?since={self.version}", timeout=HANG_SECONDS)
        assert answer.status_code == 200
        told: dict[str, Any] = answer.json()
        self.version = told["version"]
        return told

    def until(self, *words: str) -> str:
        """The answering part of the page, once it has one of these words."""
        for _ in range(2000):
            asked = str(self.news()["ask"])
            if any(word in asked for word in words):
                return asked
        raise AssertionError(f"none of {words} came")

    def do(self, deed: str, **form: object) -> requests.Response:
        """A form is sent as a page without script sends it; the page that follows."""
        return requests.post(f"{self.link}/{deed}", data=form, timeout=HANG_SECONDS)

    def tell(self, deed: str, **form: object) -> str:
        """A form is sent as the page's script sends it; the notice."""
        accept = {"Accept": "application/json"}
        answer = requests.post(
            f"{self.link}/{deed}", data=form, headers=accept, timeout=HANG_SECONDS
        )
        return str(answer.json()["notice"])

    def match(self) -> str:
        """Play to the end: of what is offered the first, and now and then the last."""
        turn = 0
        while "Play again" not in (asked := self.until('id="moves"', "Play again")):
            keys = choices(asked)
            self.tell("move", number=number(asked), key=keys[-1 if turn % 3 == 2 else 0])
            turn += 1
        return asked


def number(asked: str) -> str:
    """Which question it is."""
    found = re.search(r'name="number" value="(\d+)"', asked)
    assert found, asked
    return found[1]


def choices(asked: str) -> list[str]:
    """The keys that may be chosen."""
    return re.findall(r'name="key" value="(\w+)" data-digits', asked)


def played(point: BranchPoint) -> AnySitting:
    """The branch from there, played to its end with quick players at every seat."""
    quick = setting(point.game, point=point)
    sitting = quick.sitting()
    sitter = quick.bot(quick.opponent or "", 1, "sitter")
    sitting.bots = {**sitting.bots, point.seat: sitter}
    sitting.play({})
    return sitting


def happened(
    record: MatchRecord, moves: Sequence[MoveRecord], game: Game, number: int
) -> list[str]:
    """The first so many steps of a match in words, with seats in place of the players' names.

    Of a discard in Euchre only whose reasons are kept is told the card.
    """
    names = header_of(record).names
    steps = [one.happened for one in game.replay.load()(record, moves)][:number]
    for seat, name in enumerate(names):
        steps = [re.sub(rf"\b{re.escape(name)}\b", f"#{seat}", step) for step in steps]
    return [re.sub("^discard .*", "discard", step) for step in steps]
