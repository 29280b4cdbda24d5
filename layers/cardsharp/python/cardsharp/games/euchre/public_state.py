"""Public state of a deal: the bids, the plays, and what follows from them.

Seats count from the dealer's left (docs/spec/euchre.md section 2): 0 bids first and leads, 3 is
the dealer, 0 and 2 are partners against 1 and 3. This module has no hidden cards.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

from cardsharp.errors import IllegalAction
from cardsharp.games.euchre.actions import Action, Bid, DecisionType, Defend, Discard, Play
from cardsharp.games.euchre.cards import Card, Suit, suit_of, trick_strength

SEATS = (0, 1, 2, 3)
DEALER = 3
TRICKS = 5
MAX_BIDS = 8


class TrickCard(NamedTuple):
    """Card on the table, and the seat that played it."""

    seat: int
    card: Card


class TrumpCall(NamedTuple):
    """Bid that named trumps; `bid_index` counts all bids of the deal from 0."""

    bid_index: int
    suit: Suit
    goes_alone: bool

    @property
    def caller_seat(self) -> int:
        """Seat that called trumps."""
        return self.bid_index % 4

    @property
    def is_order_up(self) -> bool:
        """True for a call of the first round, with which the dealer takes the turn card."""
        return self.bid_index < 4  # noqa: PLR2004 - seats at the table


class PendingDecision(NamedTuple):
    """Pending decision: its seat and type."""

    seat: int
    decision_type: DecisionType


Trick = tuple[TrickCard, ...]


@dataclass(frozen=True, slots=True)
class PublicState:
    """Public part of a deal.

    `has_discarded` is True once the dealer has discarded. `defense_answers` are the answers of the
    caller's left and right neighbours, so far, to the question about a lone defence. They are asked
    only against a lone caller, and the second neighbour only if the first has declined. A trick has
    no entries for seats that sit out.
    """

    turn_card: Card
    bids: tuple[Bid, ...] = ()
    has_discarded: bool = False
    defense_answers: tuple[bool, ...] = ()
    tricks: tuple[Trick, ...] = ()

    @property
    def trump_call(self) -> TrumpCall | None:
        """Call that ended the bidding, None while no suit is named."""
        if not self.bids or self.bids[-1].suit is None:
            return None
        last_bid = self.bids[-1]
        return TrumpCall(len(self.bids) - 1, self.bids[-1].suit, last_bid.goes_alone)

    @property
    def require_trump_call(self) -> TrumpCall:
        """Trump call; raises `IllegalAction` if trumps have not been named."""
        if self.trump_call is None:
            raise IllegalAction("Trumps have not been named yet.")
        return self.trump_call

    def describe(self, action: Action) -> str:
        """Return the spoken form of an action in this state."""
        return action.describe(len(self.bids)) if isinstance(action, Bid) else str(action)

    @property
    def trump(self) -> Suit | None:
        """Suit of the last bid: the trumps once a suit was called."""
        return self.bids[-1].suit if self.bids else None

    @property
    def lone_defender(self) -> int | None:
        """Seat that defends alone, or None."""
        call = self.trump_call
        if call is None or True not in self.defense_answers:
            return None
        return (call.caller_seat + 1 + 2 * self.defense_answers.index(True)) % 4

    @property
    def seats_sitting_out(self) -> frozenset[int]:
        """Seats that sit out: the partners of those who play alone."""
        call = self.trump_call
        if call is None or not call.goes_alone:  # nobody is asked to defend alone
            return frozenset()
        defender = self.lone_defender
        alone = (call.caller_seat,) if defender is None else (call.caller_seat, defender)
        return frozenset(map(partner, alone))

    @property
    def current_trick(self) -> Trick:
        """Current trick; empty if the next one has not begun."""
        if self.tricks and len(self.tricks[-1]) < len(SEATS) - len(self.seats_sitting_out):
            return self.tricks[-1]
        return ()

    @property
    def complete_tricks(self) -> tuple[Trick, ...]:
        """Tricks that a seat has won."""
        return self.tricks[:-1] if self.current_trick else self.tricks

    @property
    def suit_led(self) -> Suit | None:
        """Effective suit that must be followed, None for the seat that leads."""
        trick = self.current_trick
        return suit_of(trick[0].card, self.trump) if trick else None

    @property
    def trick_winners(self) -> tuple[int, ...]:
        """Winners of the complete tricks, in order."""
        return tuple(self.trick_winner(trick) for trick in self.complete_tricks)

    @property
    def tricks_won(self) -> tuple[int, int]:
        """Complete tricks of the seats 0 and 2, and of 1 and 3."""
        winners = self.trick_winners
        odd = sum(seat % 2 for seat in winners)
        return len(winners) - odd, odd

    @property
    def current_trick_leader(self) -> int:
        """Seat that leads the current or next trick; it may be a seat that sits out.

        The protocol names seat 0 for the first trick even if it sits out.
        """
        winners = self.trick_winners
        return winners[-1] if winners else 0

    @property
    def revealed_voids(self) -> tuple[frozenset[Suit], ...]:
        """For each seat, the suits that it has shown not to have any more."""
        voids: tuple[set[Suit], ...] = (set(), set(), set(), set())
        for trick in self.tricks:
            led = suit_of(trick[0].card, self.trump)
            for seat, card in trick[1:]:
                if suit_of(card, self.trump) != led:
                    voids[seat].add(led)
        return tuple(map(frozenset, voids))

    def trick_winner(self, trick: Trick) -> int:
        """Return the seat with the highest card of a trick that has begun."""
        trump = self.require_trump_call.suit
        led = suit_of(trick[0].card, trump)
        return max(trick, key=lambda played: trick_strength(played.card, trump, led)).seat

    def cards_played_by(self, seat: int) -> tuple[Card, ...]:
        """Return the cards that a seat has played, in order."""
        return tuple(card for trick in self.tricks for player, card in trick if player == seat)

    def with_action(self, seat: int, action: Action) -> "PublicState":
        """Return the state that follows a seat's action, without checking its legality."""
        match action:
            case Bid():
                return replace(self, bids=(*self.bids, action))
            case Discard():
                return replace(self, has_discarded=True)
            case Defend(alone):
                return replace(self, defense_answers=(*self.defense_answers, alone))
            case Play(card):
                trick = self.current_trick
                earlier_tricks = self.tricks[:-1] if trick else self.tricks
                return replace(self, tricks=(*earlier_tricks, (*trick, TrickCard(seat, card))))


