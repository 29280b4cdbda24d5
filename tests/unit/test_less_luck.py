"""Results without luck: nothing is shifted, whatever the judge thinks, and less is left over."""

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
from support.games import GAMES, StrategyPlayer, play_on
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


def matches(pile: str, area: str, discard: str = DISCARD) -> Iterator[SimulatedDeadMansDrawMatch]:
    for order in permutations(cards(pile)):
        yield match_from_state(start(order, cards(discard), 0, BANKS, cards(area)))


def lucks(match: SimulatedDeadMansDrawMatch, action: Action) -> list[float]:
    """The luck of that action with each pick from the discard pile."""
    ends = all_outcomes(partial(match.with_action, action))
    return [luck_of(match.current_position, end.history[-1].events) for end in ends]


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
def test_over_all_that_could_come_luck_is_nothing(pile: str, area: str, action: Action) -> None:
    """Draws, an Oracle's card, the three of a Map, the bonus of a bank and that of a bust."""
    by_match = [lucks(match, action) for match in matches(pile, area)]
    assert fmean(map(fmean, by_match)) == pytest.approx(0, abs=1e-12)
    assert max(map(max, by_match)) > 0.001


def test_a_revealed_oracle_card_is_no_luck_and_an_unusual_table_is_not_judged() -> None:
    [match, *_] = matches("Oracle5 Sword4 Mermaid4", "Kraken3")
    oracle_match = match.with_action(DRAW, lambda pile, number: pile[:number])
    assert lucks(oracle_match, respond(EffectType.ORACLE, *cards("Sword4"))) == [0]
    [match, *_] = matches("Key4", "Key5", discard="Key4 Anchor2")
    assert luck_of(match.current_position, ()) is None


def deals(number: int) -> Iterator[SeatedDeal]:
    """Deals, the first with the dealer's left at chair 0."""
    return (SeatedDeal(start_deal(shuffled_deck(Random(seed))), seed % 4) for seed in range(number))


def test_the_value_of_a_deal_is_its_playout_by_four_rule_based_players() -> None:
    rules = StrategyPlayer(EUCHRE, "rules")
    for dealt in deals(case_count(8, full=25)):
        [*_, end] = play_on(EuchreMatch(dealt), [rules], Random(0))
        points = score(end.state.all_deals[0].deal.public_state).points
        assert playout_point_difference(dealt.deal.cards) == points[0] - points[1]


POINTS = cache(playout_point_difference)  # each deal is played out once


