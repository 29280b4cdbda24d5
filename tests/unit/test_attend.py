"""The protocol of attending, as every game has it: what a denial leads to, and the handing on.

And what is offered to workers: up to which age of a match, and what an operator has set.
"""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from fault_simulation.faults import Crash
from fault_simulation.virtual_clock import VirtualClock
from support.store_fixtures import TTL, RecordingMeter, receive_message, require_match, take_lease

from cardsharp.bot.bot import Bot
from cardsharp.bot.bot_match import IN_FLIGHT_SECONDS, MoveFacts, NextRead, Observation
from cardsharp.bot.control.runtime_settings import (
    CACHE_TTL,
    CachedRuntimeSettings,
    RuntimeSettings,
    RuntimeSettingsStore,
    parse_leniently,
)
from cardsharp.bot.fair_semaphore import FairSemaphore
from cardsharp.bot.match_dispatcher import EXPIRED_RESULT, MatchDispatcher
from cardsharp.bot.queueing.memory_queue import MemoryQueue
from cardsharp.bot.queueing.messages import MatchMessage, parse_match_message
from cardsharp.bot.session_result import SessionResult
from cardsharp.bot.timing import SessionTiming
from cardsharp.core.metrics import Metric, Metrics
from cardsharp.errors import (
    ArenaError,
    MatchOver,
    NotFound,
    NotYourTurn,
    RequestRejected,
    StoreError,
    Unauthorized,
    UpstreamError,
)
from cardsharp.play.decision_runner import DecisionResult
from cardsharp.play.strategy import Decision
from cardsharp.store.match_log import Body, MatchStatus
from cardsharp.store.sqlite_match_log import SqliteMatchLog

HOUR = timedelta(hours=1)
TIMING = SessionTiming()
NO_METER = Metrics()
PAGE = UpstreamError(403, "a page of some gateway", outcome_unknown=True)
GONE = NotFound(404, "gone")
DENIAL = RequestRejected(403, "you may not")
PASSWORD = Unauthorized(401, "check the password")
FOR_GOOD = 9  # as often as this is said again, it is believed
ACTIONS = 3


@dataclass
class Count:
    """A match of one player who counts to three.

    Every answer of its arena can be an error, and at a look what was to be seen before. Another bot
    may act on our seat too: as often as `others` says so, at a look.
    """

    errors: dict[str, list[ArenaError | Observation[int] | None]] = field(default_factory=dict)
    others: list[bool] = field(default_factory=list)
    counted: int = 0
    length: int = ACTIONS
    asked: list[frozenset[int]] = field(default_factory=list)
    header: Body | None = None

    def observe(self, recorded: MoveFacts) -> Observation[int]:
        if (old := self._fail("look")) is not None:
            return old
        self.counted += bool(self.others and self.others.pop(0))
        facts: dict[int, Body] = {n: {} for n in range(self.counted) if n not in recorded}
        outcome = {"result": "won"} if self.counted >= self.length else None
        turn, ours = None if outcome else self, frozenset(range(self.counted))
        return Observation(
            next_sequence=self.counted, facts=facts, outcome=outcome, turn=turn, our_moves=ours
        )

    def wait_for_change(self, recorded: MoveFacts) -> Observation[int] | None:
        raise AssertionError(f"it is always our turn, {recorded}")

    def outcome_if_missing(self, error: RequestRejected) -> Body | None:
        return {"result": "unknown"} if error.message == "gone" else None

    def decide(
        self, timeout: timedelta, monotonic: Callable[[], float], rejected_actions: frozenset[int]
    ) -> DecisionResult[Decision[int]]:
        assert timeout == TIMING.decision_timeout
        assert monotonic() >= 0
        self.asked.append(rejected_actions)
        return DecisionResult(Decision(max(rejected_actions, default=0) + 1, "because"))

    def intent_body(
        self, result: DecisionResult[Decision[int]], decided_at: datetime, worker_id: str
    ) -> Body:
        return {"action": result.decision.action, "at": decided_at.isoformat(), "worker": worker_id}

    def send(self, action: int) -> NextRead:
        self._fail("act")
        assert action > 0
        self.counted += 1
        return NextRead.READ_IMMEDIATELY

    def _fail(self, step: str) -> Observation[int] | None:
        said = self.errors[step].pop(0) if self.errors.get(step) else None
        if isinstance(said, ArenaError):
            raise said
        return said


