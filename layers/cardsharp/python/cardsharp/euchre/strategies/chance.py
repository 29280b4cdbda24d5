"""`random`: any legal answer, each as likely as the others."""

from random import Random

from cardsharp.euchre.position import Position
from cardsharp.euchre.strategies import Decision, Stopwatch, standing, strategy


@strategy("random")
class Chance:
    """Picks from the choices by a die that the position itself has thrown."""

    def __init__(self, _: Stopwatch = standing) -> None:
        pass

    def decide(self, position: Position) -> Decision:
        """One of the choices."""
        return Decision(Random(position.seed).choice(position.choices), "Chance.")
