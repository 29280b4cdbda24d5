"""What an action is worth: expected points, over the exact unseen cards.

The value of an action is "own bank minus the opponent's" once the turn has ended: after the next
card, whose effect is answered in the best way, the turn is thought to stop.

The effects are those of `rules.py`, worked out on sums instead of states, which is many times
as fast; a test compares the two. Three things keep the tree small:

- Cards of one suit differ only in what they bring, so a suit is looked at once, with the mean
  over its unseen cards in place of a value. That is exact but where a later choice, or the bonus
  of Chest and Key, hangs on the value of such a card.
- A simulated Cannon hits what costs the opponent most; the real one weighs every target.
- Refusing an Oracle's card is in the search never better than taking it or stopping there.
"""

from collections.abc import Iterable, Iterator
from functools import cached_property
from math import comb
from statistics import fmean
from typing import NamedTuple

from cardsharp.deadmansdraw.actions import Effect, EffectType
from cardsharp.deadmansdraw.cards import Bank, Card, Suit
from cardsharp.deadmansdraw.draft import KRAKEN_DRAWS
from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.strategies.search.tree import best_of_offer

TREASURE = frozenset({Suit.CHEST, Suit.KEY})  # together they bring a bonus from the discards


class Laid(NamedTuple):
    """A card of the play area and what banking it brings; `guessed`: drawn in the search."""

    suit: str
    value: float
    gain: float
    guessed: bool = False


class BankSide:
    """A bank with its figures worked out once."""

    def __init__(self, bank: Bank) -> None:
        self.bank = bank
        self.tops = bank.tops()
        self.top = {card.suit: card.value for card in self.tops}
        self._without: dict[Card, tuple[BankSide, int]] = {}

    @cached_property
    def dearest(self) -> Card:
        """The top whose loss costs most, the first of equals."""
        return max(self.tops, key=lambda card: self.without(card)[1])

    def without(self, card: Card) -> tuple["BankSide", int]:
        """This bank without one of its tops, and how many points that costs."""
        if card not in self._without:
            side = BankSide(self.bank.without(card))
            self._without[card] = side, card.value - side.top.get(card.suit, 0)
        return self._without[card]

    def laid(self, card: Card) -> Laid:
        """`card` for a play area in which no other card of its suit lies."""
        return Laid(*card, max(0, card.value - self.top.get(card.suit, 0)))


class SimulatedTurn(NamedTuple):
    """A simulated turn.

    `points` is its value if the play area were banked now without a bonus, `risk` the part of it
    that a bust would lose, `known` the next card where it is known. `drawn` are the suits drawn
    in the search, and `more` says whether one more draw by choice may be thought of.
    """

    own: BankSide
    other: BankSide
    points: float
    discard: tuple[Card, ...]
    known: Card | None
    risk: float = 0
    area: tuple[Laid, ...] = ()
    suits: frozenset[str] = frozenset()
    drawn: tuple[str, ...] = ()
    more: bool = False

    def lay(self, card: Laid) -> "SimulatedTurn":
        """This turn with `card` in the play area; the first Anchor saves what lies before it."""
        first_anchor = card.suit == Suit.ANCHOR and card.suit not in self.suits
        return SimulatedTurn(
            self.own,
            self.other,
            self.points + card.gain,
            self.discard,
            self.known,
            card.gain if first_anchor else self.risk + card.gain,
            (*self.area, card),
            self.suits | {card.suit},
            (*self.drawn, card.suit) if card.guessed else self.drawn,
            self.more,
        )

    def lay_all(self, cards: Iterable[Laid]) -> "SimulatedTurn":
        """This turn with `cards` in the play area, what they bring counted anew."""
        turn, tops = self, dict[str, float](self.own.top)
        for suit, value, _, _ in cards:
            top = tops.get(suit, 0)
            tops[suit] = max(top, value)  # a debug start state may lay two of a suit
            turn = turn.lay(Laid(suit, value, max(0, value - top)))
        return turn

    def relaid(self) -> "SimulatedTurn":
        """This turn after a card of a suit in the play area has left the own bank."""
        points = self.points - sum(card.gain for card in self.area)
        empty = self._replace(points=points, risk=0, area=(), suits=frozenset())
        return empty.lay_all(self.area)


