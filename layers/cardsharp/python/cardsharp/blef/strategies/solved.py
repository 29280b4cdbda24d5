"""`solved`: plays by trained tables where two players are left, as `bayes` does elsewhere.

The tables come from `cardsharp research blef`. They mix, with real dice, so that nobody can tell
what a bet says of the hand. With three cards or fewer the exact tables of `bayes` are played, with
eight and more what is known of large rounds.
"""

from random import Random

from cardsharp.blef.position import Position
from cardsharp.blef.strategies import Decision, choices, strategy
from cardsharp.blef.strategies.bayes import Bayes, mixing
from cardsharp.blef.strategies.equilibrium import SOLVED, cards_of
from cardsharp.blef.strategies.large import known
from cardsharp.blef.strategies.tabled import tabled
from cardsharp.blef.strategies.trained import trained

_TOLD = 0.01  # what is taken less often is not told among the options


@strategy("solved")
class Solved:
    """Mixes as trained tables say; asks `bayes` where they say nothing."""

    def __init__(self, rng: Random) -> None:
        self._rng, self._bayes = rng, Bayes(rng)
        trained(), known()

    def decide(self, position: Position) -> Decision:
        """One of the actions of the table's row, each as often as the table takes it."""
        choices(position)
        mixed = None if cards_of(position) in SOLVED else tabled(position)
        if mixed is None:
            return self._bayes.decide(position)
        return mixing(mixed, self._rng, "The table of this round", "table", _TOLD)
