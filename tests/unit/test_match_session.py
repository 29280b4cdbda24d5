"""What a session does between two actions of a match that counts to three, step by step.

`test_whole_match_sessions.py` has whole sessions: denials, handovers and other bots.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import timedelta

import pytest
from fault_simulation.faults import Crash
from support.counting_match import (
    ACTIONS,
    HOUR,
    TIMING,
    CountingMatch,
    SessionHarness,
    open_session_harness,
)
from support.store_fixtures import RecordingMeter, acquire_lease, require_match

from cardsharp.bot.bot import Bot
from cardsharp.bot.bot_match import MoveFacts, NextRead, Observation
from cardsharp.bot.fair_semaphore import FairSemaphore
from cardsharp.bot.match_session import MAX_TURN_RETRY_AFTER
from cardsharp.bot.session_result import SessionResult
from cardsharp.core.metrics import MetricName
from cardsharp.errors import (
    MatchOver,
    RateLimited,
    RequestRejected,
    Unauthorized,
    Unreachable,
)
from cardsharp.store.match_log import NO_SUMMARY, Body, Lease, MoveSummary

INSTANT = timedelta(microseconds=1)
LOST = Unreachable("no answer", outcome_unknown=True)
REFUSAL = RequestRejected(400, "not that")
IS_OVER = RequestRejected(400, "No action possible on finished matches.")
PASSWORD = Unauthorized(401, "check the password")
OTHER_BOT_WARNING = "another bot or a person plays as this user"


@pytest.fixture
def harness() -> Iterator[SessionHarness]:
    with open_session_harness() as harness:
        yield harness


# --- acting --------------------------------------------------------------------------------------


def test_an_intent_is_logged_before_its_action_is_sent(harness: SessionHarness) -> None:
    """And says what a person wants to know of it."""

    class Checked(CountingMatch):
        def send(self, action: int) -> NextRead:
            intents = {move.sequence: move.intent for move in harness.log.moves("m")}
            assert intents[self.count] == {"action": 1, "at": began, "worker": "worker"}
            return super().send(action)

    began, match = harness.clock.now().isoformat(), Checked()
    assert harness.run_session(match) is SessionResult.FINISHED
    assert [move.sequence for move in harness.log.moves("m")] == [0, 1, 2]
    assert [move.facts for move in harness.log.moves("m")] == [{}] * ACTIONS


@pytest.mark.parametrize("late", [timedelta(0), INSTANT])
def test_nothing_is_sent_after_an_intent_that_took_too_long(
    harness: SessionHarness, monkeypatch: pytest.MonkeyPatch, late: timedelta
) -> None:
    """The match is read and decided anew: another worker may have played meanwhile."""
    write_intent, takes = harness.log.write_intent, [TIMING.renew_interval + late]

    def write_slowly(
        lease: Lease, sequence: int, intent: Body, summary: MoveSummary = NO_SUMMARY
    ) -> None:
        write_intent(lease, sequence, intent, summary)
        harness.clock.advance(takes.pop() if takes else timedelta(0))

    monkeypatch.setattr(harness.log, "write_intent", write_slowly)
    match = CountingMatch()
    assert harness.run_session(match) is SessionResult.FINISHED
    assert len(match.rejected_action_sets) == ACTIONS + bool(late)


def test_an_action_that_was_carried_out_without_an_answer_is_our_own(
    harness: SessionHarness, caplog: pytest.LogCaptureFixture
) -> None:
    class Silent(CountingMatch):
        def send(self, action: int) -> NextRead:
            super().send(action)
            raise LOST

    began, match = harness.clock.now(), Silent(target_count=2)
    assert harness.run_session(match) is SessionResult.FINISHED
    assert len(match.rejected_action_sets) == 2, "none is sent again"
    assert OTHER_BOT_WARNING not in caplog.text
    assert harness.clock.now() - began == 2 * TIMING.action_timeout, "so long each could arrive"


def test_a_move_that_was_refused_to_us_is_not_our_own(harness: SessionHarness) -> None:
    """Neither at first nor where the match stands still; else two bots would play on."""
    for refusals in (1, 4):
        match = CountingMatch({"act": [IS_OVER] * refusals}, [False] * refusals + [True])
        result = harness.run_session(match, match_id=f"refused{refusals}")
        assert result is SessionResult.LEASED_BY_OTHER
        assert len(match.rejected_action_sets) == refusals


def test_the_end_of_a_match_is_no_failed_action(
    harness: SessionHarness, caplog: pytest.LogCaptureFixture
) -> None:
    """Another player ended it; the next read tells how, at once."""
    meter, began = RecordingMeter(), harness.clock.now()
    match = CountingMatch({"act": [None, MatchOver()]})
    assert harness.run_session(match, meter=meter) is SessionResult.FINISHED
    assert harness.clock.now() == began
    assert meter.counts[MetricName.ARENA_ERRORS] == 0
    assert caplog.text == ""
    assert match.rejected_action_sets == [frozenset()] * (ACTIONS + 1)
    assert meter.counts[MetricName.ACTIONS] == ACTIONS


def test_actions_of_one_turn_follow_each_other_without_a_read(harness: SessionHarness) -> None:
    """Each has the next number; the rest of the turn waits for a successor when time is short."""

    class Turn(CountingMatch):
        looks = 0

        def observe(self, recorded: MoveFacts) -> Observation[int]:
            self.looks += 1
            return super().observe(recorded)

        def send(self, action: int) -> "Turn | NextRead":
            super().send(action)
            return NextRead.READ_IMMEDIATELY if self.count >= self.target_count else self

    match = Turn()
    assert harness.run_session(match) is SessionResult.FINISHED
    assert match.looks == 2
    assert [move.sequence for move in harness.log.moves("m") if move.intent] == [0, 1, 2]


def test_no_action_of_a_turn_begins_without_time_for_its_answer(harness: SessionHarness) -> None:
    """With just the time to decide and for two limits of an action, no third one begins."""
    needed = TIMING.decision_timeout + 2 * TIMING.action_timeout

    class Slow(CountingMatch):
        def send(self, action: int) -> "Slow | NextRead":
            super().send(action)
            harness.clock.advance((TIMING.handover_margin - needed) / 2)
            return self

    for life, actions in ((TIMING.handover_margin, 2), (TIMING.handover_margin + INSTANT, 3)):
        match = Slow(target_count=9)
        assert (
            harness.run_session(match, life, match_id=f"with{actions}") is SessionResult.HANDED_OVER
        )
        assert match.count == actions


def test_a_stuck_match_is_tried_with_the_strategys_own_action(harness: SessionHarness) -> None:
    """As no other is better; at first each refused action is left out."""
    match = CountingMatch({"act": [IS_OVER] * 5})
    assert harness.run_session(match) is SessionResult.FINISHED
    assert match.rejected_action_sets[:6] == [frozenset(), {1}, {1, 2}, *[frozenset()] * 3]


def test_what_was_refused_of_a_move_is_refused_as_long_as_it_is_due(
    harness: SessionHarness,
) -> None:
    refusals = [RequestRejected(400, f"not {number}") for number in range(3)]
    match = CountingMatch({"act": [*refusals, None, refusals[0], None]})
    assert harness.run_session(match) is SessionResult.FINISHED
    expected = [set(), {1}, {1, 2}, {1, 2, 3}, set(), {1}, set()]
    assert match.rejected_action_sets == expected


def test_between_two_attempts_in_a_stuck_match_the_lease_is_kept(harness: SessionHarness) -> None:
    """Or its loss is noticed before the match is read again."""

    class Taken(CountingMatch):
        def send(self, action: int) -> NextRead:
            if len(self.rejected_action_sets) == 5:  # 4 s of pause follow, longer than a lease
                acquire_lease(harness.log, "worker")
            return super().send(action)

    match = Taken({"act": [IS_OVER] * 9})
    assert harness.run_session(match) is SessionResult.LEASED_BY_OTHER
    assert len(match.rejected_action_sets) == 5


def test_a_wrong_password_is_believed_only_without_an_accepted_action_in_between(
    harness: SessionHarness,
) -> None:
    @dataclass
    class Slow(CountingMatch):
        def send(self, action: int) -> NextRead:
            next_read = super().send(action)
            harness.clock.advance(TIMING.denial_timeout)
            return next_read

    assert harness.run_session(Slow({"act": [PASSWORD, None] * 3})) is SessionResult.FINISHED
    with pytest.raises(Unauthorized):
        harness.run_session(Slow({"act": [PASSWORD, None] + [PASSWORD] * 9}), match_id="another")


def test_a_denial_of_another_move_counts_anew(harness: SessionHarness) -> None:
    """The arena's denial of actions is believed after a minute at one move."""
    gone = RequestRejected(404, "gone")
    began, half = harness.clock.now(), [gone] * 7
    match = CountingMatch({"act": [*half, None, *half, None, *half]})
    assert harness.run_session(match) is SessionResult.FINISHED
    assert harness.clock.now() - began > 1.5 * TIMING.contradiction_timeout


