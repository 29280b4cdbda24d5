"""How a player decides, as it is learned from decisions whose cards were seen later.

A taste knows no habits. It has how often a last bet is checked, by how likely that is by the
player's own cards and by nobody's, and by how likely the best higher bet is; and how much each
trait of a higher bet draws the player: how likely it is by these cards, also apart where the round
is opened, and by nobody's, whether a lower or a higher one is as likely, how far it is above the
last bet, and how many of its cards that claims too.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import accumulate
from math import exp
from operator import mul
from random import Random

from cardsharp.blef.actions import BETS, CHECK
from cardsharp.blef.strategies.large import BONDS, bond
from cardsharp.blef.strategies.minds import OPENING, mind_of
from cardsharp.blef.strategies.odds import Odds, claimed, odds

_MARKS = (0.02, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.85, 0.9999)  # where levels of chances end
_MIDDLES = [(low + high) / 2 for low, high in zip((0, *_MARKS), (*_MARKS, 1), strict=True)]
_STEPS = (2, 4, 7, 13, 25)
_STEP_OF = tuple(bisect_right(_STEPS, step) for step in range(1, len(BETS) + 1))
_EDGES = 4
_TOP = len(BETS) - 1

_DRAWN, _DOUBTED = 0.15, 5.0
"""At first: a bet is drawn e times as often by so much of a chance; the same of a check's odds."""

_BESIDE = 0.4  # how much of what is learned of a level is learned of the two beside it
_NEAR = (1.0, 0.6, 0.3)
_FAR = 0.1  # the same of a check, by how far a level is off
_BY_HEIGHT, _BY_REST = 0.5, 1.0
"""How much of what a check shows is learned of bets that look so to everybody, and of the rest."""

_FLAT = (0.0,) * len(_MIDDLES)


def _levels(chances: Odds) -> Sequence[int]:
    return [bisect_right(_MARKS, chance) for chance in chances]


@cache
def _bare(cards: int) -> Sequence[int]:
    """The level of each bet for somebody who sees no card of so many."""
    return _levels(odds(0, cards))


class Traits:
    """What certain cards make of each bet, with so many cards in play.

    `levels` are those of the bets; `looks` twice that, and 1 more where no higher bet is as likely;
    `bare` has their levels for somebody without cards.
    """

    def __init__(self, chances: Odds, cards: int) -> None:
        self.cards, self.bare, self.levels = cards, _bare(cards), _levels(chances)
        self.looks = [2 * level for level in self.levels]
        top = -1.0
        for bet in range(_TOP, OPENING, -1):
            if chances[bet] > top:
                top = chances[bet]
                self.looks[bet] += 1
        self._chances = chances
        self._firsts: dict[int, Sequence[int]] = {}

    def firsts(self, last: int) -> Sequence[int]:
        """The bets above `last` that are likelier than all bets between."""
        found = self._firsts.get(last)
        if found is None:
            found, top, highest = [], -1.0, max(self._chances[last + 1 :])
            for bet in range(last + 1, len(BETS)):
                if self._chances[bet] > top:
                    found.append(bet)
                    top = self._chances[bet]
                    if top == highest:
                        break
            self._firsts[last] = found
        return found

    def rest(self, last: int) -> int:
        """The level of the likeliest bet above `last`."""
        return self.levels[self.firsts(last)[-1]]


@lru_cache(maxsize=8192)
def traits_of(pool: int, hidden: int) -> Traits:
    """The traits for somebody with these cards who does not see `hidden` others."""
    return Traits(mind_of(pool, hidden).chances, pool.bit_count() + hidden)


@lru_cache(maxsize=8192)
def believing(pool: int, hidden: int, last: int) -> Traits:
    """The same for one of these who takes the last bet for true, where that may be."""
    missing = 0 if last == OPENING else claimed(last, pool)
    unclaimed = hidden - missing.bit_count()
    return traits_of(pool, hidden) if unclaimed < 0 else traits_of(pool | missing, unclaimed)


@cache
def _bonds(last: int) -> tuple[int, ...]:
    return tuple(bond(last, bet) for bet in range(last + 1, len(BETS)))


@dataclass(frozen=True, slots=True)
class Taste:
    """Logarithms: how much each trait draws, and of the odds of a check by level.

    `rests` are by the level of the likeliest higher bet; `openers` are added to `levels` where
    there is no last bet.
    """

    levels: Sequence[float] = tuple((middle - 1) / _DRAWN for middle in _MIDDLES)
    edges: Sequence[float] = (0.0,) * _EDGES
    steps: Sequence[float] = (0.0,) * (len(_STEPS) + 1)
    bonds: Sequence[float] = (0.0,) * BONDS
    checks: Sequence[float] = tuple(_DOUBTED * (0.3 - middle) for middle in _MIDDLES)
    heights: Sequence[float] = _FLAT
    doubts: Sequence[float] = _FLAT
    rests: Sequence[float] = _FLAT
    openers: Sequence[float] = _FLAT

    def learned(self, traits: Traits, last: int, action: int, rate: float) -> "Taste":
        """The taste once a decision was seen, the better foretold, the less it changes."""
        drawn = Tasting(self)
        checked = drawn.check(traits, last)
        checks, doubts, rests, opened = self.checks, self.doubts, self.rests, traits.bare
        if last != OPENING:
            off = (action == CHECK) - checked
            checks = _around(checks, traits.levels[last], off)
            doubts = _around(doubts, opened[last], _BY_HEIGHT * off)
            rests = _around(rests, traits.rest(last), _BY_REST * off)
        if action == CHECK:
            return replace(self, checks=checks, doubts=doubts, rests=rests)
        weights, begin = drawn.weights(traits, last), last + 1
        total, firsts = sum(weights), {*traits.firsts(last)}
        offs = [(bet == action) - weight / total for bet, weight in enumerate(weights, begin)]
        edges = [2 * (bet in firsts) + (traits.looks[bet] & 1) for bet in range(begin, len(BETS))]
        levels = _summed(offs, traits.levels[begin:], self.levels)
        beside = zip((0.0, *levels), levels, (*levels[1:], 0.0), strict=False)
        spread = [own + _BESIDE * (one + two) for one, own, two in beside]
        return Taste(
            _moved(self.levels, spread, rate),
            _moved(self.edges, _summed(offs, edges, self.edges), rate),
            _moved(self.steps, _summed(offs, _STEP_OF, self.steps), rate),
            _moved(self.bonds, _summed(offs, _bonds(last), self.bonds), rate),
            checks,
            _moved(self.heights, _summed(offs, opened[begin:], self.heights), rate),
            doubts,
            rests,
            self.openers if last != OPENING else _moved(self.openers, spread, rate),
        )


