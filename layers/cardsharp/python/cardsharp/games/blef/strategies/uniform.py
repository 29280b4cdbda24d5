"""`random`: any legal action, each as likely as the others."""

from random import Random

from cardsharp.games.blef.position import BlefPosition
from cardsharp.games.blef.strategies import BlefDecision, legal_choices, strategy


@strategy("random")
class BlefUniformRandom:
    """Picks any legal action, each as likely as the others."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng

    def decide(self, position: BlefPosition) -> BlefDecision:
        """One of the legal actions."""
        return BlefDecision(self._rng.choice(legal_choices(position)), "Chance.")
