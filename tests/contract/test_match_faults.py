"""Matches of every bot under faults: no unintended action (R01-R03, R11, R15, R17, R23).

A complete match of each game with a bot is played against its real server in this
process. Every I/O step of the order, the poller and the workers is numbered, and a fault
is injected at each step in turn. A crashed worker leaves a lease that expires, and the
match is dispatched again. `MatchHarness.violations` compares the server's own record with
the match log. This is a sample of the faults that `make evidence-fault-matrix` injects.
"""

import logging
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from datetime import timedelta
from functools import partial
from itertools import cycle, product
from pathlib import Path
from typing import Any

import pytest
from fault_simulation.fault_matrix import (
    SERVERS,
    STORES,
    count_faults,
    fault_pairs,
    recorded_totals,
    run_match,
    single_faults,
)
from fault_simulation.faults import (
    AWS_REQUESTS,
    STORE_CALLS,
    STORE_FAULTS,
    FaultKind,
    faults_for,
    steps_with_fault,
)
from fault_simulation.match_harness import MatchHarness
from support.case_counts import ALL, case_count
from support.games import GAMES

from cardsharp.bot.session_result import SessionResult
from cardsharp.bot.timing import SessionTiming

MAX_STANDSTILL = timedelta(seconds=5)

HOUR = timedelta(hours=1)
SKEWS = [(HOUR, -HOUR), (timedelta(0), MAX_STANDSTILL), (MAX_STANDSTILL, timedelta(0))]
FAULT_PAIR_COUNT = case_count(5, full=100)

GAMES_WITH_BOT = [game for game in SERVERS if ALL or game != "nim"]
"""In the sample Kuhn poker stands for Nim, too: the house hosts both, and it hides cards."""

GAME_SKEWS = (
    [*product(GAMES_WITH_BOT, SKEWS)] if ALL else [*zip(GAMES_WITH_BOT, cycle(SKEWS), strict=False)]
)

every_game = pytest.mark.parametrize("game", GAMES_WITH_BOT)


