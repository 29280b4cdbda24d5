"""Luck-adjusted results: unbiased for any judge, and with a smaller variance."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial
from itertools import permutations
from pathlib import Path
from random import Random
from statistics import fmean, pvariance

import pytest
from support.brute_force import all_outcomes
from support.case_counts import case_count
from support.cli import write_strategy_file
from support.games import GAMES, SimulationPlayer, play_to_end
from support.positions import cards

from cardsharp.errors import ConfigError
from cardsharp.games.deadmansdraw.actions import DRAW, END_TURN, Action, EffectType, respond
from cardsharp.games.deadmansdraw.cards import bank_from_cards
from cardsharp.games.deadmansdraw.luck import luck_of
from cardsharp.games.deadmansdraw.rules import start
from cardsharp.games.deadmansdraw.simulation import SimulatedDeadMansDrawMatch, match_from_state
from cardsharp.games.euchre.judge import deal_luck as luck_of_deal
from cardsharp.games.euchre.judge import match_win_probability, playout_point_difference
from cardsharp.games.euchre.rules import score
from cardsharp.games.euchre.rules import start as start_deal
from cardsharp.games.euchre.simulation import SeatedDeal, shuffled_deck
from cardsharp.games.euchre.simulation import SimulatedEuchreMatch as EuchreMatch
from cardsharp_tools.executors.strategy_reference import BuiltIn, StrategyFile
from cardsharp_tools.lab.duel_result import (
    DuelResult,
    FirstPlayerLuck,
    FirstPlayerMatchResult,
    LuckAdjuster,
    Pair,
)
from cardsharp_tools.lab.plan import DuelPlan, plan_duel
from cardsharp_tools.lab.run_file import run_duel_with_progress
from cardsharp_tools.lab.runner import run_duel
from cardsharp_tools.lab.sprt import SequentialTest

EUCHRE = next(game for game in GAMES if game.name == "euchre")


BANKS = (bank_from_cards(cards("Hook4 Sword5")), bank_from_cards(cards("Oracle3 Mermaid6 Key7")))
DISCARD = "Anchor2 Cannon4 Mermaid8 Hook6"


def deal_matches(
    pile: str, area: str, discard: str = DISCARD
) -> Iterator[SimulatedDeadMansDrawMatch]:
    for order in permutations(cards(pile)):
        yield match_from_state(start(order, cards(discard), 0, BANKS, cards(area)))


def action_lucks(match: SimulatedDeadMansDrawMatch, action: Action) -> list[float]:
    """Return the luck of the action for each pick from the discard pile."""
    end_states = all_outcomes(partial(match.with_action, action))
    return [
        luck_of(match.current_position, end_state.history[-1].events) for end_state in end_states
    ]


@pytest.mark.parametrize(
    ("pile", "area", "action"),
    [
        ("Map4 Oracle5 Kraken3 Key4 Chest6", "Key5", DRAW),
        ("Map4 Chest6 Key4 Hook7", "Chest3 Key5 Anchor4", DRAW),
        ("Map4 Kraken3", "Chest3 Key5 Anchor4", END_TURN),
        ("Oracle5 Sword4 Mermaid4", "Kraken3", DRAW),
        ("Map5 Key4 Sword4", "Hook7", DRAW),
    ],
)
def test_mean_luck_over_all_possible_cards_is_zero(pile: str, area: str, action: Action) -> None:
    """The mean is 0 for draws, an Oracle's card, a Map's three, and the bonus of bank or bust."""
    lucks_by_match = [action_lucks(match, action) for match in deal_matches(pile, area)]
    assert fmean(map(fmean, lucks_by_match)) == pytest.approx(0, abs=1e-12)
    assert max(map(max, lucks_by_match)) > 0.001


def test_a_revealed_oracle_card_is_no_luck_and_an_unusual_table_is_not_judged() -> None:
    [match, *_] = deal_matches("Oracle5 Sword4 Mermaid4", "Kraken3")
    oracle_match = match.with_action(DRAW, lambda pile, number: pile[:number])
    assert action_lucks(oracle_match, respond(EffectType.ORACLE, *cards("Sword4"))) == [0]
    [match, *_] = deal_matches("Key4", "Key5", discard="Key4 Anchor2")
    assert luck_of(match.current_position, ()) is None


def random_deals(number: int) -> Iterator[SeatedDeal]:
    """Return deals; in the first the dealer's left sits on chair 0."""
    return (SeatedDeal(start_deal(shuffled_deck(Random(seed))), seed % 4) for seed in range(number))


