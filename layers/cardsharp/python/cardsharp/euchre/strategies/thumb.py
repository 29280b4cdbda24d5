"""The rules of thumb by which cards are played, over bits (see `layout`).

A seat plays by what it sees: its hand, and which cards are `hidden` from it.
"""

from collections.abc import Callable
from functools import cache

from cardsharp.euchre.cards import Suit
from cardsharp.euchre.strategies.layout import Mask, layout

MANY_TRUMPS = 3  # with so many a caller leads trumps even without the highest
Lead = Callable[[Mask, Mask, int, bool], Mask]  # hand, hidden, place, whether the trick is first
Follow = Callable[[Mask, Mask, Mask, Mask, bool, bool], Mask]
"""Of hand, hidden cards, suit led, best card, whether the partner has it, whether one is last."""

CALLER, CALLERS_PARTNER, DEFENDER = range(3)

_NO_PRICE = 1000


@cache
def leading(trump: Suit) -> Lead:
    """How to lead; it wants more than one card to choose from."""
    trumps, side_lead = layout(trump).trumps, _side_lead(trump)

    def lead(hand: Mask, hidden: Mask, place: int, first: bool) -> Mask:
        held = hand & trumps
        high = 1 << (held.bit_length() - 1) if held else 0
        if high and place != DEFENDER:
            many = held.bit_count() >= MANY_TRUMPS if place == CALLER else first
            if many or hidden < high:
                return high
        return high if held == hand else side_lead(hand, hidden)

    return lead


def _side_lead(trump: Suit) -> Callable[[Mask, Mask], Mask]:
    """The lowest sure winner of the shortest side suit, or else the lowest card of the shortest."""
    cards = layout(trump)
    sides, number = cards.sides, cards.number

    def lead(hand: Mask, hidden: Mask) -> Mask:
        best = low = 0
        best_price = low_price = _NO_PRICE
        for suit in sides:
            own = hand & suit
            if own:
                price = own.bit_count() << 5
                beaten = (hidden & suit).bit_length()
                boss = own >> beaten << beaten
                if boss:
                    boss &= -boss
                    if price + number[boss] < best_price:
                        best, best_price = boss, price + number[boss]
                elif price + number[own & -own] < low_price:
                    low = own & -own
                    low_price = price + number[low]
        return best or low

    return lead


@cache
def following(trump: Suit) -> Follow:
    """How to follow; it wants more than one legal card to choose from."""
    cards = layout(trump)
    trumps, spare = cards.trumps, cards.spare

    def follow(  # noqa: PLR0913, PLR0917 - a tuple or an object would double the time
        hand: Mask, hidden: Mask, led: Mask, best: Mask, partners: bool, last: bool
    ) -> Mask:
        own = hand & led
        if partners and (last or best & trumps or hidden & led < best):
            return own & -own or spare(hand)
        beating = (own or hand & trumps) & (led | trumps) & -(best << 1)
        if not beating:
            return own & -own or spare(hand)
        cheapest = beating & -beating
        if last or cheapest & trumps:
            return cheapest
        highest = 1 << (beating.bit_length() - 1)
        if hidden & led < highest:
            return highest
        return (own & -own or spare(hand)) if partners else cheapest

    return follow
