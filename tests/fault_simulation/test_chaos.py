"""Tests of short runs of `make evidence-chaos` and `make evidence-rate-limits`.

The checker of matches is tested too.
"""

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

LOCAL_STORE, CLOUD_STORE = STORES
SMALL = replace(CHAOS_RUN, matches=3, concurrency=3, trouble_interval=5, fault_rate=0.08)


@pytest.mark.parametrize(
    ("store_name", "matches", "turn_seconds"),
    [
        pytest.param(LOCAL_STORE, 4, 20, marks=pytest.mark.slow),
        (LOCAL_STORE, 4, 7),
        pytest.param(CLOUD_STORE, 3, 20, marks=pytest.mark.slow),
    ],
)
def test_no_promise_is_broken_whatever_fails(
    store_name: str, matches: int, turn_seconds: float
) -> None:
    config = replace(
        SMALL,
        turn_seconds=turn_seconds,
        concurrency=3 if turn_seconds > 7 else 2,
        opponent_seconds=(0.5, turn_seconds / 2),
    )
    outcome = run_chaos(replace(config, matches=matches, seed=3), store_name)
    assert outcome.violations == []
    assert outcome.finished_count == matches
    assert {"machine killed", "machine frozen", "message again"} <= outcome.fault_counts.keys()


def test_a_seed_repeats_a_run_to_the_last_byte(tmp_path: Path) -> None:
    runs = []
    for number in range(2):
        outcome = run_chaos(replace(SMALL, matches=1, seed=5), LOCAL_STORE, tmp_path / str(number))
        runs.append((outcome.trace_digest, (tmp_path / str(number)).read_bytes()))
    other_seed_result = run_chaos(replace(SMALL, matches=1, seed=6), LOCAL_STORE)
    assert runs[0] == runs[1]
    assert other_seed_result.trace_digest != runs[0][0]


def test_a_worker_that_stores_no_intents_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mutation guard: a worker that does not store its intents."""
    monkeypatch.setattr(lease_keeper.LeaseKeeper, "log_intent_within_lease", lambda *_: True)
    violations = run_chaos(replace(SMALL, matches=1), LOCAL_STORE).violations
    assert any("without an intent" in violation for violation in violations)


def test_r14_a_worker_that_dies_during_a_long_poll_of_the_list_costs_no_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A turn of 5 s is saved because leases are checked while a long poll waits."""

    def count_forced_turns() -> int:
        return sum(
            len(match_check.forced_turns)
            for match_check in run_chaos(config, LOCAL_STORE).match_checks
        )

    config = replace(
        CHAOS_RUN, matches=4, concurrency=1, turn_seconds=5, opponent_seconds=(1, 4), machines=2
    )
    config = replace(config, rate_limit=None, fault_rate=0.02, trouble_interval=None, seed=2)
    assert count_forced_turns() == 0
    monkeypatch.setattr(match_poller, "run_periodically", lambda *_: nullcontext())
    assert count_forced_turns() > 0


def test_a_retry_after_is_obeyed_only_as_long_as_a_short_turn_allows() -> None:
    """A Retry-After of 2 s is obeyed for a quarter of a 5 s turn; the seed produces one."""
    config = replace(
        SMALL,
        matches=1,
        concurrency=1,
        trouble_interval=None,
        fault_rate=0.3,
        turn_seconds=5,
        seed=21,
    )
    outcome = run_chaos(config, LOCAL_STORE)
    assert outcome.finished_count == 1
    assert not {FaultKind.HTTP_429, FaultKind.HTTP_503}.isdisjoint(outcome.fault_counts)


