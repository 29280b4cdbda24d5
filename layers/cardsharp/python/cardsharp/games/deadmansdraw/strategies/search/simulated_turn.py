"""Simulated turn: the places of the cards, and the table after banking or busting."""

from collections.abc import Iterable
from typing import NamedTuple

from cardsharp.games.deadmansdraw.strategies.search.card_sets import (
    ANCHOR,
    NO_CARD,
    RANKS,
    SUIT_BITS,
    SUIT_OF,
    SUIT_SHIFTS,
)
from cardsharp.games.deadmansdraw.strategies.search.weight_layout import (
    MOVER,
    OTHER,
    PILE,
    PLACE_DIGIT,
    PLAY_AREA_OFFSET,
    suit_key,
)


class TableSets(NamedTuple):
    """Table as sets of cards, for the player whose turn it is; no card is in two of them."""

    own_bank: int
    opponent_bank: int
    draw_pile: int
    discard_pile: int
    known_top: int = NO_CARD


class SimulatedTurn:
    """Simulated turn.

    `stop` and `bust` are the suits' keys as the next player, the mover, would find them if the turn
    were banked or busted now. `barred` are all cards of the suits in the play area.
    """

    __slots__ = (
        "anchored",
        "area",
        "barred",
        "bust",
        "discard",
        "known_top",
        "lying",
        "opponent_bank",
        "own_bank",
        "pile",
        "pile_count",
        "rescued",
        "saved",
        "stop",
    )

    def __init__(self, card_sets: TableSets, play_area: Iterable[int] = ()) -> None:
        self.own_bank, self.opponent_bank, self.pile, self.discard, self.known_top = card_sets
        self.pile_count = self.pile.bit_count()
        self.area = self.saved = self.barred = 0
        self.lying = self.rescued = 0
        self.anchored = False
        own_bank, opponent_bank, pile, _, _ = card_sets
        self.stop = [  # the opponent is the mover
            suit_key(
                suit, opponent_bank >> shift & 0x3F, own_bank >> shift & 0x3F, pile >> shift & 0x3F
            )
            for suit, shift in SUIT_SHIFTS
        ]
        self.bust = list(self.stop)
        for card in play_area:
            self.place_card(card)

    def copy(self) -> "SimulatedTurn":
        """Return an independent copy of this turn."""
        turn = SimulatedTurn.__new__(SimulatedTurn)
        turn.own_bank, turn.opponent_bank, turn.pile, turn.discard = (
            self.own_bank,
            self.opponent_bank,
            self.pile,
            self.discard,
        )
        turn.known_top, turn.pile_count = self.known_top, self.pile_count
        turn.area, turn.saved, turn.barred = self.area, self.saved, self.barred
        turn.lying, turn.rescued, turn.anchored = self.lying, self.rescued, self.anchored
        turn.stop, turn.bust = self.stop.copy(), self.bust.copy()
        return turn

    def place_card(self, card: int) -> None:
        """Put a card, which the caller has removed from its place, into the play area.

        The first Anchor saves the cards before it.
        """
        suit = SUIT_OF[card]
        if suit == ANCHOR and not self.anchored:
            self.anchored = True
            self.saved, self.rescued = self.area, self.lying
            self.bust = self.stop.copy()
        key = OTHER * PLACE_DIGIT[card % RANKS]
        if not self.barred >> card & 1:
            self.barred |= SUIT_BITS[suit]
            key += PLAY_AREA_OFFSET
        self.area |= 1 << card
        self.lying += 1
        self.stop[suit] += key

    def without_draw_pile_card(self, card: int) -> "SimulatedTurn":
        """Return this turn without a card of the draw pile."""
        turn = self._copy_without_card(card, PILE)
        turn.pile ^= 1 << card
        turn.pile_count -= 1
        turn.known_top = NO_CARD
        return turn

    def without_bank_card(self, card: int) -> "SimulatedTurn":
        """Return this turn without a card of the player's bank."""
        turn = self._copy_without_card(card, OTHER)
        turn.own_bank ^= 1 << card
        return turn

    def without_opponent_card(self, card: int) -> "SimulatedTurn":
        """Return this turn without a card of the opponent's bank."""
        turn = self._copy_without_card(card, MOVER)
        turn.opponent_bank ^= 1 << card
        return turn

    def without_discard_card(self, card: int) -> "SimulatedTurn":
        """Return this turn without a card of the discard pile."""
        turn = self.copy()
        turn.discard ^= 1 << card
        return turn

    def _copy_without_card(self, card: int, place: int) -> "SimulatedTurn":
        turn = self.copy()
        digit = place * PLACE_DIGIT[card % RANKS]
        suit = SUIT_OF[card]
        turn.stop[suit] -= digit
        turn.bust[suit] -= digit
        return turn
