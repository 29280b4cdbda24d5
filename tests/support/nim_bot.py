"""Nim on the fault bench: the sample game's service in this process, and a rival by chance."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import requests
from nim.bot import SeatMatch
from nim.client import NimClient
from nim.game import GAME
from nim.position import Position
from nim.routes import API, game_body
from nim.rules import Action
from nim.service import Nim
from nim.store import Games
from nim.strategies import build
from nim.wire import NO_GAME

from cardsharp.cloud.attended import Meet
from cardsharp.cloud.offering import Offering
from cardsharp.cloud.ports import Body, MatchLog
from cardsharp.cloud.sqlite_file import MEMORY
from cardsharp.seats import SeatOrder, find_seat, order_seat
from cardsharp.web import edge
from support.bot_clock import StillClock
from support.bot_wire import LIMITS, Tools, asked_of
from workbench.cloud.http_events import Answered

OURS, THEIRS = (f"00000000-0000-4000-8000-00000000000{number}" for number in (1, 2))


@dataclass
class NimPlace:
    """A service with one game, whose first player we are."""

    folder: Path
    clock: StillClock

    game = GAME.name
    denial = (404, NO_GAME)
    secrets: Sequence[str] = (OURS,)

    def __post_init__(self) -> None:
        self.nim = Nim(Games(MEMORY))
        self.api = edge.build(API, self.nim)
        self.table = self.nim.create([3, 4, 5])
        url = "https://nim.example"
        self.wanted = SeatOrder(url=url, game=self.table, nickname="ann", strategy="perfect")
        self.match_id = self.wanted.match_id

    def close(self) -> None:
        self.nim.games.close()

    def order(self, tools: Tools, offering: Offering) -> None:
        order_seat(GAME.name, self.wanted, OURS, tools.vault, offering)

    def poll(self, _tools: Tools, offering: Offering) -> None:
        offering.offer()

    def named(self) -> tuple[str, ...]:
        return ()

    def meet(self, tools: Tools) -> Meet:
        @contextmanager
        def meet(name: str) -> Iterator[SeatMatch]:
            seat = find_seat(tools.vault, name)
            with NimClient(seat.url, LIMITS) as client:
                strategy = build(seat.strategy, Random(1))
                yield SeatMatch(seat, strategy, tools.through(client), self.clock)

        return meet

    def step_of(self, request: requests.PreparedRequest) -> str:
        if request.method == "POST":
            return "join" if str(request.url).endswith("/join") else "act"
        return "view"

    def ask(self, request: requests.PreparedRequest) -> Answered:
        return asked_of(self.api, request, self.clock)

    def go_on(self) -> None:
        """The rival takes the second seat, and moves."""
        kept = self.nim.look(self.table)
        if len(kept.players) == 1:
            self.nim.join(self.table, "bob", THEIRS)
        state = kept.states()[-1]
        if state.winner is None and state.turn == 1:
            position, number = Position(state.heaps, 1, 1), len(kept.moves)
            action = build("random", Random(number)).decide(position).action
            self.nim.act(self.table, THEIRS, number, action)

    @property
    def sequence(self) -> int:
        return len(self.nim.look(self.table).moves)

    def truth(self) -> tuple[int, ...]:
        return self.nim.look(self.table).states()[-1].heaps

    def mistakes(self, truth: Any, sent: Any, intent: Body) -> Iterable[str]:  # noqa: ANN401
        position = intent["position"]
        assert isinstance(position, Mapping)
        if list(position["heaps"]) != list(truth):
            yield f"thought {position['heaps']}, were {truth}"
        action = str(Action(sent["heap"], sent["stones"]))
        if intent["action"] != action:
            yield f"{intent['action']} was meant and {action} was played"

    def history(self) -> dict[int, Body]:
        moves = game_body(self.nim.look(self.table)).moves
        return {number: move.model_dump() for number, move in enumerate(moves)}

    def ours(self) -> list[int]:
        return [number for number, move in self.history().items() if move["seat"] == 0]

    def faults(self, log: MatchLog) -> Iterable[str]:
        record, winner = log.match(self.match_id), self.nim.look(self.table).states()[-1].winner
        if winner is None or record is None or record.outcome is None:
            yield "the game did not end"
        elif record.outcome["winner"] != winner:
            yield f"{winner} has won, and the log has {record.outcome}"
