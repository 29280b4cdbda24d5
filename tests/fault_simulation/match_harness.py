"""A whole match under a fault plan, whatever its game: workers die, others find the match again."""

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import cast

from cardsharp.bot.bot import Bot
from cardsharp.bot.lease_observer import LeaseObserver
from cardsharp.bot.match_dispatcher import MatchDispatcher
from cardsharp.bot.queueing.messages import parse_match_message
from cardsharp.bot.timing import SessionTiming
from cardsharp.core.metrics import Metrics
from cardsharp.errors import ArenaError, StoreError
from cardsharp.store.match_log import MatchLog, MoveRecord
from fault_simulation.checker import history_differences
from fault_simulation.faults import STORE_OUTAGE, Crash, FaultKind, FaultPlan, IntentRecorder
from fault_simulation.stores import StoreFactory, local_stores
from fault_simulation.transport import (
    FaultyTransport,
    RecordingProxy,
    SimulatedServer,
    WorkerEnvironment,
)
from fault_simulation.virtual_clock import SkewedClock, VirtualClock

HOUR = timedelta(hours=1)

STEP_PAUSE = timedelta(seconds=10)
MAX_POLLS = 160  # of the scout, half a second each, after which a match counts as lost
HARSH_TIMING = SessionTiming(
    lease_ttl=timedelta(seconds=1),
    renew_interval=timedelta(milliseconds=400),
    backoff=timedelta(milliseconds=500),
)  # a lease shorter than an action's limit: a successor comes while an action may be under way


