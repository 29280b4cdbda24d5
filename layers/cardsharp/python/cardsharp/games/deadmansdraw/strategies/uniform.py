"""`random`: any legal action, each as likely as the others."""

from random import Random

from cardsharp.games.deadmansdraw.position import DeadMansDrawPosition
from cardsharp.games.deadmansdraw.strategies import DeadMansDrawDecision, strategy


@strategy("random")
class DeadMansDrawUniformRandom:
    """Picks any legal action, each as likely as the others."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng

    def decide(self, position: DeadMansDrawPosition) -> DeadMansDrawDecision:
        """One of the legal actions."""
        return DeadMansDrawDecision(self._rng.choice(position.legal_actions()), "Chance.")
