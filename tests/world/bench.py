"""A whole match under a fault plan, whatever its game: workers die, others find the match again."""

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import cast

from cardsharp.cloud.attend import Bot
from cardsharp.cloud.messages import parse_message
from cardsharp.cloud.metrics import Meter
from cardsharp.cloud.offering import Offering, Onlooker
from cardsharp.cloud.ports import MatchLog, MoveRecord
from cardsharp.cloud.timing import Timing
from cardsharp.errors import ArenaError, StoreError
from world.clock import SkewedClock, StillClock
from world.faults import OUTAGE, Crash, FaultPlan, Kind, Mindful
from world.judge import history_faults
from world.network import FaultyWire, Gate, Place, Tools
from world.stores import Home, at_home

HOUR = timedelta(hours=1)

PAUSE = timedelta(seconds=10)
LOOKS = 160  # of the scout, half a second each, after which a match counts as lost
HARD = Timing(
    lease=timedelta(seconds=1),
    renew=timedelta(milliseconds=400),
    breath=timedelta(milliseconds=500),
)  # a lease shorter than an action's limit: a successor comes while an action may be under way


@dataclass
class Bench:
    """One place, one match log, one match; a new worker for every attendance."""

    make_place: Callable[[Path, StillClock], Place]
    folder: Path
    faults: Mapping[int, Kind | float] = field(default_factory=dict)
    home: Home = at_home
    timing: Timing = HARD
    meter: Meter = field(default_factory=Meter)  # of the workers
    successor_steps: int | None = None  # how far another gets while one is paused; None: to the end
    clock: StillClock = field(default_factory=StillClock)
    skews: Sequence[timedelta] = (timedelta(0),)  # of the workers' machines in turn

    def __post_init__(self) -> None:
        self.place = self.make_place(self.folder, self.clock)
        self.match_id = self.place.match_id
        stores = self.stores = self.home(self.folder, self.clock)
        self.log, self.vault, self.queue = stores.log, stores.vault, stores.queue
        self.gate = Gate(self.place, self.log, self.clock)
        self.plan = FaultPlan(self.clock, self.faults, pause=self.meanwhile)
        self.onlooker = Onlooker()
        self.numbers, self.workers = count(1), 0
        self.found: list[str] = []
        self.moves: list[MoveRecord] = []
        self.notes: list[str] = []

    def close(self) -> None:
        self.place.close()
        self.stores.close()

    def tools(self, plan: FaultPlan | None = None) -> Tools:
        """What a new worker is given, whose every I/O step passes the plan."""
        # In one step, for two threads may ask at once, and one name would be one holder of a lease.
        number, plan = next(self.numbers), plan or self.plan
        clock = SkewedClock(self.clock, self.skews[number % len(self.skews)])
        log, vault, queue = self.stores.faulty(plan, clock)
        minds = Mindful(log)
        wire, name = FaultyWire(self.gate, plan, minds), f"worker-{number}"
        return Tools(wire, cast("MatchLog", minds), vault, queue, name, clock)

    def offering(self, tools: Tools | None = None) -> Offering:
        """What offers matches, on the bench's own machine or on that of these tools."""
        if tools is not None:
            return Offering(tools.log, tools.queue, tools.clock)
        return Offering(self.log, self.queue, self.clock, onlooker=self.onlooker)

    def worker(self, plan: FaultPlan | None = None) -> Bot:
        self.workers += 1
        place, tools = self.place, self.tools(plan)
        offering = replace(self.offering(tools), meter=self.meter)
        return Bot(place.game, place.meet(tools), offering, tools.name, self.timing)

    def order(self) -> None:
        """Order the match as often as it takes: whoever orders may die too."""
        for _ in range(3):
            with suppress(Crash, StoreError):
                tools = self.tools()
                self.place.order(tools, self.offering(tools))
                return
            self.outwait(OUTAGE)

    def play(self) -> None:
        """Have the match ordered, and attended by worker after worker until it has ended."""
        self.order()
        for _ in range(LOOKS):
            self.gate.deliver(self.plan.looks)
            self.place.go_on()
            self.poll()
            self.plan.deliver()
            message = self.queue.receive(timedelta(0))
            if message is None:
                if self.finished and not [*self.place.named(), *self.plan.late]:
                    return
                self.clock.advance(timedelta(milliseconds=500))
                continue
            self.attend(parse_message(message.body).match_id)

    def poll(self) -> None:
        """One look of the poller, which may fail or die as a worker may; another comes then."""
        tools = replace(self.tools(), clock=self.clock)
        offering = replace(self.offering(tools), onlooker=self.onlooker)
        try:
            self.place.poll(tools, offering)
        except Crash:
            self.onlooker = Onlooker()
        except (ArenaError, StoreError) as error:
            logging.getLogger("bench").info("the poller failed: %s", error)

    def meanwhile(self) -> None:
        """What happens while a worker is paused: its lease runs out and another comes."""
        self.outwait(PAUSE)
        self.place.go_on()
        steps = self.successor_steps
        end: dict[int, Kind | float] = {} if steps is None else {steps: Kind.CRASH_BEFORE}
        self.attend(self.match_id, FaultPlan(self.clock, end))

    def outwait(self, duration: timedelta) -> None:
        """Let so much time pass, seen by whoever offers matches."""
        self.offering().offer()
        self.clock.advance(duration)
        self.offering().offer()

    def attend(self, match_id: str, plan: FaultPlan | None = None) -> object:
        try:
            return self.worker(plan).attend(match_id, lambda: HOUR)
        except (Crash, ArenaError, StoreError) as end:
            logging.getLogger("bench").info("the worker ended: %s", end)
            return end

    @property
    def finished(self) -> bool:
        record = self.log.match(self.match_id)
        return record is not None and record.outcome is not None

    def everything(self) -> str:
        return self.stores.dump()

    def faults_found(self) -> list[str]:
        """Everything that is wrong with the match, in sentences."""
        stored, accepted = self.everything(), self.gate.accepted
        self.moves = self.log.moves(self.match_id)
        self.notes = [note.kind for note in self.log.notes(self.match_id)]
        found = [fault for one in accepted for fault in one.faults]
        found += map(str, self.gate.refused)
        found += [f"stored is the secret {one!r}" for one in self.place.secrets if one in stored]
        record = self.log.match(self.match_id)
        if record is None or record.finished is None:
            return [*found, "the log does not know that the match has ended"]
        found += [] if record.lease is None else ["the lease is still held"]
        played, ours = [one.sequence for one in accepted], list(self.place.ours())
        found += [] if played == ours else [f"played were {played}, and {ours} count as ours"]
        found += history_faults(self.place.history(), self.moves)
        return [*found, *self.place.faults(self.log)]


def played(bench: Bench) -> Bench:
    """A match under faults, after it has ended or was given up."""
    try:
        bench.play()
        bench.found = bench.faults_found()
    finally:
        bench.close()
    return bench
