"""The rules of Euchre as the tournament framework plays them (docs/spec/euchre.md section 6).

Pure functions over `Deal`. Games to ten, who deals next and who is at which table are the
coordinator's business.
"""

from dataclasses import dataclass, replace

from cardsharp.errors import Illegal, Malformed
from cardsharp.euchre.actions import PASS, Action, Bid, Defend, Discard, Play, Question
from cardsharp.euchre.cards import DECK, SUITS, Card, Suit, suit_of
from cardsharp.euchre.table import DEALER, TRICKS, Table, asked, turn

HAND = 5
TURN = 20  # where the turn card lies among the 24; behind it are the three that nobody sees
FACE_DOWN: Card = -1  # the discard where a dealer whose cards we are not to know has made it


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


MADE = 3  # tricks that the caller's side must win


@dataclass(frozen=True, slots=True)
class Result:
    """How a deal ended: points of the seats 0 and 2, and of 1 and 3; both 0 after eight passes."""

    points: tuple[int, int]
    caller: int | None = None
    tricks: int = 0

    @property
    def euchred(self) -> bool:
        """Whether the caller's side fell short of three tricks."""
        return self.caller is not None and self.tricks < MADE


def start(cards: tuple[Card, ...]) -> Deal:
    """A deal of the 24 cards in the order of POST /deal; raises `Malformed`."""
    if sorted(cards) != list(DECK):
        raise Malformed("A deal needs each of the 24 cards, 0 to 23, exactly once.")
    return Deal(cards, Table(cards[TURN]))


def legal_cards(hand: tuple[Card, ...], led: Suit | None, trump: Suit) -> tuple[Card, ...]:
    """The cards of a hand that may be played: those of the suit led, or any without one."""
    if led is None:
        return hand
    return tuple(card for card in hand if suit_of(card, trump) == led) or hand


def legal_bids(index: int, turn_card: Card) -> tuple[Bid, ...]:
    """What may be bid as the bid of that index: 0 to 3 is the first round, 4 to 7 the second."""
    turned = turn_card & 3
    first = index < 4  # noqa: PLR2004 - seats at the table
    suits = [suit for suit in SUITS if (suit == turned) == first]
    return (PASS, *(Bid(suit, alone) for suit in suits for alone in (False, True)))


def choices(table: Table, question: Question, hand: tuple[Card, ...]) -> tuple[Action, ...]:
    """The answers that a player with this hand may give to the question."""
    match question:
        case Question.BID:
            return legal_bids(len(table.bids), table.turn_card)
        case Question.DISCARD:
            return tuple(Discard(card) for card in hand)
        case Question.DEFEND:
            return (Defend(alone=False), Defend(alone=True))
        case Question.PLAY:
            legal = legal_cards(hand, table.led, table.called.suit)
            return tuple(map(Play, legal))


def legal_actions(deal: Deal) -> tuple[Action, ...]:
    """The actions of whoever's turn it is, none when the deal is over."""
    now = turn(deal.table)
    return () if now is None else choices(deal.table, now.question, deal.hand(now.seat))


def apply(deal: Deal, action: Action) -> Deal:
    """The deal after an action of `legal_actions`; raises `Illegal` for any other."""
    now = asked(deal.table)
    if action not in choices(deal.table, now.question, deal.hand(now.seat)):
        raise Illegal(f"Seat {now.seat} is to {now.question} and may not {action}.")
    laid = action.card if isinstance(action, Discard) else deal.discard
    return replace(deal, table=deal.table.after(now.seat, action), discard=laid)


def score(table: Table) -> Result:
    """The points of a deal that is over; raises `Illegal` if it is not over yet."""
    if turn(table) is not None:
        raise Illegal("The deal is not over yet.")
    call = table.call
    if call is None:
        return Result((0, 0))
    side = call.seat % 2
    tricks, lone = table.tricks_won[side], table.lone_defender
    if tricks >= MADE:
        worth = (4 if call.alone else 2) if tricks == TRICKS else 1
    else:
        side, worth = 1 - side, 2 if lone is None else 4
    points = (worth, 0) if side == 0 else (0, worth)
    return Result(points, call.seat, tricks)