@pytest.fixture(autouse=True)
def check_no_secret_is_logged(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """R09, S12: no line that is logged in this suite has a password, a seed or a seat's secret."""
    caplog.set_level(logging.INFO)
    yield
    for server in SERVERS.values():
        assert not [secret for secret in server.secrets if secret in caplog.text]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bench")


@pytest.fixture
def steps(folder: Path, game: str) -> list[str]:
    """Return the names of the I/O steps of a match without faults."""
    return run_match(game, folder, {}).plan.steps


def violating_runs(results: Iterable[tuple[object, Sequence[object]]]) -> list[object]:
    """Return the label and the violations of each run that has violations."""
    return [(label, faults) for label, faults in results if faults]


@every_game
def test_the_match_of_this_suite_has_several_actions_and_all_store_steps(
    game: str, folder: Path
) -> None:
    """The bot acts several times, sends each action once, and violates nothing."""
    harness = run_match(game, folder, {})
    assert harness.observed_violations == []
    steps, action_count = Counter(harness.plan.steps), len(harness.proxy.accepted)
    assert steps["act"] == action_count >= 2
    assert {
        "match",
        "acquire_lease",
        "view",
        "write_intent",
        "write_facts",
        "finish",
        "release_lease",
    } <= steps.keys()
    assert len({action.sequence for action in harness.proxy.accepted}) == action_count


@pytest.fixture(scope="module")
def faults_by_game(folder: Path) -> dict[str, list[tuple[FaultKind, int]]]:
    """Return for each game its faults: each kind at each step, spread over the games.

    Faults of a store are the same for all games, so the sample has every third kind of them.
    """
    fault_positions: dict[tuple[FaultKind, str], dict[str, int]] = defaultdict(dict)
    for game in GAMES_WITH_BOT:
        steps = run_match(game, folder, {}).plan.steps
        for position, kind in single_faults(steps):
            fault_positions[kind, steps[position]][game] = position
    sample_interval = case_count(3, full=1)
    sampled_faults = {
        (kind, step): positions_by_game
        for (kind, step), positions_by_game in sorted(fault_positions.items())
        if {kind, step} - {*STORE_FAULTS, *STORE_CALLS}
        or (STORE_FAULTS.index(kind) + sorted(STORE_CALLS).index(step)) % sample_interval == 0
    }
    assert [*map(set, zip(*sampled_faults, strict=True))] == [
        *map(set, zip(*fault_positions, strict=True))
    ]
    faults_for_game: dict[str, list[tuple[FaultKind, int]]] = defaultdict(list)
    for number, ((kind, step), positions_by_game) in enumerate(sampled_faults.items()):
        game = [*positions_by_game][
            -1 if step in STORE_CALLS and not ALL else number % len(positions_by_game)
        ]
        faults_for_game[game].append((kind, positions_by_game[game]))
    return faults_for_game


@every_game
def test_r01_r03_r17_a_single_fault_harms_no_match(
    game: str, folder: Path, faults_by_game: dict[str, list[tuple[FaultKind, int]]]
) -> None:
    assert (
        violating_runs(
            (fault, run_match(game, folder, {fault[1]: fault[0]}).observed_violations)
            for fault in faults_by_game[game]
        )
        == []
    )


def test_cloud_only_faults_harm_no_match(folder: Path) -> None:
    with STORES["DynamoDB and SQS"]() as stores:
        run_cloud_match = partial(run_match, "nim", folder, store_factory=stores)
        steps = run_cloud_match({}).plan.steps
        position_by_kind = {
            kind: position
            for position, kind in single_faults(steps)
            if steps[position] in AWS_REQUESTS
        }
        cloud_only_kinds = position_by_kind.keys() - STORE_FAULTS
        assert len(cloud_only_kinds) > 5
        sample = sorted(cloud_only_kinds)[:: case_count(4, full=1)]
        assert (
            violating_runs(
                (kind, run_cloud_match({position_by_kind[kind]: kind}).observed_violations)
                for kind in sample
            )
            == []
        )


def test_the_suite_has_every_bot_and_the_page_lists_its_faults(
    folder: Path,
) -> None:
    """The page lists today's faults of a local match, and all kinds of the cloud's."""
    assert SERVERS.keys() == {game.name for game in GAMES if game.run_session is not None}
    home_stores, cloud_stores = STORES
    counts = sum(
        (count_faults(run_match(game, folder, {}).plan.steps) for game in SERVERS), Counter[Any]()
    )
    documented_faults = recorded_totals()
    assert documented_faults[home_stores] == {(str(kind), step) for kind, step in counts}, (
        "run make evidence-fault-matrix"
    )
    assert {kind for kind, _ in documented_faults[cloud_stores]} >= {
        str(kind) for step in AWS_REQUESTS - {"transact_write_items"} for kind in faults_for(step)
    }


CRASH_AND_DENIAL_FAULTS = (
    FaultKind.CRASH_AFTER,
    FaultKind.CRASH_LATE_BY_VIEWS,
    FaultKind.PROXY_PAGE,
    FaultKind.NOT_FOUND_ONCE,
)


@every_game
@pytest.mark.parametrize("kind", CRASH_AND_DENIAL_FAULTS)
def test_r01_r23_a_match_goes_on_within_five_seconds_of_a_death_or_a_false_denial(
    game: str, folder: Path, kind: FaultKind
) -> None:
    """With the production timing, the next action or the closed log follows in time."""
    assert harmful_steps(game, folder, kind, case_count(7, full=1)) == {}


@pytest.mark.parametrize(("game", "skews"), GAME_SKEWS)
@pytest.mark.parametrize("kind", [FaultKind.CRASH_AFTER, FaultKind.CRASH_LATE])
def test_r30_clocks_that_are_wrong_harm_nothing_and_delay_nothing(
    game: str, folder: Path, kind: FaultKind, skews: Sequence[timedelta]
) -> None:
    """The clocks of successive workers differ; that of the lease observer is right."""
    sample = case_count(13, full=1)
    assert harmful_steps(game, folder, kind, sample, clock_skews=skews) == {}


def harmful_steps(
    game: str, folder: Path, kind: FaultKind, sample: int, **settings: object
) -> dict[object, object]:
    """Return the steps at which a fault caused violations or a standstill, with these.

    Every `sample`-th step that can have the fault is tried. The keys are a step's position
    and name.
    """
    steps = run_match(game, folder, {}, timing=SessionTiming(), **settings).plan.steps
    faults_by_step: dict[object, object] = {}
    for position in steps_with_fault(steps, kind)[::sample]:
        harness = run_match(game, folder, {position: kind}, timing=SessionTiming(), **settings)
        ((injected_at, *_),) = harness.plan.injected
        later_actions = [
            action.accepted_at
            for action in harness.proxy.accepted
            if action.accepted_at > injected_at
        ]
        standstill = min([*later_actions, harness.clock.now()]) - injected_at
        if harness.observed_violations or standstill > MAX_STANDSTILL:
            faults_by_step[position, steps[position]] = harness.observed_violations or standstill
    return faults_by_step


@every_game
def test_r03_a_worker_that_resumes_late_harms_nothing(
    game: str, folder: Path, steps: list[str]
) -> None:
    """A worker pauses for 10 s after any step while its successor plays on.

    Within the sending of an action only the time limit helps, see `FaultKind.LATE`.
    """
    pauses = [
        (position, {position: FaultKind.PAUSE_AFTER})
        for position in range(0, len(steps), case_count(5, full=1))
    ]
    assert (
        violating_runs(
            (position, run_match(game, folder, faults, steps_while_paused=9).observed_violations)
            for position, faults in pauses
        )
        == []
    )


@every_game
def test_r01_two_faults_harm_nothing(game: str, folder: Path, steps: list[str]) -> None:
    """A seeded sample of pairs has the second fault within a dozen steps of the first."""
    harnesses = (
        run_match(game, folder, faults) for faults in fault_pairs(steps, FAULT_PAIR_COUNT, seed=2)
    )
    assert (
        violating_runs(
            (harness.plan.injected, harness.observed_violations) for harness in harnesses
        )
        == []
    )


@every_game
def test_r02_r11_a_redelivered_message_changes_nothing(game: str, folder: Path) -> None:
    """Neither a redelivered message nor a repeated order changes the stored contents."""
    with closing(MatchHarness(SERVERS[game], folder)) as harness:
        harness.run_match()
        initial_contents = harness.stored_contents()
        for _ in range(3):
            assert harness.run_session(harness.match_id) is SessionResult.LEASED_BY_OTHER
            harness.order_match()
        assert harness.stored_contents() == initial_contents
        assert harness.violations() == []
