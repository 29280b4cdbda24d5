"""The strategies of Blef: what they bet, and that each choice is explained and repeatable."""

import re
from itertools import combinations
from math import comb
from random import Random

import pytest

from cardsharp.blef.actions import BETS, CHECK, name_of
from cardsharp.blef.cards import DECK, VALUES, Card, Hand, sort_hand
from cardsharp.blef.position import Position
from cardsharp.blef.rules import max_cards
from cardsharp.blef.state import Move
from cardsharp.blef.strategies import build
from cardsharp.blef.strategies.bayes import foresee, holds
from cardsharp.blef.strategies.odds import bits_of, odds


def hand_of(text: str) -> Hand:
    """Cards as e.g. `9c 10d Ah`."""
    return sort_hand(Card(VALUES.index(c[:-1]), "cdhs".index(c[-1])) for c in text.split())


def bet_called(name: str) -> int:
    return next(number for number, bet in enumerate(BETS) if bet.name == name)


def seen(text: str, others: int, *bets: str, max_cards: int = 11) -> Position:
    """Two players: our cards, how many the other has, and what was bet in turns up to ours."""
    hand = hand_of(text)
    actions = [bet_called(bet) for bet in bets]
    starter = len(actions) % 2
    moves = tuple(Move((starter + place) % 2, bet) for place, bet in enumerate(actions))
    return Position(0, 1, max_cards, (len(hand), others), (hand, ()), 0, moves)


def choice(name: str, position: Position) -> str:
    return name_of(build(name, Random(1)).decide(position).action)


@pytest.mark.parametrize(("text", "hidden"), [("9c", 1), ("9c 9d", 2), ("Ac Kc Qc Jc", 2), ("", 2)])
def test_odds_are_the_shares_of_all_hidden_cards(text: str, hidden: int) -> None:
    """Counted one by one over all choices of the hidden cards, by the rules' own verdicts."""
    hand = hand_of(text)
    rest = [card for card in DECK if card not in hand]
    pools = [(*hand, *cards) for cards in combinations(rest, hidden)]
    exact = [sum(bet.holds(pool) for pool in pools) / len(pools) for bet in BETS]
    assert odds(bits_of(hand), hidden) == pytest.approx(exact)


def test_greedy_names_its_own_highest_card_and_takes_the_higher_of_equals() -> None:
    assert choice("greedy", seen("Jc", 1)) == "High card, jack"
    assert choice("greedy", seen("Jc 9d", 1)) == "High card, jack"
    assert choice("greedy", seen("9c", 1, "High card, 9")) == "High card, ace"


def test_greedy_checks_what_fails_as_likely_as_its_best_bet_holds() -> None:
    assert choice("greedy", seen("9c", 1, "Pair of aces")) == "Check"
    assert choice("greedy", seen("9c", 1, "Great straight flush (9-A), spades")) == "Check"
    decision = build("greedy", Random(1)).decide(seen("9c", 1, "Pair of aces"))
    assert "fails with 100.0 %" in decision.reason
    assert [option.action for option in decision.options].count(CHECK) == 1


def test_threshold_checks_below_its_mark_and_else_goes_as_high_as_it_dares() -> None:
    """An ace beside a 9: 4 of the 23 other cards, 17 %."""
    ace = seen("9c", 1, "High card, ace")
    assert choice("threshold(0.2,0.5)", ace) == "Check"
    assert choice("threshold(0.1,0.1)", ace) == "Pair of 9s"
    assert choice("threshold(0.1,0.5)", ace) == choice("greedy", ace)
    assert choice("threshold(0.2,0.5)", seen("9c Ah", 2)) == "High card, ace"
    assert choice("threshold(0.2,0.15)", seen("9c", 1)) == "High card, ace"


def test_a_bet_is_evidence_of_the_hand_behind_it() -> None:
    """By the cards alone the other's ace is 34 % likely; who opens with it, mostly has it."""
    position = seen("9c 10d", 2, "High card, ace")
    by_cards = 1 - comb(18, 2) / comb(22, 2)
    assert odds(bits_of(position.hand), 2)[bet_called("High card, ace")] == pytest.approx(by_cards)
    decision = build("bayes", Random(1)).decide(position)
    worth = {option.action: option.value for option in decision.options}
    assert worth[CHECK] < 0.5
    assert decision.action != CHECK


def test_bayes_checks_what_cannot_be_true() -> None:
    assert choice("bayes", seen("9c", 1, "Pair of aces")) == "Check"
    assert choice("bayes", seen("9c", 1, "Great straight flush (9-A), spades")) == "Check"


def table_of(players: int, dice: Random) -> Position:
    """A round of so many, with up to three bets before ours."""
    n_cards = tuple(dice.randint(1, max_cards(players)) for _ in range(players))
    hand = sort_hand(dice.sample(DECK, n_cards[0]))
    bets = sorted(dice.sample(range(50), dice.randint(0, 3)))
    moves = tuple(
        Move((place - len(bets)) % players, bet) for place, bet in enumerate(bets, players)
    )
    return Position(0, 9, 11, n_cards, (hand, *[()] * (players - 1)), 0, moves)


@pytest.mark.parametrize("players", [3, 5])
def test_a_belief_is_never_said_as_a_fact_and_says_what_it_assumes(players: int) -> None:
    """Only what the own cards decide is certain; where others hold cards nothing is 0 or 100 %."""
    dice, certain = Random(players), 0
    for _ in range(6):
        position = table_of(players, dice)
        decision = build("reader", Random(1)).decide(position)
        by_cards = odds(bits_of(position.hand), position.hidden)
        assert decision.reason.startswith("If the others bet by their cards as most do: ")
        assert not re.search(r"\b(0|100)(\.0)? %", decision.reason)
        for option in decision.options:
            bet = position.last_bet if option.action == CHECK else option.action
            assert bet is not None
            decided = by_cards[bet] in {0, 1}
            assert decided or 0.001 <= option.value <= 0.999
            if option.action != CHECK:
                certain += decided
                assert decided == (option.note in {"holds for certain", "cannot hold"})
    assert certain > 0


def test_an_opening_that_holds_in_every_imagined_world_is_not_held_for_certain() -> None:
    """Three players with 6 cards each: some 10 is all but certain, and said so."""
    position = Position(0, 9, 8, (6, 6, 6), (hand_of("9c 9d Jc Qd Kh As"), (), ()), 0)
    seen = foresee(position)
    ten = bet_called("High card, 10")
    assert all(world.truth >> ten & 1 for world in seen.worlds)
    assert 0.99 < seen.chances[ten] < 1
    assert holds(seen.chances[ten]) == "holds with more than 99 %"
    assert holds(seen.chances[bet_called("Pair of 9s")]) == "holds for certain"
