"""The session protocol that all games share: denials, retries and handovers."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import pairwise

import pytest
from fault_simulation.faults import Crash
from fault_simulation.virtual_clock import VirtualClock
from support.counting_match import ACTIONS, HOUR, TIMING, Count, Desk, open_desk
from support.store_fixtures import RecordingMeter, receive_message, require_match, take_lease

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

PAGE = GatewayRejection(403, "a page of some gateway", outcome_unknown=True)
GONE = NotFound(404, "gone")
DENIAL = RequestRejected(403, "you may not")
PASSWORD = Unauthorized(401, "check the password")
FOR_GOOD = 9  # as often as this is said again, it is believed


@pytest.fixture
def desk() -> Iterator[Desk]:
    with open_desk() as desk:
        yield desk


@pytest.mark.parametrize("was_throttled", [False, True])
def test_a_takeover_waits_as_long_as_the_intent_says(desk: Desk, *, was_throttled: bool) -> None:
    """It does not wait if its read was throttled: the arena delays a later request longer."""
    delay = TIMING.lease_ttl if was_throttled else timedelta(seconds=12)

    class Slowed(Count):
        arrives: datetime | None = None

        def observe(self, recorded: MoveFacts) -> Observation[int]:
            if self.arrives is not None and self.arrives <= desk.clock.now():
                self.counted, self.arrives = 1, None
            return replace(super().observe(recorded), was_throttled=was_throttled)

        def intent_body(
            self, result: DecisionResult[Decision[int]], decided_at: datetime, worker_id: str
        ) -> Body:
            return {**super().intent_body(result, decided_at, worker_id), IN_FLIGHT_SECONDS: 12.5}

        def send(self, action: int) -> NextRead:
            if self.counted == 0:
                assert self.arrives is None, "played again while the first action is under way"
                self.arrives = desk.clock.now() + delay
                raise Crash("while the arena holds it back")
            return super().send(action)

    match = Slowed()
    with pytest.raises(Crash):
        desk.attend(match)
    desk.outwait()
    began = desk.clock.now()
    assert desk.attend(match) is SessionResult.FINISHED
    assert match.counted == ACTIONS
    assert (desk.clock.now() - began < timedelta(seconds=1)) is was_throttled


def test_r25_a_briefly_stale_state_is_not_believed(desk: Desk) -> None:
    match = Count()
    match.errors["look"] = [
        None,
        None,
        None,
        *[Observation(next_sequence=1, facts={}, turn=match)] * 2,
    ]
    assert desk.attend(match) is SessionResult.FINISHED
    assert desk.log.notes("m") == []


class Lossy(Count):
    """A match whose arena forgets all but the first number when three were counted."""

    def observe(self, recorded: MoveFacts) -> Observation[int]:
        if len(self.rejected_action_sets) == ACTIONS and len(recorded) == 2:
            self.counted = 1
        sight = super().observe(recorded)
        anew = len(self.rejected_action_sets) > ACTIONS
        return replace(sight, facts={n: {"anew": anew} for n in sight.facts})


def test_r25_a_lost_move_is_repeated_within_seconds(desk: Desk) -> None:
    began = desk.clock.now()
    assert desk.attend(Lossy()) is SessionResult.FINISHED
    assert desk.clock.now() - began <= TIMING.denial_timeout + TIMING.backoff
    assert [note.body["sequence"] for note in desk.log.notes("m")] == [1, 2]
    facts = [{"anew": False}, {"anew": True}, {"anew": True}]
    assert [move.facts for move in desk.log.moves("m")] == facts


OTHER_BOT_WARNING = "another bot or a person plays as this user"


@pytest.mark.parametrize(
    ("match", "end", "expected_messages"),
    [
        (
            Count(length=9, other_bot_moves=[False, False, True, False, True]),
            SessionResult.FINISHED,
            1,
        ),
        (
            Count({"act": [NotYourTurn(409, "not yours")]}, [False, True]),
            SessionResult.LEASED_BY_OTHER,
            1,
        ),
        (Count(length=9, counted=4), SessionResult.FINISHED, 0),
    ],
    ids=["ours came first", "both meant the first, and ours was refused", "our log was lost"],
)
def test_the_bot_with_the_first_move_goes_on_and_warns_of_another_bot_only_once(
    desk: Desk,
    caplog: pytest.LogCaptureFixture,
    match: Count,
    end: SessionResult,
    expected_messages: int,
) -> None:
    assert desk.attend(deepcopy(match)) is end
    assert caplog.text.count(OTHER_BOT_WARNING) == expected_messages
    assert ("moved first and continues" in caplog.text) is bool(
        expected_messages and end is SessionResult.FINISHED
    )


def test_a_later_bot_leaves_the_match_and_resumes_when_the_other_is_silent(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    """It never acts while the other bot does: neither at first, nor when that one returns."""
    match = Count(length=9, other_bot_moves=[True, True])
    assert desk.attend(match) is SessionResult.LEASED_BY_OTHER
    assert match.rejected_action_sets == []
    assert desk.lease_ttl() == TIMING.retry_delay
    desk.outwait()
    match.other_bot_moves = [True]
    assert desk.attend(match) is SessionResult.LEASED_BY_OTHER
    assert match.rejected_action_sets == []
    desk.outwait()
    assert desk.attend(match) is SessionResult.FINISHED, "it has stood at our turn for a minute"
    assert caplog.text.count(OTHER_BOT_WARNING) == 1


def test_a_denied_match_is_retried_sooner_once_the_bot_has_played_it(desk: Desk) -> None:
    """This holds for the worker that has played it, and for its successor."""
    match = Count()
    for fine, alone in (
        ([], TIMING.retry_delay),
        ([None], TIMING.lease_ttl),
        ([], TIMING.lease_ttl),
    ):
        match.errors["look"] = [*fine, *[DENIAL] * FOR_GOOD]
        assert desk.attend(match) is SessionResult.UNKNOWN_MATCH
        assert desk.lease_ttl() == alone
        desk.outwait()
    match.errors.clear()
    assert desk.attend(match) is SessionResult.FINISHED


@pytest.mark.parametrize(
    "expected_messages",
    [
        *([error, None] * ACTIONS for error in (PAGE, GONE, DENIAL, PASSWORD)),
        [PAGE] * 60,
        [GONE, PAGE] * FOR_GOOD,
    ],
)
def test_r23_a_single_denial_or_a_gateway_error_is_retried_and_the_match_is_played(
    desk: Desk, expected_messages: list[ArenaError | None]
) -> None:
    """A restarting arena first denies requests itself, and then a gateway answers for it."""
    begun, denials = desk.clock.now(), sum(error is not None for error in expected_messages)
    assert desk.attend(Count({"look": [*expected_messages]})) is SessionResult.FINISHED
    assert desk.clock.now() - begun <= denials * TIMING.backoff


def test_a_missing_match_is_closed_by_a_session_with_time_to_confirm_it(desk: Desk) -> None:
    match = Count({"look": [GONE] * 2 * FOR_GOOD})
    assert desk.attend(match, TIMING.handover_margin + TIMING.backoff) is SessionResult.HANDED_OVER
    assert require_match(desk.log).status is MatchStatus.RUNNING
    assert desk.attend(match) is SessionResult.UNKNOWN_MATCH
    record = require_match(desk.log)
    assert (record.status, record.outcome) == (MatchStatus.FINISHED, {"result": "unknown"})


@pytest.mark.parametrize(
    ("step", "alone"), [("look", TIMING.retry_delay), ("act", TIMING.lease_ttl)]
)
def test_wrong_credentials_raise_unauthorized(desk: Desk, step: str, alone: timedelta) -> None:
    """Reads and actions may use different credentials; both kinds of failure are reported."""
    began = desk.clock.now()
    with pytest.raises(Unauthorized):
        desk.attend(Count({step: [PASSWORD] * FOR_GOOD}))
    assert desk.clock.now() - began == TIMING.denial_timeout
    assert desk.lease_ttl() == alone


@pytest.mark.parametrize(
    ("times", "end", "took"),
    [(8, SessionResult.FINISHED, 2 + 63), (100, SessionResult.UNKNOWN_MATCH, 2 + 63)],
)
def test_a_match_that_denies_an_action_for_a_minute_is_abandoned(
    desk: Desk, times: int, end: SessionResult, took: int
) -> None:
    """It is not abandoned sooner: a server that is half restarted soon finds the match again."""
    began = desk.clock.now()
    assert desk.attend(Count({"act": [GONE] * times})) is end
    assert desk.clock.now() - began == timedelta(seconds=took)
    assert timedelta(seconds=took) >= TIMING.contradiction_timeout


IS_OVER = RequestRejected(400, "No action possible on finished matches.")


@dataclass
class Refused(Count):
    """The same, whose attempts to act are timed; every second decision is late."""

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


@pytest.mark.parametrize("error", [IS_OVER, NotYourTurn(409, "not yours"), MatchOver()], ids=str)
def test_a_match_that_refuses_everything_is_asked_less_and_less_often(
    desk: Desk, caplog: pytest.LogCaptureFixture, error: ArenaError
) -> None:
    """The arena's words are logged once; the strategy is not blamed; then the match goes on."""
    match, meter = Refused({"act": [error] * 11}, clock=desk.clock), RecordingMeter()
    assert desk.attend(match, meter=meter) is SessionResult.FINISHED
    pauses = [later - earlier for earlier, later in pairwise(match.attempts)]
    assert pauses[2:11] == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    assert caplog.text.count("the match stands still") == 1
    assert caplog.text.count(str(error)) <= MAX_EQUAL_REFUSALS
    assert meter.counts[MetricName.FALLBACK_ACTIONS] <= 1 + 2, (
        "of its own: the second, the last two"
    )
    assert len(desk.log.notes("m")) < 2 * MAX_EQUAL_REFUSALS


