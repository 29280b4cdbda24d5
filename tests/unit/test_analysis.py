"""Analysis of matches: costs of decisions, luck of the cards, and players' accuracy."""

from dataclasses import replace
from itertools import pairwise
from math import inf
from random import Random
from typing import Any

import pytest
from support.games import GAMES, SimulationPlayer, new_match, play_match, play_to_end, stored_match

from cardsharp.analysis.judge import TIMED_OUT
from cardsharp.analysis.judged_match import JudgedDecision, Severity, accuracy, severity_of
from cardsharp.analysis.match_analysis import analyse
from cardsharp.games.deadmansdraw.actions import DRAW
from cardsharp.games.deadmansdraw.luck import luck_of
from cardsharp.games.deadmansdraw.position import PastMove
from cardsharp.games.deadmansdraw.rules import force_turn_end
from cardsharp.games.deadmansdraw.simulation import random_card_picker
from cardsharp.play.game import Game
from cardsharp.play.strategy import Decision, Option, ranked
from cardsharp_tools.lab.game_adapter import PlayedAction
from cardsharp_tools.lab.match_statistics import SideGroup, SideStatistics, ratings_by_player
from cardsharp_tools.terminal.match_printer import signed_value_text

DEADMANSDRAW, BLEF = (
    next(game for game in GAMES if game.name == name) for name in ("deadmansdraw", "blef")
)


class BlunderingPlayer(SimulationPlayer):
    """Captain with a single blunder: the worst action that costs a chance of 0.15 or more."""

    blunder_action: str | None = None

    def decide(self, state: Any) -> Decision[Any]:  # noqa: ANN401
        decision = super().decide(state)
        values = {option.action: option.value or 0.0 for option in decision.options}
        worst_action = min(values, key=values.__getitem__)
        if self.blunder_action or values[worst_action] > values[decision.action] - 0.15:
            return decision
        self.blunder_action = str(worst_action)
        return replace(decision, action=worst_action)


def test_a_planted_blunder_is_detected_and_luck_is_attributed_to_each_card() -> None:
    """Luck is the value that the lab subtracts from results, seen from the first side."""
    # The judge of an analysis is `captain-quick`.
    captain, blunderer = (
        SimulationPlayer(DEADMANSDRAW, "captain-quick"),
        BlunderingPlayer(DEADMANSDRAW, "captain-quick"),
    )
    played_actions = play_to_end(new_match(DEADMANSDRAW, 1), (captain, blunderer), Random(1))
    [(record, moves)] = stored_match(DEADMANSDRAW, played_actions)
    analysis = analyse(DEADMANSDRAW, record, moves)
    captain_side, blundering_side = analysis.players
    assert (captain_side.accuracy, captain_side.skill) == (100.0, 0.0)
    [blunder] = analysis.mistakes()
    assert (blunder.seat, blunder.mark, blunder.action) == (
        1,
        Severity.BLUNDER,
        blunderer.blunder_action,
    )
    assert blunder.cost == -blundering_side.skill >= 0.15
    assert blunder.best == blunder.options[0].action != blunder.action
    assert blunder.reason.endswith(".")
    assert (blundering_side.accuracy or 100) < 100
    [swing] = analysis.largest_swings(1)
    assert abs(swing.value_change) == max(
        abs(decision.value_change) for decision in analysis.decisions
    )
    severities = [severity_of(share) for share in (0.0, 0.004, 0.005, 0.02, 0.05, 1.0)]
    assert severities == [
        None,
        None,
        Severity.INACCURACY,
        Severity.MISTAKE,
        Severity.BLUNDER,
        Severity.BLUNDER,
    ]
    seats_and_luck = [
        (
            played_action.state.current_position.seat,
            luck_of(played_action.state.current_position, next_action.state.history[-1].events),
        )
        for played_action, next_action in pairwise(played_actions)
    ]
    signed_luck = [(luck or 0.0) * (1 if seat == 0 else -1) for seat, luck in seats_and_luck]
    assert analysis.chance == analysis.luck == pytest.approx(sum(signed_luck))
    assert max(map(abs, signed_luck)) > 0.05
    assert analysis.luck_adjusted_result(0) == pytest.approx(
        analysis.result - sum(signed_luck) / 1.5
    )
    assert analysis.luck_adjusted_result(1) == pytest.approx(
        1 - analysis.result + sum(signed_luck) / 1.5
    )
    assert analyse(DEADMANSDRAW, record, moves[:8]).luck_adjusted_result(0) is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "players"),
    [
        (DEADMANSDRAW, ("random", "draw-3", "champion", "steady", "captain")),
        (BLEF, ("random", "threshold", "solved", "bayes")),
    ],
    ids=("deadmansdraw", "blef"),
)
def test_accuracy_is_in_the_order_of_strength(game: Game, players: tuple[str, ...]) -> None:
    """A stronger strategy has a higher accuracy in eight matches against the strongest.

    Fewer matches do not separate neighbours.
    """
    accuracies: dict[str, float] = {}
    for name in players[:-1]:
        first_side_decisions: list[JudgedDecision] = []
        for seed in range(8):
            pair = (SimulationPlayer(game, name), SimulationPlayer(game, players[-1]))
            match = analyse(game, *play_match(game, pair, seed))
            first_side_decisions += [decision for decision in match.decisions if decision.seat == 0]
        total_cost = sum(decision.cost for decision in first_side_decisions)
        assert (
            sum(decision.cost for decision in first_side_decisions if decision.mark)
            >= 0.9 * total_cost
        )
        accuracies[name] = (
            accuracy(total_cost, sum(decision.stake for decision in first_side_decisions)) or 0.0
        )
    assert accuracies["random"] < 40
    assert sorted(accuracies, key=accuracies.__getitem__) == [*accuracies]


