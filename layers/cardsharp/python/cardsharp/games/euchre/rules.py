"""Rules of Euchre as the tournament framework plays them.

Source: docs/spec/euchre.md section 6. They are pure functions over `Deal`. The coordinator decides
the rest: games to ten points, the next dealer and the seating.
"""

from dataclasses import dataclass, replace

from cardsharp.errors import IllegalAction, InvalidInput
from cardsharp.games.euchre.actions import (
    PASS,
    Action,
    Bid,
    DecisionType,
    Defend,
    Discard,
    Play,
)
from cardsharp.games.euchre.cards import DECK, SUITS, Card, Suit, suit_of
from cardsharp.games.euchre.public_state import (
    DEALER,
    TRICKS,
    PublicState,
    pending_decision,
    required_pending_decision,
)

HAND_SIZE = 5
TURN_CARD_INDEX = 20  # index of the turn card among the 24; the last three cards stay hidden
FACE_DOWN: Card = -1  # the discard of a dealer whose cards we may not know


@dataclass(frozen=True, slots=True)
class Deal:
    """Dealt cards, and the public state since.

    `cards` are 24 in the order of POST /deal: five for each seat from 0 to the dealer, the turn
    card, and three buried cards. `discard` is the dealer's, None as long as there is none.
    """

    cards: tuple[Card, ...]
    public_state: PublicState
    discard: Card | None = None

    def hand(self, seat: int) -> tuple[Card, ...]:
        """Return a seat's current hand, sorted; the dealer has six cards until the discard.

        It reads neither the cards of other seats nor the buried ones.
        """
        cards = set(self.cards[HAND_SIZE * seat : HAND_SIZE * (seat + 1)])
        call = self.public_state.trump_call
        if seat == DEALER and call is not None and call.is_order_up:
            cards.add(self.public_state.turn_card)
            cards.discard(FACE_DOWN if self.discard is None else self.discard)
        return tuple(sorted(cards.difference(self.public_state.cards_played_by(seat))))


TRICKS_TO_MAKE = 3  # tricks that the caller's side must win


@dataclass(frozen=True, slots=True)
class DealResult:
    """Result of a deal: points of seats 0 and 2, and of 1 and 3; both are 0 after eight passes."""

    points: tuple[int, int]
    caller_side: int | None = None
    tricks: int = 0

    @property
    def is_euchred(self) -> bool:
        """True if the caller's side made fewer than three tricks."""
        return self.caller_side is not None and self.tricks < TRICKS_TO_MAKE


def start(cards: tuple[Card, ...]) -> Deal:
    """Start a deal of the 24 cards in the order of POST /deal; raise `InvalidInput`."""
    if sorted(cards) != list(DECK):
        raise InvalidInput("A deal needs each of the 24 cards, 0 to 23, exactly once.")
    return Deal(cards, PublicState(cards[TURN_CARD_INDEX]))


def legal_cards(hand: tuple[Card, ...], suit_led: Suit | None, trump: Suit) -> tuple[Card, ...]:
    """Return the cards of a hand that may be played: those of the suit led, or any without one."""
    if suit_led is None:
        return hand
    return tuple(card for card in hand if suit_of(card, trump) == suit_led) or hand


def legal_bids(bid_index: int, turn_card: Card) -> tuple[Bid, ...]:
    """Return the legal bids at that index: 0 to 3 is the first round, 4 to 7 the second."""
    turned = turn_card & 3
    is_first_round = bid_index < 4  # noqa: PLR2004 - seats at the table
    suits = [suit for suit in SUITS if (suit == turned) == is_first_round]
    return (PASS, *(Bid(suit, alone) for suit in suits for alone in (False, True)))


def legal_answers(
    public_state: PublicState, decision_type: DecisionType, hand: tuple[Card, ...]
) -> tuple[Action, ...]:
    """Return the legal answers of a player with this hand."""
    match decision_type:
        case DecisionType.BID:
            return legal_bids(len(public_state.bids), public_state.turn_card)
        case DecisionType.DISCARD:
            return tuple(Discard(card) for card in hand)
        case DecisionType.DEFEND:
            return (Defend(goes_alone=False), Defend(goes_alone=True))
        case DecisionType.PLAY:
            legal = legal_cards(hand, public_state.suit_led, public_state.require_trump_call.suit)
            return tuple(map(Play, legal))


def legal_actions(deal: Deal) -> tuple[Action, ...]:
    """Return the actions of the seat to act, empty if the deal is over."""
    pending = pending_decision(deal.public_state)
    return (
        ()
        if pending is None
        else legal_answers(deal.public_state, pending.decision_type, deal.hand(pending.seat))
    )


def apply(deal: Deal, action: Action) -> Deal:
    """Apply an action of `legal_actions`; raise `IllegalAction` for any other."""
    pending = required_pending_decision(deal.public_state)
    if action not in legal_answers(
        deal.public_state, pending.decision_type, deal.hand(pending.seat)
    ):
        raise IllegalAction(
            f"Seat {pending.seat} is to {pending.decision_type} and may not {action}."
        )
    laid = action.card if isinstance(action, Discard) else deal.discard
    return replace(
        deal, public_state=deal.public_state.with_action(pending.seat, action), discard=laid
    )


def score(public_state: PublicState) -> DealResult:
    """Return the result of a finished deal; raise `IllegalAction` if it is not over."""
    if pending_decision(public_state) is not None:
        raise IllegalAction("The deal is not over yet.")
    call = public_state.trump_call
    if call is None:
        return DealResult((0, 0))
    side = call.caller_seat % 2
    tricks, lone = public_state.tricks_won[side], public_state.lone_defender
    if tricks >= TRICKS_TO_MAKE:
        worth = (4 if call.goes_alone else 2) if tricks == TRICKS else 1
    else:
        side, worth = 1 - side, 2 if lone is None else 4
    points = (worth, 0) if side == 0 else (0, worth)
    return DealResult(points, call.caller_seat, tricks)
