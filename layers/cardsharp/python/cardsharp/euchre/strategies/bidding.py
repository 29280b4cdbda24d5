"""Bidding by rules of thumb: for `rules`, and as ours thinks that others bid.

Worths are thousandths of tricks, sets of cards have a bit for each card's number.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from cardsharp.euchre.actions import PASS, Bid
from cardsharp.euchre.cards import SUITS, Card, Suit, strength
from cardsharp.euchre.strategies.layout import layout
from cardsharp.euchre.table import DEALER, SEATS, partner

CALL = (2450, 2150, 2450, 2150)  # what each seat wants of its own hand to call in the first round
NAME = (2150, 2150, 2150, 2000)  # the same for the second round
ALONE = 3700

_TURN = 550  # the worth of the turn card that counts for the dealer's partner, against opponents
_SHARPNESS = 0.005  # how surely a hand is bid on by rule; off by e each fifth of a trick
_LEAST = 1e-6


@dataclass(frozen=True, slots=True)
class Appraisal:
    """What each suit that may be named is worth, and how much is wanted."""

    worth: dict[Suit, int]
    wanted: int

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


def card_set(cards: Sequence[Card]) -> int:
    """The cards as a set."""
    return sum(1 << card for card in cards)


def appraise(hand: int, number: int, turn_card: Card) -> Appraisal:
    """How a seat sees its five cards before the bid of that number, 0 to 7."""
    seat, turned = number % 4, turn_card & 3
    if number >= len(SEATS):
        worth = {
            suit: layout(suit).worth(layout(suit).of(hand)) for suit in SUITS if suit != turned
        }
        return Appraisal(worth, NAME[seat])
    return Appraisal({turned: _first_round(hand, seat, turn_card)}, CALL[seat])


def likelihood(hand: int, number: int, turn_card: Card, bid: Bid) -> float:
    """How likely somebody with this hand makes that bid, from nearly 0 to nearly 1."""
    seen = appraise(hand, number, turn_card)
    best = max(seen.worth.values())
    passes = _logistic(seen.wanted - best)
    if bid.suit is None:
        return passes
    worth = seen.worth[bid.suit]
    alone = _logistic(worth - ALONE)
    calls = (1 - passes) * math.exp(_SHARPNESS * (worth - best))
    return max(_LEAST, calls * (alone if bid.alone else 1 - alone))


def _first_round(hand: int, seat: int, turn_card: Card) -> int:
    trump = turn_card & 3
    cards = layout(trump)
    held = cards.of(hand)
    if seat == DEALER:
        six = held | cards.bit[turn_card]
        return cards.worth(six ^ cards.spare(six))
    share = _TURN * (280 + 60 * (strength(turn_card, trump, trump) - 10)) // 700
    return cards.worth(held) + (share if partner(seat) == DEALER else -share)


@cache
def _logistic(margin: int) -> float:
    return 1 / (1 + math.exp(-_SHARPNESS * margin))