def test_refusals_in_other_words_or_other_states_stop_nothing(desk: Desk) -> None:
    """The arena may refuse one action after the other until a legal one is found."""
    refusals = [RequestRejected(400, f"not {number}") for number in range(4)]
    match = Refused({"act": [IS_OVER, IS_OVER, *refusals, None, IS_OVER]}, clock=desk.clock)
    assert desk.attend(match) is SessionResult.FINISHED
    assert {later - earlier for earlier, later in pairwise(match.attempts)} <= {
        0,
        TIMING.backoff.total_seconds(),
    }


@pytest.mark.parametrize(
    ("error", "is_refused"),
    [
        (RequestRejected(400, "no"), True),
        (DENIAL, True),
        (GONE, False),
        (RequestRejected(400, "gone"), False),
        (PASSWORD, False),
        (PAGE, False),
        (NotYourTurn(409, "not yours"), False),
        (RequestRejected(502, "busy", outcome_unknown=True), False),
        (MatchOver(), False),
    ],
)
def test_only_permanently_rejected_actions_are_excluded_at_that_move(
    desk: Desk, error: ArenaError, *, is_refused: bool
) -> None:
    match = Count({"act": [error, RequestRejected(400, "nor that")]})
    assert desk.attend(match) is SessionResult.FINISHED
    expected_rejections = [{1}, {1, 2}] if is_refused else [set(), {1}]
    assert match.rejected_action_sets[:4] == [set(), *expected_rejections, set()]
    assert [note.kind for note in desk.log.notes("m")] == ["refused"] * (1 + is_refused)


