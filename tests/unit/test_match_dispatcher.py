"""The dispatch of matches to workers: leases, age, time on the queue, the operator's settings."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest
from fault_simulation.virtual_clock import START
from support.counting_match import HOUR, SessionHarness, open_session_harness
from support.store_fixtures import TTL, RecordingMeter, acquire_lease, require_match

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
def harness() -> Iterator[SessionHarness]:
    with open_session_harness() as harness:
        yield harness


AGE = timedelta(days=7)
NAMED = ("one", "two", "three")


def test_a_match_is_offered_or_handed_on_up_to_its_age_then_closed(harness: SessionHarness) -> None:
    harness.log.release_lease(acquire_lease(harness.log))
    harness.clock.advance(AGE)
    assert harness.dispatcher.dispatch_unattended() == 1
    assert harness.dispatcher.dispatch_unattended() == 0, "it is on its way"
    harness.clock.advance(TTL)
    assert not harness.dispatcher.hand_over("m", "blef"), "too old now"
    lease = acquire_lease(harness.log, "another worker", ttl=HOUR)
    assert harness.dispatcher.dispatch_unattended() == 0
    harness.clock.advance(TTL)
    assert harness.dispatcher.dispatch_unattended() == 0, "it is attended"
    harness.log.renew_lease(lease, TTL)
    harness.log.release_lease(lease)
    harness.clock.advance(2 * AGE)
    assert harness.dispatcher.dispatch_unattended(["m"]) == 1, (
        "an arena names it: it goes on whatever its age"
    )
    assert require_match(harness.log).status is MatchStatus.RUNNING
    assert harness.dispatcher.dispatch_unattended() == 0
    harness.clock.advance(TTL)
    assert harness.dispatcher.dispatch_unattended() == 0
    record = require_match(harness.log)
    assert (record.status, record.outcome) == (MatchStatus.FINISHED, {"result": EXPIRED_RESULT})
    assert harness.log.running_matches() == [], "so that it counts as running no longer"


def test_a_settings_change_is_seen_within_seconds_and_survives_a_board_failure(
    harness: SessionHarness, caplog: pytest.LogCaptureFixture
) -> None:
    cached_settings = CachedRuntimeSettings(harness.runtime_settings, harness.clock)
    assert not cached_settings.read().paused
    harness.runtime_settings.settings = RuntimeSettings(paused=True)
    harness.clock.advance(SETTINGS_CACHE_TTL - timedelta(seconds=0.1))
    assert not cached_settings.read().paused, "so that it is not asked twice a second"
    harness.clock.advance(timedelta(seconds=0.1))
    assert cached_settings.read().paused
    assert timedelta(seconds=1) <= SETTINGS_CACHE_TTL <= timedelta(seconds=10)
    cached_settings = CachedRuntimeSettings(harness.runtime_settings, harness.clock)
    harness.runtime_settings.settings = None
    with pytest.raises(StoreError, match="throttled"):
        cached_settings.read()
    harness.runtime_settings.settings = RuntimeSettings(at_once=2)
    assert cached_settings.read().at_once == 2
    harness.runtime_settings.settings = None
    harness.clock.advance(SETTINGS_CACHE_TTL)
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
    ("settings", "room"),
    [
        (RuntimeSettings(), 3),
        (RuntimeSettings(paused=True), 0),
        (RuntimeSettings(at_once=1), 0),
        (RuntimeSettings(at_once=2), 1),
        (RuntimeSettings(at_once=3), 2),
    ],
)
def test_new_matches_are_dispatched_up_to_the_limit(
    harness: SessionHarness, settings: RuntimeSettings, room: int
) -> None:
    """Running matches are observed under any settings."""
    acquire_lease(harness.log, "one that died", "running")
    harness.runtime_settings.settings = settings
    assert harness.dispatcher.dispatch_unattended([*NAMED, "running"]) == room, (
        "somebody may hold what runs"
    )
    assert harness.dispatcher.dispatch_unattended(NAMED) == 0, "one on the queue counts, too"
    harness.clock.advance(TTL)
    assert harness.dispatcher.dispatch_unattended(["running", "new"]) == 1 + bool(room)
    harness.runtime_settings.settings = RuntimeSettings()
    assert harness.dispatcher.dispatch_unattended(NAMED) == len(NAMED) - room, "there is room again"


# --- what is put on the queue --------------------------------------------------------------------

INSTANT = timedelta(microseconds=1)


def messages(harness: SessionHarness) -> list[MatchMessage]:
    """Receive all that is on the queue."""
    bodies = iter(lambda: harness.queue.receive_message(timedelta(0)), None)
    return [parse_match_message(message.body) for message in bodies]


def metered(harness: SessionHarness) -> tuple[MatchDispatcher, RecordingMeter]:
    meter = RecordingMeter()
    return replace(harness.dispatcher, metrics=meter), meter


def test_a_match_is_marked_as_queued_before_its_message_is_sent(harness: SessionHarness) -> None:
    """Should its dispatcher die between the two, another sends it; else each would send one."""

    class Checked(MemoryQueue):
        def send(self, body: str, delay: timedelta = timedelta(0)) -> None:
            assert require_match(harness.log).is_queued
            super().send(body, delay)

    harness.queue = Checked(harness.clock)
    dispatcher = replace(harness.dispatcher, queue=harness.queue)
    assert dispatcher.dispatch("m", "blef")
    assert require_match(harness.log).ttl == TTL
    assert not dispatcher.dispatch("m", "blef")
    assert messages(harness) == [MatchMessage(match_id="m", game="blef")]
    acquire_lease(harness.log, name="attended")
    assert not dispatcher.dispatch("attended")
    assert messages(harness) == []


def test_a_match_that_no_worker_takes_is_queued_again_with_doubled_times(
    harness: SessionHarness, caplog: pytest.LogCaptureFixture
) -> None:
    dispatcher, meter = metered(harness)
    harness.log.release_lease(acquire_lease(harness.log))
    assert dispatcher.dispatch_unattended() == 1
    for seconds in (3, 6, 12, 24, 30, 30):
        ttl = timedelta(seconds=seconds)
        assert require_match(harness.log).ttl == ttl
        assert dispatcher.dispatch_unattended() == 0
        harness.clock.advance(ttl - INSTANT)
        assert dispatcher.dispatch_unattended() == 0
        harness.clock.advance(INSTANT)
        assert dispatcher.dispatch_unattended() == 1
        assert f"no worker came for this match within {ttl}" in caplog.text
    assert {vars(line)["match_id"] for line in caplog.records} == {"m"}
    assert len(messages(harness)) == meter.counts[MetricName.DISPATCHES] == 7
    assert meter.counts[MetricName.UNANSWERED_DISPATCHES] == 6
    acquire_lease(harness.log)
    assert dispatcher.dispatch_unattended() == 0
    harness.clock.advance(TTL)
    assert dispatcher.dispatch_unattended() == 1
    assert require_match(harness.log).ttl == TTL, "a worker came: the times begin anew"
    assert meter.counts[MetricName.UNANSWERED_DISPATCHES] == 6


def test_a_message_names_the_game_that_the_log_has(harness: SessionHarness) -> None:
    harness.log.release_lease(acquire_lease(harness.log, name="known"))
    assert harness.dispatcher.dispatch_unattended(["new", "known"]) == 2
    assert {message.match_id: message.game for message in messages(harness)} == {
        "new": None,
        "known": "deadmansdraw",
    }


def test_running_matches_are_counted_in_all_and_by_their_game(harness: SessionHarness) -> None:
    dispatcher, meter = metered(harness)
    for name in ("one", "two"):
        acquire_lease(harness.log, name=name)
    assert harness.log.acquire_lease("three", "ann", TTL) is not None
    harness.log.finish(acquire_lease(harness.log, name="over"), {})
    assert dispatcher.dispatch_unattended(["new"]) == 1
    running = MetricName.RUNNING
    assert (meter.counts[running], meter.counts[f"{running}/deadmansdraw"]) == (3, 2)
    assert dispatcher.running_ids == {"one", "two", "three"}
    harness.log.finish(acquire_lease(harness.log, name="two"), {})
    dispatcher.dispatch_unattended()
    assert dispatcher.running_ids == {"one", "three"}


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
    harness: SessionHarness, at_once: int | None, max_new: int | None, room: int
) -> None:
    """A match that is attended takes a place, and one of a worker that died keeps its own."""
    acquire_lease(harness.log, name="attended", ttl=HOUR)
    harness.runtime_settings.settings = RuntimeSettings(at_once=at_once)
    assert harness.dispatcher.dispatch_unattended(NAMED, max_new) == room
    assert [message.match_id for message in messages(harness)] == [*NAMED[:room]]
    harness.clock.advance(TTL)
    assert harness.dispatcher.dispatch_unattended(NAMED[:room], max_new) == 0
    harness.clock.advance(TTL)
    assert harness.dispatcher.dispatch_unattended(NAMED[:room], max_new) == room


def test_a_match_that_is_not_started_is_logged_once_with_the_reason(
    harness: SessionHarness, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(2):
        assert harness.dispatcher.dispatch_unattended(["one"], 0) == 0
    harness.runtime_settings.settings = RuntimeSettings(paused=True)
    assert harness.dispatcher.dispatch_unattended(["one", "two"]) == 0
    lines = [line for line in caplog.records if "match not started" in line.message]
    assert [vars(line)["match_id"] for line in lines] == ["one", "two"]
    limit = "(the request limit allows 0 at once)"
    assert [limit in line.message for line in lines] == [True, False]


def test_matches_of_the_log_are_queued_although_new_ones_may_not_be(
    harness: SessionHarness,
) -> None:
    """As many as there are: a place is taken by a new match only."""
    for name in ("died", "also"):
        harness.log.release_lease(acquire_lease(harness.log, name=name))
    assert harness.dispatcher.dispatch_unattended([*NAMED], 3) == 2 + 1


def test_a_parked_match_is_queued_at_once_only_when_the_arena_lists_it(
    harness: SessionHarness,
) -> None:
    harness.log.release_lease(acquire_lease(harness.log), HOUR)
    assert harness.dispatcher.dispatch_unattended() == 0
    harness.clock.advance(HOUR - INSTANT)
    assert harness.dispatcher.dispatch_unattended() == 0
    assert harness.dispatcher.dispatch_unattended(["m"]) == 1
    harness.log.release_lease(acquire_lease(harness.log), HOUR)
    assert harness.dispatcher.dispatch_unattended() == 0
    harness.clock.advance(HOUR)
    assert harness.dispatcher.dispatch_unattended() == 1, "now and then"
    acquire_lease(harness.log, ttl=HOUR)
    assert harness.dispatcher.dispatch_unattended(["m"]) == 0, "an attended one is not parked"


@pytest.mark.parametrize(
    ("outcome", "listed_after"),
    [({"result": MISSING_GAME}, -MAX_READ_DELAY), ({"result": "lost"}, REOPEN_GRACE)],
)
def test_a_closed_match_is_reopened_by_a_list_that_is_late_enough(
    harness: SessionHarness,
    caplog: pytest.LogCaptureFixture,
    outcome: Body,
    listed_after: timedelta,
) -> None:
    harness.log.finish(acquire_lease(harness.log), outcome)
    seen_at = harness.clock.monotonic()
    second = seen_at + listed_after.total_seconds()
    harness.clock.advance(HOUR)
    for listed_at, is_reopened in ((second - 0.001, False), (second, True)):
        if not is_reopened:
            harness.dispatcher.lease_observer.idle_for(require_match(harness.log), seen_at)
        queued = harness.dispatcher.dispatch_unattended(["m"], None, listed_at)
        assert bool(queued) is is_reopened
        assert ("reopened, because the arena lists it" in caplog.text) is is_reopened
    assert {vars(line)["match_id"] for line in caplog.records} == {"m"}
    assert messages(harness) == [MatchMessage(match_id="m", game="deadmansdraw")]
    assert require_match(harness.log).status is MatchStatus.RUNNING


def test_a_match_is_old_only_after_its_age(harness: SessionHarness) -> None:
    harness.log.release_lease(acquire_lease(harness.log))
    harness.clock.advance(AGE)
    assert harness.dispatcher.hand_over("m", "blef")
    assert harness.dispatcher.hand_over("unknown", "blef")
    harness.log.release_lease(acquire_lease(harness.log))
    harness.clock.advance(INSTANT)
    assert not harness.dispatcher.hand_over("m", "blef")


def test_an_old_match_is_closed_only_by_whoever_marks_it(
    harness: SessionHarness, caplog: pytest.LogCaptureFixture
) -> None:
    """A worker that is alive after all keeps it."""
    acquire_lease(harness.log)
    harness.clock.advance(AGE + INSTANT)
    assert harness.dispatcher.dispatch_unattended() == 0
    harness.clock.advance(TTL)
    harness.log.renew_lease(acquire_lease(harness.log), HOUR)
    assert harness.dispatcher.dispatch_unattended() == 0
    assert require_match(harness.log).status is MatchStatus.RUNNING
    harness.clock.advance(HOUR)
    assert harness.dispatcher.dispatch_unattended() == 0
    assert require_match(harness.log).outcome == {"result": EXPIRED_RESULT}
    (line,) = caplog.records
    assert line.message == f"closed, because it began more than {AGE} ago"
    assert vars(line)["match_id"] == "m"
    assert messages(harness) == []


def test_leases_are_watched_until_the_time_is_nearly_up_whatever_the_store_does(
    harness: SessionHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    passes, queued = list[float](), iter([1, StoreError("throttled"), 0, 2])
    began = harness.clock.monotonic()

    def dispatch(_: MatchDispatcher) -> int:
        passes.append(harness.clock.monotonic() - began)
        count = next(queued)
        if isinstance(count, StoreError):
            raise count
        return count

    monkeypatch.setattr(MatchDispatcher, "dispatch_unattended", dispatch)
    end, interval = harness.clock.now() + timedelta(seconds=10), timedelta(seconds=2)
    assert harness.dispatcher.dispatch_until(interval, lambda: end - harness.clock.now()) == 3
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
