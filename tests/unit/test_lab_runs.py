"""Duels, runs and probes of the lab: repeatable, resumable and statistically correct."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from itertools import combinations, islice, repeat
from math import inf
from pathlib import Path
from random import Random
from typing import Any

import pytest
from support.cli import Cli, start_program, wait_for_line, write_strategy_file
from support.game_room import FAST_STRATEGIES
from support.games import GAMES

from cardsharp.analysis.ratings import (
    MEAN_RATING,
    HeadToHeadScore,
    expected_score,
    rating_of,
    ratings_of,
)
from cardsharp.errors import ConfigError, StrategyError
from cardsharp.games.deadmansdraw.cards import RULEBOOK_DECK, SERVER_DECK
from cardsharp.games.deadmansdraw.simulation import deal_state
from cardsharp.play.game import Game
from cardsharp.play.strategy_registry import registry_for
from cardsharp_tools.cli.exit_codes import ExitCode
from cardsharp_tools.executors import strategy_import
from cardsharp_tools.lab.confidence_interval import mean_interval, wilson_interval
from cardsharp_tools.lab.duel_result import DuelResult, FirstPlayerMatchResult
from cardsharp_tools.lab.ladder import LadderClimb, load_ladder
from cardsharp_tools.lab.plan import DuelPlan, plan_duel
from cardsharp_tools.lab.rng import SplitMix64Random
from cardsharp_tools.lab.run_file import (
    compare_first_players,
    load_pairs_or_create_file,
    run_duel_with_progress,
)
from cardsharp_tools.lab.runner import NumberedPair, make_executor, run_duel
from cardsharp_tools.lab.sprt import SequentialTest


def duel_plan(pairs: int = 8, *, seed: int = 5, second: str = "draw-2") -> DuelPlan:
    return plan_duel("third", second, pairs=pairs, seed=seed, pure_python=True)


def test_a_stopped_run_is_resumed_and_has_the_result_of_an_unstopped_run(tmp_path: Path) -> None:
    """A run may be stopped in the middle of a series, and of a line of its file."""
    file = tmp_path / "run.jsonl"
    full_run = run_duel(duel_plan(10))
    run_duel_with_progress(duel_plan(4), None, file)
    with file.open("a", encoding="utf-8") as file_stream:
        file_stream.write('{"kind":"pair","number":4,"the')
    assert run_duel_with_progress(duel_plan(10), None, file) == full_run
    _, *lines = file.read_text().splitlines()
    assert sorted(json.loads(line)["number"] for line in lines) == [*range(10)], "each once"
    assert load_pairs_or_create_file(file, duel_plan(10)) == dict(enumerate(full_run.pairs))


@pytest.mark.parametrize("other", [duel_plan(seed=6), duel_plan(second="draw-3")])
def test_the_file_of_another_run_is_refused(tmp_path: Path, other: DuelPlan) -> None:
    file = tmp_path / "run.jsonl"
    load_pairs_or_create_file(file, duel_plan())
    with pytest.raises(ConfigError, match=r"another run.*Give another file"):
        load_pairs_or_create_file(file, other)
    file.write_text("Dear diary,\n")
    with pytest.raises(ConfigError, match="line 1, is not a line of a duel's file"):
        load_pairs_or_create_file(file, other)
    assert file.read_text() == "Dear diary,\n", "and kept"
    with pytest.raises(ConfigError, match=f"{tmp_path} cannot be written: Is a directory"):
        load_pairs_or_create_file(tmp_path, other)
    with pytest.raises(ConfigError, match=r"run.jsonl/x cannot be written.*give another file"):
        load_pairs_or_create_file(file / "x", other)


def test_a_pair_without_matches_is_no_line_of_a_run(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    load_pairs_or_create_file(file, duel_plan())
    with file.open("a") as run_file:
        run_file.write('{"kind": "pair", "number": 0, "matches": []}\n')
    with pytest.raises(ConfigError, match="line 2, is not a line of a duel's file"):
        compare_first_players(file, file)


def test_a_difference_is_taken_deck_by_deck(tmp_path: Path) -> None:
    """Two duels against the same player on the same decks are compared pair by pair."""
    files = tmp_path / "third.jsonl", tmp_path / "draw-4.jsonl"
    other = plan_duel("draw-4", "draw-2", pairs=12, seed=5, pure_python=True)
    first_run, second_run = (
        run_duel_with_progress(run_plan, None, file)
        for run_plan, file in zip((duel_plan(12), other), files, strict=True)
    )
    difference, bounds, matches = compare_first_players(*files)
    assert difference == pytest.approx(first_run.points_percent - second_run.points_percent)
    assert matches == 24
    assert bounds.low < difference < bounds.high
    assert bounds.margin < first_run.interval.margin + second_run.interval.margin
    other_file = tmp_path / "another.jsonl"
    load_pairs_or_create_file(other_file, duel_plan(second="draw-3"))
    with pytest.raises(ConfigError, match="they cannot be compared"):
        compare_first_players(files[0], other_file)


def test_dice_and_score_interval_are_the_published_ones() -> None:
    """The values are those of Splitmix64 for 1234567, and of Newcombe (1998) for intervals."""
    rng = SplitMix64Random(1234567)
    assert [rng.getrandbits(64) for _ in range(2)] == [6457827717110365317, 3203168211198807973]
    assert wilson_interval(81 / 263, 263) == pytest.approx((0.2535, 0.3682), abs=5e-5)
    assert wilson_interval(15 / 148, 148) == pytest.approx((0.0598, 0.1644), abs=5e-5)
    assert wilson_interval(0, 20) == pytest.approx((0.0, 0.2005), abs=5e-5)


@pytest.mark.parametrize(("game", "name"), FAST_STRATEGIES.items())
def test_a_player_without_dice_stands_at_exactly_half_against_itself(game: str, name: str) -> None:
    """A deal is played from both sides, so a player scores half against itself."""
    mirror = run_duel(plan_duel(name, name, game=game, pairs=2, pure_python=True))
    assert mirror.points_percent == 50


def test_processes_change_nothing_and_against_copies_a_deal_is_played_from_each_seat() -> None:
    plan = plan_duel("greedy", "random", game="blef", pairs=4, seed=3, pure_python=True)
    with make_executor(2) as pool:
        assert run_duel(plan, pool) == run_duel(plan)
    copies_result = run_duel(replace(plan, opponent_copies=2))
    assert [len(pair) for pair in copies_result.pairs] == [3] * 4
    assert copies_result.plan.equal_players_share == pytest.approx(1 / 3)
    assert "greedy v 2 x random: " in str(copies_result)
    assert "equal players: 33.3" in str(copies_result)


def test_a_worker_crash_is_reported_with_its_likely_causes() -> None:
    with (
        pytest.raises(StrategyError, match="a strategy ended it"),
        make_executor(1, isolate_strategies=True) as pool,
    ):
        pool.submit(os._exit, 5).result()


Process = subprocess.Popen[str]

start_dask = partial(start_program, module="dask", errors=subprocess.STDOUT)
"""A process of Dask's own command line, which dies with the test."""


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, list[Process]]]:
    local_options = ("--host", "127.0.0.1", "--no-dashboard")
    with ExitStack() as stack:
        scheduler = stack.enter_context(start_dask("scheduler", *local_options, "--port", "0"))
        address = wait_for_line(scheduler.stdout, "Scheduler at:").split()[-1]
        workers = []
        for name in ("one", "two"):
            worker_options = (
                "--nthreads",
                "1",
                "--no-nanny",
                "--local-directory",
                str(tmp_path / name),
            )
            workers.append(
                stack.enter_context(start_dask("worker", address, *worker_options, *local_options))
            )
            wait_for_line(workers[-1].stdout, "Registered to:")
        yield address, workers


