"""Bidding by rules of thumb: for `rules`, and as ours thinks that others bid."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from cardsharp.euchre.actions import PASS, Bid
from cardsharp.euchre.cards import SUITS, Card, Suit, strength
from cardsharp.euchre.strategies.estimates import discard_first, tricks
from cardsharp.euchre.table import DEALER, SEATS, partner

CALL = (2.45, 2.15, 2.45, 2.15)
"""Tricks that each seat wants to expect of its own hand to call in the first round."""

NAME = (2.15, 2.15, 2.15, 2.0)
"""The same for the second round."""

ALONE = 3.7

_TURN = 0.55
"""The share of the turn card's worth that counts for the dealer's partner, against opponents."""

_SHARPNESS = 3.0
"""How surely a hand is bid on as the rules say; it falls off by e each third of a trick."""


@dataclass(frozen=True, slots=True)
class Appraisal:
    """What each suit that may be named is worth in tricks, and how many are wanted."""

    worth: dict[Suit, float]
    wanted: float

    @property
    def best(self) -> Suit:
        """The suit worth most."""
        return max(self.worth, key=lambda suit: self.worth[suit])

    @property
    def bid(self) -> Bid:
        """What the rules bid."""
        best = self.best
        if self.worth[best] < self.wanted:
            return PASS
        return Bid(best, self.worth[best] >= ALONE)

    def likelihood(self, bid: Bid) -> float:
        """How likely somebody with this hand makes that bid, from nearly 0 to nearly 1."""
        best = self.worth[self.best]
        passes = _logistic(self.wanted - best)
        if bid.suit is None:
            return passes
        worth = self.worth.get(bid.suit, 0.0)
        alone = _logistic(worth - ALONE)
        calls = (1 - passes) * math.exp(_SHARPNESS * (worth - best))
        return max(1e-6, calls * (alone if bid.alone else 1 - alone))


def appraise(hand: Sequence[Card], number: int, turn_card: Card) -> Appraisal:
    """How a seat sees its five cards before the bid of that number, 0 to 7."""
    seat, turned = number % 4, turn_card & 3
    if number >= len(SEATS):
        return Appraisal({suit: tricks(hand, suit) for suit in SUITS if suit != turned}, NAME[seat])
    return Appraisal({turned: _first_round(hand, seat, turn_card)}, CALL[seat])


def _first_round(hand: Sequence[Card], seat: int, turn_card: Card) -> float:
    trump = turn_card & 3
    if seat == DEALER:
        return tricks(discard_first([*hand, turn_card], trump)[1:], trump)
    height = (strength(turn_card, trump, trump) - 10) / 7
    share = _TURN * (0.4 + 0.6 * height)
    return tricks(hand, trump) + (share if partner(seat) == DEALER else -share)


def _logistic(margin: float) -> float:
    return 1 / (1 + math.exp(-_SHARPNESS * margin))
