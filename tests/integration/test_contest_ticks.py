"""The ticks of an arena in the cloud: one chain, whatever befalls its messages and functions."""

import logging
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from hashlib import sha256
from typing import Any

import pytest
from fault_simulation.faults import AWS_REQUESTS, CRASHES, Crash, FaultInjector, FaultPlan
from fault_simulation.virtual_clock import VirtualClock
from support.case_counts import case_count
from support.contests import arena_table, contests_in
from support.store_fixtures import FakeClock

from cardsharp.aws.dynamodb_table import DynamoTable
from cardsharp.bot.queueing.memory_queue import MemoryQueue
from cardsharp.contest.director import ContestRunner
from cardsharp.contest.models import ContestSettings, ContestStage
from cardsharp.contest.repository import ContestRepository
from cardsharp.core.queue import Message
from cardsharp.errors import ArenaError
from cardsharp.games.deadmansdraw.arena.access.presence import DynamoPresence
from cardsharp.games.deadmansdraw.arena.access.users import (
    ADMIN,
    PlayerAccount,
    User,
    UserDirectory,
)
from cardsharp.games.deadmansdraw.arena.director_ticks import (
    TICK_INTERVAL,
    TickChain,
    TickMessage,
    send_immediate_tick,
)
from cardsharp.games.deadmansdraw.arena.local_arena import MemoryMatchRepository
from cardsharp.games.deadmansdraw.arena.long_poll import InProcessLongPoll
from cardsharp.games.deadmansdraw.arena.randomness import RandomnessMethod
from cardsharp.games.deadmansdraw.arena.referee import Referee
from cardsharp.games.deadmansdraw.arena.storage.dynamo_repository import DynamoMatchRepository
from cardsharp.games.deadmansdraw.arena_bot.wire import MatchParams
from cardsharp.games.deadmansdraw.contest.arena_match_host import ArenaMatchHost
from cardsharp.games.deadmansdraw.contest.bootstrap import TickHandler
from cardsharp.games.deadmansdraw.contest.in_process_arena import InProcessArena
from cardsharp.store.dynamodb_match_items import item_key
from cardsharp.store.sqlite_documents import SqliteDocumentStore
from cardsharp.store.sqlite_file import MEMORY_PATH

SETTINGS = ContestSettings("cup", "round-robin", matches=1, most=3, timeout=7, seed="secret")
URL = "https://sqs.example/ticks"
NO_WAIT = timedelta()
VISIBILITY = timedelta(seconds=30)
ORGANISER = User(ADMIN, None, ADMIN)


@dataclass
class Cloud:
    """A contest, an arena's table, a queue, and a function that is built anew for each message.

    `open_repository` opens the contest with a client of the table; by default the contest is in
    memory, which is faster.
    """

    client: Any
    table: DynamoTable
    open_repository: Callable[[Any], ContestRepository] | None = None
    clock: FakeClock = field(default_factory=FakeClock)

    def __post_init__(self) -> None:
        self.queue = MemoryQueue(self.clock, VISIBILITY)
        self.lobby = MemoryMatchRepository(None, InProcessLongPoll())
        self.fragile = self.client
        if self.open_repository is None:
            keep = SqliteDocumentStore(MEMORY_PATH, self.clock)
            self.open_repository = lambda _client: ContestRepository(keep)
        self.records = self.open_repository(self.client).create(SETTINGS)
        for name in ("One", "Two", "Three"):
            self.records.add_team(name)
        players = [
            PlayerAccount.model_validate({"_id": team.id, "name": team.name, "ha1": team.ha1})
            for team in self.records.teams()
        ]
        self.book = UserDirectory(lambda: {player.id: player for player in players})
        self.function().run_tick_if_stalled("at the deployment")

    @property
    def referee(self) -> Referee:
        return Referee(self.lobby, self.book, RandomnessMethod.FAIR, self.clock.now)

    def function(self) -> TickHandler:
        """Return the tick handler of a function that has just started."""
        table, referee = DynamoTable(self.table.name, self.fragile), self.referee
        return TickHandler(
            TickChain(table, self.queue, URL),
            referee,
            ArenaMatchHost(InProcessArena(referee, table)),
            self.open_repository(self.fragile).active_contests,
        )

    def handle(self, message: Message) -> None:
        """Have a message handled as Lambda does it: gone unless the function dies."""
        with suppress(Crash):
            self.function().run_tick(TickMessage.parse(message.body).ticket, message.message_id)
            self.queue.delete(message)

    def wake(self) -> None:
        assert send_immediate_tick(self.table, {URL: self.queue}.__getitem__)

    def begin(self) -> None:
        self.records.start_contest()
        self.wake()

    def play(self) -> None:
        """End every match that has run for a while; who wins follows from its seed."""
        for match in list(self.lobby.running_matches()):
            if self.clock.now() - match.started_at > timedelta(seconds=4):
                winner = match.pairing.players[sha256(match.params.seed.encode()).digest()[0] % 2]
                self.referee.terminate_match(ORGANISER, match.id, {"winnerId": winner}, None)

    def run(self, seconds: int = 400, *, scheduled: bool = True) -> None:
        """Let the time go by until nothing is left; a schedule looks every minute, if wanted."""
        for second in range(seconds):
            for message in iter(lambda: self.queue.receive_message(NO_WAIT), None):
                self.handle(message)
            self.play()
            if scheduled and second % 60 == 59:
                self.function().run_tick_if_stalled(f"schedule {second}")
            self.clock.advance(timedelta(seconds=1))
            if second % 10 == 0 and not len(self.queue) and self.records.stage is ContestStage.OVER:
                return


