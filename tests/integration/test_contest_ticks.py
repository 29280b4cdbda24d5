"""Tests of the director's ticks: one chain of messages, despite lost messages and crashes."""

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
from support.contests import arena_table, contests_in_table
from support.store_fixtures import FakeClock

from cardsharp.aws.dynamodb_table import DynamoTable
from cardsharp.bot.queueing.memory_queue import MemoryQueue
from cardsharp.contest.director import ContestRunner
from cardsharp.contest.models import ContestSettings, ContestStage
from cardsharp.contest.repository import ContestRepository
from cardsharp.core.queue import Message
from cardsharp.errors import ArenaError
from cardsharp.games.deadmansdraw.arena.access.presence import DynamoPresence, PlayerActivity
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
from cardsharp.games.deadmansdraw.arena.match import ArenaMatch
from cardsharp.games.deadmansdraw.arena.randomness import RandomnessMethod
from cardsharp.games.deadmansdraw.arena.referee import Referee
from cardsharp.games.deadmansdraw.arena.storage.dynamo_repository import DynamoMatchRepository
from cardsharp.games.deadmansdraw.arena.storage.match_repository import MoveListener, ignore_move
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
class CloudContest:
    """A contest, an arena's table, a queue, and a function that starts anew for each message.

    `open_repository` opens the contest with a client of the table; by default the contest is
    in memory, which is faster.
    """

    client: Any
    table: DynamoTable
    open_repository: Callable[[Any], ContestRepository] | None = None
    clock: FakeClock = field(default_factory=FakeClock)
    notify_turn: MoveListener = ignore_move

    def __post_init__(self) -> None:
        self.queue = MemoryQueue(self.clock, VISIBILITY)
        self.match_repository = MemoryMatchRepository(None, InProcessLongPoll())
        self.function_client = self.client
        if self.open_repository is None:
            document_store = SqliteDocumentStore(MEMORY_PATH, self.clock)
            self.open_repository = lambda _client: ContestRepository(document_store)
        self.records = self.open_repository(self.client).create(SETTINGS)
        for name in ("One", "Two", "Three"):
            self.records.add_team(name)
        players = [
            PlayerAccount.model_validate({"_id": team.id, "name": team.name, "ha1": team.ha1})
            for team in self.records.teams()
        ]
        self.user_directory = UserDirectory(lambda: {player.id: player for player in players})
        self.start_function().run_tick_if_stalled("at the deployment")

    @property
    def referee(self) -> Referee:
        return Referee(
            self.match_repository, self.user_directory, RandomnessMethod.FAIR, self.clock.now
        )

    def start_function(self) -> TickHandler:
        """Return the tick handler of a function that has just started."""
        table, referee = DynamoTable(self.table.name, self.function_client), self.referee
        return TickHandler(
            TickChain(table, self.queue, URL),
            referee,
            ArenaMatchHost(InProcessArena(referee, table)),
            self.open_repository(self.function_client).active_contests,
            self.notify_turn,
        )

    def handle(self, message: Message) -> None:
        """Handle a message as Lambda does: delete it unless the function crashes."""
        with suppress(Crash):
            self.start_function().run_tick_if_claimed(
                TickMessage.parse(message.body).ticket, message.message_id
            )
            self.queue.delete(message)

    def send_tick(self) -> None:
        assert send_immediate_tick(self.table, {URL: self.queue}.__getitem__)

    def start_contest(self) -> None:
        self.records.start_contest()
        self.send_tick()

    def end_started_matches(self) -> None:
        """End every match that has run for a while; its seed determines the winner."""
        for match in list(self.match_repository.running_matches()):
            if self.clock.now() - match.started_at > timedelta(seconds=4):
                winner = match.pairing.players[sha256(match.params.seed.encode()).digest()[0] % 2]
                self.referee.terminate_match(ORGANISER, match.id, {"winnerId": winner}, None)

    def run_seconds(self, seconds: int = 400, *, scheduled: bool = True) -> None:
        """Advance the clock until the contest is over; with `scheduled`, run the schedule too."""
        for second in range(seconds):
            for message in iter(lambda: self.queue.receive_message(NO_WAIT), None):
                self.handle(message)
            self.end_started_matches()
            if scheduled and second % 60 == 59:
                self.start_function().run_tick_if_stalled(f"schedule {second}")
            self.clock.advance(timedelta(seconds=1))
            if second % 10 == 0 and not len(self.queue) and self.records.stage is ContestStage.OVER:
                return


