"""What lies open to everybody: the bids, the plays, and what follows from them.

Seats count from the dealer's left (docs/spec/euchre.md section 2): 0 bids first and leads, 3 is the
dealer, 0 and 2 are partners against 1 and 3. Nothing here knows a hidden card.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

from cardsharp.errors import Illegal
from cardsharp.euchre.actions import Action, Bid, Defend, Discard, Play, Question
from cardsharp.euchre.cards import Card, Suit, strength, suit_of

SEATS = (0, 1, 2, 3)
DEALER = 3
TRICKS = 5
MAX_BIDS = 8


class PlayedCard(NamedTuple):
    """A card on the table and whose it was."""

    seat: int
    card: Card


class Call(NamedTuple):
    """The bid that named trumps; `number` counts all bids of the deal from 0."""

    number: int
    suit: Suit
    alone: bool

    @property
    def seat(self) -> int:
        """Who called."""
        return self.number % 4

    @property
    def picks_up(self) -> bool:
        """Whether it was a call of the first round, with which the dealer takes the turn card."""
        return self.number < 4  # noqa: PLR2004 - seats at the table


class ToAct(NamedTuple):
    """Who has to decide what."""

    seat: int
    question: Question


Trick = tuple[PlayedCard, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """The open part of a deal.

    `swapped` is whether the dealer has discarded. `defences` are the answers of the caller's left
    and right neighbour to whether they defend alone, as far as they were asked: only against a
    lone caller, and the second only after the first declined. A trick holds no empty chairs.
    """

    turn_card: Card
    bids: tuple[Bid, ...] = ()
    swapped: bool = False
    defences: tuple[bool, ...] = ()
    tricks: tuple[Trick, ...] = ()

    @property
    def call(self) -> Call | None:
        """The call that ended the bidding."""
        if not self.bids or self.bids[-1].suit is None:
            return None
        last = self.bids[-1]
        return Call(len(self.bids) - 1, self.bids[-1].suit, last.alone)

    @property
    def called(self) -> Call:
        """The same where trumps have been named; else raises `Illegal`."""
        if self.call is None:
            raise Illegal("Trumps have not been named yet.")
        return self.call

    def spoken(self, action: Action) -> str:
        """What is said or done at a table for an action, made now."""
        return action.spoken(len(self.bids)) if isinstance(action, Bid) else str(action)

    @property
    def trump(self) -> Suit | None:
        """The suit that was called."""
        return self.bids[-1].suit if self.bids else None

    @property
    def lone_defender(self) -> int | None:
        """Who defends alone."""
        call = self.call
        if call is None or True not in self.defences:
            return None
        return (call.seat + 1 + 2 * self.defences.index(True)) % 4

    @property
    def sitting_out(self) -> frozenset[int]:
        """The partners of those who play alone."""
        call = self.call
        if call is None or not call.alone:  # nobody is asked to defend alone
            return frozenset()
        defender = self.lone_defender
        alone = (call.seat,) if defender is None else (call.seat, defender)
        return frozenset(map(partner, alone))

    @property
    def trick(self) -> Trick:
        """The trick that is being played, empty where the next one is to begin."""
        if self.tricks and len(self.tricks[-1]) < len(SEATS) - len(self.sitting_out):
            return self.tricks[-1]
        return ()

    @property
    def complete_tricks(self) -> tuple[Trick, ...]:
        """The tricks that somebody has won."""
        return self.tricks[:-1] if self.trick else self.tricks

    @property
    def led(self) -> Suit | None:
        """The suit to follow, None for whoever leads."""
        trick = self.trick
        return suit_of(trick[0].card, self.trump) if trick else None

    @property
    def winners(self) -> tuple[int, ...]:
        """Who won each complete trick, in order."""
        return tuple(self.winner(trick) for trick in self.complete_tricks)

    @property
    def tricks_won(self) -> tuple[int, int]:
        """Complete tricks of the seats 0 and 2, and of 1 and 3."""
        winners = self.winners
        odd = sum(seat % 2 for seat in winners)
        return len(winners) - odd, odd

    @property
    def leader(self) -> int:
        """Who leads the present trick, or the next one; it may be an empty chair's number.

        The protocol names seat 0 for the first trick even where it sits out.
        """
        winners = self.winners
        return winners[-1] if winners else 0

    @property
    def voids(self) -> tuple[frozenset[Suit], ...]:
        """For each seat the suits that it has shown not to hold (any more)."""
        shown: tuple[set[Suit], ...] = (set(), set(), set(), set())
        for trick in self.tricks:
            led = suit_of(trick[0].card, self.trump)
            for seat, card in trick[1:]:
                if suit_of(card, self.trump) != led:
                    shown[seat].add(led)
        return tuple(map(frozenset, shown))

    def winner(self, trick: Trick) -> int:
        """Who has the highest card of a trick that has begun."""
        trump = self.called.suit
        led = suit_of(trick[0].card, trump)
        return max(trick, key=lambda played: strength(played.card, trump, led)).seat

    def played_by(self, seat: int) -> tuple[Card, ...]:
        """The cards that a seat has played, in order."""
        return tuple(card for trick in self.tricks for who, card in trick if who == seat)

    def after(self, seat: int, action: Action) -> "Table":
        """The table after what a seat did; whether it may is not asked."""
        match action:
            case Bid():
                return replace(self, bids=(*self.bids, action))
            case Discard():
                return replace(self, swapped=True)
            case Defend(alone):
                return replace(self, defences=(*self.defences, alone))
            case Play(card):
                trick = self.trick
                before = self.tricks[:-1] if trick else self.tricks
                return replace(self, tricks=(*before, (*trick, PlayedCard(seat, card))))


def partner(seat: int) -> int:
    """The seat opposite."""
    return (seat + 2) % 4


def turn(table: Table) -> ToAct | None:
    """Who has to decide what, None when the deal is over."""
    call = table.call
    if call is None:
        if len(table.bids) == MAX_BIDS:
            return None
        return ToAct(len(table.bids) % 4, Question.BID)
    if call.picks_up and not table.swapped:
        return ToAct(DEALER, Question.DISCARD)
    if call.alone and len(table.defences) < 2 and True not in table.defences:  # noqa: PLR2004 - two defenders
        return ToAct((call.seat + 1 + 2 * len(table.defences)) % 4, Question.DEFEND)
    return _to_play(table)


def asked(table: Table) -> ToAct:
    """The same of a deal that goes on; raises `Illegal` when it is over."""
    now = turn(table)
    if now is None:
        raise Illegal("The deal is over.")
    return now


def _to_play(table: Table) -> ToAct | None:
    """Whose card is next: the chair after the last one's, empty chairs skipped."""
    trick = table.trick
    if not trick and len(table.tricks) == TRICKS:
        return None
    seat = trick[-1].seat + 1 if trick else table.leader
    out = table.sitting_out
    while seat % 4 in out:
        seat += 1
    return ToAct(seat % 4, Question.PLAY)
