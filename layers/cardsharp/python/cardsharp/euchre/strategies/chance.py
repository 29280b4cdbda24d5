"""`random`: any legal answer, each as likely as the others."""

from random import Random

from cardsharp.euchre.strategies.base import Decision, Stopwatch, standing
from cardsharp.euchre.strategies.registry import strategy
from cardsharp.euchre.view import View


@strategy("random")
class Chance:
    """Picks from the choices by a die that the view itself has thrown."""

    def __init__(self, _: Stopwatch = standing) -> None:
        pass

    def decide(self, view: View) -> Decision:
        """One of the choices."""
        return Decision(Random(view.seed).choice(view.choices), "Chance.")
