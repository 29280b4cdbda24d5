"""A player without a plan."""

from random import Random

from cardsharp.strategy import Decision
from nim.position import Position
from nim.rules import Action
from nim.strategies import strategy


@strategy("random")
class Chance:
    """Picks any legal action, each as likely as the others."""

    def __init__(self, dice: Random) -> None:
        self._dice = dice

    def decide(self, position: Position) -> Decision[Action]:
        """Any legal action."""
        return Decision(self._dice.choice(position.legal_actions()), "Picked by chance.")
