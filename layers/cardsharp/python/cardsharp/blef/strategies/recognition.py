"""Who plays by a habit of `minds.py`, read from the rounds before, where all hands were shown.

We reckon that who has a habit does what it says four times in five, and anybody else one time in
two. So each decision says how much likelier the habit has become.
"""

from collections.abc import Mapping, Sequence

from cardsharp.blef.position import Position
from cardsharp.blef.state import Round
from cardsharp.blef.strategies.minds import HABITS, OPENING, WEIGHTS, Weights, mind_of
from cardsharp.blef.strategies.odds import bits_of

_AGREES, _DIFFERS = 0.8 / 0.5, 0.2 / 0.5
"""How many times likelier a habit is after a decision that is what it says, and after another."""

_ENOUGH = 10.0
"""So many times likelier, and we take it that somebody has the habit."""


def recognised(position: Position) -> Mapping[int, Weights]:
    """The others who play by a habit: by seat, how the habits are to be weighed there.

    Half by what the rounds before say, half as where nothing is known: somebody's habit may only
    be near to one of ours.
    """
    others = (seat for seat in position.round().active if seat != position.me)
    found = {seat: _likelier(position.earlier, seat) for seat in others}
    return {seat: _weighed(by) for seat, by in found.items() if max(by) >= _ENOUGH}


def _likelier(earlier: Sequence[Round], seat: int) -> list[float]:
    """By habit, how many times likelier the decisions of a player make it."""
    found = [1.0] * len(HABITS)
    for over in earlier:
        own = over.n_cards[seat]
        mind = mind_of(bits_of(over.hands[seat]), sum(over.n_cards) - own)
        last = OPENING
        for mover, action in over.history[:-1]:
            if mover == seat:
                for number, replies in enumerate(mind.replies):
                    found[number] *= _AGREES if replies[last] == action else _DIFFERS
            last = action
    return found


def _weighed(likelier: Sequence[float]) -> Weights:
    found = [weight * times for weight, times in zip(WEIGHTS, likelier, strict=True)]
    return tuple(
        (weight + one / sum(found)) / 2 for weight, one in zip(WEIGHTS, found, strict=True)
    )
