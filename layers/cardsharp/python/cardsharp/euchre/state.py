"""A whole deal as an immutable value, hidden cards included; what the coordinator keeps."""

from dataclasses import dataclass

from cardsharp.euchre.cards import Card
from cardsharp.euchre.table import DEALER, Table

HAND = 5
TURN = 20
"""Where the turn card lies among the 24; behind it are the three that nobody sees."""

FACE_DOWN: Card = -1
"""The discard where a dealer whose cards we are not to know has made it."""


@dataclass(frozen=True, slots=True)
class Deal:
    """The cards as they were dealt, and what has happened since.

    `cards` are 24 in the order of POST /deal: five for each seat from 0 to the dealer, the turn
    card, three buried. `discard` is the dealer's, None as long as there is none.
    """

    cards: tuple[Card, ...]
    table: Table
    discard: Card | None = None

    def hand(self, seat: int) -> tuple[Card, ...]:
        """What a seat holds now, sorted; the dealer holds six cards until the discard.

        Reads no other seat's cards, and neither the buried ones.
        """
        held = set(self.cards[HAND * seat : HAND * (seat + 1)])
        call = self.table.call
        if seat == DEALER and call is not None and call.picks_up:
            held.add(self.table.turn_card)
            held.discard(FACE_DOWN if self.discard is None else self.discard)
        return tuple(sorted(held.difference(self.table.played_by(seat))))
