"""Tests of how often the arena's list of matches is requested, and how soon a match starts.

The poller, worker, arena and director are the real ones, on virtual time. A schedule
starts the poller every minute, as in the cloud, and each start replaces the previous
poller.
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
from fault_simulation.transport import to_urllib3_response

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


class FailingArenaNetwork(ArenaNetwork):
    """Network to an arena that may be down, or that answers list requests with an error status."""

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
                return to_urllib3_response(
                    HttpResponse(self.status, retry_after, b'{"error":"No."}')
                )
        return super().forward(request, *args)


class PollingScenario(ChaosScenario):
    """Scenario of a few minutes with a constant number of matches, and without faults."""

    network: FailingArenaNetwork
    machine: ScheduledMachine

    def __init__(self, config: FaultSimulationConfig, folder: Path) -> None:
        super().__init__(config, folder, local_stores, lambda _line: None)

    def _start_machine(self, number: int, skew: float = 0) -> Machine:
        del number, skew
        self.network = FailingArenaNetwork(self)
        player = Credentials(ALICE, PASSWORDS[ALICE])
        setup = MachineSetup(self, self.network, self.stores, player, self.config.strategy)
        self.machine = ScheduledMachine("machine", setup)
        return self.machine

    def _manage_matches(self) -> None:
        self._run_matches()
        self.is_done = True
        self.scheduler.change_count += 1

    def _run_matches(self) -> None:
        running: list[str] = []
        for _ in range(int(MINUTES * MINUTE)):
            running = [
                match_id for match_id in running if not self.referee.get_match(match_id).is_finished
            ]
            running += [self._begin_match() for _ in range(self.config.concurrency - len(running))]
            self.sleep(1)

    @property
    def busiest_minute(self) -> int:
        """The largest number of list requests within any minute."""
        times = self.network.list_times
        return max(sum(t <= u < t + MINUTE - 1 for u in times) for t in times)


def run_polling_scenario(
    folder: Path, concurrency: int, rate_limit: int | None = None, **fault: int | bool
) -> PollingScenario:
    """Return a finished scenario; assert that the poller's metric counts its requests."""
    config = replace(CALM_RUN, concurrency=concurrency, rate_limit=rate_limit)
    scenario = PollingScenario(config, folder)
    for name, value in fault.items():
        setattr(scenario.network, name, value)
    scenario.play()
    requests = scenario.machine.meter.counts[MetricName.LIST_REQUESTS]
    assert requests == len(scenario.network.list_times) > 0
    return scenario


@pytest.mark.parametrize("concurrency", [0, 1, pytest.param(6, marks=pytest.mark.slow)])
def test_r42_the_list_is_requested_as_often_as_a_long_poll_lasts(
    tmp_path: Path, concurrency: int
) -> None:
    """The list is requested twice a minute, even while the arena responds at once."""
    scenario = run_polling_scenario(tmp_path, concurrency)
    assert scenario.busiest_minute == MINUTE / LIST_SECONDS
    assert (scenario.outcome.max_concurrency,) == (concurrency,)


@pytest.mark.parametrize(
    ("concurrency", "min_requests", "max_requests"),
    [(0, 2, 2), (1, 6, 21), pytest.param(6, 6, 21, marks=pytest.mark.slow)],
)
def test_r42_an_arena_with_a_rate_limit_is_polled_more_often_while_a_match_runs(
    tmp_path: Path, concurrency: int, min_requests: int, max_requests: int
) -> None:
    """The list takes a fifth of the rate limit, plus one request when a poller is replaced."""
    assert (
        min_requests
        <= run_polling_scenario(tmp_path, concurrency, MAX_PER_USER).busiest_minute
        <= max_requests
    )


@pytest.mark.parametrize(
    "fault", [{"is_down": True}, *({"status": status} for status in (401, 403, 429, 503))], ids=str
)
def test_r42_a_failing_arena_is_polled_less_and_less_often(
    tmp_path: Path, fault: dict[str, int]
) -> None:
    """The pauses are 3, 6, 12 and 24 s; the next poller begins with 3 s."""
    assert run_polling_scenario(tmp_path, 0, **fault).busiest_minute == 5


class SecondMatchScenario(PollingScenario):
    """Scenario in which a match of ours runs, and further ones begin while it is our turn."""

    def _run_matches(self) -> None:
        self.waits: list[float] = []
        running: list[str] = []
        for _ in range(6):
            running = [
                match_id for match_id in running if not self.referee.get_match(match_id).is_finished
            ]
            running += [] if running else [self._begin_match()]
            self.sleep(7.3)
            self.waits.append(self._measure_queue_seconds(self._begin_match_with_our_turn()))

    def _begin_match_with_our_turn(self) -> str:
        while True:
            match_id = self._begin_match()
            if self.referee.get_match(match_id).active_player == ALICE:
                return match_id
            self._terminate_match(match_id)

    def _measure_queue_seconds(self, match_id: str) -> float:
        """Return the seconds until a new match is attended, and terminate it."""
        began = self.scheduler.monotonic()
        while match_id not in self.active_matches:
            self.sleep(0.1)
        self._terminate_match(match_id)
        return self.scheduler.monotonic() - began

    def _terminate_match(self, match_id: str) -> None:
        self.referee.terminate_match(User(ADMIN, None, ADMIN), match_id, {}, None)
        self.scheduler.change_count += 1


