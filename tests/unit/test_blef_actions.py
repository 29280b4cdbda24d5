"""The 88 bets and the rules around them, by hand-picked cases."""

import pytest
from support.blef import seeded_deal

from cardsharp.blef import rules
from cardsharp.blef.actions import BETS, CHECK, LOST, name_of
from cardsharp.blef.cards import DECK
from cardsharp.blef.state import Move, Round
from cardsharp.errors import Illegal


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


def test_a_bet_must_beat_the_last_one_and_only_a_bet_can_be_checked() -> None:
    live = rules.start(2, seeded_deal(1))
    assert rules.legal_actions(live) == tuple(range(88))
    live = rules.apply(live, 40, seeded_deal(1)).live
    assert rules.legal_actions(live) == (*range(41, 88), CHECK)
    live = rules.apply(live, 87, seeded_deal(1)).live
    assert rules.legal_actions(live) == (CHECK,)
    for action in (87, 40, -1, LOST):
        with pytest.raises(Illegal):
            rules.apply(live, action, seeded_deal(1))


def checked(n_cards: tuple[int, ...], bettor: int, bet: int) -> rules.Applied:
    """A round of so many aces first, in which the player after `bettor` checks the bet."""
    cards = iter(reversed(DECK))
    hands = tuple(tuple(next(cards) for _ in range(n)) for n in n_cards)
    after = [seat for seat in (*range(bettor + 1, len(n_cards)), *range(bettor)) if n_cards[seat]]
    live = Round(5, 3, n_cards, hands, after[0], (Move(bettor, bet),))
    return rules.apply(live, CHECK, seeded_deal(2))


def test_the_next_in_the_circle_begins_when_a_loser_is_out() -> None:
    assert checked((3, 3, 3), bettor=2, bet=87).live.turn == 0, "after the bettor: the checker"
    assert checked((3, 3, 3), bettor=2, bet=0).live.turn == 0, "the bettor's bet does not hold"
    step = checked((3, 3, 3), bettor=2, bet=5)
    assert (step.live.n_cards, step.live.turn) == ((0, 3, 3), 1), "after the checker"


def test_the_last_round_stays_as_it_was_but_for_the_cards_of_its_loser() -> None:
    step = checked((0, 3, 3), bettor=1, bet=87)
    assert step.closed is not None
    assert step.live.n_cards == (0, 0, 3)
    assert step.live.winner == 2
    assert (step.live.number, step.live.turn) == (5, None)
    assert step.live.hands == step.closed.hands
    assert step.closed.n_cards == (0, 3, 3)
    with pytest.raises(Illegal):
        rules.apply(step.live, 0, seeded_deal(1))
