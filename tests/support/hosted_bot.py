"""Any hosted game on the fault bench: its service in this process, and a rival who goes on."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import requests
from world.clock import StillClock
from world.network import LIMITS, Place, Tools, asked_of

from cardsharp.cloud.attended import Meet
from cardsharp.cloud.offering import Offering
from cardsharp.cloud.ports import Body, MatchLog
from cardsharp.cloud.sqlite_file import MEMORY
from cardsharp.host.bot import HostClient, seat_match
from cardsharp.host.house import House
from cardsharp.host.records import Table, Tables
from cardsharp.host.routes import Host, api_of
from cardsharp.host.wire import NO_GAME, ActAsked, JoinAsked, LookAsked, Message
from cardsharp.keep.sqlite import SqliteKeep
from cardsharp.seats import SeatOrder, find_seat, order_seat
from cardsharp.web import edge
from cardsharp.web.route import Call
from workbench.cloud.http_events import Answered

OURS, THEIRS = (f"00000000-0000-4000-8000-00000000000{number}" for number in (1, 2))
TABLE = "0" * 32
HOUR = timedelta(hours=1)


def call(asked: Message) -> Call[Any]:
    return Call(asked, lambda: HOUR)


def places(folders: Iterable[str]) -> Mapping[str, Callable[[Path, StillClock], Place]]:
    """The places of the hosted games in these folders, by the names of the games."""
    houses = [House(folder) for folder in folders]
    kinds = [type("Place", (HostedPlace,), {"house": one, "game": one.game.name}) for one in houses]
    return {kind.game: kind for kind in kinds}


class SeatPlace:
    """What a place has where the bot is ordered to take a seat."""

    game: str
    wanted: SeatOrder
    secrets: Sequence[str]

    def order(self, tools: Tools, offering: Offering) -> None:
        order_seat(self.game, self.wanted, self.secrets[0], tools.vault, offering)

    def poll(self, _tools: Tools, offering: Offering) -> None:
        offering.offer()

    def named(self) -> tuple[str, ...]:
        return ()

    def step_of(self, request: requests.PreparedRequest) -> str:
        if request.method == "POST":
            return "join" if str(request.url).endswith("/join") else "act"
        return "wait" if "wait=" in str(request.url) else "view"


class HostedPlace(SeatPlace):
    """A service with one game, whose first player we are; the rival has a hand in its length."""

    denial = (404, NO_GAME)
    secrets: Sequence[str] = (OURS,)

    house: House
    game: str

    def __init__(self, folder: Path, clock: StillClock) -> None:
        del folder
        self.clock, house = clock, self.house
        self.rules = house.rules()
        self.host = Host(house, Tables(SqliteKeep(MEMORY, clock), clock), clock)
        self.api = edge.build(api_of(house), self.host)
        start = self.house.codec.states.dump(self._worth_it())
        self.host.tables.write(Table(TABLE, self.rules.seats, start, start))
        self.wanted = SeatOrder(
            url=f"https://{house.game.name}.example",
            game=TABLE,
            nickname="ann",
            strategy=house.game.default_strategy,
        )
        self.match_id = self.wanted.match_id

    def _worth_it(self) -> Any:  # noqa: ANN401 - any game's state
        """The first deal in which we act more than once."""
        for seed in range(1000):
            state = start = self.rules.deal(Random(seed))
            player = self.rules.strategies.build(self.house.game.default_strategy, Random(1))
            acted = 0
            while (seat := self.rules.to_act(state)) is not None:
                acted += seat == 0
                action = player.decide(self.rules.position(state)).action if not seat else None
                action = action or self.rules.actions(state)[-1]
                state = self.rules.act(state, action, Random(1))
            if acted > 1:
                return start
        raise AssertionError("we never act twice")

    def close(self) -> None:
        """Nothing is held."""

    def meet(self, tools: Tools) -> Meet:
        @contextmanager
        def meet(name: str) -> Iterator[Any]:
            seat = find_seat(tools.vault, name)
            with HostClient(seat.url, LIMITS) as client:
                through = tools.through(client)
                yield seat_match(self.house.folder, seat, through, Random(1))

        return meet

    def ask(self, request: requests.PreparedRequest) -> Answered:
        if self.step_of(request) == "wait":
            self.go_on()
        return asked_of(self.api, request, self.clock)

    def go_on(self) -> None:
        """The rival takes the second seat, and does the last that it may."""
        table = self._table()
        if len(table.players) == 1:
            self.host.join(call(JoinAsked(game=TABLE, name="bob", secret=THEIRS)))
        state = self.truth()
        if self.rules.to_act(state) == 1:
            action = self.rules.actions(state)[-1]
            told = self.house.codec.actions.dump(action)
            asked = ActAsked(game=TABLE, secret=THEIRS, number=table.count, action=told)
            self.host.act(call(asked))

    @property
    def sequence(self) -> int:
        return self._table().count

    def truth(self) -> Any:  # noqa: ANN401 - any game's state
        return self.house.codec.states.load(self._table().state)

    def mistakes(self, truth: Any, sent: Any, intent: Body) -> Iterable[str]:  # noqa: ANN401
        seen = self.house.codec.positions.dump(self.rules.view(truth, 0))
        if intent["position"] != seen:
            yield f"thought {intent['position']}, was {seen}"
        action = str(self.house.codec.actions.load(sent["action"]))
        if intent["action"] != action:
            yield f"{intent['action']} was meant and {action} was played"

    def history(self) -> dict[int, Body]:
        seen: Any = self.host.look(call(LookAsked(game=TABLE, secret=OURS))).body
        return {number: move.model_dump() for number, move in enumerate(seen.moves)}

    def ours(self) -> list[int]:
        return [number for number, move in self.history().items() if move["seat"] == 0]

    def faults(self, log: MatchLog) -> Iterable[str]:
        record, state = log.match(self.match_id), self.truth()
        if self.rules.to_act(state) is not None or record is None or record.outcome is None:
            yield "the game did not end"
        elif record.outcome["gains"] != list(self.rules.gains(state)):
            yield f"{self.rules.gains(state)} was won, and the log has {record.outcome}"

    def _table(self) -> Table:
        return self.host.tables.find(TABLE)