class Board(RuntimeSettingsStore):
    switches: RuntimeSettings | None = RuntimeSettings()

    def read(self) -> RuntimeSettings:
        if self.switches is None:
            raise StoreError("The table is throttled.")
        return self.switches


@dataclass
class Desk:
    """A worker's log, queue and clock, and an operator's board; each attendance is another's."""

    log: SqliteMatchLog
    clock: VirtualClock
    queue: MemoryQueue
    board: Board = field(default_factory=Board)

    def __post_init__(self) -> None:
        self.offering = MatchDispatcher(
            self.log, self.queue, self.clock, runtime_settings=self.board
        )

    def attend(
        self, match: Count, life: timedelta = HOUR, meter: Metrics = NO_METER
    ) -> SessionResult:
        end = self.clock.now() + life
        offering = replace(self.offering, metrics=meter)
        bot = Bot("count", lambda _: nullcontext(match), offering, "worker", TIMING)
        return bot.run_session("m", lambda: end - self.clock.now())

    def free_after(self) -> timedelta:
        """How long nobody else may take the match, from the last sign of life on."""
        record = require_match(self.log)
        assert record.lease is not None
        return record.ttl

    def outwait(self) -> None:
        """Let the lease of a worker run out, and somebody see that."""
        self.offering.dispatch_unattended()
        self.clock.advance(self.free_after())
        assert self.offering.dispatch_unattended() == 1


@pytest.fixture
def desk() -> Iterator[Desk]:
    clock = VirtualClock()
    clock.advance(HOUR)  # what counts from a moment must not count from nought
    with closing(SqliteMatchLog(Path(":memory:"), clock)) as log:
        yield Desk(log, clock, MemoryQueue(clock, visibility_timeout=HOUR))


@pytest.mark.parametrize("held_back", [False, True])
def test_who_takes_over_waits_as_long_as_the_intent_says(desk: Desk, *, held_back: bool) -> None:
    """Not where its own look was held back: an arena delays a later request for longer."""
    held = TIMING.lease_ttl if held_back else timedelta(seconds=12)

    class Slowed(Count):
        arrives: datetime | None = None

        def observe(self, recorded: MoveFacts) -> Observation[int]:
            if self.arrives is not None and self.arrives <= desk.clock.now():
                self.counted, self.arrives = 1, None
            return replace(super().observe(recorded), was_throttled=held_back)

        def intent_body(
            self, result: DecisionResult[Decision[int]], decided_at: datetime, worker_id: str
        ) -> Body:
            return {**super().intent_body(result, decided_at, worker_id), IN_FLIGHT_SECONDS: 12.5}

        def send(self, action: int) -> NextRead:
            if self.counted == 0:
                assert self.arrives is None, "played again while the first action is under way"
                self.arrives = desk.clock.now() + held
                raise Crash("while the arena holds it back")
            return super().send(action)

    match = Slowed()
    with pytest.raises(Crash):
        desk.attend(match)
    desk.outwait()
    began = desk.clock.now()
    assert desk.attend(match) is SessionResult.FINISHED
    assert match.counted == ACTIONS
    assert (desk.clock.now() - began < timedelta(seconds=1)) is held_back


def test_r25_an_old_state_that_is_told_for_a_moment_is_not_believed(desk: Desk) -> None:
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
        if len(self.asked) == ACTIONS and len(recorded) == 2:
            self.counted = 1
        sight = super().observe(recorded)
        anew = len(self.asked) > ACTIONS
        return replace(sight, facts={n: {"anew": anew} for n in sight.facts})


def test_r25_a_lost_move_is_made_anew_some_seconds_after_its_loss(desk: Desk) -> None:
    began = desk.clock.now()
    assert desk.attend(Lossy()) is SessionResult.FINISHED
    assert desk.clock.now() - began <= TIMING.denial_timeout + TIMING.backoff
    assert [note.body["sequence"] for note in desk.log.notes("m")] == [1, 2]
    facts = [{"anew": False}, {"anew": True}, {"anew": True}]
    assert [move.facts for move in desk.log.moves("m")] == facts


