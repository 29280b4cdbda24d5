"""Harness for a match of any game under a fault plan: workers die, and others take over."""

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
    """Harness of one server, one match log and one match; each session has a new worker."""

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
        self.server = self.make_server(self.folder, self.clock)
        self.match_id = self.server.match_id
        stores = self.stores = self.store_factory(self.folder, self.clock)
        self.log, self.vault, self.queue = stores.log, stores.vault, stores.queue
        self.proxy = RecordingProxy(self.server, self.log, self.clock)
        self.plan = FaultPlan(self.clock, self.fault_schedule, pause=self.run_successor)
        self.lease_observer = LeaseObserver()
        self.worker_numbers, self.worker_count = count(1), 0
        self.observed_violations: list[str] = []
        self.moves: list[MoveRecord] = []
        self.notes: list[str] = []

    def close(self) -> None:
        self.server.close()
        self.stores.close()

    def worker_environment(self, plan: FaultPlan | None = None) -> WorkerEnvironment:
        """Return the environment of a new worker, whose I/O steps all pass the plan."""
        # In one step, for two threads may ask at once, and one name would be one holder of a lease.
        number, plan = next(self.worker_numbers), plan or self.plan
        clock = SkewedClock(self.clock, self.clock_skews[number % len(self.clock_skews)])
        log, vault, queue = self.stores.with_faults(plan, clock)
        intent_recorder = IntentRecorder(log)
        transport, name = FaultyTransport(self.proxy, plan, intent_recorder), f"worker-{number}"
        return WorkerEnvironment(
            transport, cast("MatchLog", intent_recorder), vault, queue, name, clock
        )

    def dispatcher(self, environment: WorkerEnvironment | None = None) -> MatchDispatcher:
        """Return a dispatcher of matches, on the harness's machine or that of `environment`."""
        if environment is not None:
            return MatchDispatcher(environment.log, environment.queue, environment.clock)
        return MatchDispatcher(self.log, self.queue, self.clock, lease_observer=self.lease_observer)

    def make_worker(self, plan: FaultPlan | None = None) -> Bot:
        self.worker_count += 1
        server, environment = self.server, self.worker_environment(plan)
        dispatcher = replace(self.dispatcher(environment), metrics=self.meter)
        return Bot(
            server.game, server.connect_bot(environment), dispatcher, environment.name, self.timing
        )

    def order_match(self) -> None:
        """Order the match; try up to three times, because the ordering process may die too."""
        for _ in range(3):
            with suppress(Crash, StoreError):
                environment = self.worker_environment()
                self.server.order_match(environment, self.dispatcher(environment))
                return
            self.wait_out_lease(STORE_OUTAGE)

    def run_match(self) -> None:
        """Order the match, and run one worker session after the other until it has finished."""
        self.order_match()
        for _ in range(MAX_POLLS):
            self.proxy.deliver(self.plan.view_count)
            self.server.play_rival()
            self.poll()
            self.plan.deliver()
            message = self.queue.receive_message(timedelta(0))
            if message is None:
                if self.is_finished and not [
                    *self.server.announced_matches(),
                    *self.plan.delayed_messages,
                ]:
                    return
                self.clock.advance(timedelta(milliseconds=500))
                continue
            self.run_session(parse_match_message(message.body).match_id)

    def poll(self) -> None:
        """Poll once for matches; a poller that fails or dies is replaced at the next poll."""
        environment = replace(self.worker_environment(), clock=self.clock)
        dispatcher = replace(self.dispatcher(environment), lease_observer=self.lease_observer)
        try:
            self.server.poll(environment, dispatcher)
        except Crash:
            self.lease_observer = LeaseObserver()
        except (ArenaError, StoreError) as error:
            logging.getLogger("bench").info("the poller failed: %s", error)

    def run_successor(self) -> None:
        """Simulate the pause of a worker: its lease expires, and a successor takes over."""
        self.wait_out_lease(STEP_PAUSE)
        self.server.play_rival()
        steps = self.steps_while_paused
        crash_schedule: dict[int, FaultKind | float] = (
            {} if steps is None else {steps: FaultKind.CRASH_BEFORE}
        )
        self.run_session(self.match_id, FaultPlan(self.clock, crash_schedule))

    def wait_out_lease(self, duration: timedelta) -> None:
        """Advance the time by `duration`; a dispatcher observes the leases at its begin and end."""
        self.dispatcher().dispatch_unattended()
        self.clock.advance(duration)
        self.dispatcher().dispatch_unattended()

    def run_session(self, match_id: str, plan: FaultPlan | None = None) -> object:
        try:
            return self.make_worker(plan).run_session(match_id, lambda: HOUR)
        except (Crash, ArenaError, StoreError) as error:
            logging.getLogger("bench").info("the worker ended: %s", error)
            return error

    @property
    def is_finished(self) -> bool:
        record = self.log.match(self.match_id)
        return record is not None and record.outcome is not None

    def stored_contents(self) -> str:
        return self.stores.dump()

    def violations(self) -> list[str]:
        """Return a sentence for each violation in the match."""
        stored_text, accepted = self.stored_contents(), self.proxy.accepted
        self.moves = self.log.moves(self.match_id)
        self.notes = [note.kind for note in self.log.notes(self.match_id)]
        errors = [fault for action in accepted for fault in action.violations]
        errors += map(str, self.proxy.refused)
        errors += [
            f"stored is the secret {secret!r}"
            for secret in self.server.secrets
            if secret in stored_text
        ]
        record = self.log.match(self.match_id)
        if record is None or record.finished_at is None:
            return [*errors, "the log does not know that the match has ended"]
        errors += [] if record.lease is None else ["the lease is still held"]
        accepted_sequences, our_sequences = (
            [action.sequence for action in accepted],
            list(self.server.bot_moves()),
        )
        errors += (
            []
            if accepted_sequences == our_sequences
            else [f"played were {accepted_sequences}, and {our_sequences} count as ours"]
        )
        errors += history_differences(self.server.history(), self.moves)
        return [*errors, *self.server.violations(self.log)]


def run_harness(harness: MatchHarness) -> MatchHarness:
    """Run a match under faults to its end, and return its harness."""
    try:
        harness.run_match()
        harness.observed_violations = harness.violations()
    finally:
        harness.close()
    return harness
