"""`random`: any legal action, all equally likely."""

from random import Random

from cardsharp.games.blef.position import BlefPosition
from cardsharp.games.blef.strategies import BlefDecision, legal_choices, strategy


@strategy("random")
class BlefUniformRandom:
    """Picks a legal action at random, all equally likely."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng

    def decide(self, position: BlefPosition) -> BlefDecision:
        """Return a random legal action."""
        return BlefDecision(self._rng.choice(legal_choices(position)), "Chance.")