@dataclass
class MatchHarness:
    """One place, one match log, one match; a new worker for every attendance."""

    make_server: Callable[[Path, VirtualClock], SimulatedServer]
    folder: Path
    fault_schedule: Mapping[int, FaultKind | float] = field(default_factory=dict)
    store_factory: StoreFactory = local_stores
    timing: SessionTiming = HARSH_TIMING
    meter: Metrics = field(default_factory=Metrics)  # of the workers
    steps_while_paused: int | None = (
        None  # how far another gets while one is paused; None: to the end
    )
    clock: VirtualClock = field(default_factory=VirtualClock)
    clock_skews: Sequence[timedelta] = (timedelta(0),)  # of the workers' machines in turn

    def __post_init__(self) -> None:
        self.place = self.make_server(self.folder, self.clock)
        self.match_id = self.place.match_id
        stores = self.stores = self.store_factory(self.folder, self.clock)
        self.log, self.vault, self.queue = stores.log, stores.vault, stores.queue
        self.gate = RecordingProxy(self.place, self.log, self.clock)
        self.plan = FaultPlan(self.clock, self.fault_schedule, pause=self.run_successor)
        self.onlooker = LeaseObserver()
        self.numbers, self.workers = count(1), 0
        self.observed_violations: list[str] = []
        self.moves: list[MoveRecord] = []
        self.notes: list[str] = []

    def close(self) -> None:
        self.place.close()
        self.stores.close()

    def worker_environment(self, plan: FaultPlan | None = None) -> WorkerEnvironment:
        """Return the environment of a new worker, whose every I/O step passes the plan."""
        # In one step, for two threads may ask at once, and one name would be one holder of a lease.
        number, plan = next(self.numbers), plan or self.plan
        clock = SkewedClock(self.clock, self.clock_skews[number % len(self.clock_skews)])
        log, vault, queue = self.stores.with_faults(plan, clock)
        minds = IntentRecorder(log)
        wire, name = FaultyTransport(self.gate, plan, minds), f"worker-{number}"
        return WorkerEnvironment(wire, cast("MatchLog", minds), vault, queue, name, clock)

    def dispatcher(self, environment: WorkerEnvironment | None = None) -> MatchDispatcher:
        """Return a dispatcher of matches, on the harness's machine or that of `environment`."""
        if environment is not None:
            return MatchDispatcher(environment.log, environment.queue, environment.clock)
        return MatchDispatcher(self.log, self.queue, self.clock, lease_observer=self.onlooker)

    def make_worker(self, plan: FaultPlan | None = None) -> Bot:
        self.workers += 1
        place, tools = self.place, self.worker_environment(plan)
        offering = replace(self.dispatcher(tools), metrics=self.meter)
        return Bot(place.game, place.connect_bot(tools), offering, tools.name, self.timing)

    def order_match(self) -> None:
        """Order the match as often as it takes: whoever orders may die too."""
        for _ in range(3):
            with suppress(Crash, StoreError):
                tools = self.worker_environment()
                self.place.order_match(tools, self.dispatcher(tools))
                return
            self.wait_out_lease(STORE_OUTAGE)

    def run_match(self) -> None:
        """Have the match ordered, and attended by worker after worker until it has ended."""
        self.order_match()
        for _ in range(MAX_POLLS):
            self.gate.deliver(self.plan.view_count)
            self.place.play_rival()
            self.poll()
            self.plan.deliver()
            message = self.queue.receive_message(timedelta(0))
            if message is None:
                if self.is_finished and not [
                    *self.place.announced_matches(),
                    *self.plan.delayed_messages,
                ]:
                    return
                self.clock.advance(timedelta(milliseconds=500))
                continue
            self.run_session(parse_match_message(message.body).match_id)

    def poll(self) -> None:
        """One look of the poller, which may fail or die as a worker may; another comes then."""
        tools = replace(self.worker_environment(), clock=self.clock)
        offering = replace(self.dispatcher(tools), lease_observer=self.onlooker)
        try:
            self.place.poll(tools, offering)
        except Crash:
            self.onlooker = LeaseObserver()
        except (ArenaError, StoreError) as error:
            logging.getLogger("bench").info("the poller failed: %s", error)

    def run_successor(self) -> None:
        """Simulate the pause of a worker: its lease expires, and a successor takes over."""
        self.wait_out_lease(STEP_PAUSE)
        self.place.play_rival()
        steps = self.steps_while_paused
        end: dict[int, FaultKind | float] = {} if steps is None else {steps: FaultKind.CRASH_BEFORE}
        self.run_session(self.match_id, FaultPlan(self.clock, end))

    def wait_out_lease(self, duration: timedelta) -> None:
        """Let so much time pass, seen by whoever offers matches."""
        self.dispatcher().dispatch_unattended()
        self.clock.advance(duration)
        self.dispatcher().dispatch_unattended()

    def run_session(self, match_id: str, plan: FaultPlan | None = None) -> object:
        try:
            return self.make_worker(plan).run_session(match_id, lambda: HOUR)
        except (Crash, ArenaError, StoreError) as end:
            logging.getLogger("bench").info("the worker ended: %s", end)
            return end

    @property
    def is_finished(self) -> bool:
        record = self.log.match(self.match_id)
        return record is not None and record.outcome is not None

    def stored_contents(self) -> str:
        return self.stores.dump()

    def violations(self) -> list[str]:
        """Everything that is wrong with the match, in sentences."""
        stored, accepted = self.stored_contents(), self.gate.accepted
        self.moves = self.log.moves(self.match_id)
        self.notes = [note.kind for note in self.log.notes(self.match_id)]
        errors = [fault for action in accepted for fault in action.violations]
        errors += map(str, self.gate.refused)
        errors += [
            f"stored is the secret {secret!r}" for secret in self.place.secrets if secret in stored
        ]
        record = self.log.match(self.match_id)
        if record is None or record.finished_at is None:
            return [*errors, "the log does not know that the match has ended"]
        errors += [] if record.lease is None else ["the lease is still held"]
        played, our_sequences = (
            [action.sequence for action in accepted],
            list(self.place.bot_moves()),
        )
        errors += (
            []
            if played == our_sequences
            else [f"played were {played}, and {our_sequences} count as ours"]
        )
        errors += history_differences(self.place.history(), self.moves)
        return [*errors, *self.place.violations(self.log)]


def run_harness(harness: MatchHarness) -> MatchHarness:
    """A match under faults, after it has ended or was given up."""
    try:
        harness.run_match()
        harness.observed_violations = harness.violations()
    finally:
        harness.close()
    return harness