def test_an_action_times_out_at_its_limit_even_if_sent_late(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The time until an action is sent counts towards its limit, as in a real client."""
    overruns_seconds, forward = list[float](), ArenaNetwork.forward

    def timed(network: ArenaNetwork, request: Any, intent: Any, timeout: Any, began: float) -> Any:  # noqa: ANN401
        try:
            return forward(network, request, intent, timeout, began)
        except ReadTimeout:
            if request.method == "POST":
                overruns_seconds.append(network.clock.monotonic() - began - timeout.total)
            raise

    monkeypatch.setattr(ArenaNetwork, "forward", timed)
    monkeypatch.setattr(chaos, "OUTAGE_SHARE", 0.9)  # longer than any action is waited for
    run_chaos(
        replace(SMALL, matches=1, fault_rate=0, trouble_interval=2, max_decision_seconds=1, seed=1),
        LOCAL_STORE,
    )
    assert overruns_seconds
    assert max(overruns_seconds) <= SMALL.network_delay + MIN_DELAY_SECONDS


def run_without_faults(
    matches: int,
    concurrency: int,
    rate_limit: int | None = MAX_PER_USER,
    **options: Any,  # noqa: ANN401 - options of the simulation
) -> FaultSimulationResult:
    """Return the result of matches without faults; no turn in them may be lost."""
    return run_chaos(
        replace(
            RATE_LIMIT_RUN,
            matches=matches,
            concurrency=concurrency,
            rate_limit=rate_limit,
            **options,
        ),
        LOCAL_STORE,
    )


@pytest.mark.parametrize("concurrency", [pytest.param(1, marks=pytest.mark.slow), 6])
def test_r40_no_turn_is_lost_and_no_action_refused_at_the_limit(concurrency: int) -> None:
    """At 100 requests a minute and 7 s a turn, no turn is lost and no action refused."""
    outcome = run_without_faults(concurrency + case_count(1, full=2), concurrency)
    assert outcome.violations == []
    assert outcome.max_concurrency == concurrency
    list_count = outcome.request_counts["list"] + outcome.request_counts["list_wait"]
    assert list_count / outcome.minutes <= match_poller.LIST_SHARE * MAX_PER_USER + 1


@pytest.mark.parametrize("seed", [20, pytest.param(37, marks=pytest.mark.slow)])
def test_r40_a_match_is_found_before_its_first_turn_ends_also_at_the_limit(seed: int) -> None:
    """The list is requested in time; with these seeds a first turn was once lost."""
    assert run_without_faults(9, 6, seed=seed).violations == []


def test_r40_an_unreported_rate_limit_is_detected_and_no_limit_means_no_waiting() -> None:
    """With turns of 45 s, an unreported limit costs no turn, and no limit means no waiting."""
    unreported = run_without_faults(3, 2, reports_rate_limit=False, turn_seconds=45)
    unlimited = run_without_faults(6, 6, rate_limit=None, turn_seconds=45)
    assert unreported.violations == unlimited.violations == []
    assert sum(unlimited.request_counts.values()) > 1.5 * MAX_PER_USER * unlimited.minutes


def test_r40_matches_beyond_the_rate_limit_are_skipped_and_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Half of the arena's rate limit suffices for three matches at once."""
    assert run_without_faults(6, 6, rate_limit=MAX_PER_USER // 2).max_concurrency == 3
    assert "the request limit allows 3 at once" in caplog.text


@pytest.mark.slow
def test_r40_a_client_without_a_request_budget_loses_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mutation guard: a client without a request budget is throttled and loses turns."""
    monkeypatch.setattr(ClientSessionState, "wait_for_budget", lambda *_: None)
    outcome = run_without_faults(8, 6)
    assert outcome.max_throttle_seconds > 3
    assert any("was lost" in violation for violation in outcome.violations)


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Evidence]:
    """Yield the evidence of a match of the real bot at the real arena, played to its end."""
    with closing(MatchHarness(SimulatedArena, tmp_path_factory.mktemp("bench"))) as harness:
        harness.run_match()
        assert isinstance(harness.server, SimulatedArena)
        yield Evidence(harness.server.match_json(), ALICE, harness.log, harness.proxy.accepted)


@pytest.fixture
def forced_turn_evidence(evidence: Evidence) -> Evidence:
    """Return the evidence of a match in which the arena ended our last turn by force."""
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
    """A doubled, lost or unintended action is reported; a clean match is not."""

    def reported_violations(
        accepted: Sequence[AcceptedAction], *refused: RefusedAction
    ) -> list[str]:
        return check_match(1, replace(evidence, accepted=accepted, refused=refused)).all_violations

    first, *rest = evidence.accepted
    assert reported_violations([first, *rest]) == []
    assert len(rest) > 5
    for accepted in (rest, [first, *rest[:-1]], [first, *rest, rest[-1]]):
        assert any("count as ours" in fault for fault in reported_violations(accepted))
    unintended = replace(first, violations=["was meant for another move"])
    refused = RefusedAction(4, {"etype": "Draw"}, "403", START)
    assert reported_violations([unintended, *rest], refused) == [
        *unintended.violations,
        str(refused),
    ]


@pytest.mark.parametrize("field", ["etype", "at"])
def test_a_log_that_contradicts_a_move_is_detected(evidence: Evidence, field: str) -> None:
    admin_view = deepcopy(evidence.admin_view)
    entry = admin_view["moves"][evidence.accepted[3].sequence]
    (entry["userAction"] if field == "etype" else entry)[field] = "2001-01-01T00:00:00Z"
    assert check_match(1, replace(evidence, admin_view=admin_view)).all_violations


@pytest.mark.parametrize(
    ("incident_names", "is_excused"),
    [
        ([], False),
        ([f"{FaultKind.TIMED_OUT} (act)"], False),
        ([f"{FaultKind.TIMED_OUT} (wait)"], True),
        ([f"{FaultKind.TIMED_OUT} (act)", "machine killed"], True),
    ],
)
def test_a_lost_turn_is_reported_with_its_incidents(
    forced_turn_evidence: Evidence, incident_names: list[str], is_excused: bool
) -> None:
    """Two incidents during a turn excuse its loss; an earlier incident does not."""
    move_number = forced_turn_evidence.accepted[-1].sequence + 1
    early_time = previous_move_time(forced_turn_evidence, move_number) - timedelta(seconds=30)
    # A wait that began half a minute ago may have been swallowed; all else is over by then.
    incidents = [
        Incident(
            early_time if "wait" in name else previous_move_time(forced_turn_evidence, move_number),
            name,
        )
        for name in incident_names
    ]
    incidents.insert(0, Incident(early_time, "before"))
    (forced_turn,) = check_match(1, replace(forced_turn_evidence, incidents=incidents)).forced_turns
    assert (forced_turn.move_number, list(forced_turn.incidents), forced_turn.is_excused) == (
        move_number,
        incident_names,
        is_excused,
    )


def test_ending_a_turn_that_the_watchdog_ended_first_is_no_violation(
    forced_turn_evidence: Evidence,
) -> None:
    move_number = forced_turn_evidence.accepted[-1].sequence + 1
    refused_actions = [
        RefusedAction(move_number + moves, {"etype": kind}, "409", START)
        for moves, kind in ((1, "EndTurn"), (3, "EndTurn"), (1, "Draw"))
    ]
    assert check_match(1, replace(forced_turn_evidence, refused=refused_actions)).refused == (
        refused_actions[2],
    )


def test_a_probe_of_an_overdue_turn_is_no_violation(evidence: Evidence) -> None:
    """One EndTurn past the time of the turn is accepted as a probe."""
    admin_view, move_number = deepcopy(evidence.admin_view), evidence.accepted[-1].sequence
    admin_view["creationParams"]["timeout"] = 8
    overdue_at = previous_move_time(evidence, move_number) + timedelta(seconds=9)
    probe = RefusedAction(move_number, {"etype": "EndTurn"}, "400", overdue_at)
    early_probe, other_action = (
        probe._replace(refused_at=overdue_at - timedelta(seconds=2)),
        probe._replace(action={}),
    )
    for refused, expected_indexes in (
        ([probe], []),
        ([probe, probe._replace(answer="again")], [1]),
        ([probe, probe._replace(refused_at=overdue_at + timedelta(seconds=9))], []),
        ([early_probe], [0]),
        ([other_action], [0]),
    ):
        match_check = check_match(1, replace(evidence, admin_view=admin_view, refused=refused))
        assert [refused.index(action) for action in match_check.refused] == expected_indexes