# --- looking -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("turn_timeout", "pause"),
    [
        (None, MAX_TURN_RETRY_AFTER),
        (timedelta(seconds=8), timedelta(seconds=2)),
        (timedelta(minutes=1), MAX_TURN_RETRY_AFTER),
    ],
)
def test_r15_a_pause_that_the_arena_asks_for_takes_a_quarter_of_a_turn_at_most(
    harness: SessionHarness, turn_timeout: timedelta | None, pause: timedelta
) -> None:
    class Limited(CountingMatch):
        def observe(self, recorded: MoveFacts) -> Observation[int]:
            return replace(super().observe(recorded), turn_timeout=turn_timeout)

    busy, began = RateLimited("busy", timedelta(seconds=20)), harness.clock.now()
    match = Limited({"look": [None, busy], "act": [None, busy]})
    assert harness.run_session(match) is SessionResult.FINISHED
    assert harness.clock.now() - began == 2 * pause


def test_a_takeover_reads_again_if_its_first_read_may_be_from_before_the_last_action(
    harness: SessionHarness,
) -> None:
    """However long that read took, it counts from its request."""

    class Slow(CountingMatch):
        looks = 0

        def observe(self, recorded: MoveFacts) -> Observation[int]:
            self.looks += 1
            observation = super().observe(recorded)
            if self.looks == 2:
                # The predecessor's action arrives while the answer is on its way.
                harness.clock.advance(timedelta(seconds=8))
                self.count = 1
            return observation

        def send(self, action: int) -> NextRead:
            if self.looks == 1:
                raise Crash("before its action arrives")
            return super().send(action)

    match = Slow()
    with pytest.raises(Crash):
        harness.run_session(match)
    harness.expire_lease()
    assert harness.run_session(match) is SessionResult.FINISHED
    assert [move.sequence for move in harness.log.moves("m") if move.intent] == [0, 1, 2]


