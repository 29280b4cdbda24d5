"""Small runs of `make evidence-chaos` and `make evidence-rate-limits`, and their checker."""

from collections.abc import Iterator, Sequence
from contextlib import closing, nullcontext
from copy import deepcopy
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from requests import ReadTimeout
from support.arena_server import ALICE
from support.case_counts import case_count

from cardsharp.bot import lease_keeper
from cardsharp.client.session_state import ClientSessionState
from cardsharp.games.deadmansdraw.arena.access.throttling import MAX_PER_USER
from cardsharp.games.deadmansdraw.arena_bot import match_poller
from fault_simulation import chaos
from fault_simulation.arena_network import MIN_DELAY_SECONDS, ArenaNetwork
from fault_simulation.chaos import CHAOS_RUN, RATE_LIMIT_RUN, run_chaos
from fault_simulation.checker import Evidence, Incident, check_match
from fault_simulation.fault_matrix import STORES
from fault_simulation.faults import FaultKind
from fault_simulation.match_harness import MatchHarness
from fault_simulation.simulated_arena import SimulatedArena
from fault_simulation.simulation import FaultSimulationResult
from fault_simulation.transport import AcceptedAction, RefusedAction
from fault_simulation.virtual_clock import START

HOME, CLOUD = STORES
SMALL = replace(CHAOS_RUN, matches=3, concurrency=3, trouble_interval=5, fault_rate=0.08)


@pytest.mark.parametrize(
    ("home", "matches", "turn"),
    [(HOME, 4, 20), (HOME, 4, 7), pytest.param(CLOUD, 3, 20, marks=pytest.mark.slow)],
)
def test_no_promise_is_broken_whatever_fails(home: str, matches: int, turn: float) -> None:
    wish = replace(
        SMALL, turn_seconds=turn, concurrency=3 if turn > 7 else 2, opponent_seconds=(0.5, turn / 2)
    )
    outcome = run_chaos(replace(wish, matches=matches, seed=3), home)
    assert outcome.violations == []
    assert outcome.finished_count == matches
    assert {"machine killed", "machine frozen", "message again"} <= outcome.fault_counts.keys()


def test_a_seed_does_the_same_to_the_last_byte(tmp_path: Path) -> None:
    runs = []
    for number in range(2):
        outcome = run_chaos(replace(SMALL, matches=1, seed=5), HOME, tmp_path / str(number))
        runs.append((outcome.trace_digest, (tmp_path / str(number)).read_bytes()))
    other = run_chaos(replace(SMALL, matches=1, seed=6), HOME)
    assert runs[0] == runs[1]
    assert other.trace_digest != runs[0][0]


def test_a_worker_that_stores_no_intents_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mutation guard: intents that nobody stores."""
    monkeypatch.setattr(lease_keeper.LeaseKeeper, "log_intent_within_lease", lambda *_: True)
    faults = run_chaos(replace(SMALL, matches=1), HOME).violations
    assert any("without an intent" in fault for fault in faults)


def test_r14_a_worker_that_dies_during_a_long_poll_for_the_list_costs_no_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of 5 s; where nobody looks at leases meanwhile, its lease runs out too late for one."""

    def lost() -> int:
        return sum(len(verdict.forced_turns) for verdict in run_chaos(wish, HOME).match_checks)

    wish = replace(
        CHAOS_RUN, matches=4, concurrency=1, turn_seconds=5, opponent_seconds=(1, 4), machines=2
    )
    wish = replace(wish, rate_limit=None, fault_rate=0.02, trouble_interval=None, seed=2)
    assert lost() == 0
    monkeypatch.setattr(match_poller, "run_periodically", lambda *_: nullcontext())
    assert lost() > 0


def test_a_retry_after_is_obeyed_only_as_long_as_a_short_turn_allows() -> None:
    """A quarter of its limit; with this seed a long poll is answered by one of 2 s."""
    wish = replace(
        SMALL,
        matches=1,
        concurrency=1,
        trouble_interval=None,
        fault_rate=0.3,
        turn_seconds=5,
        seed=21,
    )
    outcome = run_chaos(wish, HOME)
    assert outcome.finished_count == 1
    assert not {FaultKind.HTTP_429, FaultKind.HTTP_503}.isdisjoint(outcome.fault_counts)


