"""R01-R03, R11, R15, R17, R23: whatever goes wrong, no action is played that was not meant so.

A whole match of every game that has a bot, against its real server in this process, every I/O step
of whoever orders it, of the poller and of every worker numbered. A fault hits each of them in turn;
workers that die leave a lease that runs out, and the match is found again. One judge
(`MatchHarness.violations`) compares the server's own record with the match log. Here is a sample
of what `make evidence-fault-matrix` plays.
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

SOON = timedelta(seconds=5)

HOUR = timedelta(hours=1)
SKEWS = [(HOUR, -HOUR), (timedelta(0), SOON), (SOON, timedelta(0))]
PAIRS = case_count(5, full=100)

BOTS = [game for game in SERVERS if ALL or game != "nim"]
"""In the sample Kuhn poker stands for Nim, too: the house hosts both, and it hides cards."""

SKEWED = [*product(BOTS, SKEWS)] if ALL else [*zip(BOTS, cycle(SKEWS), strict=False)]

every_game = pytest.mark.parametrize("game", BOTS)


@pytest.fixture(autouse=True)
def check_no_secret_is_logged(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """R09, S12: no line that is logged in this suite has a password, a seed or a seat's secret."""
    caplog.set_level(logging.INFO)
    yield
    for place in SERVERS.values():
        assert not [secret for secret in place.secrets if secret in caplog.text]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bench")


@pytest.fixture
def steps(folder: Path, game: str) -> list[str]:
    """The names of the I/O steps of a match in which nothing goes wrong."""
    return run_match(game, folder, {}).plan.steps


def harm(results: Iterable[tuple[object, Sequence[object]]]) -> list[object]:
    """Return the label and the violations of each run that has violations."""
    return [(label, faults) for label, faults in results if faults]


@every_game
def test_the_match_of_this_suite_is_worth_it(game: str, folder: Path) -> None:
    """Several actions of ours, each sent once, and no fault found."""
    bench = run_match(game, folder, {})
    assert bench.observed_violations == []
    steps, actions = Counter(bench.plan.steps), len(bench.gate.accepted)
    assert steps["act"] == actions >= 2
    assert {
        "match",
        "acquire_lease",
        "view",
        "write_intent",
        "write_facts",
        "finish",
        "release_lease",
    } <= steps.keys()
    assert len({action.sequence for action in bench.gate.accepted}) == actions


@pytest.fixture(scope="module")
def shares(folder: Path) -> dict[str, list[tuple[FaultKind, int]]]:
    """Of each game the faults that it suffers: each kind at each name of a step, dealt to them all.

    What befalls a store is the same for all games: in the sample one has every third kind of it.
    """
    fault_positions: dict[tuple[FaultKind, str], dict[str, int]] = defaultdict(dict)
    for game in BOTS:
        steps = run_match(game, folder, {}).plan.steps
        for at, kind in single_faults(steps):
            fault_positions[kind, steps[at]][game] = at
    every = case_count(3, full=1)
    chosen = {
        (kind, step): places
        for (kind, step), places in sorted(fault_positions.items())
        if {kind, step} - {*STORE_FAULTS, *STORE_CALLS}
        or (STORE_FAULTS.index(kind) + sorted(STORE_CALLS).index(step)) % every == 0
    }
    assert [*map(set, zip(*chosen, strict=True))] == [*map(set, zip(*fault_positions, strict=True))]
    dealt: dict[str, list[tuple[FaultKind, int]]] = defaultdict(list)
    for number, ((kind, step), places) in enumerate(chosen.items()):
        game = [*places][-1 if step in STORE_CALLS and not ALL else number % len(places)]
        dealt[game].append((kind, places[game]))
    return dealt


@every_game
def test_r01_r03_r17_a_single_fault_harms_no_match(
    game: str, folder: Path, shares: dict[str, list[tuple[FaultKind, int]]]
) -> None:
    assert (
        harm(
            (fault, run_match(game, folder, {fault[1]: fault[0]}).observed_violations)
            for fault in shares[game]
        )
        == []
    )


def test_cloud_only_faults_harm_no_match(folder: Path) -> None:
    with STORES["DynamoDB and SQS"]() as stores:
        play = partial(run_match, "nim", folder, store_factory=stores)
        steps = play({}).plan.steps
        hit = {kind: at for at, kind in single_faults(steps) if steps[at] in AWS_REQUESTS}
        alone = hit.keys() - STORE_FAULTS
        assert len(alone) > 5
        sample = sorted(alone)[:: case_count(2, full=1)]
        assert harm((kind, play({hit[kind]: kind}).observed_violations) for kind in sample) == []