def test_the_value_of_a_deal_is_its_playout_by_four_rule_based_players() -> None:
    rule_player = SimulationPlayer(EUCHRE, "rules")
    for seated_deal in random_deals(case_count(8, full=25)):
        [*_, end] = play_to_end(EuchreMatch(seated_deal), [rule_player], Random(0))
        points = score(end.state.all_deals[0].deal.public_state).points
        assert playout_point_difference(seated_deal.deal.cards) == points[0] - points[1]


cached_point_difference = cache(playout_point_difference)  # each deal is played out once


@pytest.mark.parametrize(
    "value_of_points",
    [
        float,
        lambda difference: match_win_probability(8 + max(0, difference), 6 - min(0, difference)),
    ],
)
def test_mean_luck_over_many_deals_is_zero(
    value_of_points: Callable[[int], float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mean is 0 also if a point is worth more to one side."""
    monkeypatch.setattr(
        "cardsharp.games.euchre.judge.playout_point_difference", cached_point_difference
    )
    cards = [seated_deal.deal.cards for seated_deal in random_deals(500)]
    luck_values = [luck_of_deal(deal_cards, value_of_points) for deal_cards in cards]
    error = (pvariance(luck_values) / len(luck_values)) ** 0.5
    assert fmean(luck_values) == pytest.approx(0, abs=2.5 * error)
    assert (
        abs(
            fmean(value_of_points(cached_point_difference(deal_cards)) for deal_cards in cards)
            - value_of_points(0)
        )
        > 4 * error
    )


def simulated_pairs(number: int, judge_factor: float, rng: Random) -> list[Pair]:
    """Return pairs with a mean of 60 % whose judged luck is noisy.

    `judge_factor` is the factor from the true to the judged luck.
    """
    results = []
    for _ in range(number):
        luck = rng.gauss(0, 0.2)
        share = 0.6 + luck + rng.gauss(0, 0.05)
        judged_luck = judge_factor * luck + rng.gauss(0, 0.05)
        results.append(
            (FirstPlayerMatchResult(share, {}, luck=FirstPlayerLuck(share, judged_luck)),)
        )
    return results


@pytest.mark.parametrize("judge_factor", [1.0, 0.4, 0.0, -0.5])
def test_a_biased_judge_shifts_no_mean(judge_factor: float) -> None:
    """A judge that inverts luck shifts no mean; a judge without knowledge has no effect."""
    rng, means = Random(4), []
    for _ in range(200):
        shares = list(map(LuckAdjuster().adjusted_share, simulated_pairs(50, judge_factor, rng)))
        means.append(fmean(shares))
    error = (pvariance(means) / len(means)) ** 0.5
    assert fmean(means) == pytest.approx(0.6, abs=3 * error)
    long_run = simulated_pairs(2000, judge_factor, rng)
    variance_ratio = pvariance(map(LuckAdjuster().adjusted_share, long_run)) / pvariance(
        result.points for (result,) in long_run
    )
    assert variance_ratio < 1.02 if judge_factor == 0 else variance_ratio < 0.35 / abs(judge_factor)


def test_a_pair_does_not_influence_its_luck_adjustment() -> None:
    """Two pairs with different results keep this difference in their adjusted shares."""
    for luck in (-0.3, 0.0, 0.2):
        earlier_pairs = simulated_pairs(20, 1.0, Random(1))
        first_adjuster, second_adjuster = LuckAdjuster(), LuckAdjuster()
        for pair in earlier_pairs:
            assert first_adjuster.adjusted_share(pair) == second_adjuster.adjusted_share(pair)
        won_pair, lost_pair = (
            (FirstPlayerMatchResult(share, {}, luck=FirstPlayerLuck(share, luck)),)
            for share in (1.0, 0.0)
        )
        assert first_adjuster.adjusted_share(won_pair) - second_adjuster.adjusted_share(
            lost_pair
        ) == pytest.approx(1.0)
    assert (
        LuckAdjuster().adjusted_share(
            (FirstPlayerMatchResult(1.0, {}), FirstPlayerMatchResult(0.5, {}))
        )
        == 0.75
    )


PLAN = plan_duel(
    "champion",
    "draw-2",
    pairs=case_count(2, full=4),
    seed=3,
    pure_python=True,
    luck_adjusted=True,
)

MIRRORED_PLANS = (
    replace(PLAN, second=BuiltIn("champion"), pairs=case_count(1, full=3)),
    replace(
        PLAN,
        game="euchre",
        first=BuiltIn("rules"),
        second=BuiltIn("rules"),
        pairs=case_count(1, full=3),
    ),
)


def test_luck_adjustment_changes_no_match(tmp_path: Path) -> None:
    run_test, replayed_test, file = (
        SequentialTest(elo1=100),
        SequentialTest(elo1=100),
        tmp_path / "run.jsonl",
    )
    adjusted_run, plain_run = (
        run_duel_with_progress(PLAN, None, file, run_test),
        run_duel(replace(PLAN, luck_adjusted=False)),
    )
    assert [match.points for match in adjusted_run.matches] == [
        match.points for match in plain_run.matches
    ]
    assert "luck-adjusted: " in str(adjusted_run)
    replayed_test.add_pairs_until_decided(adjusted_run.adjusted_shares)
    assert run_test.log_likelihood_ratio == replayed_test.log_likelihood_ratio, (
        "a sequential test takes these shares"
    )
    assert plain_run.luck_adjusted_result is None
    assert plain_run.adjusted_shares == tuple(
        fmean(match.points for match in pair) for pair in plain_run.pairs
    )
    assert run_duel_with_progress(PLAN, None, file) == adjusted_run


@pytest.mark.parametrize("plan", MIRRORED_PLANS, ids=lambda plan: str(plan.game))
def test_a_mirrored_match_has_no_luck_in_the_mean(plan: DuelPlan) -> None:
    """Luck of the cards is what the other side loses, in either seating."""
    mirror_run = run_duel(plan)
    for first_result, second_result in mirror_run.pairs:
        assert first_result.luck.card_luck == pytest.approx(-second_result.luck.card_luck)
        assert (
            first_result.luck.resampled_share + second_result.luck.resampled_share
            == pytest.approx(1)
        )


def test_a_strategy_that_cannot_be_copied_plays_the_last_cards_once(tmp_path: Path) -> None:
    """A strategy with a generator cannot be copied; its card luck is measured all the same."""
    import_line = "from cardsharp.games.deadmansdraw.strategies.champion import Champion"
    file = Path(
        write_strategy_file(tmp_path, "once", "return self.best.decide(position)", import_line)
    )
    init_code = "self.best, self.numbers = Champion(rng), (one for one in range(3))"
    file.write_text(file.read_text().replace("pass", init_code))
    single_run = run_duel(replace(PLAN, first=StrategyFile(str(file)), pairs=1))
    for match in single_run.matches:
        assert match.luck.resampled_share == match.points
        assert match.luck.card_luck


def test_the_interval_uses_luck_adjusted_shares_if_available() -> None:
    """The variance ratio says how many times as many matches the adjustment saves."""
    duel_result = DuelResult(
        replace(PLAN, pairs=40),
        tuple(
            (match_result, match_result) for (match_result,) in simulated_pairs(40, 1.0, Random(2))
        ),
    )
    adjusted_result = duel_result.luck_adjusted_result
    assert adjusted_result.variance_ratio > 4
    assert (
        adjusted_result.document["lower"]
        < adjusted_result.document["points"]
        < adjusted_result.document["upper"]
    )
    with pytest.raises(ConfigError, match="The luck of Blef cannot be measured"):
        run_duel(plan_duel("bayes", "greedy", game="blef", pairs=1, luck_adjusted=True))
