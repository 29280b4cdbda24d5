"""Rules of thumb for playing cards, over bit masks (see `trump_layout`).

A seat plays by what it sees: its hand, and the cards that are `hidden` from it.
"""

from collections.abc import Callable
from functools import cache

from cardsharp.games.euchre.cards import Suit
from cardsharp.games.euchre.strategies.trump_layout import CardMask, trump_layout

MANY_TRUMPS = 3  # trumps from which a caller leads them even without the highest
ChooseLead = Callable[[CardMask, CardMask, int, bool], CardMask]
"""Choice of a lead by hand, hidden cards, place, and whether the trick is the first."""

ChooseFollow = Callable[[CardMask, CardMask, CardMask, CardMask, bool, bool], CardMask]
"""Choice by hand, hidden cards, suit led, best card, and whether the partner has the best card.

The last argument is True for the last seat of the trick.
"""

CALLER, CALLERS_PARTNER, DEFENDER = range(3)

_INFINITE_PRICE = 1000


@cache  # an entry for each suit
def make_lead_rule(trump: Suit) -> ChooseLead:
    """Return the rule for leads, a function that expects more than one legal card."""
    trumps, side_lead = trump_layout(trump).trumps, _build_side_lead_rule(trump)

    def lead(hand: CardMask, hidden: CardMask, place: int, first: bool) -> CardMask:
        trumps_in_hand = hand & trumps
        high = 1 << (trumps_in_hand.bit_length() - 1) if trumps_in_hand else 0
        if high and place != DEFENDER:
            many = trumps_in_hand.bit_count() >= MANY_TRUMPS if place == CALLER else first
            if many or hidden < high:
                return high
        return high if trumps_in_hand == hand else side_lead(hand, hidden)

    return lead


def _build_side_lead_rule(trump: Suit) -> Callable[[CardMask, CardMask], CardMask]:
    """Return the rule for leading a side suit.

    It leads the lowest sure winner of the shortest suit that has one, otherwise the lowest card of
    the shortest suit.
    """
    cards = trump_layout(trump)
    sides, card_by_bit = cards.sides, cards.number

    def lead(hand: CardMask, hidden: CardMask) -> CardMask:
        best = low = 0
        best_price = low_price = _INFINITE_PRICE
        for suit in sides:
            suit_cards = hand & suit
            if suit_cards:
                price = suit_cards.bit_count() << 5
                beaten = (hidden & suit).bit_length()
                boss = suit_cards >> beaten << beaten
                if boss:
                    boss &= -boss
                    if price + card_by_bit[boss] < best_price:
                        best, best_price = boss, price + card_by_bit[boss]
                elif price + card_by_bit[suit_cards & -suit_cards] < low_price:
                    low = suit_cards & -suit_cards
                    low_price = price + card_by_bit[low]
        return best or low

    return lead


@cache  # an entry for each suit
def make_follow_rule(trump: Suit) -> ChooseFollow:
    """Return the rule for following, a function that expects more than one legal card."""
    cards = trump_layout(trump)
    trumps, spare = cards.trumps, cards.spare

    def follow(  # noqa: PLR0913, PLR0917 - a tuple or an object would double the time
        hand: CardMask, hidden: CardMask, led: CardMask, best: CardMask, partners: bool, last: bool
    ) -> CardMask:
        suit_cards = hand & led
        if partners and (last or best & trumps or hidden & led < best):
            return suit_cards & -suit_cards or spare(hand)
        beating = (suit_cards or hand & trumps) & (led | trumps) & -(best << 1)
        if not beating:
            return suit_cards & -suit_cards or spare(hand)
        cheapest = beating & -beating
        if last or cheapest & trumps:
            return cheapest
        highest = 1 << (beating.bit_length() - 1)
        if hidden & led < highest:
            return highest
        return (suit_cards & -suit_cards or spare(hand)) if partners else cheapest

    return follow
