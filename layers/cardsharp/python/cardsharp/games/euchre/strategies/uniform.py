"""`random`: any legal answer, all equally likely."""

from random import Random

from cardsharp.games.euchre.position import EuchrePosition
from cardsharp.games.euchre.strategies import (
    ElapsedSeconds,
    EuchreDecision,
    strategy,
    zero_elapsed_seconds,
)


@strategy("random")
class EuchreUniformRandom:
    """Picks a legal action at random, with a seed from the position itself."""

    def __init__(self, _: ElapsedSeconds = zero_elapsed_seconds) -> None:
        pass

    def decide(self, position: EuchrePosition) -> EuchreDecision:
        """Return a random legal action."""
        return EuchreDecision(Random(position.seed).choice(position.legal_actions), "Chance.")
