"""`random`: any legal action, each as likely as the others."""

from random import Random

from cardsharp.games.blef.position import Position
from cardsharp.games.blef.strategies import Decision, legal_choices, strategy


@strategy("random")
class UniformRandom:
    """Picks any legal action, each as likely as the others."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng

    def decide(self, position: Position) -> Decision:
        """One of the legal actions."""
        return Decision(self._rng.choice(legal_choices(position)), "Chance.")