def test_a_timed_out_turn_costs_its_player_the_lost_value() -> None:
    player, state = SimulationPlayer(DEADMANSDRAW, "captain"), new_match(DEADMANSDRAW, 1)
    played_actions: list[PlayedAction] = []
    while len(state.current_position.play_area) < 2 or player.decide(state).action != DRAW:
        played_actions.append(PlayedAction(state, player.decide(state).action, None))
        state = player.simulation.apply_action(state, played_actions[-1].action, Random(1))
    pick_card = random_card_picker(Random(1))
    next_state, events = force_turn_end(state.state, "Forceful turn ending", "", pick_card)
    timeout_state = state.with_move(
        next_state, PastMove(state.history[-1].turn, state.state.active_player, events)
    )
    later_actions = play_to_end(
        timeout_state, (SimulationPlayer(DEADMANSDRAW, "draw-3"),), Random(1)
    )
    [(record, moves)] = stored_match(
        DEADMANSDRAW, [*played_actions, PlayedAction(state, None, None), *later_actions]
    )
    analysis = analyse(DEADMANSDRAW, record, moves[: len(played_actions) + 4])
    [timeout_decision] = [
        decision for decision in analysis.decisions if decision.action == TIMED_OUT
    ]
    side = state.state.active_player
    stop_value = next(
        option.value for option in timeout_decision.options if option.action == "EndTurn"
    )
    assert (timeout_decision.seat, timeout_decision.best) == (side, "Draw")
    assert timeout_decision.cost == pytest.approx(
        (timeout_decision.options[0].value or 0) - (stop_value or 0), abs=0.02
    )
    assert analysis.counts["time-outs"] == ((1, 0) if side == 0 else (0, 1))
    assert analysis.players[side].skill == -timeout_decision.cost
    first, second = analysis.players
    assert analysis.end == pytest.approx(
        analysis.start + analysis.luck + analysis.unexplained + first.skill - second.skill
    )


def side_statistics(result: float, luck: float = 0.0, cost: float = 0.0) -> SideStatistics:
    date, luck_adjusted_result = "2026-11-22", result - luck
    return SideStatistics(
        "us", "them", "", date, (), result, luck, cost, 1.0, {}, {}, luck_adjusted_result
    )


def test_luck_adjusted_results_vary_less_and_a_single_match_has_no_interval() -> None:
    """Adjusted results are equal in every match if luck explains all differences.

    If one of them is unknown, there is no adjusted mean.
    """
    group = SideGroup(
        [side_statistics(1.0, 0.4), side_statistics(0.0, -0.6)] * 10, results_are_shares=True
    )
    assert group.mean_result.mean == 0.5
    assert group.luck_adjusted_mean.mean == pytest.approx(0.6)
    assert group.luck_adjusted_mean.interval.margin == pytest.approx(0.0)
    assert group.mean_result.interval.margin > 0.15
    assert group.luck_result_correlation == pytest.approx(1.0)
    unknown = side_statistics(1.0)._replace(luck_adjusted_result=None)
    assert SideGroup([*group.sides, unknown], results_are_shares=True).luck_adjusted_mean is None
    group = SideGroup([side_statistics(1.0, 0.3)], results_are_shares=True)
    assert group.luck_adjusted_mean.interval.margin == inf
    assert group.luck_adjusted_mean.document == {"mean": 0.7, "low": None, "high": None}
    assert group.luck_result_correlation is None


def test_luck_adjusted_ratings_are_more_precise_and_stay_within_possible_results() -> None:
    """Adjusted ratings have smaller margins, and luck does not exceed the possible results."""
    ratings = ratings_by_player([[side_statistics(1.0, 0.4)], [side_statistics(0.0, -0.6)]] * 10)
    us, them = ratings["us"], ratings["them"]
    assert us.plain.value == pytest.approx(them.plain.value)
    assert us.luck_adjusted.value > them.luck_adjusted.value + 50
    assert us.luck_adjusted.margin < us.plain.margin / 2
    [lucky_player, _] = ratings_by_player([[side_statistics(1.0, -0.9)]]).values()
    assert lucky_player.luck_adjusted.value == pytest.approx(lucky_player.plain.value)
    self_play = side_statistics(1.0)._replace(opponent="us")
    assert not ratings_by_player([[self_play]])
    [unadjusted_player, _] = ratings_by_player(
        [[side_statistics(1.0)], [side_statistics(1.0)._replace(luck_adjusted_result=None)]]
    ).values()
    assert unadjusted_player.luck_adjusted is None


def test_the_accuracy_is_that_of_all_decisions_together() -> None:
    long_match = side_statistics(1.0, cost=0.2)._replace(stakes=4.0)
    group = SideGroup([long_match, side_statistics(1.0, cost=0.8)], results_are_shares=True)
    assert group.accuracy.mean == pytest.approx(100 * (1 - 1.0 / 5.0) ** 2)
    assert group.accuracy.interval.low < group.accuracy.mean < group.accuracy.interval.high
    assert SideGroup([long_match._replace(stakes=0.0)], results_are_shares=True).accuracy is None


def test_options_are_ranked_by_their_worth_also_below_0() -> None:
    """An option without a value comes last, also after negative points."""
    options = [Option(name, value) for name, value in (("a", -2.0), ("b", None), ("c", -0.5))]
    assert [option.action for option in ranked(options)] == ["c", "a", "b"]


def test_a_difference_has_its_sign_and_nothing_has_no_minus() -> None:
    texts = [signed_value_text(".1%", value) for value in (0.44, -0.093, -0.0001, 0.0)]
    assert texts == ["+44.0 %", "-9.3 %", "+0.0 %", "+0.0 %"]
    assert [signed_value_text("+.2f", value) for value in (1.2, -0.3)] == ["+1.20", "-0.30"]
