"""What the player to move sees in rounds of two, for tests of strategies with tables."""

from collections.abc import Sequence

from hypothesis import strategies as st

from cardsharp.blef.actions import BETS
from cardsharp.blef.cards import DECK, Hand, sort_hand
from cardsharp.blef.position import Position
from cardsharp.blef.rules import max_cards
from cardsharp.blef.state import Move

Cards = tuple[int, int]


def position(cards: Cards, hand: Hand, *bets: int) -> Position:
    """What the player to move sees of a round of two after these bets."""
    role = len(bets) % 2
    hands = (hand, ()) if role == 0 else ((), hand)
    history = tuple(Move(place % 2, bet) for place, bet in enumerate(bets))
    return Position(role, 1, max_cards(2), cards, hands, role, history)


@st.composite
def positions(draw: st.DrawFn, rounds: Sequence[Cards]) -> Position:
    """Any position of these rounds, also such as nobody would come to."""
    cards = draw(st.sampled_from(rounds))
    bets = sorted(draw(st.sets(st.integers(0, len(BETS) - 1), max_size=6)))
    hand = draw(st.permutations(DECK))[: cards[len(bets) % 2]]
    return position(cards, sort_hand(hand), *bets)
