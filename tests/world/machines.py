"""A machine of ours: a poller, a queue, and workers at a match log."""

from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from itertools import count
from random import Random
from typing import Any, cast

from cardsharp.access import Credentials
from cardsharp.cloud.attend import Bot
from cardsharp.cloud.line import Line
from cardsharp.cloud.messages import parse_message
from cardsharp.cloud.offering import Offering
from cardsharp.cloud.ports import MatchLog
from cardsharp.cloud.settings import Workplace
from cardsharp.cloud.timing import Timing
from cardsharp.contact import Contact
from cardsharp.deadmansdraw.bot import meeting
from cardsharp.deadmansdraw.briefing import Players, Seat
from cardsharp.deadmansdraw.client import ArenaClient
from cardsharp.deadmansdraw.game import GAME
from cardsharp.deadmansdraw.scout import Scout, ScoutTiming
from cardsharp.deadmansdraw.strategies import build
from cardsharp.errors import ArenaError, StoreError
from world.arena import URL
from world.clock import SkewedClock
from world.faults import Mindful
from world.network import FaultyWire, Tools
from world.road import Chances, Road
from world.schedule import Process
from world.stores import Stores
from world.world import World

LIMITS = replace(Workplace(store="sqlite:none").limits, attempts=1)


@dataclass(frozen=True)
class Bench:
    """What machines of one player share: a way to the arena, a match log, and how they decide."""

    world: World
    road: Road
    stores: Stores
    player: Credentials
    strategy: str


class Station(Process):
    """A machine; its clock is wrong by `skew` seconds."""

    def __init__(self, name: str, bench: Bench, skew: float = 0) -> None:
        super().__init__(name)
        self.world, self.bench, self.skew = bench.world, bench, skew
        self.clock = SkewedClock(self.world.time, timedelta(seconds=skew))
        self.contact = Contact(self.clock)
        self.line = Line(self.clock, places=1000)
        for work in (self._listen, self._feed):
            self.world.time.spawn(work, self)

    def _tools(self, process: Process, match_id: str = "") -> Tools:
        """What a process is given, every step of which can go wrong."""
        plan = Chances(self.world, process, match_id)
        log, vault, queue = self.bench.stores.faulty(plan, self.clock)
        minds = Mindful(log, certain=True)
        wire = FaultyWire(self.bench.road, plan, minds)
        return Tools(wire, cast("MatchLog", minds), vault, queue, process.name, self.clock)

    def _client(self, tools: Tools) -> ArenaClient:
        client = ArenaClient(URL, self.bench.player, LIMITS, contact=self.contact)
        return tools.through(client)

    def _remaining(self) -> timedelta:
        return timedelta(0) if self.world.done else timedelta(hours=1)

    def _listen(self) -> None:
        """Poll; a poller that fails is started again within a second."""
        while not self.world.done:
            tools = self._tools(self)
            offering = Offering(tools.log, tools.queue, tools.clock)
            with self._client(tools) as client, suppress(ArenaError, StoreError):
                Scout(client, offering, timing=ScoutTiming()).listen(self._remaining)
            self.world.sleep(1)

    def _feed(self) -> None:
        """Take messages from the queue, each to a worker of its own."""
        names, queue = count(1), self.bench.stores.queue
        while not self.world.done:
            message = queue.receive(timedelta(0))
            if message is None:
                self.world.sleep(0.25)
                continue
            queue.delete(message)
            worker = Process(f"{self.name}-{next(names)}", self)
            match_id = parse_message(message.body).match_id
            self.world.time.spawn(partial(self._work, worker, match_id), worker)

    def _work(self, worker: Process, match_id: str) -> None:
        attended, outcome = self.world.attended, self.world.outcome
        attended.append(match_id)
        outcome.most_at_once = max(outcome.most_at_once, len(set(attended)))
        try:
            self._attend(worker, match_id)
        finally:
            attended.remove(match_id)

    def _attend(self, worker: Process, match_id: str) -> None:
        tools, bench = self._tools(worker, match_id), self.bench
        with self._client(tools) as client, suppress(ArenaError, StoreError):
            strategy = build(bench.strategy, Random(1))
            seat = Seat(bench.player.user, client, strategy, bench.strategy)
            meet = meeting(Players(seat, log=tools.log), tools.clock)
            offering = Offering(tools.log, tools.queue, tools.clock)
            bot: Any = Bot(GAME.name, meet, offering, worker.name, Timing(), self.line)
            bot.attend(match_id, self._remaining)
