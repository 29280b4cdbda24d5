"""Position of one seat in a deal: all that a strategy sees."""

from dataclasses import dataclass, replace
from hashlib import blake2b

from cardsharp.games.euchre.actions import Action, Bid, DecisionType
from cardsharp.games.euchre.cards import DECK, Card
from cardsharp.games.euchre.public_state import (
    DEALER,
    PublicState,
    partner,
    pending_decision,
    required_pending_decision,
)
from cardsharp.games.euchre.rules import FACE_DOWN, Deal, legal_answers


@dataclass(frozen=True, slots=True)
class EuchrePosition:
    """Decision of `seat`, and the information that this seat has.

    `decision_type` is the pending decision, and `legal_actions` are its legal answers, empty for a
    seat that is not to act. `hand` is the seat's current hand, sorted. `discard` is its discard,
    None unless it is a dealer who picked up. Deals that look the same to a seat give equal
    positions.
    """

    seat: int
    decision_type: DecisionType
    hand: tuple[Card, ...]
    public_state: PublicState
    legal_actions: tuple[Action, ...]
    discard: Card | None = None

    @property
    def partner(self) -> int:
        """Seat opposite."""
        return partner(self.seat)

    @property
    def seat_cards(self) -> tuple[Card, ...]:
        """All cards that this seat has had, sorted.

        Its hand, its discard and the cards that it played.
        """
        cards = {*self.hand, *self.public_state.cards_played_by(self.seat)}
        return tuple(sorted(cards if self.discard is None else {*cards, self.discard}))

    @property
    def unseen_cards(self) -> tuple[Card, ...]:
        """Cards whose past or present place this seat does not know.

        The turn card is not included: it is public, or the dealer has taken it.
        """
        played = {card for trick in self.public_state.tricks for _, card in trick}
        visible = {*self.seat_cards, *played, self.public_state.turn_card}
        return tuple(card for card in DECK if card not in visible)

    @property
    def seed(self) -> int:
        """Seed that depends on the position alone.

        It is the same in every process and for every deal that looks the same to the seat.
        """
        table = self.public_state
        bids = tuple((bid.suit, bid.goes_alone) for bid in table.bids)
        tricks = tuple(tuple(map(tuple, trick)) for trick in table.tricks)
        open_part = (table.turn_card, bids, table.has_discarded, table.defense_answers, tricks)
        private_part = (self.seat, self.decision_type.value, self.hand, self.discard)
        digest = blake2b(repr((private_part, open_part)).encode(), digest_size=8).digest()
        return int.from_bytes(digest, "big")


def current_position(deal: Deal) -> EuchrePosition:
    """Return the position of the seat to decide; raise `IllegalAction` if the deal is over."""
    return position_for(deal, required_pending_decision(deal.public_state).seat)


def position_for(deal: Deal, seat: int) -> EuchrePosition:
    """Return the position of `seat` at any time; it has legal actions only in its turn.

    When the dealer is asked for the discard, it does not know yet whether an opponent calls
    alone, because the client asks first (docs/spec/euchre.md section 4). So the call reads as
    "not alone".
    """
    pending = pending_decision(deal.public_state)
    to_act = pending is not None and pending.seat == seat
    decision_type = DecisionType.PLAY if pending is None else pending.decision_type
    table, hand = deal.public_state, deal.hand(seat)
    call = table.trump_call
    discards = to_act and decision_type is DecisionType.DISCARD
    if discards and call is not None and call.caller_seat % 2 != seat % 2:
        table = replace(table, bids=(*table.bids[:-1], Bid(call.suit)))
    sees_discard = seat == DEALER and deal.discard is not None and deal.discard != FACE_DOWN
    legal_actions = legal_answers(table, decision_type, hand) if to_act else ()
    return EuchrePosition(
        seat, decision_type, hand, table, legal_actions, deal.discard if sees_discard else None
    )