def partner(seat: int) -> int:
    """Return the seat opposite."""
    return (seat + 2) % 4


def pending_decision(public_state: PublicState) -> PendingDecision | None:
    """Return the pending decision, or None if the deal is over."""
    call = public_state.trump_call
    if call is None:
        if len(public_state.bids) == MAX_BIDS:
            return None
        return PendingDecision(len(public_state.bids) % 4, DecisionType.BID)
    if call.is_order_up and not public_state.has_discarded:
        return PendingDecision(DEALER, DecisionType.DISCARD)
    if (
        call.goes_alone
        and len(public_state.defense_answers) < 2  # noqa: PLR2004 - two defenders
        and True not in public_state.defense_answers
    ):
        return PendingDecision(
            (call.caller_seat + 1 + 2 * len(public_state.defense_answers)) % 4, DecisionType.DEFEND
        )
    return _find_next_play(public_state)


def required_pending_decision(public_state: PublicState) -> PendingDecision:
    """Return the pending decision; raise `IllegalAction` if the deal is over."""
    pending = pending_decision(public_state)
    if pending is None:
        raise IllegalAction("The deal is over.")
    return pending


def _find_next_play(table: PublicState) -> PendingDecision | None:
    """Return the next play that is due, None if the deal is over.

    Seats that sit out are skipped.
    """
    trick = table.current_trick
    if not trick and len(table.tricks) == TRICKS:
        return None
    seat = trick[-1].seat + 1 if trick else table.current_trick_leader
    out = table.seats_sitting_out
    while seat % 4 in out:
        seat += 1
    return PendingDecision(seat % 4, DecisionType.PLAY)