SAID = "somebody else plays as this user"


@pytest.mark.parametrize(
    ("match", "end", "said"),
    [
        (Count(length=9, others=[False, False, True, False, True]), SessionResult.FINISHED, 1),
        (
            Count({"act": [NotYourTurn(409, "not yours")]}, [False, True]),
            SessionResult.LEASED_BY_OTHER,
            1,
        ),
        (Count(length=9, counted=4), SessionResult.FINISHED, 0),
    ],
    ids=["ours came first", "both meant the first, and ours was refused", "our log was lost"],
)
def test_who_made_the_first_move_goes_on_and_that_another_plays_is_said_once(
    desk: Desk, caplog: pytest.LogCaptureFixture, match: Count, end: SessionResult, said: int
) -> None:
    assert desk.attend(match) is end
    assert caplog.text.count(SAID) == said
    assert ("goes on" in caplog.text) is bool(said and end is SessionResult.FINISHED)


def test_who_came_later_leaves_the_match_and_takes_it_up_when_the_other_is_silent(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    """It acts never while the other does: not at first, and not when it comes back."""
    match = Count(length=9, others=[True, True])
    assert desk.attend(match) is SessionResult.LEASED_BY_OTHER
    assert match.asked == []
    assert desk.free_after() == TIMING.retry_delay
    desk.outwait()
    match.others = [True]
    assert desk.attend(match) is SessionResult.LEASED_BY_OTHER
    assert match.asked == []
    desk.outwait()
    assert desk.attend(match) is SessionResult.FINISHED, "it has stood at our turn for a minute"
    assert caplog.text.count(SAID) == 1


def test_a_match_that_is_denied_is_left_alone_less_long_once_we_have_played_it(desk: Desk) -> None:
    """Whether it is denied to the worker that has played it, or to its successor."""
    match = Count()
    for fine, alone in (
        ([], TIMING.retry_delay),
        ([None], TIMING.lease_ttl),
        ([], TIMING.lease_ttl),
    ):
        match.errors["look"] = [*fine, *[DENIAL] * FOR_GOOD]
        assert desk.attend(match) is SessionResult.UNKNOWN_MATCH
        assert desk.free_after() == alone
        desk.outwait()
    match.errors.clear()
    assert desk.attend(match) is SessionResult.FINISHED


@pytest.mark.parametrize(
    "said",
    [
        *([error, None] * ACTIONS for error in (PAGE, GONE, DENIAL, PASSWORD)),
        [PAGE] * 60,
        [GONE, PAGE] * FOR_GOOD,
    ],
)
def test_r23_what_is_denied_once_or_may_be_a_gateways_word_is_asked_again_and_played(
    desk: Desk, said: list[ArenaError | None]
) -> None:
    """An arena that starts anew says no for itself, and then a gateway speaks for it."""
    begun, denials = desk.clock.now(), sum(error is not None for error in said)
    assert desk.attend(Count({"look": said})) is SessionResult.FINISHED
    assert desk.clock.now() - begun <= denials * TIMING.backoff


def test_a_match_that_is_gone_is_closed_by_who_has_time_to_hear_it_again(desk: Desk) -> None:
    match = Count({"look": [GONE] * 2 * FOR_GOOD})
    assert desk.attend(match, TIMING.handover_margin + TIMING.backoff) is SessionResult.HANDED_OVER
    assert require_match(desk.log).status is MatchStatus.RUNNING
    assert desk.attend(match) is SessionResult.UNKNOWN_MATCH
    record = require_match(desk.log)
    assert (record.status, record.outcome) == (MatchStatus.FINISHED, {"result": "unknown"})


@pytest.mark.parametrize(
    ("step", "alone"), [("look", TIMING.retry_delay), ("act", TIMING.lease_ttl)]
)
def test_wrong_credentials_are_told(desk: Desk, step: str, alone: timedelta) -> None:
    """Those for the actions too, which need not be those for the looks."""
    began = desk.clock.now()
    with pytest.raises(Unauthorized):
        desk.attend(Count({step: [PASSWORD] * FOR_GOOD}))
    assert desk.clock.now() - began == TIMING.denial_timeout
    assert desk.free_after() == alone


@pytest.mark.parametrize(
    ("times", "end"), [(50, SessionResult.FINISHED), (100, SessionResult.UNKNOWN_MATCH)]
)
def test_a_match_that_goes_on_while_it_denies_an_action_is_left_after_a_minute(
    desk: Desk, times: int, end: SessionResult
) -> None:
    """Not before: a server of which one half has just started knows the match again soon."""
    began = desk.clock.now()
    assert desk.attend(Count({"act": [GONE] * times})) is end
    took = desk.clock.now() - began
    assert took == (
        TIMING.contradiction_timeout
        if end is SessionResult.UNKNOWN_MATCH
        else times * TIMING.backoff
    )


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
def test_only_what_the_arena_refuses_for_good_is_left_out_at_that_move(
    desk: Desk, error: ArenaError, *, is_refused: bool
) -> None:
    match = Count({"act": [error, RequestRejected(400, "nor that")]})
    assert desk.attend(match) is SessionResult.FINISHED
    left_out = [{1}, {1, 2}] if is_refused else [set(), {1}]
    assert match.asked[:4] == [set(), *left_out, set()]
    assert [note.kind for note in desk.log.notes("m")] == ["refused"] * (1 + is_refused)


def test_a_match_is_handed_on_as_one_message_that_names_its_game(desk: Desk) -> None:
    """Without a look where there is no time for one."""
    match = Count({"look": [GONE]})
    for life in (TIMING.read_timeout, TIMING.handover_margin):
        assert desk.attend(match, life - timedelta(seconds=1)) is SessionResult.HANDED_OVER
        message = parse_match_message(receive_message(desk.queue).body)
        assert message == MatchMessage(match_id="m", game="count")
        assert desk.queue.receive(timedelta(0)) is None
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


def test_r38_a_match_in_which_nothing_happens_is_left_until_it_is_named(desk: Desk) -> None:
    """One that nobody names is looked at now and then: its end may have come without us."""
    match = Still()
    assert desk.attend(match) is SessionResult.ABANDONED
    assert match.waits == 1
    assert desk.queue.receive(timedelta(0)) is None, "it is not handed on"
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


def test_r38_a_match_that_no_poller_is_told_of_is_held(desk: Desk) -> None:
    held = Still(named=False, clock=desk.clock)
    assert desk.attend(held) is SessionResult.HANDED_OVER
    assert held.waits > HOUR / TIMING.long_poll_timeout - 3


@pytest.mark.parametrize("attended", [True, False])
def test_a_turn_that_waits_is_measured_at_its_first_look(desk: Desk, attended: bool) -> None:
    """After a takeover, a handover or a rest; how long a new match has waited is another metric."""
    meter, began = RecordingMeter(), desk.clock.now() - timedelta(seconds=4)

    class Ours(Count):
        def observe(self, recorded: MoveFacts) -> Observation[int]:
            return replace(super().observe(recorded), turn_began_at=began)

    if attended:
        lease = take_lease(desk.log, "another", ttl=TIMING.lease_ttl)
        desk.log.write_facts(lease, {0: {}})
        desk.log.release_lease(lease)
    assert desk.attend(Ours(counted=1), meter=meter) is SessionResult.FINISHED
    assert meter.durations[Metric.PICKUP_DELAY] == [timedelta(seconds=4)] * attended


def test_r32_each_action_is_decided_with_a_place_in_the_line_of_its_process(desk: Desk) -> None:
    match, begun = Count(), list[int]()

    class Watched(FairSemaphore):
        @contextmanager
        def acquire(self) -> Iterator[None]:
            begun.append(len(match.asked))
            with super().acquire():
                yield

    line = Watched(desk.clock)
    bot = Bot("count", lambda _: nullcontext(match), desk.offering, "worker", TIMING, line)
    assert bot.run_session("m", lambda: HOUR) is SessionResult.FINISHED
    assert begun == [0, 0, 1, 1, 2, 2, ACTIONS], "a look and a decision each, and the last look"


# --- what is offered ---------------------------------------------------------------------------


AGE = timedelta(days=7)
NAMED = ("one", "two", "three")


def test_a_match_is_offered_or_handed_on_up_to_its_age_then_closed(desk: Desk) -> None:
    desk.log.release_lease(take_lease(desk.log))
    desk.clock.advance(AGE)
    assert desk.offering.dispatch_unattended() == 1
    assert desk.offering.dispatch_unattended() == 0, "it is on its way"
    desk.clock.advance(TTL)
    assert not desk.offering.hand_over("m", "blef"), "too old now"
    lease = take_lease(desk.log, "another worker", ttl=HOUR)
    assert desk.offering.dispatch_unattended() == 0
    desk.clock.advance(TTL)
    assert desk.offering.dispatch_unattended() == 0, "it is attended"
    desk.log.renew_lease(lease, TTL)
    desk.log.release_lease(lease)
    desk.clock.advance(2 * AGE)
    assert desk.offering.dispatch_unattended(["m"]) == 1, (
        "an arena names it: it goes on whatever its age"
    )
    assert require_match(desk.log).status is MatchStatus.RUNNING
    assert desk.offering.dispatch_unattended() == 0
    desk.clock.advance(TTL)
    assert desk.offering.dispatch_unattended() == 0
    record = require_match(desk.log)
    assert (record.status, record.outcome) == (MatchStatus.FINISHED, {"result": EXPIRED_RESULT})
    assert desk.log.running_matches() == [], "so that it counts as running no longer"


def test_a_change_is_seen_within_seconds_and_stays_where_a_board_fails(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    kept = CachedRuntimeSettings(desk.board, desk.clock)
    assert not kept.read().paused
    desk.board.switches = RuntimeSettings(paused=True)
    desk.clock.advance(CACHE_TTL - timedelta(seconds=0.1))
    assert not kept.read().paused, "so that it is not asked twice a second"
    desk.clock.advance(timedelta(seconds=0.1))
    assert kept.read().paused
    assert timedelta(seconds=1) <= CACHE_TTL <= timedelta(seconds=10)
    kept = CachedRuntimeSettings(desk.board, desk.clock)
    desk.board.switches = None
    with pytest.raises(StoreError, match="throttled"):
        kept.read()
    desk.board.switches = RuntimeSettings(at_once=2)
    assert kept.read().at_once == 2
    desk.board.switches = None
    desk.clock.advance(CACHE_TTL)
    assert kept.read().at_once == 2
    assert "throttled" in caplog.text


@pytest.mark.parametrize(
    "wrong", [{"at_once": "0"}, {"at_once": "many"}, {"awake_until": "2026-11-22T10:00"}]
)
def test_what_cannot_be_used_is_an_error_and_the_rest_holds(
    wrong: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    assert parse_leniently({"strategy": "captain", **wrong}) == RuntimeSettings(strategy="captain")
    assert [line.levelname for line in caplog.records] == ["ERROR"]
    assert next(iter(wrong)) in caplog.text


@pytest.mark.parametrize(
    ("switches", "room"),
    [
        (RuntimeSettings(), 3),
        (RuntimeSettings(paused=True), 0),
        (RuntimeSettings(at_once=1), 0),
        (RuntimeSettings(at_once=2), 1),
        (RuntimeSettings(at_once=3), 2),
    ],
)
def test_no_more_new_matches_are_taken_up_than_there_is_room_for(
    desk: Desk, switches: RuntimeSettings, room: int
) -> None:
    """And running ones are watched over whatever is set."""
    take_lease(desk.log, "one that died", "running")
    desk.board.switches = switches
    assert desk.offering.dispatch_unattended([*NAMED, "running"]) == room, (
        "somebody may hold what runs"
    )
    assert desk.offering.dispatch_unattended(NAMED) == 0, "one on the queue counts, too"
    desk.clock.advance(TTL)
    assert desk.offering.dispatch_unattended(["running", "new"]) == 1 + bool(room)
    desk.board.switches = RuntimeSettings()
    assert desk.offering.dispatch_unattended(NAMED) == len(NAMED) - room, "there is room again"