def test_a_look_goes_before_the_decisions_of_other_matches(harness: SessionHarness) -> None:
    urgencies: list[bool] = []

    class Watched(FairSemaphore):
        @contextmanager
        def hold_permit(self, *, is_urgent: bool = False) -> Iterator[None]:
            urgencies.append(is_urgent)
            with super().hold_permit(is_urgent=is_urgent):
                yield

    line = Watched(harness.clock)
    bot = Bot(
        "count", lambda _: nullcontext(CountingMatch()), harness.dispatcher, "worker", TIMING, line
    )
    assert bot.run_session("m", lambda: HOUR) is SessionResult.FINISHED
    assert urgencies == [True, False] * ACTIONS + [True]


@pytest.mark.parametrize("from_observation", [True, False])
def test_a_match_has_the_version_of_the_strategy_that_took_it_up(
    harness: SessionHarness, *, from_observation: bool
) -> None:
    """Wherever its header comes from; a successor of another version changes nothing."""
    header: Body = {"game": "count"}

    class Named(CountingMatch):
        def observe(self, recorded: MoveFacts) -> Observation[int]:
            return replace(super().observe(recorded), header=header if from_observation else None)

        def send(self, action: int) -> NextRead:
            if self.count == 1:
                self.count = 2
                raise Crash("in the middle of the match")
            return super().send(action)

    match = Named(header=None if from_observation else header)
    bots = [
        Bot(
            "count",
            lambda _: nullcontext(match),
            harness.dispatcher,
            "worker",
            TIMING,
            strategy_version=version,
        )
        for version in ("1.0", "2.0")
    ]
    with pytest.raises(Crash):
        bots[0].run_session("m", lambda: HOUR)
    assert bots[1].run_session("m", lambda: HOUR) is SessionResult.FINISHED
    assert require_match(harness.log).header == {**header, "version": "1.0"}


