"""What a player of large rounds sees, the file that is shipped, and `solved` with it."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.blef_positions import positions

from cardsharp.blef.actions import BETS, name_of
from cardsharp.blef.position import Position
from cardsharp.blef.strategies import build
from cardsharp.blef.strategies.large import BONDS, CLASSES, KINDS, bond, known, mixture
from cardsharp.blef.strategies.odds import bits_of
from cardsharp.blef.strategies.sight import OPENING

NUMBERS = {name_of(number): number for number in range(len(BETS))}
KNOWN = sorted(known().rounds)


@given(positions(KNOWN), st.integers())
def test_what_solved_does_in_a_large_round_is_legal_and_whole(seen: Position, seed: int) -> None:
    """Of its options it tells those that it takes once in a hundred times, and the one taken."""
    bets = (OPENING, OPENING, *(move.action for move in seen.history))[-2:]
    cards = (len(seen.hand), sum(seen.n_cards) - len(seen.hand))
    mixed = dict(mixture(known(), cards, bits_of(seen.hand), bets))
    assert {*mixed} <= {*seen.legal_actions()}
    assert sum(mixed.values()) == pytest.approx(1)
    decision = build("solved", Random(seed)).decide(seen)
    told = {option.action for option in decision.options}
    assert told == {action for action, often in mixed.items() if often >= 0.01} | {decision.action}


@pytest.mark.parametrize(
    ("before", "last", "shared"),
    [
        ("Pair of 9s", "Pair of aces", 1),
        ("Pair of 9s", "Three of a kind, 9s", 3),
        ("Full house, 9s over aces", "Full house, aces over 9s", 2),
        ("Three of a kind, aces", "Flush, clubs", 1),
        ("Flush, clubs", "Small straight flush (9-K), clubs", 3),
        ("Flush, clubs", "Small straight flush (9-K), spades", 1),
        ("Small straight flush (9-K), clubs", "Big straight flush (10-A), clubs", 2),
        ("Small straight flush (9-K), clubs", "Big straight flush (10-A), hearts", 1),
    ],
)
def test_what_a_bet_shares_with_the_one_before(before: str, last: str, shared: int) -> None:
    assert bond(NUMBERS[before], NUMBERS[last]) == shared


def test_what_is_shipped_is_whole_for_both_of_each_round() -> None:
    """A row for each last bet, with a place for the check and for each higher bet."""
    assert known().file.is_whole()
    assert {cards[::-1] for cards in KNOWN} == {*KNOWN}
    for cards in KNOWN:
        for last in (OPENING, 0, 40, len(BETS) - 1):
            higher = len(BETS) - last - 1
            assert len(known().row(cards, last)) == BONDS * (CLASSES + KINDS * higher)