def test_the_bench_has_every_bot_and_the_page_lists_its_faults(
    folder: Path,
) -> None:
    """Those of a match at home as they are now; of the cloud, every kind but of a transaction."""
    assert SERVERS.keys() == {game.name for game in GAMES if game.run_session is not None}
    home, cloud = STORES
    counts = sum(
        (count_faults(run_match(game, folder, {}).plan.steps) for game in SERVERS), Counter[Any]()
    )
    listed = recorded_totals()
    assert listed[home] == {(str(kind), step) for kind, step in counts}, (
        "run make evidence-fault-matrix"
    )
    assert {kind for kind, _ in listed[cloud]} >= {
        str(kind) for step in AWS_REQUESTS - {"transact_write_items"} for kind in faults_for(step)
    }


DEATHS = (
    FaultKind.CRASH_AFTER,
    FaultKind.CRASH_LATE_BY_VIEWS,
    FaultKind.PROXY_PAGE,
    FaultKind.NOT_FOUND_ONCE,
)


@every_game
@pytest.mark.parametrize("kind", DEATHS)
def test_r01_r23_a_match_goes_on_within_five_seconds_of_a_death_or_a_false_denial(
    game: str, folder: Path, kind: FaultKind
) -> None:
    """With the timing of production: to the next accepted action, or to the closed log."""
    assert slow_or_wrong(game, folder, kind, case_count(7, full=1)) == {}


@pytest.mark.parametrize(("game", "skews"), SKEWED)
@pytest.mark.parametrize("kind", [FaultKind.CRASH_AFTER, FaultKind.CRASH_LATE])
def test_r30_clocks_that_are_wrong_harm_nothing_and_delay_nothing(
    game: str, folder: Path, kind: FaultKind, skews: Sequence[timedelta]
) -> None:
    """Those of the workers, from one to the next; that of the onlooker is right."""
    sample = case_count(13, full=1)
    assert slow_or_wrong(game, folder, kind, sample, clock_skews=skews) == {}


def slow_or_wrong(
    game: str, folder: Path, kind: FaultKind, sample: int, **settings: object
) -> dict[object, object]:
    """Return the steps at which a fault did harm, with the violations or the standstill.

    Every `sample`-th step that can suffer the fault is tried. The keys are a step's position
    and name.
    """
    steps = run_match(game, folder, {}, timing=SessionTiming(), **settings).plan.steps
    bad: dict[object, object] = {}
    for at in steps_with_fault(steps, kind)[::sample]:
        bench = run_match(game, folder, {at: kind}, timing=SessionTiming(), **settings)
        ((hit, *_),) = bench.plan.injected
        later = [action.accepted_at for action in bench.gate.accepted if action.accepted_at > hit]
        still = min([*later, bench.clock.now()]) - hit
        if bench.observed_violations or still > SOON:
            bad[at, steps[at]] = bench.observed_violations or still
    return bad


@every_game
def test_r03_a_worker_that_wakes_harms_nothing(game: str, folder: Path, steps: list[str]) -> None:
    """It slept for 10 s after any step; meanwhile a successor played on, not to the end.

    Only in the sending of an action itself nothing can help but its limit, see `Kind.LATE`.
    """
    woken = [
        (at, {at: FaultKind.PAUSE_AFTER}) for at in range(0, len(steps), case_count(5, full=1))
    ]
    assert (
        harm(
            (at, run_match(game, folder, faults, steps_while_paused=9).observed_violations)
            for at, faults in woken
        )
        == []
    )


@every_game
def test_r01_two_faults_harm_nothing(game: str, folder: Path, steps: list[str]) -> None:
    """A seeded sample of pairs: the second befalls one of the next dozen steps."""
    benches = (run_match(game, folder, faults) for faults in fault_pairs(steps, PAIRS, seed=2))
    assert harm((bench.plan.injected, bench.observed_violations) for bench in benches) == []


@every_game
def test_r02_r11_a_redelivered_message_changes_nothing(game: str, folder: Path) -> None:
    """Nor does the same order."""
    with closing(MatchHarness(SERVERS[game], folder)) as bench:
        bench.run_match()
        initial_contents = bench.stored_contents()
        for _ in range(3):
            assert bench.run_session(bench.match_id) is SessionResult.LEASED_BY_OTHER
            bench.order_match()
        assert bench.stored_contents() == initial_contents
        assert bench.violations() == []
