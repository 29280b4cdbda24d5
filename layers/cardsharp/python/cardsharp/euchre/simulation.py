"""Euchre in one process: deals to ten points, as docs/spec/euchre.md section 1 has it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from cardsharp.errors import ConfigError, Illegal
from cardsharp.euchre.actions import Action
from cardsharp.euchre.cards import DECK, Card, suit_of
from cardsharp.euchre.position import Position, seen_by
from cardsharp.euchre.rules import HAND, TURN, Deal, Result, apply, legal_actions, score, start
from cardsharp.euchre.strategies import Strategy, build
from cardsharp.euchre.table import DEALER, SEATS, TRICKS, Call, asked, turn
from cardsharp.simulation import Figure, Simulation

WINNING = 10  # points that win a match
CHAIRS = 4


@dataclass(frozen=True, slots=True)
class Dealt:
    """A deal of a match; `first` is the chair of its seat 0, the dealer's left."""

    deal: Deal
    first: int

    def chair(self, seat: int) -> int:
        """The chair of a seat of this deal: seats turn with the dealer, chairs stay."""
        return (self.first + seat) % CHAIRS

    def seat(self, chair: int) -> int:
        """The seat of a chair in this deal."""
        return (chair - self.first) % CHAIRS


@dataclass(frozen=True, slots=True)
class Match:
    """The running deal, those before it, and the points of chairs 0 and 2 and of 1 and 3.

    When the match has ended, `now` is its last deal and no part of `past`.
    """

    now: Dealt
    past: tuple[Dealt, ...] = ()
    points: tuple[int, int] = (0, 0)

    @property
    def is_over(self) -> bool:
        """Whether a side has its ten points."""
        return max(self.points) >= WINNING

    @property
    def deals(self) -> tuple[Dealt, ...]:
        """All deals of it."""
        return (*self.past, self.now)

    def after(self, deal: Deal, dice: Random) -> "Match":
        """The match when its running deal has ended so: the next is dealt unless a side has won."""
        now, made = replace(self.now, deal=deal), score(deal.table).points
        sides = made if now.first % 2 == 0 else made[::-1]
        ended = Match(now, self.past, (self.points[0] + sides[0], self.points[1] + sides[1]))
        if ended.is_over:
            return ended
        return Match(Dealt(start(shuffled(dice)), now.chair(1)), ended.deals, ended.points)


def shuffled(dice: Random) -> tuple[Card, ...]:
    """The 24 cards in random order."""
    cards = list(DECK)
    dice.shuffle(cards)
    return tuple(cards)