@pytest.mark.slow
@pytest.mark.skipif(find_spec("distributed") is None, reason="Dask is not installed: make setup")
def test_a_cluster_plays_the_same_though_a_worker_dies(cluster: tuple[str, list[Process]]) -> None:
    """Of two workers on this machine one is killed during the run."""
    address, workers = cluster
    plan = plan_duel("rules", "random", game="euchre", pairs=60, seed=5, pure_python=True)
    pair_count = 0

    def count_and_kill(pairs: list[NumberedPair]) -> None:
        nonlocal pair_count
        pair_count += len(pairs)
        if pair_count > 5 and workers[0].poll() is None:
            workers[0].send_signal(signal.SIGKILL)
            workers[0].wait()

    with make_executor(2, address) as pool:
        cluster_result = run_duel(plan, pool, on_pairs=count_and_kill)
    assert workers[0].poll() == -signal.SIGKILL
    assert pair_count == plan.pairs
    assert cluster_result == run_duel(plan)


@pytest.mark.parametrize("pairs", [2, 3, 8, 100])
@pytest.mark.parametrize(
    ("share", "correlation"),
    [(0.5, -0.5), (0.5, 0.0), (0.5, 1.0), (0.9, 0.0), (0.9, 0.6), (0.99, 0.0), (0.99, 1.0)],
)
def test_the_interval_holds_the_truth_in_95_of_100(
    pairs: int, share: float, correlation: float
) -> None:
    """The interval covers the true share in 400 simulated duels.

    92 % is two standard errors below 95 %.
    """
    rng, covariance = Random(1), correlation * share * (1 - share)
    loss_probability, win_probability = (1 - share) ** 2 + covariance, share * share + covariance
    weights = (loss_probability, 1 - loss_probability - win_probability, win_probability)
    samples = (rng.choices((0.0, 0.5, 1.0), weights, k=pairs) for _ in range(400))
    bounds = [mean_interval(shares, 2) for shares in samples]
    assert sum(low <= share <= high for low, high in bounds) > 0.92 * len(bounds)