def test_a_match_is_handed_over_with_a_single_message_that_names_its_game(desk: Desk) -> None:
    """If there is no time for a read, none is made."""
    match = Count({"look": [GONE]})
    for life in (TIMING.read_timeout, TIMING.handover_margin):
        assert desk.attend(match, life - timedelta(seconds=1)) is SessionResult.HANDED_OVER
        message = parse_match_message(receive_message(desk.queue).body)
        assert message == MatchMessage(match_id="m", game="count")
        assert desk.queue.receive_message(timedelta(0)) is None
        assert bool(match.errors["look"]) == (life == TIMING.read_timeout)


@dataclass
class Still(Count):
    """The same, but that it is not our turn as long as it rests."""

    rests: bool = True
    named: bool = True
    waits: int = 0
    clock: VirtualClock = field(default_factory=VirtualClock)

    def observe(self, recorded: MoveFacts) -> Observation[int]:
        rested: Observation[int] = Observation(next_sequence=0, facts={}, may_park=self.named)
        return rested if self.rests else super().observe(recorded)

    def wait_for_change(self, recorded: MoveFacts) -> Observation[int] | None:
        assert not recorded
        self.waits += 1
        self.clock.advance(TIMING.long_poll_timeout)
        return None


def test_r38_an_idle_match_is_parked_until_it_is_announced(desk: Desk) -> None:
    """An unannounced match is read now and then, because it may have ended without the bot."""
    match = Still()
    assert desk.attend(match) is SessionResult.ABANDONED
    assert match.waits == 1
    assert desk.queue.receive_message(timedelta(0)) is None, "it is not handed on"
    record = require_match(desk.log)
    assert record.is_parked
    assert record.status is MatchStatus.RUNNING
    for _ in range(9):
        assert desk.offering.dispatch_unattended() == 0
        desk.clock.advance(timedelta(minutes=1))
    desk.clock.advance(TIMING.park_ttl - timedelta(minutes=9))
    assert desk.offering.dispatch_unattended() == 1, "now and then"
    assert desk.attend(match) is SessionResult.ABANDONED
    match.rests = False
    assert desk.offering.dispatch_unattended(["m"]) == 1, "at once"
    assert desk.offering.dispatch_unattended(["m"]) == 0, "a worker is on its way"
    assert desk.attend(match) is SessionResult.FINISHED


