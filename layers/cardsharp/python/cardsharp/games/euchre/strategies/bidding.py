"""Bidding by rules of thumb: for `rules`, and as our model of other players' bids.

Values are in thousandths of tricks. Sets of cards have a bit for each card's number.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from cardsharp.games.euchre.actions import PASS, Bid
from cardsharp.games.euchre.cards import SUITS, Card, Suit, trick_strength
from cardsharp.games.euchre.public_state import DEALER, SEATS, partner
from cardsharp.games.euchre.strategies.trump_layout import trump_layout

ORDER_UP_THRESHOLDS = (2450, 2150, 2450, 2150)
"""Minimum value of a hand for a call in the first round, by seat."""
NAME_SUIT_THRESHOLDS = (2150, 2150, 2150, 2000)  # the same for the second round
ALONE_THRESHOLD = 3700

# value of an average turn card: added for the dealer's partner, subtracted for opponents
_TURN_CARD_VALUE = 550
_SHARPNESS = 0.005  # steepness of the bid model: the odds change by a factor e per 0.2 tricks
_MIN_LIKELIHOOD = 1e-6


@dataclass(frozen=True, slots=True)
class HandValuation:
    """Values of the suits that may be named, and the minimum value for a call."""

    value_by_suit: dict[Suit, int]
    threshold: int

    @property
    def best_suit(self) -> Suit:
        """Suit with the highest value."""
        return max(self.value_by_suit, key=lambda suit: self.value_by_suit[suit])

    @property
    def best_bid(self) -> Bid:
        """Bid that the rule-based player makes."""
        best = self.best_suit
        if self.value_by_suit[best] < self.threshold:
            return PASS
        return Bid(best, self.value_by_suit[best] >= ALONE_THRESHOLD)


def card_mask(cards: Sequence[Card]) -> int:
    """Return the cards as a bit mask."""
    return sum(1 << card for card in cards)


def value_hand(hand: int, bid_index: int, turn_card: Card) -> HandValuation:
    """Return the value of a seat's five cards for the bid with this index, 0 to 7."""
    seat, turned = bid_index % 4, turn_card & 3
    if bid_index >= len(SEATS):
        worth = {
            suit: trump_layout(suit).expected_caller_tricks(
                trump_layout(suit).mask_from_card_set(hand)
            )
            for suit in SUITS
            if suit != turned
        }
        return HandValuation(worth, NAME_SUIT_THRESHOLDS[seat])
    return HandValuation(
        {turned: _value_first_round_hand(hand, seat, turn_card)}, ORDER_UP_THRESHOLDS[seat]
    )


def bid_likelihood(hand: int, bid_index: int, turn_card: Card, bid: Bid) -> float:
    """Return the likelihood that a player with this hand makes that bid, from about 0 to 1."""
    hand_value = value_hand(hand, bid_index, turn_card)
    best = max(hand_value.value_by_suit.values())
    passes = _logistic(hand_value.threshold - best)
    if bid.suit is None:
        return passes
    worth = hand_value.value_by_suit[bid.suit]
    alone = _logistic(worth - ALONE_THRESHOLD)
    calls = (1 - passes) * math.exp(_SHARPNESS * (worth - best))
    return max(_MIN_LIKELIHOOD, calls * (alone if bid.goes_alone else 1 - alone))


def _value_first_round_hand(hand: int, seat: int, turn_card: Card) -> int:
    trump = turn_card & 3
    cards = trump_layout(trump)
    hand_cards = cards.mask_from_card_set(hand)
    if seat == DEALER:
        six = hand_cards | cards.bit[turn_card]
        return cards.expected_caller_tricks(six ^ cards.spare(six))
    share = _TURN_CARD_VALUE * (280 + 60 * (trick_strength(turn_card, trump, trump) - 10)) // 700
    return cards.expected_caller_tricks(hand_cards) + (share if partner(seat) == DEALER else -share)


@lru_cache(maxsize=4096)
def _logistic(margin: int) -> float:
    return 1 / (1 + math.exp(-_SHARPNESS * margin))