def test_a_deal_uses_the_full_deck_and_discards_the_lowest_cards() -> None:
    for deck, discard_count in ((SERVER_DECK, 10), (RULEBOOK_DECK, 9)):
        state = deal_state(Random(1), deck)
        assert len(state.discard_pile) == discard_count
        assert sorted((*state.draw_pile, *state.discard_pile)) == sorted(deck)
    assert {deal_state(Random(seed)).turn_player for seed in range(20)} == {0, 1}


GAMES_WITH_LADDER = [pytest.param(game, id=game.name) for game in GAMES if game.ladder_strategies]


@pytest.mark.parametrize("game", GAMES_WITH_LADDER)
def test_the_rungs_are_players_that_were_measured(game: Game) -> None:
    players = load_ladder(game.name).players
    assert tuple(players) == game.ladder_strategies
    values = [rating.value for rating in players.values()]
    assert values == sorted(values), "the weakest first, as the commands and the docs say"
    assert set(game.ladder_strategies) <= set(registry_for(game.strategy_package).names())
    assert sum(rating.value for rating in players.values()) / len(players) == pytest.approx(
        MEAN_RATING, abs=1
    )


def test_a_measured_rung_is_reused_until_the_file_changes_or_a_rerun(tmp_path: Path) -> None:
    """The player wins every pair against the weakest player, and no pair against the next."""

    def play(plan: DuelPlan, sequential_test: SequentialTest) -> DuelResult:
        share = float(str(plan.second) == "random")
        sequential_test.add_pairs_until_decided(repeat(share, plan.pairs))
        pairs = (
            (FirstPlayerMatchResult(share, {}), FirstPlayerMatchResult(share, {})),
        ) * sequential_test.pair_count
        return DuelResult(replace(plan, pairs=len(pairs)), pairs)

    def climb_results(climb: LadderClimb) -> list[tuple[str, str, bool]]:
        steps = climb.climb(("random", "draw-3", "third"))
        return [(step.rung.name, step.rung.verdict, step.duel is not None) for step in steps]

    strategy_path = Path(write_strategy_file(tmp_path, "climber", "pass"))
    climb = LadderClimb(
        plan_duel(str(strategy_path), "", pairs=100), tmp_path / "ladder.jsonl", play
    )
    assert climb_results(climb) == [("random", "beaten", True), ("draw-3", "not beaten", True)]
    assert climb_results(climb) == [("random", "beaten", False), ("draw-3", "not beaten", False)]
    assert climb_results(replace(climb, rerun=True))[0] == ("random", "beaten", True)
    strategy_path.write_text(strategy_path.read_text() + "# better\n")
    assert climb_results(climb)[0] == ("random", "beaten", True)


@pytest.mark.parametrize(("game", "name"), [("blef", "greedy"), ("euchre", "rules")])
def test_lab_commands_work_for_other_games(cli: Cli, game: str, name: str) -> None:
    def run_lab(*arguments: str) -> Any:  # noqa: ANN401 - whatever a command tells
        return cli("lab", *arguments, "--game", game, "--json").json()

    duel = run_lab("duel", name, "random", "-n", "4", "--workers", "1")
    assert (duel["game"], duel["matches"]) == (game, 8)
    league = run_lab("round-robin", name, "random", "-n", "2", "--workers", "1")
    assert league["lower"][0][1] <= league["points"][0][1] <= league["upper"][0][1]
    assert run_lab("probe", name) == {"answers": [], "askedTwice": 40, "changed": 0}
    assert run_lab("profile", name, "-n", "30")["milliseconds"]["all"]["number"] == 30


def test_wrong_answers_make_a_probe_fail(cli: Cli) -> None:
    result = cli("lab", "probe", "champion")
    assert result.code == ExitCode.FAILED
    assert "the one unseen card busts: Draw, not EndTurn" in result.out


