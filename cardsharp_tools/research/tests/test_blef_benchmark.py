"""Tests of the Blef benchmark: held-out opponents, targets of a duel, and calibration."""

import ast
import json
from pathlib import Path
from random import Random

import pytest
from support.blef_service import positions_of_first_seat

from cardsharp.games.blef import strategies
from cardsharp.games.blef.actions import BETS, CHECK
from cardsharp.games.blef.cards import DECK, RANKS
from cardsharp.games.blef.game import GAME
from cardsharp.games.blef.position import BlefPosition
from cardsharp.games.blef.rules import RoundMove
from cardsharp.games.blef.simulation import CARD_COUNT_RANGES
from cardsharp.games.blef.strategies import build
from cardsharp.games.blef.strategies.bayes import Bayes
from cardsharp.games.blef.strategies.bet_probabilities import card_bits
from cardsharp.games.blef.strategies.greedy import hand_bet_probabilities
from cardsharp.games.blef.strategies.opponent_model import (
    MAX_SMALL_ROUND_CARDS,
    opponent_model_of,
    opponent_models_by_seat,
    prefers_best_response,
)
from cardsharp.games.blef.strategies.opponent_types import (
    BETTING_HABITS,
    NO_BET,
    possible_opponent_hand,
)
from cardsharp_tools.executors.strategy_reference import BuiltIn
from cardsharp_tools.lab.duel_result import DuelResult
from cardsharp_tools.lab.plan import plan_duel
from cardsharp_tools.lab.runner import run_duel
from cardsharp_tools.research.blef import benchmark, held_out_opponents, informed_opponents


@pytest.mark.parametrize("name", held_out_opponents.RULE_PLAYERS)
@pytest.mark.parametrize("habit", range(len(BETTING_HABITS)))
def test_no_held_out_opponent_follows_a_modelled_habit(name: str, habit: int) -> None:
    opponent, mismatch_count, position_count = build(name, Random(1)), 0, 0
    for position in (
        candidate
        for seed in range(4)
        for candidate in positions_of_first_seat(name, "threshold", seed)
    ):
        opponent_hand = possible_opponent_hand(card_bits(position.hand), position.hidden_card_count)
        last_bet = NO_BET if position.last_bet is None else position.last_bet
        if last_bet < len(BETS) - 1:
            position_count += 1
            mismatch_count += (
                opponent.decide(position).action != opponent_hand.replies_by_habit[habit][last_bet]
            )
    assert position_count > 40
    assert mismatch_count > 0.15 * position_count


@pytest.mark.parametrize(("name", "believes"), [("believer", True), ("honest-6", False)])
def test_opponent_model_recognises_bet_believers(name: str, believes: bool) -> None:
    *_, last_position = positions_of_first_seat(name, "threshold", 3)
    weights = opponent_model_of(last_position.earlier_rounds, 0).habit_and_model_weights
    assert weights[-1] > 0.5 if believes else weights[-1] == 0


def test_held_out_opponents_import_nothing_that_players_model() -> None:
    """Check that the held-out opponents import no module with models of opponents.

    No player of ours shares a module with a held-out opponent either: what is deployed
    imports no research.
    """
    forbidden_modules = {
        "opponent_types",
        "betting_model",
        "opponent_model",
        "worlds",
        "bayes",
        "reader",
    }
    folder = Path(strategies.__file__).parent
    assert forbidden_modules <= {path.stem for path in folder.glob("*.py")}
    tree = ast.parse(Path(held_out_opponents.__file__).read_text("utf-8"))
    imported_modules = {
        node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)
    }
    assert not {module.rpartition(".")[2] for module in imported_modules} & forbidden_modules


def test_rule_players_follow_their_rules() -> None:
    positions = positions_of_first_seat("honest-6", "threshold", 3)
    position = next(candidate for candidate in positions if candidate.last_bet is not None)
    turn_view = held_out_opponents.TurnView(position, Random(1))
    bet_to_beat = turn_view.bet_to_beat
    bet = held_out_opponents.play_honest(turn_view, check_below=0.0, min_probability=0.0)
    assert bet == bet_to_beat + 1
    assert held_out_opponents.play_honest(turn_view, check_below=1.1, min_probability=0.0) == CHECK
    assert held_out_opponents.play_minimum_raise(turn_view) in {bet_to_beat + 1, CHECK}
    assert held_out_opponents.play_improbable(turn_view) in {
        CHECK,
        *range(bet_to_beat + 1, bet_to_beat + 7),
    }


@pytest.mark.parametrize("name", held_out_opponents.RULE_PLAYERS)
def test_held_out_opponent_plays_equal_games_with_equal_rng(name: str) -> None:
    plan = plan_duel(name, "threshold", game="blef", pairs=2, series_length=1)
    assert run_duel(plan).pairs == run_duel(plan).pairs
    duel_with_two_copies = run_duel(
        plan_duel("greedy", name, game="blef", pairs=1, opponent_copies=2)
    )
    assert len(duel_with_two_copies.matches) == 3


@pytest.mark.parametrize("name", ["one-step", "two-step", "steering"])
def test_reader_believes_table_bets_only_with_matching_cards(name: str) -> None:
    """Check that a player with four kings does not check a bet on aces.

    By its own cards alone the bet is unlikely.
    """
    kings = tuple(card for card in DECK if RANKS[card.value] == "K")
    bet = next(bet_index for bet_index, bet in enumerate(BETS) if bet.name == "Pair of aces")
    position = BlefPosition(0, 9, 11, (4, 4), (kings, ()), 0, (RoundMove(1, bet),))
    assert hand_bet_probabilities(position)[bet] < 0.2
    assert build(name, Random(1)).decide(position).action != CHECK


