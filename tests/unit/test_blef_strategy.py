"""The strategies of Blef: what they bet, and that each choice is explained and repeatable."""

from itertools import combinations
from math import comb
from random import Random

import pytest

from cardsharp.blef.actions import BETS, CHECK, name_of
from cardsharp.blef.cards import DECK, VALUES, Card, Hand, sort_hand
from cardsharp.blef.position import Position
from cardsharp.blef.state import Move
from cardsharp.blef.strategies import build
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


@pytest.mark.parametrize(("text", "hidden"), [("9c", 1), ("9c 9d", 2), ("Ac Kc Qc Jc", 3), ("", 2)])
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