@pytest.mark.parametrize(
    "worth", [float, lambda more: match_win_probability(8 + max(0, more), 6 - min(0, more))]
)
def test_over_many_deals_luck_is_nothing(
    worth: Callable[[int], float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where a point more is worth more to one side; without the mean it would be far off."""
    monkeypatch.setattr("cardsharp.games.euchre.judge.playout_point_difference", POINTS)
    cards = [dealt.deal.cards for dealt in deals(500)]
    lucks = [luck_of_deal(deal_cards, worth) for deal_cards in cards]
    error = (pvariance(lucks) / len(lucks)) ** 0.5
    assert fmean(lucks) == pytest.approx(0, abs=2.5 * error)
    assert abs(fmean(worth(POINTS(deal_cards)) for deal_cards in cards) - worth(0)) > 4 * error


def pairs(number: int, worth: float, dice: Random) -> list[Pair]:
    """Pairs of 60 % whose luck the judge tells with `worth` of the truth, and noise."""
    results = []
    for _ in range(number):
        luck = dice.gauss(0, 0.2)
        share = 0.6 + luck + dice.gauss(0, 0.05)
        judged_luck = worth * luck + dice.gauss(0, 0.05)
        results.append(
            (FirstPlayerMatchResult(share, {}, luck=FirstPlayerLuck(share, judged_luck)),)
        )
    return results


@pytest.mark.parametrize("worth", [1.0, 0.4, 0.0, -0.5])
def test_a_biased_judge_shifts_no_mean(worth: float) -> None:
    """Not even one who takes good luck for bad; one who knows nothing helps nothing."""
    dice, means = Random(4), []
    for _ in range(200):
        shares = list(map(LuckAdjuster().adjusted_share, pairs(50, worth, dice)))
        means.append(fmean(shares))
    error = (pvariance(means) / len(means)) ** 0.5
    assert fmean(means) == pytest.approx(0.6, abs=3 * error)
    long = pairs(2000, worth, dice)
    variance_ratio = pvariance(map(LuckAdjuster().adjusted_share, long)) / pvariance(
        result.points for (result,) in long
    )
    assert variance_ratio < 1.02 if worth == 0 else variance_ratio < 0.35 / abs(worth)


def test_a_pair_does_not_influence_its_luck_adjustment() -> None:
    """Two pairs that differ in their result alone differ by that after it, too."""
    for luck in (-0.3, 0.0, 0.2):
        earlier_pairs = pairs(20, 1.0, Random(1))
        less, other = LuckAdjuster(), LuckAdjuster()
        for pair in earlier_pairs:
            assert less.adjusted_share(pair) == other.adjusted_share(pair)
        won, lost = (
            (FirstPlayerMatchResult(share, {}, luck=FirstPlayerLuck(share, luck)),)
            for share in (1.0, 0.0)
        )
        assert less.adjusted_share(won) - other.adjusted_share(lost) == pytest.approx(1.0)
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

MIRRORED = (
    replace(PLAN, second=BuiltIn("champion"), pairs=case_count(1, full=3)),
    replace(
        PLAN,
        game="euchre",
        first=BuiltIn("rules"),
        second=BuiltIn("rules"),
        pairs=case_count(1, full=3),
    ),
)


def test_it_changes_no_match(tmp_path: Path) -> None:
    tested, same, file = SequentialTest(elo1=100), SequentialTest(elo1=100), tmp_path / "run.jsonl"
    played, plain = (
        run_duel_with_progress(PLAN, None, file, tested),
        run_duel(replace(PLAN, luck_adjusted=False)),
    )
    assert [match.points for match in played.matches] == [match.points for match in plain.matches]
    assert "luck-adjusted: " in str(played)
    same.add_pairs_until_decided(played.adjusted_shares)
    assert tested.log_likelihood_ratio == same.log_likelihood_ratio, (
        "a sequential test takes these shares"
    )
    assert plain.luck_adjusted_result is None
    assert plain.adjusted_shares == tuple(
        fmean(match.points for match in pair) for pair in plain.pairs
    )
    assert run_duel_with_progress(PLAN, None, file) == played


@pytest.mark.parametrize("plan", MIRRORED, ids=lambda plan: str(plan.game))
def test_a_mirrored_match_has_no_luck_in_the_mean(plan: DuelPlan) -> None:
    """The luck that one side's cards bring it they take from the other, in either seating."""
    played = run_duel(plan)
    for first_result, second_result in played.pairs:
        assert first_result.luck.card_luck == pytest.approx(-second_result.luck.card_luck)
        assert (
            first_result.luck.resampled_share + second_result.luck.resampled_share
            == pytest.approx(1)
        )


def test_a_strategy_that_cannot_be_copied_plays_the_last_cards_once(tmp_path: Path) -> None:
    """Such as a strategy with a generator; what the judge tells is there all the same."""
    import_line = "from cardsharp.games.deadmansdraw.strategies.champion import Champion"
    file = Path(
        write_strategy_file(tmp_path, "once", "return self.best.decide(position)", import_line)
    )
    init_code = "self.best, self.numbers = Champion(rng), (one for one in range(3))"
    file.write_text(file.read_text().replace("pass", init_code))
    played = run_duel(replace(PLAN, first=StrategyFile(str(file)), pairs=1))
    for match in played.matches:
        assert match.luck.resampled_share == match.points
        assert match.luck.card_luck


def test_the_interval_uses_luck_adjusted_shares_if_available() -> None:
    """As from how many times as many matches it is: the ratio of the variances."""
    played = DuelResult(
        replace(PLAN, pairs=40), tuple((a, a) for (a,) in pairs(40, 1.0, Random(2)))
    )
    less = played.luck_adjusted_result
    assert less.variance_ratio > 4
    assert less.document["lower"] < less.document["points"] < less.document["upper"]
    with pytest.raises(ConfigError, match="The luck of Blef cannot be measured"):
        run_duel(plan_duel("bayes", "greedy", game="blef", pairs=1, luck_adjusted=True))