def test_r38_a_match_unknown_to_pollers_is_not_parked(desk: Desk) -> None:
    match = Still(named=False, clock=desk.clock)
    assert desk.attend(match) is SessionResult.HANDED_OVER
    assert match.waits > HOUR / TIMING.long_poll_timeout - 3


@pytest.mark.parametrize("attended", [True, False])
def test_a_turn_that_waits_is_measured_at_its_first_look(desk: Desk, attended: bool) -> None:
    """Measured after a takeover, handover or rest; a new match's wait is a separate metric."""
    meter, began = RecordingMeter(), desk.clock.now() - timedelta(seconds=4)

    class TimedMatch(Count):
        def observe(self, recorded: MoveFacts) -> Observation[int]:
            return replace(super().observe(recorded), turn_began_at=began)

    if attended:
        lease = take_lease(desk.log, "another", ttl=TIMING.lease_ttl)
        desk.log.write_facts(lease, {0: {}})
        desk.log.release_lease(lease)
    assert desk.attend(TimedMatch(counted=1), meter=meter) is SessionResult.FINISHED
    assert meter.durations[MetricName.PICKUP_DELAY] == [timedelta(seconds=4)] * attended


def test_r32_each_action_is_decided_with_a_place_in_the_line_of_its_process(desk: Desk) -> None:
    match, begun = Count(), list[int]()

    class Watched(FairSemaphore):
        @contextmanager
        def hold_permit(self, *, is_urgent: bool = False) -> Iterator[None]:
            begun.append(len(match.rejected_action_sets))
            with super().hold_permit(is_urgent=is_urgent):
                yield

    line = Watched(desk.clock)
    bot = Bot("count", lambda _: nullcontext(match), desk.offering, "worker", TIMING, line)
    assert bot.run_session("m", lambda: HOUR) is SessionResult.FINISHED
    assert begun == [0, 0, 1, 1, 2, 2, ACTIONS], "a look and a decision each, and the last look"
