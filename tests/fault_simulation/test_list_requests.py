"""How often the arena is asked for its list of matches, and how soon a match is found by that.

On virtual time, with the real poller, worker, arena and director. A schedule starts the poller
every minute, as in the cloud, and each start relieves the one before.
"""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from requests import ConnectionError as NoConnection
from support.arena_server import ALICE, BOB, PASSWORDS
from support.contests import arena_table
from support.store_fixtures import moto_client

from cardsharp.aws.dynamodb_table import DynamoTable
from cardsharp.contest.director import ContestRunner
from cardsharp.contest.models import ContestSettings, ContestStage, TeamEntry
from cardsharp.contest.repository import ContestRepository
from cardsharp.contest.results import ContestRecords
from cardsharp.core.credentials import Credentials, digest_ha1
from cardsharp.core.metrics import MetricName
from cardsharp.games.deadmansdraw.arena.access.throttling import MAX_PER_USER
from cardsharp.games.deadmansdraw.arena.access.users import ADMIN, User
from cardsharp.games.deadmansdraw.arena.director_ticks import TICK_INTERVAL
from cardsharp.games.deadmansdraw.contest.arena_match_host import ArenaMatchHost
from cardsharp.games.deadmansdraw.contest.in_process_arena import InProcessArena
from cardsharp.store.sqlite_documents import SqliteDocumentStore
from cardsharp.store.sqlite_file import MEMORY_PATH
from cardsharp_tools.local_cloud.api_gateway_events import HttpResponse
from fault_simulation.arena_network import ArenaNetwork, request_kind
from fault_simulation.chaos import RATE_LIMIT_RUN, ChaosScenario
from fault_simulation.machines import Machine, MachineSetup
from fault_simulation.scheduled_machine import MINUTE, ScheduledMachine
from fault_simulation.simulation import FaultSimulationConfig
from fault_simulation.stores import local_stores
from fault_simulation.transport import response_of

CALM_RUN = replace(
    RATE_LIMIT_RUN, matches=0, turn_seconds=60, opponent_seconds=(15, 20), max_decision_seconds=2
)
"""Matches in which everybody takes some time, so that little happens in a minute."""

MINUTES = 3
LIST_SECONDS = 30  # that a long poll for the list lasts, and so the time between two requests
PERMITTED_SECONDS = 3  # between two, where the arena permits 100 requests a minute
START_INTERVAL_SECONDS = 15  # from the start of a contest to that of the next
PLAY_SECONDS = 5.1  # from the moment a match is found until it is ended here
DELIVERY_SECONDS = 1  # that an answer and the queue take in this simulation


class ArenaGate(ArenaNetwork):
    """The way to an arena that may be down, or refuse to list matches with this status."""

    status: int | None = None
    is_down = False

    def __init__(self, scenario: ChaosScenario) -> None:
        super().__init__(scenario)
        self.list_times: list[float] = []

    def forward(self, request: Any, *args: Any) -> Any:  # noqa: ANN401 - as that of the network
        if request_kind(str(request.method), str(request.path_url)) == "list_wait":
            self.list_times.append(self.clock.monotonic())
            if self.is_down:
                raise NoConnection("the arena is down")
            if self.status is not None:
                retry_after = (("Retry-After", "2"),)
                return response_of(HttpResponse(self.status, retry_after, b'{"error":"No."}'))
        return super().forward(request, *args)


