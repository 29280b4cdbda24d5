"""The solution of Nim (Bouton 1901): leave heaps whose sizes add up to 0 without carrying."""

from functools import reduce
from operator import xor
from random import Random

from cardsharp.play.strategy import Decision, Option
from nim.rules import Action, State
from nim.strategies import STRATEGIES


@STRATEGIES.register("perfect")
class Perfect:
    """Wins wherever it can: whoever is to act on a nim-sum of 0 loses against it."""

    def __init__(self, dice: Random) -> None:
        del dice

    def decide(self, position: State) -> Decision[Action]:
        """The first action that leaves a nim-sum of 0, else the smallest one."""
        options = tuple(
            Option(action, float(not left), f"leaves a nim-sum of {left}")
            for action in position.options()
            for left in [reduce(xor, position.without(action).heaps)]
        )
        best = max(options, key=lambda option: option.value or 0.0)
        reason = "leaves a nim-sum of 0" if best.value else "nothing leaves 0; plays for time"
        return Decision(best.action, f"{best.action}: {reason}.", options)