class Lookahead:
    """Values of the actions in one position, whose turn is `root`."""

    def __init__(self, position: Position) -> None:
        own, other = BankSide(position.own), BankSide(position.other)
        points = position.own.score - position.other.score
        discard = tuple(sorted(position.discard_pile))
        turn = SimulatedTurn(own, other, points, discard, position.known_top)
        self.root = turn.lay_all(Laid(*card, 0) for card in position.play_area)
        self._unseen = len(position.unseen)
        self._means = tuple(_means(position.unseen, own))

    # --- without an effect -------------------------------------------------------------------

    def bust_chance(self, turn: SimulatedTurn) -> float:
        """The chance that the next card is of a suit in the play area."""
        return sum(chance for chance, card in self._next(turn) if card.suit in turn.suits)

    def stop(self, turn: SimulatedTurn) -> float:
        """The value of banking the play area now."""
        if turn.suits >= TREASURE:
            return turn.points + _bonus(turn.area, turn.own, turn.discard)
        return turn.points

    def rest(self, turn: SimulatedTurn) -> float:
        """The value where nothing is pending: stop, or one more draw where one is allowed."""
        if not turn.more:
            return self.stop(turn)
        return max(self.stop(turn), self.draw(turn._replace(more=False)))

    def bust(self, turn: SimulatedTurn, card: Laid) -> float:
        """The value after `card` busted the turn: what lies before the Anchor is saved."""
        points = turn.points - turn.risk
        if turn.suits >= TREASURE and Suit.ANCHOR in turn.suits:
            at = next(i for i, laid in enumerate(turn.area) if laid.suit == Suit.ANCHOR)
            saved, lost = turn.area[:at], turn.area[at:]
            if {laid.suit for laid in saved} >= TREASURE:
                thrown = ((laid.suit, laid.value) for laid in (card, *lost))
                points += _bonus(saved, turn.own, (*turn.discard, *thrown))
        return points

    def draw(self, turn: SimulatedTurn, owed: int = 0) -> float:
        """The expected value of the next card; the Kraken demands `owed` more after it."""
        cards = self._next(turn)
        if not cards:
            return self.stop(turn)
        turn = turn._replace(known=None)
        return sum(chance * self.place(turn, card, owed) for chance, card in cards)

    def place(self, turn: SimulatedTurn, card: Laid, owed: int) -> float:
        """The value after `card` was put down and its effect was answered in the best way."""
        if card.suit in turn.suits:
            return self.bust(turn, card)
        turn = turn.lay(card)
        answers = self._answers(turn, card.suit, owed)
        if answers:
            return max(answers)
        match card.suit:
            case Suit.MAP if turn.discard:
                return self._map_to_come(turn)
            case Suit.ORACLE:
                return self._oracle_to_come(turn, owed)
            case Suit.KRAKEN:
                return self.after(turn, KRAKEN_DRAWS)
            case _:
                return self.after(turn, owed)

    def after(self, turn: SimulatedTurn, owed: int) -> float:
        """The value where no answer is pending, but `owed` draws for a Kraken may be."""
        return self.draw(turn, owed - 1) if owed else self.rest(turn)

    def _next(self, turn: SimulatedTurn) -> list[tuple[float, Laid]]:
        """What can come next with its chance; nothing where the draw pile is used up."""
        if turn.known is not None:
            return [(1.0, turn.own.laid(turn.known)._replace(guessed=True))]
        left = self._unseen - len(turn.drawn)
        numbers = ((card, count - turn.drawn.count(card.suit)) for card, count in self._means)
        return [(number / left, card) for card, number in numbers if number > 0]

    # --- effects -----------------------------------------------------------------------------

    def answer(self, pending: Effect, card: Card | None) -> float:
        """The value of an answer, with the best of stopping and one more draw behind it.

        Of a Kraken, which leaves no choice, only the draws that it demands are valued.
        """
        turn, owed = self.root._replace(more=True), pending.kraken_count
        if pending.effect_type is EffectType.KRAKEN:
            value = self.after(self.root, owed)
        elif card is None:
            value = self.after(turn, owed)
        elif pending.effect_type is EffectType.ORACLE:
            value = self.draw(turn, max(0, owed - 1))
        elif pending.effect_type is EffectType.HOOK:
            value = self.hook(turn, card)
        elif pending.effect_type is EffectType.SWORD:
            value = self.sword(turn, card)
        elif pending.effect_type is EffectType.CANNON:
            value = self.cannon(turn, card, owed)
        else:
            offered = turn._replace(discard=(*turn.discard, *pending.cards))
            value = self.take(offered, card)
        return value

    def hook(self, turn: SimulatedTurn, card: Card) -> float:
        """The value of answering a Hook with `card`."""
        own, cost = turn.own.without(card)
        turn = turn._replace(own=own, points=turn.points - cost)
        if card.suit in turn.suits and Suit.ANCHOR in turn.suits:
            turn = turn.relaid()
        return self.place(turn, own.laid(card), 0)

    def sword(self, turn: SimulatedTurn, card: Card) -> float:
        """The value of answering a Sword with `card`."""
        other, cost = turn.other.without(card)
        turn = turn._replace(other=other, points=turn.points + cost)
        return self.place(turn, turn.own.laid(card), 0)

    def cannon(self, turn: SimulatedTurn, card: Card, owed: int) -> float:
        """The value of answering a Cannon with `card`."""
        other, cost = turn.other.without(card)
        discard = (*turn.discard, card)
        turn = turn._replace(other=other, points=turn.points + cost, discard=discard)
        return self.after(turn, owed)

    def take(self, turn: SimulatedTurn, card: Card) -> float:
        """The value of taking `card` out of the discard pile for a Map."""
        at = turn.discard.index(card)
        turn = turn._replace(discard=turn.discard[:at] + turn.discard[at + 1 :])
        return self.place(turn, turn.own.laid(card), 0)

    def _answers(self, turn: SimulatedTurn, suit: str, owed: int) -> list[float]:
        """The values of all answers to a Hook, Sword or Cannon; none where it has no effect."""
        match suit:
            case Suit.HOOK:
                return [self.hook(turn, card) for card in turn.own.tops]
            case Suit.SWORD:
                targets = (card for card in turn.other.tops if card.suit not in turn.own.top)
                return [self.sword(turn, card) for card in targets]
            case Suit.CANNON if turn.other.tops:
                return [self.cannon(turn, turn.other.dearest, owed)]
            case _:
                return []

    def _map_to_come(self, turn: SimulatedTurn) -> float:
        """The mean over all offers of the best card in each."""
        values, first = list[float](), dict[str, tuple[float, float]]()
        for card in turn.discard:
            gain = 0 if card.suit in turn.suits else turn.own.laid(card).gain
            # Taking is looked at once a suit, but for Chest and Key.
            if card.suit not in first or turn.suits | {card.suit} >= TREASURE:
                first[card.suit] = self.take(turn, card), gain
            value, first_gain = first[card.suit]
            values.append(value + gain - first_gain)
        return best_of_offer(values)

    def _oracle_to_come(self, turn: SimulatedTurn, owed: int) -> float:
        """The mean over all next cards of the better of taking it and stopping."""
        cards = self._next(turn)
        if not cards:
            return self.stop(turn)
        stop, turn = self.stop(turn), turn._replace(known=None)
        values = ((chance, self.place(turn, card, max(0, owed - 1))) for chance, card in cards)
        return sum(chance * max(stop, value) for chance, value in values)


