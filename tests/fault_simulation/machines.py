"""Machine of ours: a poller, a queue, and workers at a match log."""

from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from itertools import count
from random import Random
from typing import Any, cast

from cardsharp.bot.bot import Bot
from cardsharp.bot.control.poller_shift import PollerTiming
from cardsharp.bot.fair_semaphore import FairSemaphore
from cardsharp.bot.match_dispatcher import MatchDispatcher
from cardsharp.bot.queueing.messages import parse_match_message
from cardsharp.bot.settings import WorkerSettings
from cardsharp.bot.timing import SessionTiming
from cardsharp.client.session_state import ClientSessionState
from cardsharp.core.credentials import Credentials
from cardsharp.errors import ArenaError, StoreError
from cardsharp.games.deadmansdraw.arena_bot.arena_match import match_opener
from cardsharp.games.deadmansdraw.arena_bot.client import ArenaClient
from cardsharp.games.deadmansdraw.arena_bot.match_poller import MatchPoller
from cardsharp.games.deadmansdraw.arena_bot.opponent_history import ArenaBotPlayer, BotAndDummySeats
from cardsharp.games.deadmansdraw.game import GAME
from cardsharp.games.deadmansdraw.strategies import build
from cardsharp.store.match_log import MatchLog
from fault_simulation.arena_network import ArenaNetwork, RandomFaultPlan
from fault_simulation.faults import IntentRecorder
from fault_simulation.scheduler import Process
from fault_simulation.simulated_arena import URL
from fault_simulation.simulation import FaultSimulation
from fault_simulation.stores import Stores
from fault_simulation.transport import FaultyTransport, WorkerEnvironment
from fault_simulation.virtual_clock import SkewedClock

LIMITS = replace(WorkerSettings(store="sqlite:none").request_limits, max_attempts=1)


@dataclass(frozen=True)
class MachineSetup:
    """Setup that all machines of a player share: network, match log, player and strategy."""

    simulation: FaultSimulation
    network: ArenaNetwork
    stores: Stores
    player: Credentials
    strategy: str


class Machine(Process):
    """Machine of ours, with a clock that is wrong by `skew` seconds."""

    def __init__(self, name: str, setup: MachineSetup, skew: float = 0) -> None:
        super().__init__(name)
        self.simulation, self.setup, self.skew = setup.simulation, setup, skew
        self.clock = SkewedClock(self.simulation.scheduler, timedelta(seconds=skew))
        self.session_state = ClientSessionState(self.clock)
        self.semaphore = FairSemaphore(self.clock, permits=1000)
        for work in (self._run_poller, self._run_workers):
            self.simulation.scheduler.start_thread(work, self)

    def _worker_environment(self, process: Process, match_id: str = "") -> WorkerEnvironment:
        """Return the environment of a process; each of its I/O steps can fail."""
        plan = RandomFaultPlan(self.simulation, process, match_id)
        log, vault, queue = self.setup.stores.with_faults(plan, self.clock)
        intent_recorder = IntentRecorder(log, only_stored=True)
        transport = FaultyTransport(self.setup.network, plan, intent_recorder)
        return WorkerEnvironment(
            transport, cast("MatchLog", intent_recorder), vault, queue, process.name, self.clock
        )

    def _make_client(self, environment: WorkerEnvironment) -> ArenaClient:
        client = ArenaClient(URL, self.setup.player, LIMITS, session_state=self.session_state)
        return environment.attach(client)

    def _remaining_time(self) -> timedelta:
        return timedelta(0) if self.simulation.is_done else timedelta(hours=1)

    def _run_poller(self) -> None:
        """Run a poller; start it again a second after a failure."""
        while not self.simulation.is_done:
            environment = self._worker_environment(self)
            dispatcher = MatchDispatcher(environment.log, environment.queue, environment.clock)
            with self._make_client(environment) as client, suppress(ArenaError, StoreError):
                MatchPoller(client, dispatcher, timing=PollerTiming()).run(self._remaining_time)
            self.simulation.sleep(1)

    def _run_workers(self) -> None:
        """Take messages from the queue, and start a worker for each."""
        worker_numbers, queue = count(1), self.setup.stores.queue
        while not self.simulation.is_done:
            message = queue.receive_message(timedelta(0))
            if message is None:
                self.simulation.sleep(0.25)
                continue
            queue.delete(message)
            worker = Process(f"{self.name}-{next(worker_numbers)}", self)
            match_id = parse_match_message(message.body).match_id
            self.simulation.scheduler.start_thread(
                partial(self._run_worker, worker, match_id), worker
            )

    def _run_worker(self, worker: Process, match_id: str) -> None:
        active_matches, outcome = self.simulation.active_matches, self.simulation.outcome
        active_matches.append(match_id)
        outcome.max_concurrency = max(outcome.max_concurrency, len(set(active_matches)))
        try:
            self._run_session(worker, match_id)
        finally:
            active_matches.remove(match_id)

    def _run_session(self, worker: Process, match_id: str) -> None:
        environment, setup = self._worker_environment(worker, match_id), self.setup
        with self._make_client(environment) as client, suppress(ArenaError, StoreError):
            strategy = build(setup.strategy, Random(1))
            player = ArenaBotPlayer(setup.player.user, client, strategy, setup.strategy)
            open_match = match_opener(
                BotAndDummySeats(player, match_reader=environment.log), environment.clock
            )
            dispatcher = MatchDispatcher(environment.log, environment.queue, environment.clock)
            bot: Any = Bot(
                GAME.name, open_match, dispatcher, worker.name, SessionTiming(), self.semaphore
            )
            bot.run_session(match_id, self._remaining_time)
