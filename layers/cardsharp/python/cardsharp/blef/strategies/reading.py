"""What the rounds before show of how the others decide; their hands were shown then.

Each decision says how well it was foretold: by each habit of `minds.py`, by the taste that was
learned so far (`taste.py`), and by our own tables, for who plays like these cannot be read.
What was long ago counts less, as players change.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import exp, log

from cardsharp.blef.actions import BETS
from cardsharp.blef.position import Position, position_of
from cardsharp.blef.rules import MIN_PLAYERS
from cardsharp.blef.state import Round
from cardsharp.blef.strategies.equilibrium import Mixture
from cardsharp.blef.strategies.minds import OPENING, WEIGHTS, Weights, mind_of
from cardsharp.blef.strategies.odds import bits_of
from cardsharp.blef.strategies.tabled import tabled
from cardsharp.blef.strategies.taste import Taste, Tasting, Traits, traits_of

_FADES = 0.95
"""What a decision counts once the next one was seen."""

_RATE, _STEADY, _HALF = 0.7, 0.4, 10.0
"""How fast a taste is learned: at first, what is left of that at last, and when half is."""

_TASTE = 0.35
"""How likely it is before the first round that the taste foretells a player best."""

_UNREAD = 0.2
"""How much of the models' weights stays as it was before the first round."""

_TEMPER = 0.7
"""How much of the evidence counts among the models: none is exactly what somebody does."""

_CHANCE_OF_TASTE, _CHANCE_OF_TABLE = 0.02, 0.05
"""How often anything is done that was not foretold."""

_ENOUGH = 0.1
"""So much evidence, and somebody is played against as was read."""

PRIOR: Weights = (*((1 - _TASTE) * weight for weight in WEIGHTS), _TASTE)
"""How likely each habit is, and at last the taste."""


@dataclass(frozen=True)
class Insight:
    """How somebody decides: logarithms of how well each model foretold it, and our tables."""

    taste: Taste
    explained: tuple[float, ...] = (0.0,) * len(PRIOR)
    table: float = 0.0
    decisions: int = 0

    @cached_property
    def drawn(self) -> Tasting:
        """The taste as it is asked."""
        return Tasting(self.taste)

    @cached_property
    def weights(self) -> Weights:
        """How likely each habit is by all that was seen, and at last the taste."""
        found = self._found
        return tuple(
            (1 - _UNREAD) * one / sum(found) + _UNREAD * first
            for one, first in zip(found, PRIOR, strict=True)
        )

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

    def explains(self, traits: Traits, last: int, bet: int) -> float:
        """How likely the taste makes this bet above `last`."""
        foretold = (1 - _CHANCE_OF_TASTE) * self.drawn.chance(traits, last, bet)
        return foretold + _CHANCE_OF_TASTE * _even(last)


def _even(last: int) -> float:
    """How likely whoever does anything at all takes an action after `last`."""
    return 1 / (len(BETS) - last - (last == OPENING))


_UNKNOWN = Insight(Taste())


def readings(position: Position) -> Mapping[int, Insight]:
    """How the others decide who are in the game, by seat."""
    others = (seat for seat in position.round().active if seat != position.me)
    return {seat: reading_of(position.earlier, seat) for seat in others}


def unlike_tables(position: Position, read: Mapping[int, Insight]) -> bool:
    """Whether the others are better played against as they were read than by our tables."""
    if len(position.n_cards) > MIN_PLAYERS:
        return True
    return all(one.evidence > _ENOUGH for one in read.values())


@lru_cache(maxsize=512)
def reading_of(earlier: Sequence[Round], seat: int) -> Insight:
    """What these rounds show of a player."""
    if not earlier:
        return _UNKNOWN
    *before, over = earlier
    return _after(reading_of(tuple(before), seat), over, seat)


def _after(reading: Insight, over: Round, seat: int) -> Insight:
    """What is known once a round is over."""
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
            taste = reading.explains(traits, last, action)
            reading = _seen(reading, traits, (last, action), (*habits, taste), mixed)
        last = action
    return reading


def _seen(
    reading: Insight,
    traits: Traits,
    decision: tuple[int, int],
    foretold: Sequence[float],
    mixed: Mixture | None,
) -> Insight:
    """What is known after a decision; where no table has an answer, it says nothing of that."""
    last, action = decision
    told = [log(one) for one in foretold]
    table = told[-1]
    if mixed is not None:
        often = (1 - _CHANCE_OF_TABLE) * dict(mixed).get(action, 0.0)
        table = log(often + _CHANCE_OF_TABLE * _even(last))
    pace = max(_STEADY, 1 / (1 + reading.decisions / _HALF))
    return Insight(
        reading.taste.learned(traits, last, action, _RATE * pace),
        tuple(_FADES * old + new for old, new in zip(reading.explained, told, strict=True)),
        _FADES * reading.table + table,
        reading.decisions + 1,
    )
