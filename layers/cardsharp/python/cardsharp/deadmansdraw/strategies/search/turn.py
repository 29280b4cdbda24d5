"""A simulated turn: where the cards are, and what banking or busting would leave behind."""

from collections.abc import Iterable
from typing import NamedTuple

from cardsharp.deadmansdraw.strategies.search.layout import (
    LYING,
    MOVER,
    OTHER,
    PILE,
    PLACE_DIGIT,
    suit_key,
)
from cardsharp.deadmansdraw.strategies.search.sets import (
    ANCHOR,
    NO_CARD,
    RANKS,
    SHIFTS,
    SUIT_BITS,
    SUIT_OF,
)


class CardSets(NamedTuple):
    """A table as sets of cards, for the player whose turn it is; no card is in two of them."""

    own: int
    other: int
    pile: int
    discard: int
    known: int = NO_CARD


class SimulatedTurn:
    """A simulated turn.

    `stop` and `bust` are the suits' keys as the next player, the mover, would find them if the
    turn were banked or busted now; `barred` are all cards of the suits in the play area.
    """

    __slots__ = (
        "anchored",
        "area",
        "barred",
        "bust",
        "discard",
        "known",
        "left",
        "lying",
        "other",
        "own",
        "pile",
        "rescued",
        "saved",
        "stop",
    )

    def __init__(self, table: CardSets, area: Iterable[int] = ()) -> None:
        self.own, self.other, self.pile, self.discard, self.known = table
        self.left = self.pile.bit_count()
        self.area = self.saved = self.barred = 0
        self.lying = self.rescued = 0
        self.anchored = False
        own, other, pile, _, _ = table
        self.stop = [  # the opponent is the mover
            suit_key(suit, other >> shift & 0x3F, own >> shift & 0x3F, pile >> shift & 0x3F)
            for suit, shift in SHIFTS
        ]
        self.bust = list(self.stop)
        for card in area:
            self.lay(card)

    def copy(self) -> "SimulatedTurn":
        """A turn that can be changed apart from this one."""
        new = SimulatedTurn.__new__(SimulatedTurn)
        new.own, new.other, new.pile, new.discard = self.own, self.other, self.pile, self.discard
        new.known, new.left = self.known, self.left
        new.area, new.saved, new.barred = self.area, self.saved, self.barred
        new.lying, new.rescued, new.anchored = self.lying, self.rescued, self.anchored
        new.stop, new.bust = self.stop.copy(), self.bust.copy()
        return new

    def lay(self, card: int) -> None:
        """Put a card that was taken from its place into the play area.

        The first Anchor saves what lies before it.
        """
        suit = SUIT_OF[card]
        if suit == ANCHOR and not self.anchored:
            self.anchored = True
            self.saved, self.rescued = self.area, self.lying
            self.bust = self.stop.copy()
        key = OTHER * PLACE_DIGIT[card % RANKS]
        if not self.barred >> card & 1:
            self.barred |= SUIT_BITS[suit]
            key += LYING
        self.area |= 1 << card
        self.lying += 1
        self.stop[suit] += key

    def drawn(self, card: int) -> "SimulatedTurn":
        """This turn without a card of the draw pile."""
        new = self._without(card, PILE)
        new.pile ^= 1 << card
        new.left -= 1
        new.known = NO_CARD
        return new

    def hooked(self, card: int) -> "SimulatedTurn":
        """This turn without a card of the own bank."""
        new = self._without(card, OTHER)
        new.own ^= 1 << card
        return new

    def robbed(self, card: int) -> "SimulatedTurn":
        """This turn without a card of the opponent's bank."""
        new = self._without(card, MOVER)
        new.other ^= 1 << card
        return new

    def salvaged(self, card: int) -> "SimulatedTurn":
        """This turn without a card of the discard pile."""
        new = self.copy()
        new.discard ^= 1 << card
        return new

    def _without(self, card: int, place: int) -> "SimulatedTurn":
        new = self.copy()
        digit = place * PLACE_DIGIT[card % RANKS]
        suit = SUIT_OF[card]
        new.stop[suit] -= digit
        new.bust[suit] -= digit
        return new
