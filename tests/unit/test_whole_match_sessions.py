"""Session protocol that all games share: denials, retries, handovers and dispatch.

Dispatch covers the maximal age of a match and the operator's settings.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import pairwise

import pytest
from fault_simulation.faults import Crash
from fault_simulation.virtual_clock import VirtualClock
from support.counting_match import (
    ACTIONS,
    HOUR,
    TIMING,
    CountingMatch,
    SessionHarness,
    open_session_harness,
)
from support.store_fixtures import RecordingMeter, acquire_lease, receive_message, require_match

from cardsharp.bot.bot import Bot
from cardsharp.bot.bot_match import IN_FLIGHT_SECONDS, MoveFacts, NextRead, Observation
from cardsharp.bot.error_policy import MAX_EQUAL_REFUSALS
from cardsharp.bot.fair_semaphore import FairSemaphore
from cardsharp.bot.queueing.messages import MatchMessage, parse_match_message
from cardsharp.bot.session_result import SessionResult
from cardsharp.core.metrics import MetricName
from cardsharp.errors import (
    ArenaError,
    GatewayRejection,
    MatchOver,
    NotFound,
    NotYourTurn,
    RequestRejected,
    Unauthorized,
)
from cardsharp.play.decision_runner import DecisionResult
from cardsharp.play.strategy import Decision
from cardsharp.store.match_log import Body, MatchStatus

GATEWAY_ERROR = GatewayRejection(403, "a page of some gateway", outcome_unknown=True)
MISSING_MATCH = NotFound(404, "gone")
DENIAL = RequestRejected(403, "you may not")
WRONG_CREDENTIALS = Unauthorized(401, "check the password")
PERMANENT_REPEATS = 9  # as often as this is said again, it is believed


@pytest.fixture
def harness() -> Iterator[SessionHarness]:
    with open_session_harness() as harness:
        yield harness


@pytest.mark.parametrize("was_throttled", [False, True])
def test_a_takeover_waits_as_long_as_the_intent_says(
    harness: SessionHarness, *, was_throttled: bool
) -> None:
    """A takeover waits until an action of its predecessor can have arrived.

    It does not wait if its read was throttled: the arena delays a later request longer.
    """
    delay = TIMING.lease_ttl if was_throttled else timedelta(seconds=12)

    class DelayedMatch(CountingMatch):
        arrives: datetime | None = None

        def observe(self, recorded: MoveFacts) -> Observation[int]:
            if self.arrives is not None and self.arrives <= harness.clock.now():
                self.count, self.arrives = 1, None
            return replace(super().observe(recorded), was_throttled=was_throttled)

        def intent_body(
            self,
            decision_result: DecisionResult[Decision[int]],
            decided_at: datetime,
            worker_id: str,
        ) -> Body:
            return {
                **super().intent_body(decision_result, decided_at, worker_id),
                IN_FLIGHT_SECONDS: 12.5,
            }

        def send(self, action: int) -> NextRead:
            if self.count == 0:
                assert self.arrives is None, "played again while the first action is under way"
                self.arrives = harness.clock.now() + delay
                raise Crash("while the arena holds it back")
            return super().send(action)

    match = DelayedMatch()
    with pytest.raises(Crash):
        harness.run_session(match)
    harness.expire_lease()
    start_time = harness.clock.now()
    assert harness.run_session(match) is SessionResult.FINISHED
    assert match.count == ACTIONS
    assert (harness.clock.now() - start_time < timedelta(seconds=1)) is was_throttled


def test_r25_a_briefly_stale_state_causes_no_repeated_move(harness: SessionHarness) -> None:
    match = CountingMatch()
    match.errors["look"] = [
        None,
        None,
        None,
        *[Observation(next_sequence=1, facts={}, turn=match)] * 2,
    ]
    assert harness.run_session(match) is SessionResult.FINISHED
    assert harness.log.notes("m") == []


class ForgetfulMatch(CountingMatch):
    """Counting match whose arena forgets all but the first number after three were counted."""

    def observe(self, recorded: MoveFacts) -> Observation[int]:
        if len(self.rejected_action_sets) == ACTIONS and len(recorded) == 2:
            self.count = 1
        observation = super().observe(recorded)
        is_repeated = len(self.rejected_action_sets) > ACTIONS
        return replace(observation, facts={n: {"anew": is_repeated} for n in observation.facts})


def test_r25_a_lost_move_is_repeated_within_seconds(harness: SessionHarness) -> None:
    start_time = harness.clock.now()
    assert harness.run_session(ForgetfulMatch()) is SessionResult.FINISHED
    assert harness.clock.now() - start_time <= TIMING.denial_timeout + TIMING.backoff
    assert [note.body["sequence"] for note in harness.log.notes("m")] == [1, 2]
    facts = [{"anew": False}, {"anew": True}, {"anew": True}]
    assert [move.facts for move in harness.log.moves("m")] == facts


OTHER_BOT_WARNING = "another bot or a person plays as this user"


@pytest.mark.parametrize(
    ("match", "expected_result", "warning_count"),
    [
        (
            CountingMatch(target_count=9, other_bot_moves=[False, False, True, False, True]),
            SessionResult.FINISHED,
            1,
        ),
        (
            CountingMatch({"act": [NotYourTurn(409, "not yours")]}, [False, True]),
            SessionResult.LEASED_BY_OTHER,
            1,
        ),
        (CountingMatch(target_count=9, count=4), SessionResult.FINISHED, 0),
    ],
    ids=["ours came first", "both meant the first, and ours was refused", "our log was lost"],
)
def test_the_bot_with_the_first_move_goes_on_and_warns_of_another_bot_only_once(
    harness: SessionHarness,
    caplog: pytest.LogCaptureFixture,
    match: CountingMatch,
    expected_result: SessionResult,
    warning_count: int,
) -> None:
    assert harness.run_session(deepcopy(match)) is expected_result
    assert caplog.text.count(OTHER_BOT_WARNING) == warning_count
    assert ("moved first and continues" in caplog.text) is bool(
        warning_count and expected_result is SessionResult.FINISHED
    )


def test_a_later_bot_leaves_the_match_and_resumes_when_the_other_is_silent(
    harness: SessionHarness, caplog: pytest.LogCaptureFixture
) -> None:
    """The later bot never acts while the other bot acts, at first or after a pause."""
    match = CountingMatch(target_count=9, other_bot_moves=[True, True])
    assert harness.run_session(match) is SessionResult.LEASED_BY_OTHER
    assert match.rejected_action_sets == []
    assert harness.lease_ttl() == TIMING.retry_delay
    harness.expire_lease()
    match.other_bot_moves = [True]
    assert harness.run_session(match) is SessionResult.LEASED_BY_OTHER
    assert match.rejected_action_sets == []
    harness.expire_lease()
    assert harness.run_session(match) is SessionResult.FINISHED, (
        "it has stood at our turn for a minute"
    )
    assert caplog.text.count(OTHER_BOT_WARNING) == 1


def test_a_denied_match_is_retried_sooner_once_the_bot_has_played_it(
    harness: SessionHarness,
) -> None:
    """The shorter delay holds for the worker that has played, and for its successor."""
    match = CountingMatch()
    for successful_reads, lease_ttl in (
        ([], TIMING.retry_delay),
        ([None], TIMING.lease_ttl),
        ([], TIMING.lease_ttl),
    ):
        match.errors["look"] = [*successful_reads, *[DENIAL] * PERMANENT_REPEATS]
        assert harness.run_session(match) is SessionResult.UNKNOWN_MATCH
        assert harness.lease_ttl() == lease_ttl
        harness.expire_lease()
    match.errors.clear()
    assert harness.run_session(match) is SessionResult.FINISHED


@pytest.mark.parametrize(
    "responses",
    [
        *(
            [error, None] * ACTIONS
            for error in (GATEWAY_ERROR, MISSING_MATCH, DENIAL, WRONG_CREDENTIALS)
        ),
        [GATEWAY_ERROR] * 60,
        [MISSING_MATCH, GATEWAY_ERROR] * PERMANENT_REPEATS,
    ],
)
def test_r23_a_single_denial_or_a_gateway_error_is_retried_and_the_match_is_played(
    harness: SessionHarness, responses: list[ArenaError | None]
) -> None:
    """A restarting arena first denies requests, and then a gateway responds in its place."""
    start_time, denials = harness.clock.now(), sum(error is not None for error in responses)
    assert harness.run_session(CountingMatch({"look": [*responses]})) is SessionResult.FINISHED
    assert harness.clock.now() - start_time <= denials * TIMING.backoff


def test_a_missing_match_is_closed_by_a_session_with_time_to_confirm_it(
    harness: SessionHarness,
) -> None:
    match = CountingMatch({"look": [MISSING_MATCH] * 2 * PERMANENT_REPEATS})
    assert (
        harness.run_session(match, TIMING.handover_margin + TIMING.backoff)
        is SessionResult.HANDED_OVER
    )
    assert require_match(harness.log).status is MatchStatus.RUNNING
    assert harness.run_session(match) is SessionResult.UNKNOWN_MATCH
    record = require_match(harness.log)
    assert (record.status, record.outcome) == (MatchStatus.FINISHED, {"result": "unknown"})


@pytest.mark.parametrize(
    ("step", "lease_ttl"), [("look", TIMING.retry_delay), ("act", TIMING.lease_ttl)]
)
def test_wrong_credentials_raise_unauthorized(
    harness: SessionHarness, step: str, lease_ttl: timedelta
) -> None:
    """Reads and actions may use different credentials; both kinds of failure are reported."""
    start_time = harness.clock.now()
    with pytest.raises(Unauthorized):
        harness.run_session(CountingMatch({step: [WRONG_CREDENTIALS] * PERMANENT_REPEATS}))
    assert harness.clock.now() - start_time == TIMING.denial_timeout
    assert harness.lease_ttl() == lease_ttl


@pytest.mark.parametrize(
    ("denial_count", "expected_result", "expected_seconds"),
    [(8, SessionResult.FINISHED, 2 + 63), (100, SessionResult.UNKNOWN_MATCH, 2 + 63)],
)
def test_a_match_that_denies_an_action_for_a_minute_is_abandoned(
    harness: SessionHarness,
    denial_count: int,
    expected_result: SessionResult,
    expected_seconds: int,
) -> None:
    """The bot does not give up sooner: a restarted server soon has the match again."""
    start_time = harness.clock.now()
    assert (
        harness.run_session(CountingMatch({"act": [MISSING_MATCH] * denial_count}))
        is expected_result
    )
    assert harness.clock.now() - start_time == timedelta(seconds=expected_seconds)
    assert timedelta(seconds=expected_seconds) >= TIMING.contradiction_timeout


MATCH_IS_OVER = RequestRejected(400, "No action possible on finished matches.")


@dataclass
class RefusingMatch(CountingMatch):
    """Counting match that records when actions are sent; every later decision is late."""

    clock: VirtualClock = field(default_factory=VirtualClock)
    attempts: list[float] = field(default_factory=list)

    def decide(
        self, timeout: timedelta, monotonic: Callable[[], float], rejected_actions: frozenset[int]
    ) -> DecisionResult[Decision[int]]:
        result = super().decide(timeout, monotonic, rejected_actions)
        is_first = 1 not in rejected_actions and not self.attempts
        return result if is_first else result._replace(error="the strategy is late")

    def send(self, action: int) -> NextRead:
        self.attempts.append(self.clock.monotonic())
        return super().send(action)


@pytest.mark.parametrize(
    "error", [MATCH_IS_OVER, NotYourTurn(409, "not yours"), MatchOver()], ids=str
)
def test_a_match_that_refuses_everything_is_asked_less_and_less_often(
    harness: SessionHarness, caplog: pytest.LogCaptureFixture, error: ArenaError
) -> None:
    """The error is logged once, no strategy fault is counted, and the match continues."""
    match, meter = RefusingMatch({"act": [error] * 11}, clock=harness.clock), RecordingMeter()
    assert harness.run_session(match, meter=meter) is SessionResult.FINISHED
    pauses = [later - earlier for earlier, later in pairwise(match.attempts)]
    assert pauses[2:11] == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    assert caplog.text.count("the match stands still") == 1
    assert caplog.text.count(str(error)) <= MAX_EQUAL_REFUSALS
    assert meter.counts[MetricName.FALLBACK_ACTIONS] <= 1 + 2, (
        "of its own: the second, the last two"
    )
    assert len(harness.log.notes("m")) < 2 * MAX_EQUAL_REFUSALS


def test_refusals_with_other_messages_or_in_other_states_cause_no_backoff(
    harness: SessionHarness,
) -> None:
    """The arena may refuse several actions before it accepts a legal action."""
    refusals = [RequestRejected(400, f"not {number}") for number in range(4)]
    match = RefusingMatch(
        {"act": [MATCH_IS_OVER, MATCH_IS_OVER, *refusals, None, MATCH_IS_OVER]}, clock=harness.clock
    )
    assert harness.run_session(match) is SessionResult.FINISHED
    assert {later - earlier for earlier, later in pairwise(match.attempts)} <= {
        0,
        TIMING.backoff.total_seconds(),
    }


@pytest.mark.parametrize(
    ("error", "is_refused"),
    [
        (RequestRejected(400, "no"), True),
        (DENIAL, True),
        (MISSING_MATCH, False),
        (RequestRejected(400, "gone"), False),
        (WRONG_CREDENTIALS, False),
        (GATEWAY_ERROR, False),
        (NotYourTurn(409, "not yours"), False),
        (RequestRejected(502, "busy", outcome_unknown=True), False),
        (MatchOver(), False),
    ],
)
def test_only_permanently_rejected_actions_are_excluded_at_that_move(
    harness: SessionHarness, error: ArenaError, *, is_refused: bool
) -> None:
    match = CountingMatch({"act": [error, RequestRejected(400, "nor that")]})
    assert harness.run_session(match) is SessionResult.FINISHED
    expected_rejections = [{1}, {1, 2}] if is_refused else [set(), {1}]
    assert match.rejected_action_sets[:4] == [set(), *expected_rejections, set()]
    assert [note.kind for note in harness.log.notes("m")] == ["refused"] * (1 + is_refused)


def test_a_match_is_handed_over_with_a_single_message_that_names_its_game(
    harness: SessionHarness,
) -> None:
    """A session without time for a read does not read."""
    match = CountingMatch({"look": [MISSING_MATCH]})
    for session_budget in (TIMING.read_timeout, TIMING.handover_margin):
        assert (
            harness.run_session(match, session_budget - timedelta(seconds=1))
            is SessionResult.HANDED_OVER
        )
        message = parse_match_message(receive_message(harness.queue).body)
        assert message == MatchMessage(match_id="m", game="count")
        assert harness.queue.receive_message(timedelta(0)) is None
        assert bool(match.errors["look"]) == (session_budget == TIMING.read_timeout)


@dataclass
class IdleMatch(CountingMatch):
    """Counting match in which it is not our turn as long as it rests."""

    is_resting: bool = True
    is_announced: bool = True
    wait_count: int = 0
    clock: VirtualClock = field(default_factory=VirtualClock)

    def observe(self, recorded: MoveFacts) -> Observation[int]:
        idle_observation: Observation[int] = Observation(
            next_sequence=0, facts={}, may_park=self.is_announced
        )
        return idle_observation if self.is_resting else super().observe(recorded)

    def wait_for_change(self, recorded: MoveFacts) -> Observation[int] | None:
        assert not recorded
        self.wait_count += 1
        self.clock.advance(TIMING.long_poll_timeout)
        return None


def test_r38_an_idle_match_is_parked_until_it_is_announced(harness: SessionHarness) -> None:
    """An unannounced match is read now and then, because it may have ended without the bot."""
    idle_match = IdleMatch()
    assert harness.run_session(idle_match) is SessionResult.ABANDONED
    assert idle_match.wait_count == 1
    assert harness.queue.receive_message(timedelta(0)) is None, "it is not handed on"
    record = require_match(harness.log)
    assert record.is_parked
    assert record.status is MatchStatus.RUNNING
    for _ in range(9):
        assert harness.dispatcher.dispatch_unattended() == 0
        harness.clock.advance(timedelta(minutes=1))
    harness.clock.advance(TIMING.park_ttl - timedelta(minutes=9))
    assert harness.dispatcher.dispatch_unattended() == 1, "now and then"
    assert harness.run_session(idle_match) is SessionResult.ABANDONED
    idle_match.is_resting = False
    assert harness.dispatcher.dispatch_unattended(["m"]) == 1, "at once"
    assert harness.dispatcher.dispatch_unattended(["m"]) == 0, "a worker is on its way"
    assert harness.run_session(idle_match) is SessionResult.FINISHED


def test_r38_a_match_unknown_to_pollers_is_not_parked(harness: SessionHarness) -> None:
    match = IdleMatch(is_announced=False, clock=harness.clock)
    assert harness.run_session(match) is SessionResult.HANDED_OVER
    assert match.wait_count > HOUR / TIMING.long_poll_timeout - 3


@pytest.mark.parametrize("has_session", [True, False])
def test_a_turn_that_waits_is_measured_at_its_first_read(
    harness: SessionHarness, has_session: bool
) -> None:
    """The delay is measured after a takeover; a new match's wait is a separate metric."""
    meter, start_time = RecordingMeter(), harness.clock.now() - timedelta(seconds=4)

    class TimedMatch(CountingMatch):
        def observe(self, recorded: MoveFacts) -> Observation[int]:
            return replace(super().observe(recorded), turn_began_at=start_time)

    if has_session:
        lease = acquire_lease(harness.log, "another", ttl=TIMING.lease_ttl)
        harness.log.write_facts(lease, {0: {}})
        harness.log.release_lease(lease)
    assert harness.run_session(TimedMatch(count=1), meter=meter) is SessionResult.FINISHED
    assert meter.durations[MetricName.PICKUP_DELAY] == [timedelta(seconds=4)] * has_session


def test_r32_each_action_is_decided_with_a_permit_of_the_semaphore_of_its_process(
    harness: SessionHarness,
) -> None:
    match, decision_counts = CountingMatch(), list[int]()

    class RecordingSemaphore(FairSemaphore):
        @contextmanager
        def hold_permit(self, *, is_urgent: bool = False) -> Iterator[None]:
            decision_counts.append(len(match.rejected_action_sets))
            with super().hold_permit(is_urgent=is_urgent):
                yield

    semaphore = RecordingSemaphore(harness.clock)
    bot = Bot(
        "count", lambda _: nullcontext(match), harness.dispatcher, "worker", TIMING, semaphore
    )
    assert bot.run_session("m", lambda: HOUR) is SessionResult.FINISHED
    assert decision_counts == [0, 0, 1, 1, 2, 2, ACTIONS], (
        "a look and a decision each, and the last look"
    )
