"""The solution of Nim (Bouton 1901): leave heaps whose sizes add up to 0 without carrying."""

from functools import reduce
from operator import xor
from random import Random

from cardsharp.strategy import Decision, Option
from nim.position import Position
from nim.rules import Action
from nim.strategies import strategy


@strategy("perfect")
class Perfect:
    """Wins wherever it can: whoever is to act on a nim-sum of 0 loses against it."""

    def __init__(self, dice: Random) -> None:
        del dice

    def decide(self, position: Position) -> Decision[Action]:
        """The first action that leaves a nim-sum of 0, else the smallest one."""
        options = tuple(
            Option(action, float(not left), f"leaves a nim-sum of {left}")
            for action in position.legal_actions()
            for left in [_nim_sum(position.heaps, action)]
        )
        best = max(options, key=lambda option: option.value or 0.0)
        reason = "leaves a nim-sum of 0" if best.value else "nothing leaves 0; plays for time"
        return Decision(best.action, f"{best.action}: {reason}.", options)


def _nim_sum(heaps: tuple[int, ...], action: Action) -> int:
    """The nim-sum of what an action leaves."""
    left = list(heaps)
    left[action.heap] -= action.stones
    return reduce(xor, left)