def test_an_action_times_out_at_its_limit_even_if_sent_late(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As by a real client: the time before it is sent is a part of the limit."""
    late, carry = list[float](), ArenaNetwork.forward

    def timed(road: ArenaNetwork, request: Any, meant: Any, timeout: Any, began: float) -> Any:  # noqa: ANN401
        try:
            return carry(road, request, meant, timeout, began)
        except ReadTimeout:
            if request.method == "POST":
                late.append(road.clock.monotonic() - began - timeout.total)
            raise

    monkeypatch.setattr(ArenaNetwork, "forward", timed)
    monkeypatch.setattr(chaos, "OUTAGE_SHARE", 0.9)  # longer than any action is waited for
    run_chaos(
        replace(SMALL, matches=1, fault_rate=0, trouble_interval=2, max_decision_seconds=1, seed=1),
        HOME,
    )
    assert late
    assert max(late) <= SMALL.network_delay + MIN_DELAY_SECONDS


def at_limit(
    matches: int,
    at_once: int,
    limit: int | None = MAX_PER_USER,
    **more: Any,  # noqa: ANN401 - options of the simulation
) -> FaultSimulationResult:
    """Matches in which nothing fails; of all that are played here no turn may be lost."""
    return run_chaos(
        replace(RATE_LIMIT_RUN, matches=matches, concurrency=at_once, rate_limit=limit, **more),
        HOME,
    )


@pytest.mark.parametrize("at_once", [1, 6])
def test_r40_no_turn_is_lost_and_no_action_refused_at_the_limit(at_once: int) -> None:
    """At 100 requests a minute and 7 s a turn, in matches that want three times as many."""
    outcome = at_limit(at_once + case_count(1, full=2), at_once)
    assert outcome.violations == []
    assert outcome.max_concurrency == at_once
    lists = outcome.request_counts["list"] + outcome.request_counts["list_wait"]
    assert lists / outcome.minutes <= match_poller.LIST_SHARE * MAX_PER_USER + 1


@pytest.mark.parametrize("seed", [20, 37])
def test_r40_a_match_is_found_before_its_first_turn_ends_also_at_the_limit(seed: int) -> None:
    """With these seeds the list once waited so long for the budget that a first turn was lost."""
    assert at_limit(9, 6, seed=seed).violations == []


def test_r40_an_unreported_rate_limit_is_detected_and_no_limit_means_no_waiting() -> None:
    """With turns of 45 s: where no limit is told, another match is found within 30 s."""
    silent = at_limit(3, 2, reports_rate_limit=False, turn_seconds=45)
    free = at_limit(6, 6, limit=None, turn_seconds=45)
    assert silent.violations == free.violations == []
    assert sum(free.request_counts.values()) > 1.5 * MAX_PER_USER * free.minutes


def test_r40_matches_beyond_the_rate_limit_are_skipped_and_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Half of that limit feeds three."""
    assert at_limit(6, 6, limit=MAX_PER_USER // 2).max_concurrency == 3
    assert "the request limit allows 3 at once" in caplog.text


@pytest.mark.slow
def test_r40_the_suite_misses_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mutation guard: who asks whenever it likes is slowed by seconds, and loses turns."""
    monkeypatch.setattr(ClientSessionState, "wait_for_budget", lambda *_: None)
    outcome = at_limit(8, 6)
    assert outcome.max_throttle_seconds > 3
    assert any("was lost" in fault for fault in outcome.violations)


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Evidence]:
    """A match of the real bot at the real arena, played to its end."""
    with closing(MatchHarness(SimulatedArena, tmp_path_factory.mktemp("bench"))) as bench:
        bench.run_match()
        assert isinstance(bench.place, SimulatedArena)
        yield Evidence(bench.place.match_json(), ALICE, bench.log, bench.gate.accepted)


@pytest.fixture
def forced(evidence: Evidence) -> Evidence:
    """The match, had the arena made our last move for want of time."""
    admin_view = deepcopy(evidence.admin_view)
    events = admin_view["moves"][evidence.accepted[-1].sequence]["events"]
    seat = events[0]["playerIndex"]
    events.insert(0, {"eventType": "Comment", "comment": "late", "playerIndex": seat})
    return replace(evidence, admin_view=admin_view, accepted=evidence.accepted[:-1])


def previous_move_time(evidence: Evidence, move: int) -> datetime:
    """Return the time of the move that precedes `move`."""
    return datetime.fromisoformat(evidence.admin_view["moves"][move - 1]["at"])


def test_actions_seen_by_the_network_are_checked_against_the_history(
    evidence: Evidence,
) -> None:
    """A clean match is acquitted; an action that was doubled, got lost or was strange is found."""

    def faults(accepted: Sequence[AcceptedAction], *refused: RefusedAction) -> list[str]:
        return check_match(1, replace(evidence, accepted=accepted, refused=refused)).all_violations

    first, *rest = evidence.accepted
    assert faults([first, *rest]) == []
    assert len(rest) > 5
    for wrong in (rest, [first, *rest[:-1]], [first, *rest, rest[-1]]):
        assert any("count as ours" in fault for fault in faults(wrong))
    strange = replace(first, violations=["was meant for another move"])
    refused = RefusedAction(4, {"etype": "Draw"}, "403", START)
    assert faults([strange, *rest], refused) == [*strange.violations, str(refused)]


@pytest.mark.parametrize("field", ["etype", "at"])
def test_a_log_that_contradicts_a_move_is_detected(evidence: Evidence, field: str) -> None:
    admin_view = deepcopy(evidence.admin_view)
    entry = admin_view["moves"][evidence.accepted[3].sequence]
    (entry["userAction"] if field == "etype" else entry)[field] = "2001-01-01T00:00:00Z"
    assert check_match(1, replace(evidence, admin_view=admin_view)).all_violations


@pytest.mark.parametrize(
    ("names", "well"),
    [
        ([], False),
        ([f"{FaultKind.TIMED_OUT} (act)"], False),
        ([f"{FaultKind.TIMED_OUT} (wait)"], True),
        ([f"{FaultKind.TIMED_OUT} (act)", "machine killed"], True),
    ],
)
def test_a_lost_turn_is_reported_with_its_incidents(
    forced: Evidence, names: list[str], well: bool
) -> None:
    """And may be lost where more than one thing happened; what came long before is no reason."""
    at = forced.accepted[-1].sequence + 1
    early_time = previous_move_time(forced, at) - timedelta(seconds=30)
    # A wait that began half a minute ago may have been swallowed; all else is over by then.
    suffered = [
        Incident(early_time if "wait" in n else previous_move_time(forced, at), n) for n in names
    ]
    suffered.insert(0, Incident(early_time, "before"))
    (lost,) = check_match(1, replace(forced, incidents=suffered)).forced_turns
    assert (lost.move_number, list(lost.incidents), lost.is_excused) == (at, names, well)


def test_ending_a_turn_that_the_watchdog_ended_first_is_no_violation(forced: Evidence) -> None:
    at = forced.accepted[-1].sequence + 1
    late = [
        RefusedAction(at + moves, {"etype": kind}, "409", START)
        for moves, kind in ((1, "EndTurn"), (3, "EndTurn"), (1, "Draw"))
    ]
    assert check_match(1, replace(forced, refused=late)).refused == (late[2],)


def test_to_ask_once_if_a_turn_goes_on_is_no_fault(evidence: Evidence) -> None:
    """By an EndTurn, when the time of the turn is over."""
    admin_view, at = deepcopy(evidence.admin_view), evidence.accepted[-1].sequence
    admin_view["creationParams"]["timeout"] = 8
    over = previous_move_time(evidence, at) + timedelta(seconds=9)
    probe = RefusedAction(at, {"etype": "EndTurn"}, "400", over)
    early, other_action = (
        probe._replace(refused_at=over - timedelta(seconds=2)),
        probe._replace(action={}),
    )
    for refused, wrong in (
        ([probe], []),
        ([probe, probe._replace(answer="again")], [1]),
        ([probe, probe._replace(refused_at=over + timedelta(seconds=9))], []),
        ([early], [0]),
        ([other_action], [0]),
    ):
        verdict = check_match(1, replace(evidence, admin_view=admin_view, refused=refused))
        assert [refused.index(action) for action in verdict.refused] == wrong