def test_a_steering_player_plays_tables_while_it_is_read() -> None:
    """It knows what the default strategy has learned about it, from the open rounds alone."""
    decisions = {"table": 0, "answer": 0}
    for position in positions_of_first_seat("steering", "reader", 1):
        models = {0: opponent_model_of(position.earlier_rounds, 0)}
        decision = build("steering", Random(1)).decide(position)
        is_answer = decision.reason == "By what the table says."
        if is_answer:
            assert not prefers_best_response(position, models)
        decisions["answer" if is_answer else "table"] += 1
    assert min(decisions.values()) > 0


def test_a_best_responder_learns_on_during_the_game(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        informed_opponents, "learn_default_strategy", lambda: opponent_model_of((), 0)
    )
    *_, position = positions_of_first_seat("greedy", "threshold", 3)
    expected = Bayes(Random(1)).decide(position, {1: opponent_model_of(position.earlier_rounds, 1)})
    assert build("best-response", Random(1)).decide(position) == expected


def test_small_rounds_are_played_by_tables_against_a_player_who_knows_them() -> None:
    preferences = [
        prefers_best_response(position, opponent_models_by_seat(position))
        for seed in range(6)
        for position in positions_of_first_seat("solved", "two-step", seed)
        if 4 <= sum(position.card_counts) <= MAX_SMALL_ROUND_CARDS
    ]
    assert sum(preferences) / len(preferences) <= 0.2


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", held_out_opponents.RULE_PLAYERS)
@pytest.mark.parametrize(("copies", "pairs", "seed"), [(1, 40, 43), (3, 4, 51)])
def test_default_strategy_reaches_its_target(name: str, copies: int, pairs: int, seed: int) -> None:
    """Check that the upper end of the default strategy's interval reaches the target.

    `benchmark` itself, with more games, checks the points and the lower end.
    """
    default_strategy = GAME.default_strategy
    plan = plan_duel(
        default_strategy, name, game="blef", pairs=pairs, opponent_copies=copies, seed=seed
    )
    duel = run_duel(plan)
    assert duel.interval.high >= benchmark.score_thresholds(duel).points


def test_a_duel_falls_short_by_its_points_or_by_its_lower_end() -> None:
    """Check the shortfall of a duel: by its points, or by the lower end of its interval."""
    winning_duel = run_duel(plan_duel("threshold", "careless", game="blef", pairs=60))
    assert winning_duel.points_percent > 95
    assert benchmark.target_shortfall(winning_duel) == 0
    losing_duel = run_duel(plan_duel("careless", "threshold", game="blef", pairs=3))
    assert benchmark.target_shortfall(losing_duel) == 90 - losing_duel.points_percent
    short_duel = DuelResult(
        plan_duel("threshold", "careless", game="blef", pairs=2), winning_duel.pairs[:2]
    )
    assert benchmark.target_shortfall(short_duel) == round(86 - short_duel.interval.low, 1) > 0


def test_benchmark_reports_points_and_lost_rounds_and_resumes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = benchmark.BenchmarkOptions(
        player=BuiltIn("greedy"), opponents=("careless", "liar"), pairs=2, out=tmp_path
    )
    assert benchmark.benchmark(options=options) == 1
    output = capsys.readouterr().out
    assert "greedy v careless: 100.0 (" in output
    assert ") of 4 games, misses the target by" in output
    contents = {file: file.read_text() for file in tmp_path.iterdir()}
    assert {file.name for file in contents} == {"greedy-1xcareless.jsonl", "greedy-1xliar.jsonl"}
    assert benchmark.benchmark(options=options) == 1
    assert capsys.readouterr().out == output
    assert contents == {file: file.read_text() for file in tmp_path.iterdir()}
    result_counts = json.loads(next(iter(contents.values())).splitlines()[1])["matches"][0][
        "counts"
    ]
    lost_rounds = [result_counts[f"lost with {cards}"] for cards in CARD_COUNT_RANGES]
    assert sum(map(sum, lost_rounds)) == result_counts["rounds"][0]


def test_calibration_curve_bins_predictions_by_tenths() -> None:
    predictions = [
        benchmark.BetPrediction(0.1, was_true=True),
        benchmark.BetPrediction(0.19, was_true=False),
        benchmark.BetPrediction(0.999, was_true=True),
    ]
    low, high = benchmark.calibration_curve(predictions)
    assert (low.bets, low.observed) == (2, 50)
    assert [low.predicted, high.predicted] == pytest.approx([14.5, 99.9])
    assert low.low < 50 < low.high
    assert (high.bets, high.observed, high.high) == (1, 100, 100)


def test_higher_predictions_hold_more_often(capsys: pytest.CaptureFixture[str]) -> None:
    benchmark.calibration(options=benchmark.CalibrationOptions(bets=120, seed=3, as_json=True))
    result = json.loads(capsys.readouterr().out)
    assert sum(level["bets"] for level in result["levels"]) == 120
    assert result["error"] < 0.25
    lowest, *_, highest = result["levels"]
    assert highest["observed"] > lowest["observed"] + 20