def test_facts_are_logged_before_the_next_decision(harness: SessionHarness) -> None:
    """Should this worker die then, its successor knows all that the arena has told."""

    class Checked(CountingMatch):
        def decide(
            self, timeout: timedelta, monotonic: Callable[[], float], rejected: frozenset[int]
        ) -> object:
            logged = [move.sequence for move in harness.log.moves("m") if move.facts is not None]
            assert logged == list(range(self.count))
            return super().decide(timeout, monotonic, rejected)

    assert harness.run_session(Checked(count=1)) is SessionResult.FINISHED


def test_turns_that_the_arena_ended_are_counted_once(
    harness: SessionHarness, caplog: pytest.LogCaptureFixture
) -> None:
    class Late(CountingMatch):
        def observe(self, recorded: MoveFacts) -> Observation[int]:
            observation = super().observe(recorded)
            return replace(observation, timeout_count=int(0 in observation.facts))

    meter = RecordingMeter()
    assert harness.run_session(Late(count=2), meter=meter) is SessionResult.FINISHED
    assert meter.counts[MetricName.TIMEOUTS] == 1
    (line,) = [line for line in caplog.records if "its time was up" in line.message]
    assert (vars(line)["turns"], vars(line)["match_id"]) == (1, "m")


# --- an arena that has lost moves ----------------------------------------------------------------


@dataclass
class Lossy(CountingMatch):
    """A match whose arena forgets all but the first number after so many decisions.

    For good, or it only says so a few times.
    """

    decisions: int = ACTIONS
    false_reports: int | None = None
    foreign_moves: frozenset[int] = frozenset()

    def observe(self, recorded: MoveFacts) -> Observation[int]:
        if len(self.rejected_action_sets) == self.decisions and len(recorded) == 2:
            if self.false_reports is None:
                self.count = 1
            elif self.false_reports:
                self.false_reports -= 1
                return Observation(next_sequence=1, facts={}, turn=self)
        is_anew = len(self.rejected_action_sets) > self.decisions
        foreign_moves = self.foreign_moves if is_anew else frozenset()
        observation = replace(super().observe(recorded), foreign_moves=foreign_moves)
        return replace(observation, facts={n: {"anew": is_anew} for n in observation.facts})


def test_r25_a_loss_is_believed_only_when_it_was_told_for_three_seconds(
    harness: SessionHarness,
) -> None:
    said = int(TIMING.denial_timeout / TIMING.backoff)
    match = Lossy(false_reports=said)
    assert harness.run_session(match) is SessionResult.FINISHED
    assert harness.log.notes("m") == []
    assert len(match.rejected_action_sets) == ACTIONS


def test_r25_a_lost_move_forgets_what_was_refused_of_it(harness: SessionHarness) -> None:
    match = Lossy({"act": [None, REFUSAL]}, decisions=ACTIONS + 1)
    assert harness.run_session(match) is SessionResult.FINISHED
    assert match.rejected_action_sets == [set(), set(), {1}, set(), set(), set()]
    assert [move.facts for move in harness.log.moves("m")] == [
        {"anew": False},
        {"anew": True},
        {"anew": True},
    ]


def test_r25_a_move_that_the_arena_has_otherwise_for_three_seconds_replaces_ours(
    harness: SessionHarness,
) -> None:
    """As after a power cut of which the arena played the same moves anew."""

    class Replayed(CountingMatch):
        def observe(self, recorded: MoveFacts) -> Observation[int]:
            observation = super().observe(recorded)
            if len(self.rejected_action_sets) < 2:
                return observation
            return replace(observation, facts={n: {"anew": True} for n in range(self.count)})

    began = harness.clock.now()
    assert harness.run_session(Replayed()) is SessionResult.FINISHED
    assert harness.clock.now() - began == TIMING.denial_timeout
    assert [move.facts for move in harness.log.moves("m")] == [{"anew": True}] * ACTIONS