def test_a_sequential_test_reports_its_verdict(cli: Cli) -> None:
    test = ("--sprt", "--elo1", "300", "--workers", "1")
    result = cli("lab", "duel", "champion", "example-node", *test)
    assert "until a test with 5 % error decides between +300 and 0 Elo" in result.err
    assert "champion is stronger: Elo " in result.out
    assert "the test says stronger: Elo 300 rather than 0, after " in result.out


def test_a_nondeterministic_strategy_file_is_named(cli: Cli, tmp_path: Path) -> None:
    body = "return Decision(random.choice(position.legal_actions()), 'who knows')"
    file = write_strategy_file(tmp_path, "wavers", body, "import random")
    duels = [
        ("lab", "duel", player, "draw-2", "-n", "1", "--workers", "1")
        for player in (file, "draw-3")
    ]
    error_outputs = [cli(*duel).err for duel in duels]
    assert len({text.partition("(seed ")[2].partition(")")[0] for text in error_outputs}) == 2
    assert "wavers.py decided otherwise when a deal was played again" in error_outputs[0]


def shares(elo: float, dice: Random, tie_correlation: float = 0.3) -> Iterator[float]:
    """Yield shares of pairs of a player with that rating advantage.

    `tie_correlation` is the probability that both matches of a pair end equally because of
    the deal.
    """
    share = expected_score(elo)
    while True:
        first = dice.random() < share
        second = first if dice.random() < tie_correlation else dice.random() < share
        yield (first + second) / 2


def test_rating_estimates_recover_the_true_strengths() -> None:
    true_ratings = dict(zip("abcd", (700, 900, 1100, 1300), strict=True))
    dice = Random(1)
    duels = {
        (first, second): HeadToHeadScore.from_shares(
            islice(shares(true_ratings[first] - true_ratings[second], dice), 2000)
        )
        for first, second in combinations(true_ratings, 2)
    }
    ratings = ratings_of(duels)
    assert sum(rating.value for rating in ratings.values()) / 4 == pytest.approx(MEAN_RATING)
    for name, rating in ratings.items():
        assert abs(rating.value - true_ratings[name]) < 1.5 * rating.margin < 40


def test_the_interval_holds_the_truth_as_often_as_it_says() -> None:
    """The 95 % interval covers the true rating in 95 % of 400 climbs over two rungs.

    Three standard errors are 3.3 in 100.
    """
    dice, covered_count = Random(2), 0
    for _ in range(400):
        rung_scores = [
            (rung, HeadToHeadScore.from_shares(islice(shares(1000 - rung, dice), 60)))
            for rung in (900, 1050)
        ]
        rating = rating_of(rung_scores)
        covered_count += abs(rating.value - 1000) <= rating.margin
    assert covered_count / 400 == pytest.approx(0.95, abs=0.033)


@pytest.mark.parametrize("share", [0.0, 1.0, 1.2])
def test_extreme_scores_have_a_finite_rating(share: float) -> None:
    """A luck-adjusted share of a few pairs may even exceed 1."""
    rating = rating_of([(1000, HeadToHeadScore.from_shares([share] * 20))])
    assert 400 < abs(rating.value - 1000) < 1000
    assert 100 < rating.margin < inf


@pytest.mark.parametrize("tie_correlation", [0.0, 0.5])
@pytest.mark.parametrize(("elo", "expected_share"), [(0.0, 0.05), (50.0, 0.95)])
def test_a_duel_is_wrong_as_often_as_it_says(
    elo: float, expected_share: float, tie_correlation: float
) -> None:
    """The error rate of 400 simulated tests is 5 %; three standard errors are 3.3 in 100."""
    dice, stronger_count = Random(1), 0
    for _ in range(400):
        sequential_test = SequentialTest(elo0=0, elo1=50)
        sequential_test.add_pairs_until_decided(shares(elo, dice, tie_correlation))
        stronger_count += sequential_test.log_likelihood_ratio > 0
    assert stronger_count / 400 == pytest.approx(expected_share, abs=0.033)


def test_a_run_ends_with_the_pair_that_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    # Threads of this process take it for one that is there for strategy files alone.
    monkeypatch.setattr(strategy_import, "_import_listeners", [])
    plan = plan_duel("champion", "draw-2", pairs=60, seed=2, pure_python=True)
    sequential_test = SequentialTest(elo1=200)
    serial_run = run_duel(plan, sprt=sequential_test)
    with ThreadPoolExecutor(2) as pool:
        parallel_run = run_duel(plan, pool, sprt=SequentialTest(elo1=200))
    assert sequential_test.is_decided
    assert serial_run == parallel_run
    assert len(serial_run.pairs) == serial_run.plan.pairs == sequential_test.pair_count < 60
