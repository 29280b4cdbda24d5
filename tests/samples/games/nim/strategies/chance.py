"""A player without a plan."""

from random import Random

from cardsharp.play.strategy import Decision
from nim.rules import Action, State
from nim.strategies import STRATEGIES


@STRATEGIES.register("random")
class Chance:
    """Picks any legal action, each as likely as the others."""

    def __init__(self, dice: Random) -> None:
        self._dice = dice

    def decide(self, position: State) -> Decision[Action]:
        """Any legal action."""
        return Decision(self._dice.choice(position.options()), "Picked by chance.")
