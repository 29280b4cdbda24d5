"""What the rounds before show of how the others decide; their hands were shown then.

Each decision says how well it was foretold: by each habit of `minds.py`, by the tastes that were
learned so far (`taste.py`), of who looks at own cards and of who believes the last bet, too, and by
our own tables, for who plays like these cannot be read.
What was long ago counts less, as players change.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import exp, log

from cardsharp.blef.actions import BETS
from cardsharp.blef.position import Position, position_of
from cardsharp.blef.rules import MIN_PLAYERS, Round
from cardsharp.blef.strategies.equilibrium import Mixture
from cardsharp.blef.strategies.minds import OPENING, WEIGHTS, Weights, mind_of
from cardsharp.blef.strategies.odds import bits_of
from cardsharp.blef.strategies.tabled import tabled
from cardsharp.blef.strategies.taste import Taste, Tasting, Traits, believing, traits_of

_FADES = 0.95  # what a decision counts once the next one was seen
_RATE, _STEADY, _HALF = 1.2, 0.5, 20.0  # how fast a taste is learned: at first, at last, between
_TASTE, _FAITH = 0.3, 0.05
"""How likely it is before the first round that a taste foretells a player best, by own cards or
by these and what the last bet claims."""

_FAINT = 0.08  # a faith that is less likely is not asked
_UNREAD = 0.1  # how much of the models' weights stays as it was before the first round
_TEMPER = 0.7  # how much evidence counts among the models: none is exactly anybody
_CHANCE_OF_TASTE, _CHANCE_OF_TABLE = 0.02, 0.05  # how often anything is done that was not foretold
_ENOUGH = 0.1  # so much evidence, and somebody is played against as was read
_LARGE, _UNLIKE, _SEEN = 8, 0.3, 20
"""From so many cards on somebody can learn our tables and answer them, so they are played only
against who is like them: whose decisions they foretell better by so much each, of so many at most.
Who plays by the tables is foretold better by about 1."""

PRIOR: Weights = (*((1 - _TASTE - _FAITH) * weight for weight in WEIGHTS), _TASTE, _FAITH)
"""How likely each habit is, and at last the two tastes."""

OWN, FAITH = 0, 1  # the taste of who looks at own cards, and of who believes the last bet, too


@dataclass(frozen=True)
class Insight:
    """How somebody decides: logarithms of how well each model foretold it, and our tables."""

    tastes: tuple[Taste, Taste]
    explained: tuple[float, ...] = (0.0,) * len(PRIOR)
    table: float = 0.0
    decisions: int = 0

    @cached_property
    def drawn(self) -> tuple[Tasting, Tasting]:
        """The tastes as they are asked."""
        return Tasting(self.tastes[OWN]), Tasting(self.tastes[FAITH])

    @cached_property
    def weights(self) -> Weights:
        """How likely each habit is by all that was seen, and at last the two tastes."""
        found = self._found
        if found[-1] < _FAINT * sum(found):
            return (*_blended(found[:-1], PRIOR[:-1]), 0.0)
        return _blended(found, PRIOR)

    @property
    def evidence(self) -> float:
        """The logarithm of how much better it was foretold so than by our tables."""
        return max(self.explained) + log(sum(self._found)) - self.table

    @cached_property
    def _found(self) -> list[float]:
        top = max(self.explained)
        return [
            first * exp(_TEMPER * (one - top))
            for first, one in zip(PRIOR, self.explained, strict=True)
        ]

    def explains(self, taste: int, traits: Traits, last: int, action: int) -> float:
        """How likely one of the tastes makes this action after `last`, with what is seen by it."""
        foretold = (1 - _CHANCE_OF_TASTE) * self.drawn[taste].chance(traits, last, action)
        return foretold + _CHANCE_OF_TASTE * _even(last)


def _blended(found: Sequence[float], first: Sequence[float]) -> Weights:
    """Shares of what was found, a part of them as it was before the first round."""
    every, before = sum(found), sum(first)
    pairs = zip(found, first, strict=True)
    return tuple((1 - _UNREAD) * one / every + _UNREAD * two / before for one, two in pairs)


def _even(last: int) -> float:
    """How likely whoever does anything at all takes an action after `last`."""
    return 1 / (len(BETS) - last - (last == OPENING))


_UNKNOWN = Insight((Taste(), Taste()))


def readings(position: Position) -> Mapping[int, Insight]:
    """How the others decide who are in the game, by seat."""
    others = (seat for seat in position.round().active if seat != position.me)
    return {seat: reading_of(position.earlier, seat) for seat in others}


def unlike_tables(position: Position, read: Mapping[int, Insight]) -> bool:
    """Whether the others are better played against as they were read than by our tables."""
    if len(position.n_cards) > MIN_PLAYERS:
        return True
    large = sum(position.n_cards) >= _LARGE
    return all(
        one.evidence > (-_UNLIKE * min(one.decisions, _SEEN) if large else _ENOUGH)
        for one in read.values()
    )


@lru_cache(maxsize=512)
def reading_of(earlier: Sequence[Round], seat: int) -> Insight:
    """What these rounds show of a player."""
    if not earlier:
        return _UNKNOWN
    *before, over = earlier
    return _after(reading_of(tuple(before), seat), over, seat)


def _after(reading: Insight, over: Round, seat: int) -> Insight:
    if seat not in over.active or not over.hands[seat]:
        return reading
    own, hidden = bits_of(over.hands[seat]), sum(over.n_cards) - over.n_cards[seat]
    traits, mind = traits_of(own, hidden), mind_of(own, hidden)
    last = OPENING
    for place, (mover, action) in enumerate(over.history[:-1]):
        if mover == seat and last != len(BETS) - 1:
            live = replace(over, turn=seat, history=over.history[:place])
            mixed = tabled(position_of(live, seat))
            habits = mind.foretells(last, action)
            seen = traits, believing(own, hidden, last)
            tastes = (reading.explains(one, seen[one], last, action) for one in (OWN, FAITH))
            reading = _seen(reading, seen, (last, action), (*habits, *tastes), mixed)
        last = action
    return reading


def _seen(
    reading: Insight,
    seen: tuple[Traits, Traits],
    decision: tuple[int, int],
    foretold: Sequence[float],
    mixed: Mixture | None,
) -> Insight:
    """What is known after a decision; where no table has an answer, it says nothing of that."""
    last, action = decision
    told = [log(one) for one in foretold]
    table = told[len(WEIGHTS)]
    if mixed is not None:
        often = (1 - _CHANCE_OF_TABLE) * dict(mixed).get(action, 0.0)
        table = log(often + _CHANCE_OF_TABLE * _even(last))
    pace = max(_STEADY, 1 / (1 + reading.decisions / _HALF))
    own, faith = (
        taste.learned(traits, last, action, _RATE * pace)
        for taste, traits in zip(reading.tastes, seen, strict=True)
    )
    return Insight(
        (own, faith),
        tuple(_FADES * old + new for old, new in zip(reading.explained, told, strict=True)),
        _FADES * reading.table + table,
        reading.decisions + 1,
    )
