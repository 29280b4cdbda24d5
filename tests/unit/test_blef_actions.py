"""The 88 bets and the rules around them, by hand-picked cases."""

import pytest

from cardsharp.blef.actions import BETS, CHECK, LOST, name_of


def test_there_are_88_bets_with_names_of_their_own() -> None:
    assert len(BETS) == 88
    assert len({bet.name for bet in BETS}) == 88


@pytest.mark.parametrize(
    ("action", "name"),
    [
        (0, "High card, 9"),
        (11, "Pair of aces"),
        (12, "Two pair, 10s and 9s"),
        (26, "Two pair, aces and kings"),
        (27, "Small straight (9-K)"),
        (35, "Three of a kind, aces"),
        (36, "Full house, 9s over 10s"),
        (65, "Full house, aces over kings"),
        (69, "Flush, spades"),
        (75, "Four of a kind, aces"),
        (87, "Great straight flush (9-A), spades"),
        (CHECK, "Check"),
        (LOST, "Lost the round"),
    ],
)
def test_an_action_has_the_name_of_the_rule_book(action: int, name: str) -> None:
    assert name_of(action) == name


@pytest.mark.parametrize(("cards", "bets"), [(2, 12), (3, 18), (4, 39), (5, 83), (6, 88)])
def test_so_many_bets_can_be_true_with_so_many_cards(cards: int, bets: int) -> None:
    """The counts of docs/spec/blef.md section 4."""
    assert sum(bet.size <= cards for bet in BETS) == bets
