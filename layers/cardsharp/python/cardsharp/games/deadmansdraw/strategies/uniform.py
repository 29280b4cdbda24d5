"""`random`: any legal action, all equally likely."""

from random import Random

from cardsharp.games.deadmansdraw.position import DeadMansDrawPosition
from cardsharp.games.deadmansdraw.strategies import DeadMansDrawDecision, strategy


@strategy("random")
class DeadMansDrawUniformRandom:
    """Picks a legal action at random, all equally likely."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng

    def decide(self, position: DeadMansDrawPosition) -> DeadMansDrawDecision:
        """Return a random legal action."""
        return DeadMansDrawDecision(self._rng.choice(position.legal_actions()), "Chance.")
