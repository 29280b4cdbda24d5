"""Analysis of matches: costs of decisions, luck of the cards, and the players' accuracy."""

from dataclasses import replace
from itertools import pairwise
from math import inf
from random import Random
from typing import Any

import pytest
from support.games import GAMES, StrategyPlayer, new_match, play_match, play_on, stored_match

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


class Spoils(StrategyPlayer):
    """The captain, but with one blunder: the worst action that costs a chance of 0.15 or more."""

    spoilt: str | None = None

    def decide(self, state: Any) -> Decision[Any]:  # noqa: ANN401
        decision = super().decide(state)
        values = {option.action: option.value or 0.0 for option in decision.options}
        worst = min(values, key=values.__getitem__)
        if self.spoilt or values[worst] > values[decision.action] - 0.15:
            return decision
        self.spoilt = str(worst)
        return replace(decision, action=worst)


def test_a_planted_blunder_is_detected_and_luck_is_attributed_to_each_card() -> None:
    """Luck is the value that the lab subtracts from results, seen from the first side."""
    captain, spoils = StrategyPlayer(DEADMANSDRAW, "captain"), Spoils(DEADMANSDRAW, "captain")
    notes = play_on(new_match(DEADMANSDRAW, 1), (captain, spoils), Random(1))
    [(record, moves)] = stored_match(DEADMANSDRAW, notes)
    analysis = analyse(DEADMANSDRAW, record, moves)
    perfect, spoilt = analysis.players
    assert (perfect.accuracy, perfect.skill) == (100.0, 0.0)
    [blunder] = analysis.mistakes()
    assert (blunder.seat, blunder.mark, blunder.action) == (1, Severity.BLUNDER, spoils.spoilt)
    assert blunder.cost == -spoilt.skill >= 0.15
    assert blunder.best == blunder.options[0].action != blunder.action
    assert blunder.reason.endswith(".")
    assert (spoilt.accuracy or 100) < 100
    [swing] = analysis.largest_swings(1)
    assert abs(swing.value_change) == max(
        abs(decision.value_change) for decision in analysis.decisions
    )
    marks = [severity_of(share) for share in (0.0, 0.004, 0.005, 0.02, 0.05, 1.0)]
    assert marks == [
        None,
        None,
        Severity.INACCURACY,
        Severity.MISTAKE,
        Severity.BLUNDER,
        Severity.BLUNDER,
    ]
    befell = [
        (
            note.state.current_position.seat,
            luck_of(note.state.current_position, next_note.state.history[-1].events),
        )
        for note, next_note in pairwise(notes)
    ]
    brought = [(luck or 0.0) * (1 if seat == 0 else -1) for seat, luck in befell]
    assert analysis.chance == analysis.luck == pytest.approx(sum(brought))
    assert max(map(abs, brought)) > 0.05
    assert analysis.luck_adjusted_result(0) == pytest.approx(analysis.result - sum(brought) / 1.5)
    assert analysis.luck_adjusted_result(1) == pytest.approx(
        1 - analysis.result + sum(brought) / 1.5
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
    """Each plays eight matches against the last: fewer do not separate neighbours."""
    accuracies: dict[str, float] = {}
    for name in players[:-1]:
        costs: list[JudgedDecision] = []
        for seed in range(8):
            pair = (StrategyPlayer(game, name), StrategyPlayer(game, players[-1]))
            match = analyse(game, *play_match(game, pair, seed))
            costs += [decision for decision in match.decisions if decision.seat == 0]
        lost = sum(decision.cost for decision in costs)
        assert sum(decision.cost for decision in costs if decision.mark) >= 0.9 * lost
        accuracies[name] = accuracy(lost, sum(decision.stake for decision in costs)) or 0.0
    assert accuracies["random"] < 40
    assert sorted(accuracies, key=accuracies.__getitem__) == [*accuracies]


def test_a_timed_out_turn_costs_its_player_the_lost_value() -> None:
    player, state = StrategyPlayer(DEADMANSDRAW, "captain"), new_match(DEADMANSDRAW, 1)
    notes: list[PlayedAction] = []
    while len(state.current_position.play_area) < 2 or player.decide(state).action != DRAW:
        notes.append(PlayedAction(state, player.decide(state).action, None))
        state = player.simulation.apply_action(state, notes[-1].action, Random(1))
    chance = random_card_picker(Random(1))
    next_state, events = force_turn_end(state.state, "Forceful turn ending", "", chance)
    late = state.with_move(
        next_state, PastMove(state.history[-1].turn, state.state.active_player, events)
    )
    rest = play_on(late, (StrategyPlayer(DEADMANSDRAW, "draw-3"),), Random(1))
    [(record, moves)] = stored_match(DEADMANSDRAW, [*notes, PlayedAction(state, None, None), *rest])
    analysis = analyse(DEADMANSDRAW, record, moves[: len(notes) + 4])
    [lapse] = [decision for decision in analysis.decisions if decision.action == TIMED_OUT]
    side = state.state.active_player
    stopping = next(option.value for option in lapse.options if option.action == "EndTurn")
    assert (lapse.seat, lapse.best) == (side, "Draw")
    assert lapse.cost == pytest.approx((lapse.options[0].value or 0) - (stopping or 0), abs=0.02)
    assert analysis.counts["time-outs"] == ((1, 0) if side == 0 else (0, 1))
    assert analysis.players[side].skill == -lapse.cost
    first, second = analysis.players
    assert analysis.end == pytest.approx(
        analysis.start + analysis.luck + analysis.unexplained + first.skill - second.skill
    )


def side(result: float, luck: float = 0.0, cost: float = 0.0) -> SideStatistics:
    day, less_luck = "2026-11-22", result - luck
    return SideStatistics("us", "them", "", day, (), result, luck, cost, 1.0, {}, {}, less_luck)


def test_luck_adjusted_results_vary_less_and_a_single_match_has_no_interval() -> None:
    """Luck explains all differences here, so adjusted results are equal in every match.

    If one of them is unknown, there is no adjusted mean.
    """
    group = SideGroup([side(1.0, 0.4), side(0.0, -0.6)] * 10, results_are_shares=True)
    assert group.mean_result.mean == 0.5
    assert group.luck_adjusted_mean.mean == pytest.approx(0.6)
    assert group.luck_adjusted_mean.interval.margin == pytest.approx(0.0)
    assert group.mean_result.interval.margin > 0.15
    assert group.luck_result_correlation == pytest.approx(1.0)
    unknown = side(1.0)._replace(luck_adjusted_result=None)
    assert SideGroup([*group.sides, unknown], results_are_shares=True).luck_adjusted_mean is None
    group = SideGroup([side(1.0, 0.3)], results_are_shares=True)
    assert group.luck_adjusted_mean.interval.margin == inf
    assert group.luck_adjusted_mean.document == {"mean": 0.7, "low": None, "high": None}
    assert group.luck_result_correlation is None


def test_luck_adjusted_ratings_are_more_precise_and_stay_within_possible_results() -> None:
    """The luck of 20 matches is known; in a single match it exceeded the possible results."""
    ratings = ratings_by_player([[side(1.0, 0.4)], [side(0.0, -0.6)]] * 10)
    us, them = ratings["us"], ratings["them"]
    assert us.plain.value == pytest.approx(them.plain.value)
    assert us.luck_adjusted.value > them.luck_adjusted.value + 50
    assert us.luck_adjusted.margin < us.plain.margin / 2
    [lucky, _] = ratings_by_player([[side(1.0, -0.9)]]).values()
    assert lucky.luck_adjusted.value == pytest.approx(lucky.plain.value)
    same = side(1.0)._replace(opponent="us")
    assert not ratings_by_player([[same]])
    [unknown, _] = ratings_by_player(
        [[side(1.0)], [side(1.0)._replace(luck_adjusted_result=None)]]
    ).values()
    assert unknown.luck_adjusted is None


def test_the_accuracy_is_that_of_all_decisions_together() -> None:
    long = side(1.0, cost=0.2)._replace(stakes=4.0)
    group = SideGroup([long, side(1.0, cost=0.8)], results_are_shares=True)
    assert group.accuracy.mean == pytest.approx(100 * (1 - 1.0 / 5.0) ** 2)
    assert group.accuracy.interval.low < group.accuracy.mean < group.accuracy.interval.high
    assert SideGroup([long._replace(stakes=0.0)], results_are_shares=True).accuracy is None


def test_options_are_ranked_by_their_worth_also_below_0() -> None:
    """Points may be negative: an option without a value still comes last."""
    options = [Option(name, value) for name, value in (("a", -2.0), ("b", None), ("c", -0.5))]
    assert [option.action for option in ranked(options)] == ["c", "a", "b"]


def test_a_difference_has_its_sign_and_nothing_has_no_minus() -> None:
    texts = [signed_value_text(".1%", value) for value in (0.44, -0.093, -0.0001, 0.0)]
    assert texts == ["+44.0 %", "-9.3 %", "+0.0 %", "+0.0 %"]
    assert [signed_value_text("+.2f", value) for value in (1.2, -0.3)] == ["+1.20", "-0.30"]
