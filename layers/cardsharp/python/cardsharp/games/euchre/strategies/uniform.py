"""`random`: any legal answer, each as likely as the others."""

from random import Random

from cardsharp.games.euchre.position import EuchrePosition
from cardsharp.games.euchre.strategies import (
    ElapsedSeconds,
    EuchreDecision,
    frozen_stopwatch,
    strategy,
)


@strategy("random")
class EuchreUniformRandom:
    """Picks from the choices by a die that the position itself has thrown."""

    def __init__(self, _: ElapsedSeconds = frozen_stopwatch) -> None:
        pass

    def decide(self, position: EuchrePosition) -> EuchreDecision:
        """One of the choices."""
        return EuchreDecision(Random(position.seed).choice(position.legal_actions), "Chance.")