class ListeningScenario(ChaosScenario):
    """Some minutes in which so many matches run at once, and no fault happens."""

    gate: ArenaGate
    machine: ScheduledMachine

    def __init__(self, config: FaultSimulationConfig, folder: Path) -> None:
        super().__init__(config, folder, local_stores, lambda _line: None)

    def _station(self, number: int, skew: float = 0) -> Machine:
        del number, skew
        self.gate = ArenaGate(self)
        player = Credentials(ALICE, PASSWORDS[ALICE])
        setup = MachineSetup(self, self.gate, self.stores, player, self.config.strategy)
        self.machine = ScheduledMachine("machine", setup)
        return self.machine

    def _organise(self) -> None:
        self._run_matches()
        self.is_done = True
        self.scheduler.change_count += 1

    def _run_matches(self) -> None:
        running: list[str] = []
        for _ in range(int(MINUTES * MINUTE)):
            running = [i for i in running if not self.referee.get_match(i).is_finished]
            running += [self._begin() for _ in range(self.config.concurrency - len(running))]
            self.sleep(1)

    @property
    def busiest_minute(self) -> int:
        """The largest number of list requests within any minute."""
        times = self.gate.list_times
        return max(sum(t <= u < t + MINUTE - 1 for u in times) for t in times)


def listen(
    folder: Path, at_once: int, limit: int | None = None, **fault: int | bool
) -> ListeningScenario:
    """Return a scenario after its end; it has asserted that the poller counts what it asks."""
    config = replace(CALM_RUN, concurrency=at_once, rate_limit=limit)
    scenario = ListeningScenario(config, folder)
    for name, value in fault.items():
        setattr(scenario.gate, name, value)
    scenario.play()
    requests = scenario.machine.meter.counts[MetricName.LIST_REQUESTS]
    assert requests == len(scenario.gate.list_times) > 0
    return scenario


@pytest.mark.parametrize("at_once", [0, 1, pytest.param(6, marks=pytest.mark.slow)])
def test_r42_the_list_is_requested_as_often_as_a_long_poll_lasts(
    tmp_path: Path, at_once: int
) -> None:
    """Twice a minute, also while it is our turn, when the arena answers at once."""
    scenario = listen(tmp_path, at_once)
    assert scenario.busiest_minute == MINUTE / LIST_SECONDS
    assert (scenario.outcome.max_concurrency,) == (at_once,)


@pytest.mark.parametrize(
    ("at_once", "least", "most"),
    [(0, 2, 2), (1, 6, 21), pytest.param(6, 6, 21, marks=pytest.mark.slow)],
)
def test_r42_an_arena_that_permits_more_is_asked_more_often_while_a_match_runs(
    tmp_path: Path, at_once: int, least: int, most: int
) -> None:
    """A fifth of its limit of requests, and one at the change of pollers."""
    assert least <= listen(tmp_path, at_once, MAX_PER_USER).busiest_minute <= most


@pytest.mark.parametrize(
    "fault", [{"is_down": True}, *({"status": status} for status in (401, 403, 429, 503))], ids=str
)
def test_r42_an_arena_that_fails_is_asked_less_and_less_often(
    tmp_path: Path, fault: dict[str, int]
) -> None:
    """After 3, 6, 12 and 24 s; the next poller begins anew."""
    assert listen(tmp_path, 0, **fault).busiest_minute == 5


class SecondMatchScenario(ListeningScenario):
    """A match of ours runs, and further ones begin one by one, each with a turn of ours."""

    def _run_matches(self) -> None:
        self.waits: list[float] = []
        running: list[str] = []
        for _ in range(6):
            running = [i for i in running if not self.referee.get_match(i).is_finished]
            running += [] if running else [self._begin()]
            self.sleep(7.3)
            self.waits.append(self._found_after(self._begin_ours()))

    def _begin_ours(self) -> str:
        while True:
            match_id = self._begin()
            if self.referee.get_match(match_id).active_player == ALICE:
                return match_id
            self._end(match_id)

    def _found_after(self, match_id: str) -> float:
        """Return the seconds until a new match is on the queue, and end it."""
        began = self.scheduler.monotonic()
        while match_id not in self.active_matches:
            self.sleep(0.1)
        self._end(match_id)
        return self.scheduler.monotonic() - began

    def _end(self, match_id: str) -> None:
        self.referee.terminate_match(User(ADMIN, None, ADMIN), match_id, {}, None)
        self.scheduler.change_count += 1


