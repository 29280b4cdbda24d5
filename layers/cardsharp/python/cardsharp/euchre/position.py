"""What one seat may know of a deal, and nothing else: all that a strategy ever sees."""

from dataclasses import dataclass, replace
from hashlib import blake2b

from cardsharp.euchre.actions import Action, Bid, Question
from cardsharp.euchre.cards import DECK, Card
from cardsharp.euchre.rules import FACE_DOWN, Deal, choices
from cardsharp.euchre.table import DEALER, Table, asked, partner, turn


@dataclass(frozen=True, slots=True)
class Position:
    """A question to `seat`, and what that seat knows.

    `question` is what is asked of whoever is to answer, and `choices` are the legal answers, none
    for anybody else. `hand` is what this seat holds now, sorted. `discard` is its own, None for
    everybody but a dealer who picked up. Two deals that look the same to a seat give equal views.
    """

    seat: int
    question: Question
    hand: tuple[Card, ...]
    table: Table
    choices: tuple[Action, ...]
    discard: Card | None = None

    @property
    def partner(self) -> int:
        """The seat opposite."""
        return partner(self.seat)

    @property
    def dealt(self) -> tuple[Card, ...]:
        """All cards that this seat has held, sorted: the hand, the discard and what it played."""
        known = {*self.hand, *self.table.played_by(self.seat)}
        return tuple(sorted(known if self.discard is None else {*known, self.discard}))

    @property
    def unseen(self) -> tuple[Card, ...]:
        """The cards of which this seat does not know where they are or were.

        The turn card is not among them: it lies open, or the dealer has taken it.
        """
        played = {card for trick in self.table.tricks for _, card in trick}
        known = {*self.dealt, *played, self.table.turn_card}
        return tuple(card for card in DECK if card not in known)

    @property
    def seed(self) -> int:
        """A number made from the position alone, the same in every process and for every deal."""
        table = self.table
        bids = tuple((bid.suit, bid.alone) for bid in table.bids)
        tricks = tuple(tuple(map(tuple, trick)) for trick in table.tricks)
        open_part = (table.turn_card, bids, table.swapped, table.defences, tricks)
        own_part = (self.seat, self.question.value, self.hand, self.discard)
        digest = blake2b(repr((own_part, open_part)).encode(), digest_size=8).digest()
        return int.from_bytes(digest, "big")


def project(deal: Deal) -> Position:
    """What the seat that is to decide knows of the deal; raises `Illegal` when it is over."""
    return seen_by(deal, asked(deal.table).seat)


def seen_by(deal: Deal, seat: int) -> Position:
    """What `seat` knows of the deal at any time; it has choices only in its own turn.

    A dealer who is asked for the discard does not know yet whether an opponent calls alone: the
    client asks before it says so (docs/spec/euchre.md section 4): so the call reads as "not alone".
    """
    now = turn(deal.table)
    to_act = now is not None and now.seat == seat
    question = Question.PLAY if now is None else now.question
    table, hand = deal.table, deal.hand(seat)
    call = table.call
    discards = to_act and question is Question.DISCARD
    if discards and call is not None and call.seat % 2 != seat % 2:
        table = replace(table, bids=(*table.bids[:-1], Bid(call.suit)))
    mine = seat == DEALER and deal.discard is not None and deal.discard != FACE_DOWN
    answers = choices(table, question, hand) if to_act else ()
    return Position(seat, question, hand, table, answers, deal.discard if mine else None)