def _means(unseen: Iterable[Card], own: BankSide) -> Iterator[tuple[Laid, int]]:
    suits: dict[str, list[Laid]] = {}
    for card in unseen:
        suits.setdefault(card.suit, []).append(own.laid(card))
    for suit, cards in suits.items():
        value, gain = fmean(card.value for card in cards), fmean(card.gain for card in cards)
        yield Laid(suit, value, gain, guessed=True), len(cards)


def _bonus(
    collected: tuple[Laid, ...], own: BankSide, discard: tuple[tuple[str, float], ...]
) -> float:
    """Expected rise of the bank by as many random cards of `discard` as were collected."""
    size, picked = len(discard), min(len(collected), len(discard))
    tops: dict[str, float] = dict(own.top)
    for suit, _, gain, _ in collected:
        tops[suit] = tops.get(suit, 0) + gain
    rises: dict[str, list[float]] = {}
    for suit, value in discard:
        rises.setdefault(suit, []).append(value - tops.get(suit, 0))
    # the best pick of a suit has `rank` when none of the better ones is among the others picked
    ways = sum(
        rise * comb(size - rank, picked - 1)
        for held in rises.values()
        for rank, rise in enumerate(sorted(held, reverse=True), start=1)
        if rise > 0
    )
    return ways / comb(size, picked)
