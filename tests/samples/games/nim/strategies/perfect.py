"""The solution of Nim (Bouton 1901): leave heaps whose sizes add up to 0 without carrying."""

from functools import reduce
from operator import xor
from random import Random

from cardsharp.play.strategy import Decision, Option
from nim.rules import Action, State
from nim.strategies import STRATEGIES


@STRATEGIES.register("perfect")
class Perfect:
    """Perfect strategy: wins from every position with a nim-sum other than 0."""

    def __init__(self, dice: Random) -> None:
        del dice

    def decide(self, position: State) -> Decision[Action]:
        """Choose the first action that leaves a nim-sum of 0, else the smallest action."""
        options = tuple(
            Option(action, float(not nim_sum), f"leaves a nim-sum of {nim_sum}")
            for action in position.options()
            for nim_sum in [reduce(xor, position.without(action).heaps)]
        )
        best = max(options, key=lambda option: option.value or 0.0)
        reason = "leaves a nim-sum of 0" if best.value else "nothing leaves 0; plays for time"
        return Decision(best.action, f"{best.action}: {reason}.", options)
