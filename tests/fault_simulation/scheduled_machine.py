"""Machine of ours on which a schedule starts a poller every minute, as in the cloud."""

from contextlib import suppress
from datetime import timedelta

from support.store_fixtures import RecordingMeter

from cardsharp.bot.control.poller_shift import PollerGenerations, PollerShift, PollerTiming
from cardsharp.bot.match_dispatcher import MatchDispatcher
from cardsharp.client.session_state import ClientSessionState
from cardsharp.errors import ArenaError, StoreError
from cardsharp.games.deadmansdraw.arena_bot.client import ArenaClient
from cardsharp.games.deadmansdraw.arena_bot.match_poller import MatchPoller
from fault_simulation.machines import LIMITS, Machine, MachineSetup
from fault_simulation.scheduler import Process
from fault_simulation.simulated_arena import URL

MINUTE = 60.0
POLLER_TIMEOUT = timedelta(seconds=240)  # of the function in template.yaml


class InMemoryPollerGenerations(PollerGenerations):
    """Generations of pollers, stored in memory instead of a table."""

    latest = 0

    def start_generation(self) -> int:
        self.latest += 1
        return self.latest

    def latest_generation(self) -> int:
        return self.latest


class ScheduledMachine(Machine):
    """Machine on which a poller is started every minute, each in a new process."""

    def __init__(self, name: str, setup: MachineSetup) -> None:
        self.generations, self.meter = InMemoryPollerGenerations(), RecordingMeter()
        super().__init__(name, setup)

    def _run_poller(self) -> None:
        while not self.simulation.is_done:
            self.simulation.scheduler.start_thread(self._poll, self)
            self.simulation.sleep(MINUTE)

    def _poll(self) -> None:
        environment, start = (
            self._worker_environment(Process("poller", self)),
            self.clock.monotonic(),
        )
        dispatcher = MatchDispatcher(
            environment.log, environment.queue, environment.clock, metrics=self.meter
        )
        client = environment.attach(
            ArenaClient(
                URL, self.setup.player, LIMITS, session_state=ClientSessionState(self.clock)
            )
        )

        def remaining_time() -> timedelta:
            elapsed = timedelta(seconds=self.clock.monotonic() - start)
            return timedelta(0) if self.simulation.is_done else POLLER_TIMEOUT - elapsed

        shift = PollerShift(self.generations)
        with client, suppress(ArenaError, StoreError):
            MatchPoller(client, dispatcher, timing=PollerTiming(), shift=shift).run(remaining_time)
