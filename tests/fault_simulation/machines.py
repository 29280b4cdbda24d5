"""A machine of ours: a poller, a queue, and workers at a match log."""

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

LIMITS = replace(WorkerSettings(store="sqlite:none").limits, max_attempts=1)


@dataclass(frozen=True)
class MachineSetup:
    """Setup that the machines of one player share: network, match log, player and strategy."""

    simulation: FaultSimulation
    network: ArenaNetwork
    stores: Stores
    player: Credentials
    strategy: str


class Machine(Process):
    """A machine; its clock is wrong by `skew` seconds."""

    def __init__(self, name: str, setup: MachineSetup, skew: float = 0) -> None:
        super().__init__(name)
        self.world, self.setup, self.skew = setup.simulation, setup, skew
        self.clock = SkewedClock(self.world.scheduler, timedelta(seconds=skew))
        self.session_state = ClientSessionState(self.clock)
        self.semaphore = FairSemaphore(self.clock, permits=1000)
        for work in (self._listen, self._feed):
            self.world.scheduler.start_thread(work, self)

    def _tools(self, process: Process, match_id: str = "") -> WorkerEnvironment:
        """Return the environment of a process; each of its I/O steps can fail."""
        plan = RandomFaultPlan(self.world, process, match_id)
        log, vault, queue = self.setup.stores.with_faults(plan, self.clock)
        minds = IntentRecorder(log, only_stored=True)
        wire = FaultyTransport(self.setup.network, plan, minds)
        return WorkerEnvironment(
            wire, cast("MatchLog", minds), vault, queue, process.name, self.clock
        )

    def _client(self, tools: WorkerEnvironment) -> ArenaClient:
        client = ArenaClient(URL, self.setup.player, LIMITS, session_state=self.session_state)
        return tools.attach(client)

    def _remaining(self) -> timedelta:
        return timedelta(0) if self.world.is_done else timedelta(hours=1)

    def _listen(self) -> None:
        """Poll; a poller that fails is started again within a second."""
        while not self.world.is_done:
            tools = self._tools(self)
            offering = MatchDispatcher(tools.log, tools.queue, tools.clock)
            with self._client(tools) as client, suppress(ArenaError, StoreError):
                MatchPoller(client, offering, timing=PollerTiming()).run(self._remaining)
            self.world.sleep(1)

    def _feed(self) -> None:
        """Take messages from the queue, each to a worker of its own."""
        names, queue = count(1), self.setup.stores.queue
        while not self.world.is_done:
            message = queue.receive_message(timedelta(0))
            if message is None:
                self.world.sleep(0.25)
                continue
            queue.delete(message)
            worker = Process(f"{self.name}-{next(names)}", self)
            match_id = parse_match_message(message.body).match_id
            self.world.scheduler.start_thread(partial(self._work, worker, match_id), worker)

    def _work(self, worker: Process, match_id: str) -> None:
        attended, outcome = self.world.active_matches, self.world.outcome
        attended.append(match_id)
        outcome.max_concurrency = max(outcome.max_concurrency, len(set(attended)))
        try:
            self._attend(worker, match_id)
        finally:
            attended.remove(match_id)

    def _attend(self, worker: Process, match_id: str) -> None:
        tools, bench = self._tools(worker, match_id), self.setup
        with self._client(tools) as client, suppress(ArenaError, StoreError):
            strategy = build(bench.strategy, Random(1))
            seat = ArenaBotPlayer(bench.player.user, client, strategy, bench.strategy)
            meet = match_opener(BotAndDummySeats(seat, match_reader=tools.log), tools.clock)
            offering = MatchDispatcher(tools.log, tools.queue, tools.clock)
            bot: Any = Bot(GAME.name, meet, offering, worker.name, SessionTiming(), self.semaphore)
            bot.run_session(match_id, self._remaining)
