"""`random`: any legal answer, each as likely as the others."""

from random import Random

from cardsharp.games.euchre.position import Position
from cardsharp.games.euchre.strategies import (
    Decision,
    ElapsedSeconds,
    frozen_stopwatch,
    strategy,
)


@strategy("random")
class UniformRandom:
    """Picks from the choices by a die that the position itself has thrown."""

    def __init__(self, _: ElapsedSeconds = frozen_stopwatch) -> None:
        pass

    def decide(self, position: Position) -> Decision:
        """One of the choices."""
        return Decision(Random(position.seed).choice(position.legal_actions), "Chance.")
