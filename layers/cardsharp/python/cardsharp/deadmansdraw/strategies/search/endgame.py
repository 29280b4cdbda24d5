"""The last cards, searched to the end of the match: what each option is worth if both play best.

Nothing is learned here, and only two things are less than exact, which would take too long: of the
cards of a suit that a Map may offer one stands for all that bring something, and of the ways in
which a bonus may turn out some are tried. Twin: `research/deadmansdraw/native/exact.c`, which can
do without either.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from cardsharp.deadmansdraw.draft import KRAKEN_DRAWS
from cardsharp.deadmansdraw.strategies import Late
from cardsharp.deadmansdraw.strategies.search.leaves import never
from cardsharp.deadmansdraw.strategies.search.sets import (
    ANCHOR,
    CANNON,
    EFFECTLESS,
    HOOK,
    KRAKEN,
    MAP,
    NO_CARD,
    ORACLE,
    SUIT_BITS,
    SUIT_OF,
    SWORD,
    SplitMix,
    holds_treasure,
    numbers_in,
    suits_of,
    sword_targets,
    tops,
    worth_of,
)
from cardsharp.deadmansdraw.strategies.search.tree import best_of_offer, groups_in

PICKS = 8  # of a bonus that may turn out in several ways, so many are tried
_BEGINS, _FREE, _OWED = range(3)  # before a draw: a turn begins; one may stop; a Kraken demands
_QUIET = frozenset(
    1 << card for card, suit in enumerate(SUIT_OF) if suit in EFFECTLESS | {ORACLE, KRAKEN}
)
"""Piles of a last card which, drawn, leaves nothing to choose."""


class TooManyEnds(Exception):
    """The rest of the match takes more than is allowed, or time is short."""


class LastTurn(NamedTuple):
    """A turn under way, as sets of cards, for the player whose turn it is.

    `saved` is what lies before the Anchor, `known` the next card where an Oracle has shown it.
    """

    own: int
    other: int
    pile: int
    discard: int
    area: int = 0
    saved: int = 0
    known: int = NO_CARD

    def drawn(self, card: int) -> "LastTurn":
        """This turn without a card of the draw pile."""
        own, other, pile, discard, area, saved, _ = self
        return LastTurn(own, other, pile ^ 1 << card, discard, area, saved)

    def lay(self, card: int) -> "LastTurn":
        """This turn with a card, taken from its place, in the play area."""
        own, other, pile, discard, area, saved, known = self
        if SUIT_OF[card] == ANCHOR:
            saved = area
        return LastTurn(own, other, pile, discard, area | 1 << card, saved, known)


class Endgame:
    """A search to the end of the match; all values are chances to win.

    It ends with `TooManyEnds` once it has met more than `most` ends of turns, or when it is late.
    """

    def __init__(self, most: int, late: Late = never) -> None:
        self._most, self._late = most, late
        self.ends = 0
        self._values: dict[tuple[LastTurn, int], float] = {}

    # --- the end of a turn -------------------------------------------------------------------

    def end_turn(self, turn: LastTurn) -> float:
        """The value of banking the play area now."""
        return self._collect(turn, turn.area, turn.discard)

    def _collect(self, turn: LastTurn, got: int, discard: int) -> float:
        """After `got` was banked, with the bonus of a treasure where that is one."""
        banked, wanted = turn.own | got, got.bit_count()
        if not discard or not holds_treasure(got):
            return self._next_turn(turn, banked, discard)
        if discard.bit_count() <= wanted:
            return self._next_turn(turn, banked | discard, 0)
        dice, total = SplitMix(discard + wanted), 0.0
        for _ in range(PICKS):
            rest = numbers_in(discard)
            bonus = sum(1 << rest.pop(dice.below(len(rest))) for _ in range(wanted))
            total += self._next_turn(turn, banked | bonus, discard & ~bonus)
        return total / PICKS

    def _next_turn(self, turn: LastTurn, banked: int, discard: int) -> float:
        self.ends += 1
        if self.ends > self._most or self._late():
            raise TooManyEnds
        if not turn.pile:
            lead = worth_of(banked) - worth_of(turn.other)
            return 1.0 if lead > 0 else 0.0 if lead else 0.5
        begins = LastTurn(turn.other, banked, turn.pile, discard)
        if turn.known != NO_CARD:
            return 1.0 - self.place(begins.drawn(turn.known), turn.known)
        return 1.0 - self._before_draw(begins, _BEGINS)

    # --- drawing -----------------------------------------------------------------------------

    def draw(self, turn: LastTurn, owed: int = 0) -> float:
        """The mean over the next card; the Kraken demands `owed` more after it."""
        if turn.known != NO_CARD:
            return self.place(turn.drawn(turn.known), turn.known, owed)
        total = 0.0
        for card in numbers_in(turn.pile):
            total += self.place(turn.drawn(card), card, owed)
        return total / turn.pile.bit_count()

    def _before_draw(self, turn: LastTurn, moment: int) -> float:
        if turn.pile in _QUIET:
            return self._drawn_at(turn, moment)
        value = self._values.get((turn, moment))
        if value is None:
            value = self._values[turn, moment] = self._drawn_at(turn, moment)
        return value

    def _drawn_at(self, turn: LastTurn, moment: int) -> float:
        if moment == _FREE:
            return self._stop_or_draw(turn)
        return self.draw(turn, max(0, moment - _OWED - 1))

    def _stop_or_draw(self, turn: LastTurn) -> float:
        """The better of the two; drawing is looked at until it cannot be the better one."""
        stop, number, total = self.end_turn(turn), turn.pile.bit_count(), 0.0
        leeway = number * (1.0 - stop)
        busting = turn.pile & suits_of(turn.area)
        for card in (*numbers_in(busting), *numbers_in(turn.pile & ~busting)):
            if leeway <= 0:
                return stop
            value = self.place(turn.drawn(card), card)
            total += value
            leeway -= 1.0 - value
        return max(stop, total / number)

    def _after(self, turn: LastTurn, owed: int) -> float:
        if not turn.pile:
            return self.end_turn(turn)
        draws = min(owed, turn.pile.bit_count())
        return self._before_draw(turn, _OWED + draws if draws else _FREE)

    # --- effects -----------------------------------------------------------------------------

    def place(self, turn: LastTurn, card: int, owed: int = 0) -> float:
        """After `card`, already taken from its place, has come to the play area."""
        suit = SUIT_OF[card]
        if turn.area & SUIT_BITS[suit]:
            thrown = turn.area & ~turn.saved | 1 << card
            return self._collect(turn, turn.saved, turn.discard | thrown)
        turn = turn.lay(card)
        answers = self._answers(turn, suit, owed)
        if answers is not None:
            return _best(answers)
        if suit == MAP and turn.discard:
            return self._map_to_come(turn)
        if suit == ORACLE and turn.pile:
            return self._oracle_to_come(turn, owed)
        return self._after(turn, KRAKEN_DRAWS if suit == KRAKEN else owed)

    def _answers(self, turn: LastTurn, suit: int, owed: int) -> Iterator[float] | None:
        """What each answer to a Hook, Sword or Cannon is worth; None where there is none."""
        if suit == HOOK and turn.own:
            return (self.hook(turn, target) for target in tops(turn.own))
        if suit == SWORD and (targets := sword_targets(turn.own, turn.other)):
            return (self.sword(turn, target) for target in targets)
        if suit == CANNON and turn.other:
            return (self.cannon(turn, target, owed) for target in tops(turn.other))
        return None

    def take(self, turn: LastTurn, card: int, owed: int) -> float:
        """The value of taking the card that an Oracle has shown."""
        return self.place(turn.drawn(card), card, max(0, owed - 1))

    def hook(self, turn: LastTurn, card: int) -> float:
        """The value of answering a Hook with `card`."""
        return self.place(turn._replace(own=turn.own ^ 1 << card), card)

    def sword(self, turn: LastTurn, card: int) -> float:
        """The value of answering a Sword with `card`."""
        return self.place(turn._replace(other=turn.other ^ 1 << card), card)

    def cannon(self, turn: LastTurn, card: int, owed: int) -> float:
        """The value of answering a Cannon with `card`."""
        shot = turn._replace(other=turn.other ^ 1 << card, discard=turn.discard | 1 << card)
        return self._after(shot, owed)

    def map(self, turn: LastTurn, card: int) -> float:
        """The value of taking `card` out of the discard pile for a Map."""
        return self.place(turn._replace(discard=turn.discard ^ 1 << card), card)

    def _map_to_come(self, turn: LastTurn) -> float:
        values: list[float] = []
        for card, number in groups_in(turn.discard, turn.own, suits_of(turn.area), finely=False):
            values += [self.map(turn, card)] * number
        return best_of_offer(values)

    def _oracle_to_come(self, turn: LastTurn, owed: int) -> float:
        total = 0.0
        for card in numbers_in(turn.pile):
            stopped = self.end_turn(turn._replace(known=card))
            total += max(stopped, self.take(turn, card, owed))
        return total / turn.pile.bit_count()


def _best(values: Iterable[float]) -> float:
    """The greatest; none is looked at after one that wins for sure."""
    best = 0.0
    for value in values:
        best = max(best, value)
        if best >= 1.0:
            break
    return best