def test_r25_moves_that_an_arena_took_back_are_no_other_bots(
    harness: SessionHarness, caplog: pytest.LogCaptureFixture
) -> None:
    match = Lossy(foreign_moves=frozenset({1}))
    assert harness.run_session(match) is SessionResult.FINISHED
    assert OTHER_BOT_WARNING not in caplog.text
    assert "the moves from 1 on" in caplog.text


# --- waiting -------------------------------------------------------------------------------------


@dataclass
class Still(CountingMatch):
    """A match in which nothing is ours to do until `answers` says so at the end of a long poll."""

    answers: tuple[Observation[int] | None, ...] = ()
    first: Observation[int] = Observation(next_sequence=0, facts={})  # noqa: RUF009 - frozen
    later: Observation[int] | None = None
    waits: int = 0

    def observe(self, recorded: MoveFacts) -> Observation[int]:
        if not self.waits:
            return self.first
        return super().observe(recorded) if self.later is None else self.later

    def wait_for_change(self, recorded: MoveFacts) -> Observation[int] | None:
        assert not recorded
        self.waits += 1
        return self.answers[self.waits - 1]


PARKED: Observation[int] = Observation(next_sequence=0, facts={}, may_park=True)


@pytest.mark.parametrize(
    ("later", "result", "waits"),
    [
        (PARKED, SessionResult.ABANDONED, 1),
        (None, SessionResult.FINISHED, 1),  # it is our turn
        (replace(PARKED, next_sequence=1), SessionResult.FINISHED, 2),  # the opponent has moved
        (replace(PARKED, outcome={"result": "lost"}), SessionResult.FINISHED, 1),
    ],
    ids=["nothing", "our turn", "a move", "the end"],
)
def test_r38_only_a_match_in_which_nothing_has_happened_is_parked(
    harness: SessionHarness, later: Observation[int] | None, result: SessionResult, waits: int
) -> None:
    end = Observation(next_sequence=1, facts={}, outcome={"result": "lost"})
    match = Still(answers=(None, end), first=PARKED, later=later)
    assert harness.run_session(match) is result
    assert match.waits == waits
    assert require_match(harness.log).is_parked is (result is SessionResult.ABANDONED)


def test_a_match_that_should_be_left_alone_is_parked_at_once(harness: SessionHarness) -> None:
    rest = timedelta(minutes=5)
    match = Still(first=Observation(next_sequence=0, facts={}, park_for=rest))
    assert harness.run_session(match) is SessionResult.ABANDONED
    assert (match.waits, require_match(harness.log).ttl) == (0, rest)


def test_the_lease_is_checked_before_each_long_poll(
    harness: SessionHarness, caplog: pytest.LogCaptureFixture
) -> None:
    class Long(Still):
        def wait_for_change(self, recorded: MoveFacts) -> Observation[int] | None:
            acquire_lease(harness.log, "worker")
            harness.clock.advance(TIMING.long_poll_timeout)
            return super().wait_for_change(recorded)

    match = Long(answers=(None, None, None))
    assert harness.run_session(match) is SessionResult.LEASED_BY_OTHER
    assert match.waits == 1
    (line,) = caplog.records
    assert "no longer held" in line.message
    assert vars(line)["match_id"] == "m"


def test_a_long_poll_begins_only_with_time_for_it(harness: SessionHarness) -> None:
    life = TIMING.long_poll_timeout + TIMING.handover_margin
    for more, waits in ((timedelta(0), 0), (INSTANT, 1)):
        match = Still(answers=(Observation(next_sequence=1, facts={}, outcome={"result": "won"}),))
        result = harness.run_session(match, life + more)
        assert match.waits == waits
        assert result is (SessionResult.FINISHED if waits else SessionResult.HANDED_OVER)
