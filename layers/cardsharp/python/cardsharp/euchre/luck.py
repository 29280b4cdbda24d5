"""What the cards of a deal brought: what comes of them where all four play as `rules` does.

That less the mean of other deals, dealt as fairly, is 0 in the mean whatever the players make of
their cards. So `rules`, who misjudges them, takes less of the luck out, and shifts no result.
"""

from collections.abc import Callable
from functools import cache
from random import Random
from statistics import fmean

from cardsharp.euchre.cards import DECK, Card
from cardsharp.euchre.simulation import WINNING
from cardsharp.euchre.state import HAND, TURN
from cardsharp.euchre.strategies.bidding import appraise, card_set
from cardsharp.euchre.strategies.layout import layout
from cardsharp.euchre.strategies.playout import ALL, PlayStage, Seating, played_out
from cardsharp.euchre.table import DEALER, MAX_BIDS, SEATS, Call

OTHERS = 10
"""Other deals: their mean adds a tenth to the spread of what is told."""

_OFTEN = {1: 0.335, 2: 0.145, 4: 0.02}
"""How often either side makes so many points of a deal, about."""


def luck_of(cards: tuple[Card, ...], worth: Callable[[int], float] = float) -> float:
    """What the 24 cards brought the seats 0 and 2; the same deal is always told the same.

    In points more than the others make, or in what `worth` says that so many more are worth.
    """
    dice = Random(repr(cards))
    others = (tuple(dice.sample(DECK, len(DECK))) for _ in range(OTHERS))
    return worth(points_of(cards)) - fmean(worth(points_of(other)) for other in others)


def points_of(cards: tuple[Card, ...]) -> int:
    """The points of the seats 0 and 2, less those of 1 and 3, where all play as `rules` does."""
    turned = cards[TURN]
    hands = [card_set(cards[HAND * seat : HAND * (seat + 1)]) for seat in SEATS]
    bids = (appraise(hands[n % len(SEATS)], n, turned).bid for n in range(MAX_BIDS))
    calls = (Call(n, bid.suit, bid.alone) for n, bid in enumerate(bids) if bid.suit is not None)
    call = next(calls, None)
    if call is None:
        return 0
    bits = layout(call.suit)
    held, turn_card = [bits.of(hand) for hand in hands], bits.bit[turned]
    if call.picks_up:
        held[DEALER] |= turn_card
    hidden = [ALL & ~hand & ~(0 if call.picks_up else turn_card) for hand in held]
    if call.picks_up:
        held[DEALER] ^= bits.spare(held[DEALER])
    table = Seating(call)
    made = played_out(table, held, hidden, PlayStage(table.next_from(0)))
    return -made if call.seat % 2 else made


@cache
def winning(ours: int, theirs: int) -> float:
    """The chance of a side to win the match with those points, where both are equally strong."""
    if max(ours, theirs) >= WINNING:
        return float(ours >= WINNING)
    return sum(
        often * (winning(ours + points, theirs) + winning(ours, theirs + points))
        for points, often in _OFTEN.items()
    )