class Euchre(Simulation[Match, Position, Action]):
    """Four chairs, partners opposite; a match goes to ten points."""

    sides = ((0, 2), (1, 3))
    figures = (
        Figure("calls {:.1%} of the deals", "calls", "deals"),
        Figure("{:.1%} of them in the first round", "first_round", "calls"),
        Figure("makes {:.1%}", "made", "calls"),
        Figure("all five {:.1%}", "marches", "calls"),
        Figure("euchred {:.1%}", "euchred", "calls"),
        Figure("alone {:.1%}", "alone", "calls"),
        Figure("{:.1%} of those all five", "lone_marches", "alone"),
        Figure("{:.3f} points a deal", "points", "deals"),
        Figure("{:.1f} deals", "deals"),
        Figure("{:.2f} passed out", "passed_out"),
    )

    def __init__(self, seats: int | None = None) -> None:
        if seats not in {None, CHAIRS}:
            raise ConfigError(f"Euchre is played by four, not by {seats}.")

    def deal(self, dice: Random) -> Match:
        """A new match: who deals first is drawn, then the cards are shuffled."""
        dealer = dice.randrange(CHAIRS)
        return Match(Dealt(start(shuffled(dice)), (dealer + 1) % CHAIRS))

    def to_act(self, state: Match) -> int | None:
        """The chair to answer, None when a side has its points."""
        now = turn(state.now.deal.table)
        return None if now is None else state.now.chair(now.seat)

    def view(self, state: Match, seat: int) -> Position:
        """What a chair knows of the running deal, or of the last one, at any time."""
        return seen_by(state.now.deal, state.now.seat(seat))

    def actions(self, state: Match) -> Sequence[Action]:
        """The legal answers to what is asked."""
        return legal_actions(state.now.deal)

    def act(self, state: Match, action: Action, dice: Random) -> Match:
        """The match after the answer, the next deal dealt; raises `Illegal`."""
        deal = apply(state.now.deal, action)
        if turn(deal.table) is None:
            return state.after(deal, dice)
        return replace(state, now=replace(state.now, deal=deal))

    def points(self, state: Match) -> tuple[float, ...]:
        """A half for each chair of the winners; raises `Illegal` before the end."""
        if not state.is_over:
            raise Illegal("The match has not ended yet.")
        won = int(state.points[1] > state.points[0])
        return tuple(0.5 * (chair % 2 == won) for chair in range(CHAIRS))

    def gains(self, state: Match) -> tuple[float, ...]:
        """The points of the match, half of its side's for each chair."""
        return tuple(state.points[chair % 2] / 2 for chair in range(CHAIRS))

    @property
    def range(self) -> tuple[float, float]:
        """None of the points, and those that win."""
        return 0, WINNING

    def counts(self, state: Match) -> Mapping[str, tuple[float, ...]]:
        """Deals and those passed out; of each side what it called and what came of it."""
        counted: dict[str, list[float]] = {name: [0, 0] for name in ("points", *_OF_CALLS)}
        passed_out = 0
        for dealt in state.deals:
            result, call = score(dealt.deal.table), dealt.deal.table.call
            for seat, points in enumerate(result.points):
                counted["points"][dealt.chair(seat) % 2] += points
            passed_out += call is None
            for name, is_so in _OF_CALLS.items():
                if call is not None:
                    counted[name][dealt.chair(call.seat) % 2] += is_so(call, result)
        by_side = {name: tuple(numbers) for name, numbers in counted.items()}
        return {**by_side, "deals": (len(state.deals),), "passed_out": (passed_out,)}

    def strategy(
        self, name: str, _dice: Random, _past: Sequence[tuple[int, Match]] = ()
    ) -> Strategy:
        """The strategy of that name; none of Euchre's rolls dice or learns."""
        return build(name)

    def disguised(self, state: Match, dice: Random) -> Match:
        """The match with unseen cards exchanged; nobody gets one of a suit shown not to be held."""
        voids = state.now.deal.table.voids
        while True:
            deal = exchanged(state.now.deal, dice)
            held = (
                (seat, suit_of(card, deal.table.trump))
                for seat in SEATS
                for card in deal.hand(seat)
            )
            if not any(suit in voids[seat] for seat, suit in held):
                return replace(state, now=replace(state.now, deal=deal))


_OF_CALLS: Mapping[str, Callable[[Call, Result], bool]] = {
    "calls": lambda *_: True,
    "first_round": lambda call, _: call.picks_up,
    "alone": lambda call, _: call.alone,
    "made": lambda _, result: not result.euchred,
    "marches": lambda _, result: result.tricks == TRICKS,
    "lone_marches": lambda call, result: call.alone and result.tricks == TRICKS,
    "euchred": lambda _, result: result.euchred,
}
"""What is counted of a call that it was, or came to."""


def exchanged(deal: Deal, dice: Random) -> Deal:
    """The deal with all cards exchanged that the seat to decide cannot see; raises `Illegal`."""
    now = asked(deal.table)
    played = {card for trick in deal.table.tricks for _, card in trick}
    own = range(HAND * now.seat, HAND * (now.seat + 1))
    hidden = [
        place
        for place, card in enumerate(deal.cards)
        if place not in own and place != TURN and card not in played
    ]
    moved = dice.sample(hidden, len(hidden))
    cards = list(deal.cards)
    for place, source in zip(hidden, moved, strict=True):
        cards[place] = deal.cards[source]
    laid = deal.discard
    if laid is not None and now.seat != DEALER:
        held = {*cards[HAND * DEALER : HAND * (DEALER + 1)], deal.table.turn_card} - played
        laid = dice.choice(sorted(held))
    return replace(deal, cards=tuple(cards), discard=laid)