@pytest.fixture
def cloud(moto: Any) -> Iterator[CloudContest]:  # noqa: ANN401 - a client in this process
    with arena_table(moto) as table:
        yield CloudContest(moto, table)


def error_messages(caplog: pytest.LogCaptureFixture) -> set[str]:
    """Return the messages that were logged as errors, which an alarm watches."""
    return {record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR}


def test_a_contest_that_stands_still_is_logged_as_an_error_and_ticks_go_on(
    cloud: CloudContest, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """No function fails, so only the alarm on the director's errors reports it."""
    cloud.start_contest()

    def fail(_runner: ContestRunner) -> bool:
        raise ArenaError("the arena is down")

    monkeypatch.setattr(ContestRunner, "step", fail)
    cloud.run_seconds(11)
    assert error_messages(caplog) == {f"A step of the contest {SETTINGS.name} failed"}
    assert len(cloud.queue) == 1


def test_a_match_that_cannot_be_read_is_logged_as_an_error(
    moto: Any,  # noqa: ANN401 - a client in this process
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The late turns of an unreadable match are not ended, so the organiser must be alerted."""
    with arena_table(moto) as table:
        key = item_key("running", "m1")
        table.put(key)
        table.put({**item_key("match#m1", "head"), "match_zip": {"B": b"not packed"}})
        repository = DynamoMatchRepository(table, timedelta(days=1))
        list(repository.running_matches())
    assert error_messages(caplog) == {"The stored match m1 cannot be read."}


def test_an_idle_contest_has_no_ticks(cloud: CloudContest) -> None:
    """A contest has no ticks before its start or while it is paused; a resume brings them back."""
    cloud.send_tick()
    cloud.run_seconds(20)
    assert len(cloud.queue) == 0
    cloud.records.set_paused(paused=True)
    cloud.start_contest()
    cloud.run_seconds(20)
    assert (len(cloud.queue), list(cloud.match_repository.all_matches())) == (0, [])
    cloud.records.set_paused(paused=False)
    cloud.send_tick()
    cloud.run_seconds(10)
    assert len(cloud.queue) == 1
    assert list(cloud.match_repository.all_matches()) != []


def test_processes_of_an_arena_keep_what_another_one_knows_of_a_player(
    cloud: CloudContest,
) -> None:
    """One has answered the poll, and another one the move: the tags and the program stay."""
    polled_at, moved_at = cloud.clock.now(), cloud.clock.now() + timedelta(seconds=3)
    first, second = DynamoPresence(cloud.table), DynamoPresence(cloud.table)
    first.record_poll("a", polled_at, {"cup"}, "bot/1.0")
    second.record_move("a", moved_at)
    expected = PlayerActivity(moved_at, ("cup",), "bot/1.0", moved_at)
    assert first.activity_by_player() == {"a": expected}
    later = moved_at + timedelta(seconds=20)
    first.record_poll("a", later, None)
    assert first.activity_by_player() == {"a": PlayerActivity(later, None, "", moved_at)}
    first.record_move("a", later + timedelta(seconds=1))
    first.record_activity("a", later + timedelta(seconds=11))
    assert first.activity_by_player()["a"].last_move_at == later + timedelta(seconds=1)


def test_practice_runs_by_ticks_and_the_cup_follows_its_running_matches(
    cloud: CloudContest,
) -> None:
    """Practice pairs the teams whose presence is recorded; its matches end before the contest."""
    *present_teams, lost_team = [team.id for team in cloud.records.teams()][:3]
    presence = DynamoPresence(cloud.table)
    cloud.records.set_practice_until(cloud.clock.now() + timedelta(seconds=60))
    cloud.send_tick()
    for _ in range(5):
        for team in present_teams:
            presence.record_poll(team, cloud.clock.now(), {"cup"})
        presence.record_poll(lost_team, cloud.clock.now(), {"cpu"})
        cloud.run_seconds(10)
    paired_teams = {
        team for practice_match in cloud.records.practice_matches() for team in practice_match.teams
    }
    assert paired_teams == set(present_teams)
    assert cloud.records.wrong_tags_by_team() == {lost_team: ("cpu",)}
    cloud.records.set_practice_until(cloud.clock.now())
    cloud.start_contest()
    cloud.run_seconds()
    assert (cloud.records.practice_until, cloud.records.stage) == (None, ContestStage.OVER)
    start_times = [
        match.started_at
        for match in cloud.match_repository.all_matches()
        if "cup" in (match.params.tags or ())[:2]  # matches of practice have it, too
    ]
    assert max(practice_match.at for practice_match in cloud.records.practice_matches()) <= min(
        start_times
    )


@pytest.mark.parametrize("phase", [0, 3])
def test_a_dead_teams_turn_ends_ten_seconds_past_its_limit(cloud: CloudContest, phase: int) -> None:
    """The turn ends in time, wherever its limit falls between two ticks."""
    cloud.send_tick()
    cloud.clock.advance(timedelta(seconds=phase))
    match_request = {
        "playerids": [*cloud.user_directory.players_by_id][:2],
        "timeout": 7,
        "tags": ["practice"],
    }
    match = cloud.referee.create_match(ORGANISER, match_request, None)
    cloud.send_tick()
    turn_start, forced_turn_count = match.started_at, 0
    while not match.is_finished:
        for message in iter(lambda: cloud.queue.receive_message(NO_WAIT), None):
            cloud.handle(message)
        current_match = cloud.match_repository.get(match.id)
        if current_match.last_move_at != match.last_move_at:
            forced_turn_count += 1
            assert (
                timedelta(seconds=7)
                < current_match.last_move_at - turn_start
                <= timedelta(seconds=17)
            )
            match, turn_start = current_match, current_match.last_move_at
        cloud.clock.advance(timedelta(seconds=1))
    assert forced_turn_count > 1


def test_messages_that_come_twice_late_or_out_of_order_make_no_second_chain(
    cloud: CloudContest,
) -> None:
    """Each message is handled twice, and old messages are sent again."""
    cloud.start_contest()
    old_bodies: list[str] = []
    for second in range(400):
        for message in iter(lambda: cloud.queue.receive_message(NO_WAIT), None):
            old_bodies.append(message.body)
            cloud.handle(message)
            cloud.handle(message)
        if second % 7 == 0 and old_bodies:
            cloud.queue.send(old_bodies[second % len(old_bodies)])
            cloud.send_tick()
        cloud.end_started_matches()
        assert len(cloud.queue) <= 4
        cloud.clock.advance(timedelta(seconds=1))
        if cloud.records.stage is ContestStage.OVER:
            break
    assert cloud.records.stage is ContestStage.OVER
    tags = [match.params.tags for match in cloud.match_repository.all_matches()]
    assert len(set(tags)) == len(tags)


def test_the_first_tick_of_a_new_stack_needs_no_schedule(moto: Any) -> None:  # noqa: ANN401 - as above
    """A command knows the queue of its stack, and the first tick stores it for the arena."""
    with arena_table(moto) as table:
        queue = MemoryQueue(FakeClock(), VISIBILITY)
        queues = {URL: queue}.__getitem__
        assert not send_immediate_tick(table, queues)
        assert send_immediate_tick(table, queues, URL)
        message = queue.receive_message(NO_WAIT)
        assert message is not None
        assert TickChain(table, queue, URL).claim(TickMessage.parse(message.body).ticket, "1")
        assert send_immediate_tick(table, queues)


@pytest.mark.parametrize("phase", range(5))
def test_a_hosted_team_keeps_its_turn_if_the_director_is_killed(
    cloud: CloudContest, phase: int
) -> None:
    """The message of the turn is lost with the director, and a tick sends another one in time."""
    reminders: list[timedelta] = []

    def remind(match: ArenaMatch) -> None:
        reminders.append(cloud.clock.now() - match.last_move_at)

    cloud.notify_turn = remind
    cloud.send_tick()
    cloud.clock.advance(timedelta(seconds=phase))
    match_request = {"playerids": [*cloud.user_directory.players_by_id][:2], "timeout": 7}
    cloud.referee.create_match(ORGANISER, match_request, None)
    cloud.send_tick()
    cloud.run_seconds(8, scheduled=False)
    assert min(reminders) <= timedelta(seconds=6)


def test_the_schedule_recovers_a_lost_message(cloud: CloudContest) -> None:
    """The schedule restarts the chain at its second run; at the first it may be between ticks."""
    cloud.start_contest()
    cloud.run_seconds(10)
    lost_message = cloud.queue.receive_message(TICK_INTERVAL)
    cloud.queue.delete(lost_message)
    assert not cloud.start_function().run_tick_if_stalled("a minute")
    assert cloud.start_function().run_tick_if_stalled("another")
    cloud.run_seconds(10)
    assert len(cloud.queue) == 1


def test_two_directors_at_once_begin_each_match_once(cloud: CloudContest) -> None:
    """Two directors that create the same pairing at once get the same match.

    For other teams it is another match.
    """
    cloud.records.start_contest()
    first, second, third = cloud.user_directory.players_by_id
    first_arena, second_arena = (InProcessArena(cloud.referee, cloud.table) for _ in range(2))

    def create_match(arena: InProcessArena, *teams: str) -> str:
        params = MatchParams(teams, ("cup_Round1", "cup", "cup:1:0"), random_seed="1")
        return arena.create_match(params).id

    match_id = create_match(first_arena, first, second)
    assert create_match(second_arena, first, second) == match_id
    assert [match.id for match in cloud.match_repository.all_matches()] == [match_id]
    assert create_match(second_arena, first, third) != match_id


def test_a_function_that_dies_changes_nothing(moto: Any) -> None:  # noqa: ANN401 - as above
    """The queue delivers the message of a crashed function again; no match starts twice."""

    def play_with_faults(plan: FaultPlan) -> list[tuple[str, str | None, int]]:
        with arena_table(moto) as table:
            cloud = CloudContest(moto, table, partial(contests_in_table, table))
            cloud.function_client = FaultInjector(moto, plan, AWS_REQUESTS)
            cloud.start_contest()
            cloud.run_seconds(scheduled=False)
            assert (cloud.records.stage, len(cloud.queue)) == (ContestStage.OVER, 0), (
                "and nothing ticks"
            )
            tags = [match.params.tags for match in cloud.match_repository.all_matches()]
            assert len(set(tags)) == len(tags), plan.faults
            names = cloud.records.team_names_with_removed()
            return [
                (result.pairing, names.get(result.winner or ""), len(result.matches))
                for result in cloud.records.results()
                if result.decided
            ]

    fault_free_plan = FaultPlan(VirtualClock())
    expected_results, request_count = play_with_faults(fault_free_plan), len(fault_free_plan.steps)
    assert request_count > 50
    step_interval, crash_kinds = request_count // case_count(2, 30), sorted(CRASHES)
    for sample_index, crash_step in enumerate(
        range(step_interval // 2, request_count, step_interval)
    ):
        # In the sample each moment suffers one kind of death; its neighbour has the other.
        for crash_kind in crash_kinds[sample_index % case_count(2, 1) :: case_count(2, 1)]:
            assert (
                play_with_faults(FaultPlan(VirtualClock(), {crash_step: crash_kind}))
                == expected_results
            ), (
                crash_kind,
                crash_step,
            )