@pytest.fixture
def cloud(moto: Any) -> Iterator[Cloud]:  # noqa: ANN401 - a client in this process
    with arena_table(moto) as table:
        yield Cloud(moto, table)


def error_messages(caplog: pytest.LogCaptureFixture) -> set[str]:
    """Return what was logged as an error, which an alarm watches."""
    return {record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR}


def test_a_contest_that_stands_still_is_logged_as_an_error_and_ticks_go_on(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Only the alarm on errors of the director tells it: no function fails."""
    cloud.begin()

    def fail(_runner: ContestRunner) -> bool:
        raise ArenaError("the arena is down")

    monkeypatch.setattr(ContestRunner, "step", fail)
    cloud.run(11)
    assert error_messages(caplog) == {f"A step of the contest {SETTINGS.name} failed"}
    assert len(cloud.queue) == 1


def test_a_match_that_cannot_be_read_is_logged_as_an_error(
    moto: Any,  # noqa: ANN401 - a client in this process
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Nobody ends its late turns, so somebody must hear of it."""
    with arena_table(moto) as table:
        key = item_key("running", "m1")
        table.put(key)
        table.put({**item_key("match#m1", "head"), "match_zip": {"B": b"not packed"}})
        lobby = DynamoMatchRepository(table, timedelta(days=1))
        list(lobby.running_matches())
    assert error_messages(caplog) == {"The stored match m1 cannot be read."}


def test_an_idle_contest_has_no_ticks(cloud: Cloud) -> None:
    """Before a contest begins, while it pauses and no match runs; resuming brings them back."""
    cloud.wake()
    cloud.run(20)
    assert len(cloud.queue) == 0
    cloud.records.set_paused(paused=True)
    cloud.begin()
    cloud.run(20)
    assert (len(cloud.queue), list(cloud.lobby.all_matches())) == (0, [])
    cloud.records.set_paused(paused=False)
    cloud.wake()
    cloud.run(10)
    assert len(cloud.queue) == 1
    assert list(cloud.lobby.all_matches()) != []


def test_practice_runs_by_ticks_and_the_cup_follows_its_running_matches(cloud: Cloud) -> None:
    """Of the teams that the arena has heard of, by whatever process; what runs then is played."""
    present_teams = [team.id for team in cloud.records.teams()][:2]
    cloud.records.set_practice_until(cloud.clock.now() + timedelta(seconds=60))
    cloud.wake()
    for _ in range(5):
        for team in present_teams:
            DynamoPresence(cloud.table).record_activity(team, cloud.clock.now())
        cloud.run(10)
    met = {team for meeting in cloud.records.practice_matches() for team in meeting.teams}
    assert met == set(present_teams)
    cloud.records.set_practice_until(cloud.clock.now())
    cloud.begin()
    cloud.run()
    assert (cloud.records.practice_until, cloud.records.stage) == (None, ContestStage.OVER)
    cup = [
        match.started_at
        for match in cloud.lobby.all_matches()
        if "cup" in (match.params.tags or ())
    ]
    assert max(meeting.at for meeting in cloud.records.practice_matches()) <= min(cup)


@pytest.mark.parametrize("phase", [0, 3])
def test_a_dead_teams_turn_ends_ten_seconds_past_its_limit(cloud: Cloud, phase: int) -> None:
    """Wherever in the pause between two ticks its limit falls."""
    cloud.wake()
    cloud.clock.advance(timedelta(seconds=phase))
    wish = {"playerids": [*cloud.book.players_by_id][:2], "timeout": 7, "tags": ["practice"]}
    match = cloud.referee.create_match(ORGANISER, wish, None)
    cloud.wake()
    began, forced_turn_count = match.started_at, 0
    while not match.is_finished:
        for message in iter(lambda: cloud.queue.receive_message(NO_WAIT), None):
            cloud.handle(message)
        current_match = cloud.lobby.get(match.id)
        if current_match.last_move_at != match.last_move_at:
            forced_turn_count += 1
            assert (
                timedelta(seconds=7) < current_match.last_move_at - began <= timedelta(seconds=17)
            )
            match, began = current_match, current_match.last_move_at
        cloud.clock.advance(timedelta(seconds=1))
    assert forced_turn_count > 1


def test_messages_that_come_twice_late_or_out_of_order_make_no_second_chain(cloud: Cloud) -> None:
    """Each is delivered twice, sent again by strangers, and again when it is long over."""
    cloud.begin()
    old: list[str] = []
    for second in range(400):
        for message in iter(lambda: cloud.queue.receive_message(NO_WAIT), None):
            old.append(message.body)
            cloud.handle(message)
            cloud.handle(message)
        if second % 7 == 0 and old:
            cloud.queue.send(old[second % len(old)])
            cloud.wake()
        cloud.play()
        assert len(cloud.queue) <= 4
        cloud.clock.advance(timedelta(seconds=1))
        if cloud.records.stage is ContestStage.OVER:
            break
    assert cloud.records.stage is ContestStage.OVER
    tags = [match.params.tags for match in cloud.lobby.all_matches()]
    assert len(set(tags)) == len(tags)


def test_the_schedule_recovers_a_lost_message(cloud: Cloud) -> None:
    """At its second look: at the first, the chain might only be between two ticks."""
    cloud.begin()
    cloud.run(10)
    lost = cloud.queue.receive_message(TICK_INTERVAL)
    cloud.queue.delete(lost)
    assert not cloud.function().run_tick_if_stalled("a minute")
    assert cloud.function().run_tick_if_stalled("another")
    cloud.run(10)
    assert len(cloud.queue) == 1


def test_two_directors_at_once_begin_each_match_once(cloud: Cloud) -> None:
    """Each has looked before the other has begun anything; of other teams it is another match."""
    cloud.records.start_contest()
    first, second, third = cloud.book.players_by_id
    first_arena, second_arena = (InProcessArena(cloud.referee, cloud.table) for _ in range(2))

    def begun(office: InProcessArena, *teams: str) -> str:
        params = MatchParams(teams, ("cup_Round1", "cup", "cup:1:0"), random_seed="1")
        return office.create_match(params).id

    match_id = begun(first_arena, first, second)
    assert begun(second_arena, first, second) == match_id
    assert [match.id for match in cloud.lobby.all_matches()] == [match_id]
    assert begun(second_arena, first, third) != match_id


def test_a_function_that_dies_changes_nothing(moto: Any) -> None:  # noqa: ANN401 - as above
    """The queue alone makes it good, by delivering the message again: no match is begun twice."""

    def played(plan: FaultPlan) -> list[tuple[str, str | None, int]]:
        with arena_table(moto) as table:
            cloud = Cloud(moto, table, partial(contests_in, table))
            cloud.fragile = FaultInjector(moto, plan, AWS_REQUESTS)
            cloud.begin()
            cloud.run(scheduled=False)
            assert (cloud.records.stage, len(cloud.queue)) == (ContestStage.OVER, 0), (
                "and nothing ticks"
            )
            tags = [match.params.tags for match in cloud.lobby.all_matches()]
            assert len(set(tags)) == len(tags), plan.faults
            names = cloud.records.team_names_with_removed()
            return [
                (result.pairing, names.get(result.winner or ""), len(result.matches))
                for result in cloud.records.results()
                if result.decided
            ]

    fault_free_plan = FaultPlan(VirtualClock())
    undisturbed, calls = played(fault_free_plan), len(fault_free_plan.steps)
    assert calls > 50
    every, kinds = calls // case_count(2, 30), sorted(CRASHES)
    for place, dies_at in enumerate(range(every // 2, calls, every)):
        # In the sample each moment suffers one kind of death; its neighbour has the other.
        for kind in kinds[place % case_count(2, 1) :: case_count(2, 1)]:
            assert played(FaultPlan(VirtualClock(), {dies_at: kind})) == undisturbed, (
                kind,
                dies_at,
            )