@pytest.mark.parametrize(
    ("limit", "interval"), [(None, LIST_SECONDS), (MAX_PER_USER, PERMITTED_SECONDS)]
)
def test_r42_a_second_match_is_found_when_the_list_is_requested_next(
    tmp_path: Path, limit: int | None, interval: float
) -> None:
    """Its ids tell nothing, so nothing but the list names it while another match runs."""
    config = replace(CALM_RUN, concurrency=1, rate_limit=limit, opponent_seconds=(0.5, 1))
    scenario = SecondMatchScenario(config, tmp_path)
    scenario.play()
    assert interval / 2 < max(scenario.waits) <= interval + DELIVERY_SECONDS


class NextMatchScenario(SecondMatchScenario):
    """One match of ours after the other, each ended some time after it was found."""

    def _run_matches(self) -> None:
        self.waits: list[float] = []
        for _ in range(6):
            self.waits.append(self._found_after(self._begin_ours()))
            self.sleep(7.3)

    def _end(self, match_id: str) -> None:
        self.sleep(PLAY_SECONDS)
        super()._end(match_id)


def test_r42_a_match_that_follows_another_is_found_at_once(tmp_path: Path) -> None:
    """When no match of ours runs any more, the arena holds a request back, as any long poll."""
    config = replace(CALM_RUN, concurrency=1, rate_limit=None, opponent_seconds=(0.5, 1))
    scenario = NextMatchScenario(config, tmp_path)
    scenario.play()
    assert max(scenario.waits) <= PERMITTED_SECONDS + DELIVERY_SECONDS + PLAY_SECONDS


class StackContests(ListeningScenario):
    """Contests as the director of a stack holds them, side by side: match ids are hashes."""

    def __init__(self, config: FaultSimulationConfig, folder: Path, table: DynamoTable) -> None:
        self.table = table
        super().__init__(config, folder)

    def _run_matches(self) -> None:
        host = ArenaMatchHost(InProcessArena(self.referee, self.table))
        contests = [self._found(f"cup{number}") for number in range(self.config.concurrency)]
        runners = [ContestRunner(contest, host, self.scheduler.now) for contest in contests]
        opposed: set[str] = set()
        while any(contest.stage is not ContestStage.OVER for contest in contests):
            begun = 1 + int(self.scheduler.monotonic() / START_INTERVAL_SECONDS)
            for contest, runner in list(zip(contests, runners, strict=True))[:begun]:
                if contest.stage is ContestStage.OPEN:
                    contest.start_contest()
                runner.step()
            self.scheduler.change_count += 1
            started = {match.id for match in self.arena.arena.lobby.all_matches()} - opposed
            for match_id in sorted(started):
                self.scheduler.start_thread(partial(self._oppose, match_id))
            opposed |= started
            self.sleep(TICK_INTERVAL.total_seconds())
        self.sleep(DELIVERY_SECONDS)
        for match_id in sorted(opposed):
            self.check_match(match_id, ALICE, self.stores.log)

    def _found(self, name: str) -> ContestRecords:
        count, turn = self.config.matches, self.config.turn_seconds
        settings = ContestSettings(
            name, "round-robin", matches=count, most=count, timeout=turn, seed=name
        )
        keep = SqliteDocumentStore(MEMORY_PATH, self.scheduler)
        records = ContestRepository(keep).create(settings)
        for player in (ALICE, BOB):
            login = digest_ha1(player, PASSWORDS[player])
            records.append_team(TeamEntry(player, player, login, None))
        return records


def test_r42_contests_of_our_stack_with_hashed_ids_cost_the_bot_no_turn(tmp_path: Path) -> None:
    """Of 7 s, in matches that begin while others run."""
    config = replace(RATE_LIMIT_RUN, matches=1, concurrency=3, turn_seconds=7)
    with moto_client() as client, arena_table(client) as table:
        scenario = StackContests(config, tmp_path, table)
        scenario.play()
    assert scenario.outcome.max_concurrency >= 2
    assert scenario.outcome.finished_count == config.matches * config.concurrency
    assert scenario.outcome.violations == []
