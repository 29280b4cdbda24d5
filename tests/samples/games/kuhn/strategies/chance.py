"""A player without a plan."""

from random import Random

from cardsharp.strategy import Decision
from kuhn.rules import Action, Position, options
from kuhn.strategies import STRATEGIES


@STRATEGIES.strategy("random")
class Chance:
    """Picks any legal action, each as likely as the others."""

    def __init__(self, dice: Random) -> None:
        self._dice = dice

    def decide(self, position: Position) -> Decision[Action]:
        """Any legal action."""
        return Decision(self._dice.choice(options(position.said)), "Picked by chance.")