@pytest.mark.parametrize(
    ("rate_limit", "interval_seconds"), [(None, LIST_SECONDS), (MAX_PER_USER, PERMITTED_SECONDS)]
)
def test_r42_a_second_match_is_found_when_the_list_is_requested_next(
    tmp_path: Path, rate_limit: int | None, interval_seconds: float
) -> None:
    """While another match runs, only the next list request can announce a match."""
    config = replace(CALM_RUN, concurrency=1, rate_limit=rate_limit, opponent_seconds=(0.5, 1))
    scenario = SecondMatchScenario(config, tmp_path)
    scenario.play()
    assert interval_seconds / 2 < max(scenario.waits) <= interval_seconds + DELIVERY_SECONDS


class NextMatchScenario(SecondMatchScenario):
    """Scenario with one match of ours at a time; each is terminated a while into its session."""

    def _run_matches(self) -> None:
        self.waits: list[float] = []
        for _ in range(6):
            self.waits.append(self._measure_queue_seconds(self._begin_match_with_our_turn()))
            self.sleep(7.3)

    def _terminate_match(self, match_id: str) -> None:
        self.sleep(PLAY_SECONDS)
        super()._terminate_match(match_id)


def test_r42_a_match_that_follows_another_is_found_at_once(tmp_path: Path) -> None:
    """While no match of ours runs, a list request is a long poll that a new match ends."""
    config = replace(CALM_RUN, concurrency=1, rate_limit=None, opponent_seconds=(0.5, 1))
    scenario = NextMatchScenario(config, tmp_path)
    scenario.play()
    assert max(scenario.waits) <= PERMITTED_SECONDS + DELIVERY_SECONDS + PLAY_SECONDS


class StackContestScenario(PollingScenario):
    """Scenario of contests that a stack's director runs in parallel; match ids are hashes."""

    def __init__(self, config: FaultSimulationConfig, folder: Path, table: DynamoTable) -> None:
        self.table = table
        super().__init__(config, folder)

    def _run_matches(self) -> None:
        host = ArenaMatchHost(InProcessArena(self.referee, self.table))
        contests = [
            self._create_contest(f"cup{number}") for number in range(self.config.concurrency)
        ]
        runners = [ContestRunner(contest, host, self.scheduler.now) for contest in contests]
        matches_with_opponent: set[str] = set()
        while any(contest.stage is not ContestStage.OVER for contest in contests):
            contest_count = 1 + int(self.scheduler.monotonic() / START_INTERVAL_SECONDS)
            for contest, runner in list(zip(contests, runners, strict=True))[:contest_count]:
                if contest.stage is ContestStage.OPEN:
                    contest.start_contest()
                runner.step()
            self.scheduler.change_count += 1
            new_matches = {
                match.id for match in self.arena.arena.lobby.all_matches()
            } - matches_with_opponent
            for match_id in sorted(new_matches):
                self.scheduler.start_thread(partial(self._play_opponent, match_id))
            matches_with_opponent |= new_matches
            self.sleep(TICK_INTERVAL.total_seconds())
        self.sleep(DELIVERY_SECONDS)
        for match_id in sorted(matches_with_opponent):
            self.check_match(match_id, ALICE, self.stores.log)

    def _create_contest(self, name: str) -> ContestRecords:
        match_count, turn_seconds = self.config.matches, self.config.turn_seconds
        settings = ContestSettings(
            name,
            "round-robin",
            matches=match_count,
            most=match_count,
            timeout=turn_seconds,
            seed=name,
        )
        document_store = SqliteDocumentStore(MEMORY_PATH, self.scheduler)
        records = ContestRepository(document_store).create(settings)
        for player in (ALICE, BOB):
            password_hash = digest_ha1(player, PASSWORDS[player])
            records.append_team(TeamEntry(player, player, password_hash, None))
        return records


def test_r42_contests_of_our_stack_with_hashed_ids_cost_the_bot_no_turn(tmp_path: Path) -> None:
    """No turn of 7 s is lost in matches that begin while others run."""
    config = replace(RATE_LIMIT_RUN, matches=1, concurrency=3, turn_seconds=7)
    with moto_client() as client, arena_table(client) as table:
        scenario = StackContestScenario(config, tmp_path, table)
        scenario.play()
    assert scenario.outcome.max_concurrency >= 2
    assert scenario.outcome.finished_count == config.matches * config.concurrency
    assert scenario.outcome.violations == []
