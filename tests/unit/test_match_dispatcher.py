"""The dispatch of matches to workers: leases, age, time on the queue, the operator's settings."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest
from fault_simulation.virtual_clock import START
from support.counting_match import HOUR, Desk, open_desk
from support.store_fixtures import TTL, RecordingMeter, require_match, take_lease

from cardsharp.bot.control.runtime_settings import (
    SETTINGS_CACHE_TTL,
    CachedRuntimeSettings,
    RuntimeSettings,
    parse_leniently,
)
from cardsharp.bot.lease_observer import LeaseObserver
from cardsharp.bot.match_dispatcher import (
    EXPIRED_RESULT,
    MAX_READ_DELAY,
    MISSING_GAME,
    REOPEN_GRACE,
    MatchDispatcher,
)
from cardsharp.bot.queueing.memory_queue import MemoryQueue
from cardsharp.bot.queueing.messages import MatchMessage, parse_match_message
from cardsharp.core.metrics import MetricName
from cardsharp.errors import StoreError
from cardsharp.store.match_log import Body, ExpiredLease, MatchRecord, MatchStatus


@pytest.fixture
def desk() -> Iterator[Desk]:
    with open_desk() as desk:
        yield desk


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


def test_a_settings_change_is_seen_within_seconds_and_survives_a_board_failure(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    cached_settings = CachedRuntimeSettings(desk.board, desk.clock)
    assert not cached_settings.read().paused
    desk.board.switches = RuntimeSettings(paused=True)
    desk.clock.advance(SETTINGS_CACHE_TTL - timedelta(seconds=0.1))
    assert not cached_settings.read().paused, "so that it is not asked twice a second"
    desk.clock.advance(timedelta(seconds=0.1))
    assert cached_settings.read().paused
    assert timedelta(seconds=1) <= SETTINGS_CACHE_TTL <= timedelta(seconds=10)
    cached_settings = CachedRuntimeSettings(desk.board, desk.clock)
    desk.board.switches = None
    with pytest.raises(StoreError, match="throttled"):
        cached_settings.read()
    desk.board.switches = RuntimeSettings(at_once=2)
    assert cached_settings.read().at_once == 2
    desk.board.switches = None
    desk.clock.advance(SETTINGS_CACHE_TTL)
    assert cached_settings.read().at_once == 2
    assert "throttled" in caplog.text


@pytest.mark.parametrize(
    "wrong", [{"at_once": "0"}, {"at_once": "many"}, {"awake_until": "2026-11-22T10:00"}]
)
def test_an_invalid_setting_is_logged_and_the_valid_ones_apply(
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
def test_new_matches_are_dispatched_up_to_the_limit(
    desk: Desk, switches: RuntimeSettings, room: int
) -> None:
    """Running matches are observed under any settings."""
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


# --- what is put on the queue --------------------------------------------------------------------

INSTANT = timedelta(microseconds=1)


def messages(desk: Desk) -> list[MatchMessage]:
    """Receive all that is on the queue."""
    bodies = iter(lambda: desk.queue.receive_message(timedelta(0)), None)
    return [parse_match_message(message.body) for message in bodies]


def metered(desk: Desk) -> tuple[MatchDispatcher, RecordingMeter]:
    meter = RecordingMeter()
    return replace(desk.offering, metrics=meter), meter


def test_a_match_is_marked_as_queued_before_its_message_is_sent(desk: Desk) -> None:
    """Should its dispatcher die between the two, another sends it; else each would send one."""

    class Checked(MemoryQueue):
        def send(self, body: str, delay: timedelta = timedelta(0)) -> None:
            assert require_match(desk.log).is_queued
            super().send(body, delay)

    desk.queue = Checked(desk.clock)
    offering = replace(desk.offering, queue=desk.queue)
    assert offering.dispatch("m", "blef")
    assert require_match(desk.log).ttl == TTL
    assert not offering.dispatch("m", "blef")
    assert messages(desk) == [MatchMessage(match_id="m", game="blef")]
    take_lease(desk.log, name="attended")
    assert not offering.dispatch("attended")
    assert messages(desk) == []


def test_a_match_that_no_worker_takes_is_queued_again_with_doubled_times(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    offering, meter = metered(desk)
    desk.log.release_lease(take_lease(desk.log))
    assert offering.dispatch_unattended() == 1
    for seconds in (3, 6, 12, 24, 30, 30):
        ttl = timedelta(seconds=seconds)
        assert require_match(desk.log).ttl == ttl
        assert offering.dispatch_unattended() == 0
        desk.clock.advance(ttl - INSTANT)
        assert offering.dispatch_unattended() == 0
        desk.clock.advance(INSTANT)
        assert offering.dispatch_unattended() == 1
        assert f"no worker came for this match within {ttl}" in caplog.text
    assert {vars(line)["match_id"] for line in caplog.records} == {"m"}
    assert len(messages(desk)) == meter.counts[MetricName.DISPATCHES] == 7
    assert meter.counts[MetricName.UNANSWERED_DISPATCHES] == 6
    take_lease(desk.log)
    assert offering.dispatch_unattended() == 0
    desk.clock.advance(TTL)
    assert offering.dispatch_unattended() == 1
    assert require_match(desk.log).ttl == TTL, "a worker came: the times begin anew"
    assert meter.counts[MetricName.UNANSWERED_DISPATCHES] == 6


def test_a_message_names_the_game_that_the_log_has(desk: Desk) -> None:
    desk.log.release_lease(take_lease(desk.log, name="known"))
    assert desk.offering.dispatch_unattended(["new", "known"]) == 2
    assert {message.match_id: message.game for message in messages(desk)} == {
        "new": None,
        "known": "deadmansdraw",
    }


def test_running_matches_are_counted_in_all_and_by_their_game(desk: Desk) -> None:
    offering, meter = metered(desk)
    for name in ("one", "two"):
        take_lease(desk.log, name=name)
    assert desk.log.acquire_lease("three", "ann", TTL) is not None
    desk.log.finish(take_lease(desk.log, name="over"), {})
    assert offering.dispatch_unattended(["new"]) == 1
    running = MetricName.RUNNING
    assert (meter.counts[running], meter.counts[f"{running}/deadmansdraw"]) == (3, 2)
    assert offering.running_ids == {"one", "two", "three"}
    desk.log.finish(take_lease(desk.log, name="two"), {})
    offering.dispatch_unattended()
    assert offering.running_ids == {"one", "three"}


@pytest.mark.parametrize(
    ("at_once", "max_new", "room"),
    [
        (None, None, 3),
        (None, 2, 1),
        (None, 1, 0),
        (None, 0, 0),
        (2, None, 1),
        (2, 4, 1),
        (4, 2, 1),
        (9, 3, 2),
    ],
)
def test_the_lower_of_the_operators_and_the_request_limit_counts(
    desk: Desk, at_once: int | None, max_new: int | None, room: int
) -> None:
    """A match that is attended takes a place, and one of a worker that died keeps its own."""
    take_lease(desk.log, name="attended", ttl=HOUR)
    desk.board.switches = RuntimeSettings(at_once=at_once)
    assert desk.offering.dispatch_unattended(NAMED, max_new) == room
    assert [message.match_id for message in messages(desk)] == [*NAMED[:room]]
    desk.clock.advance(TTL)
    assert desk.offering.dispatch_unattended(NAMED[:room], max_new) == 0
    desk.clock.advance(TTL)
    assert desk.offering.dispatch_unattended(NAMED[:room], max_new) == room


def test_a_match_that_is_not_started_is_logged_once_with_the_reason(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(2):
        assert desk.offering.dispatch_unattended(["one"], 0) == 0
    desk.board.switches = RuntimeSettings(paused=True)
    assert desk.offering.dispatch_unattended(["one", "two"]) == 0
    lines = [line for line in caplog.records if "match not started" in line.message]
    assert [vars(line)["match_id"] for line in lines] == ["one", "two"]
    limit = "(the request limit allows 0 at once)"
    assert [limit in line.message for line in lines] == [True, False]


def test_matches_of_the_log_are_queued_although_new_ones_may_not_be(desk: Desk) -> None:
    """As many as there are: a place is taken by a new match only."""
    for name in ("died", "also"):
        desk.log.release_lease(take_lease(desk.log, name=name))
    assert desk.offering.dispatch_unattended([*NAMED], 3) == 2 + 1


def test_a_parked_match_is_queued_at_once_only_when_the_arena_lists_it(desk: Desk) -> None:
    desk.log.release_lease(take_lease(desk.log), HOUR)
    assert desk.offering.dispatch_unattended() == 0
    desk.clock.advance(HOUR - INSTANT)
    assert desk.offering.dispatch_unattended() == 0
    assert desk.offering.dispatch_unattended(["m"]) == 1
    desk.log.release_lease(take_lease(desk.log), HOUR)
    assert desk.offering.dispatch_unattended() == 0
    desk.clock.advance(HOUR)
    assert desk.offering.dispatch_unattended() == 1, "now and then"
    take_lease(desk.log, ttl=HOUR)
    assert desk.offering.dispatch_unattended(["m"]) == 0, "an attended one is not parked"


@pytest.mark.parametrize(
    ("outcome", "listed_after"),
    [({"result": MISSING_GAME}, -MAX_READ_DELAY), ({"result": "lost"}, REOPEN_GRACE)],
)
def test_a_closed_match_is_reopened_by_a_list_that_is_late_enough(
    desk: Desk, caplog: pytest.LogCaptureFixture, outcome: Body, listed_after: timedelta
) -> None:
    desk.log.finish(take_lease(desk.log), outcome)
    seen_at = desk.clock.monotonic()
    second = seen_at + listed_after.total_seconds()
    desk.clock.advance(HOUR)
    for listed_at, is_reopened in ((second - 0.001, False), (second, True)):
        if not is_reopened:
            desk.offering.lease_observer.idle_for(require_match(desk.log), seen_at)
        queued = desk.offering.dispatch_unattended(["m"], None, listed_at)
        assert bool(queued) is is_reopened
        assert ("reopened, because the arena lists it" in caplog.text) is is_reopened
    assert {vars(line)["match_id"] for line in caplog.records} == {"m"}
    assert messages(desk) == [MatchMessage(match_id="m", game="deadmansdraw")]
    assert require_match(desk.log).status is MatchStatus.RUNNING


def test_a_match_is_old_only_after_its_age(desk: Desk) -> None:
    desk.log.release_lease(take_lease(desk.log))
    desk.clock.advance(AGE)
    assert desk.offering.hand_over("m", "blef")
    assert desk.offering.hand_over("unknown", "blef")
    desk.log.release_lease(take_lease(desk.log))
    desk.clock.advance(INSTANT)
    assert not desk.offering.hand_over("m", "blef")


def test_an_old_match_is_closed_only_by_whoever_marks_it(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    """A worker that is alive after all keeps it."""
    take_lease(desk.log)
    desk.clock.advance(AGE + INSTANT)
    assert desk.offering.dispatch_unattended() == 0
    desk.clock.advance(TTL)
    desk.log.renew_lease(take_lease(desk.log), HOUR)
    assert desk.offering.dispatch_unattended() == 0
    assert require_match(desk.log).status is MatchStatus.RUNNING
    desk.clock.advance(HOUR)
    assert desk.offering.dispatch_unattended() == 0
    assert require_match(desk.log).outcome == {"result": EXPIRED_RESULT}
    (line,) = caplog.records
    assert line.message == f"closed, because it began more than {AGE} ago"
    assert vars(line)["match_id"] == "m"
    assert messages(desk) == []


def test_leases_are_watched_until_the_time_is_nearly_up_whatever_the_store_does(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    passes, queued = list[float](), iter([1, StoreError("throttled"), 0, 2])
    began = desk.clock.monotonic()

    def dispatch(_: MatchDispatcher) -> int:
        passes.append(desk.clock.monotonic() - began)
        count = next(queued)
        if isinstance(count, StoreError):
            raise count
        return count

    monkeypatch.setattr(MatchDispatcher, "dispatch_unattended", dispatch)
    end, interval = desk.clock.now() + timedelta(seconds=10), timedelta(seconds=2)
    assert desk.offering.dispatch_until(interval, lambda: end - desk.clock.now()) == 3
    assert passes == [0, 2, 4, 6], "with 2 s left there is no time for another"


# --- leases that nobody compares by clocks -------------------------------------------------------


def record(version: int, ttl: timedelta | None = TTL, name: str = "m") -> MatchRecord:
    return MatchRecord(name, MatchStatus.RUNNING, START, {}, version, ttl)


def test_a_lease_has_expired_when_it_was_seen_unchanged_for_its_whole_duration() -> None:
    observer = LeaseObserver()
    assert observer.expired_lease(record(1), 100) is None
    assert observer.expired_lease(record(1), 102.9) is None
    assert observer.expired_lease(record(1), 103) == ExpiredLease(1, TTL)
    assert observer.expired_lease(record(1), 105) == ExpiredLease(1, timedelta(seconds=5))
    assert observer.expired_lease(record(2), 105) is None, "renewed since: it counts anew"
    assert observer.expired_lease(record(2), 107.9) is None
    assert observer.expired_lease(record(2), 108) == ExpiredLease(2, TTL)
    assert observer.expired_lease(record(2, HOUR), 110) is None
    assert observer.expired_lease(record(2, None), 110) == ExpiredLease(2, timedelta(seconds=5))


def test_a_lease_that_nobody_holds_is_free_at_once() -> None:
    assert LeaseObserver().expired_lease(record(7, None), 100) == ExpiredLease(7, timedelta(0))


def test_an_observer_forgets_all_other_matches() -> None:
    observer = LeaseObserver()
    for name in ("one", "two"):
        observer.idle_for(record(1, name=name), 100)
    observer.retain_only({"one"})
    assert observer.idle_for(record(1, name="one"), 105) == timedelta(seconds=5)
    assert observer.idle_for(record(1, name="two"), 105) == timedelta(0)