def _around(old: Sequence[float], at: int, by: float) -> list[float]:
    """The same levels with one moved, and the others the less, the farther they are off."""
    far = (abs(level - at) for level in range(len(old)))
    parts = (_NEAR[n] if n < len(_NEAR) else _FAR for n in far)
    return [one + by * part for one, part in zip(old, parts, strict=True)]


def _summed(offs: Sequence[float], places: Sequence[int], old: Sequence[float]) -> list[float]:
    """What is off at each of the places that the old numbers have."""
    found = [0.0] * len(old)
    for off, place in zip(offs, places, strict=False):
        found[place] += off
    return found


def _moved(old: Sequence[float], by: Sequence[float], rate: float) -> list[float]:
    return [one + rate * more for one, more in zip(old, by, strict=True)]


class Tasting:
    """A taste as it is asked: no logarithms."""

    def __init__(self, taste: Taste) -> None:
        self._taste = taste
        self._heights = [exp(height) for height in taste.heights]
        edges = [exp(edge) for edge in taste.edges]
        opened = [one + more for one, more in zip(taste.levels, taste.openers, strict=True)]
        self._by_looks = [_by_looks(edges, levels) for levels in (taste.levels, opened)]
        self._steps = [exp(step) for step in taste.steps]
        self._bonds = [exp(bond_) for bond_ in taste.bonds]
        self._near: dict[tuple[int, int], list[float]] = {}
        self._appeals: tuple[dict[Traits, list[float]], ...] = ({}, {})

    def check(self, traits: Traits, last: int) -> float:
        """The chance of the check."""
        if last in {OPENING, _TOP}:
            return float(last == _TOP)
        taste = self._taste
        by_last = taste.checks[traits.levels[last]] + taste.doubts[traits.bare[last]]
        return 1 / (1 + exp(-by_last - taste.rests[traits.rest(last)]))

    def weights(self, traits: Traits, last: int) -> list[float]:
        """How often each bet above the last one is made, up to a factor."""
        begin, looks, asked = last + 1, traits.looks, (last, traits.cards)
        near = self._near.get(asked)
        if near is None:
            opened = traits.bare[begin:]
            near = self._near[asked] = [
                self._steps[step] * self._bonds[shared] * self._heights[height]
                for step, shared, height in zip(_STEP_OF, _bonds(last), opened, strict=False)
            ]
        opens = last == OPENING
        likings, firsts = self._by_looks[opens]
        appeals = self._appeals[opens].get(traits)
        if appeals is None:
            appeals = self._appeals[opens][traits] = [*map(likings.__getitem__, looks)]
        found = [*map(mul, appeals[begin:], near)]
        for bet in traits.firsts(last):
            found[bet - begin] = firsts[looks[bet]] * near[bet - begin]
        return found

    def chance(self, traits: Traits, last: int, action: int) -> float:
        """How often the action is taken."""
        check = self.check(traits, last)
        if action == CHECK:
            return check
        weights = self.weights(traits, last)
        return (1 - check) * weights[action - last - 1] / sum(weights)


def _by_looks(edges: Sequence[float], levels: Sequence[float]) -> tuple[list[float], list[float]]:
    """How much bets of each look draw, and those that are likelier than all lower ones."""
    drawn = [exp(level) for level in levels]
    likings, firsts = (
        [one * edge for one in drawn for edge in two] for two in (edges[:2], edges[2:])
    )
    return likings, firsts


class TastedReplies(dict[int, int]):
    """What somebody with these cards says to each last bet, drawn when it is first asked.

    One number decides all checks: whoever doubts a bet doubts any that is less likely.
    """

    def __init__(self, drawn: Tasting, seen: Callable[[int], Traits], rng: Random) -> None:
        super().__init__()
        self._ask, self._doubt = (drawn, seen, rng), rng.random()

    def __missing__(self, last: int) -> int:
        drawn, seen, rng = self._ask
        said, traits = CHECK, seen(last)
        if self._doubt >= drawn.check(traits, last):
            # As `choices` of rng does, without what that asks besides.
            sums = [*accumulate(drawn.weights(traits, last))]
            said = last + 1 + bisect_right(sums, rng.random() * sums[-1], 0, len(sums) - 1)
        self[last] = said
        return said
