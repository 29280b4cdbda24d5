"""Strategies of Kuhn poker, by name: any action, and an optimum (Kuhn 1950).

The optimum loses a chip in 18 hands as first and no more.
"""

from fractions import Fraction
from random import Random

from cardsharp.play.strategy import Decision, Option, Strategy
from cardsharp.play.strategy_registry import StrategyRegistry
from kuhn.rules import CARDS, Action, PastActions, Position, options

STRATEGIES: StrategyRegistry[Random, Strategy[Position, Decision[Action]]] = StrategyRegistry(
    "kuhn.strategies"
)
"""Each is made from the only chance that it may have."""


@STRATEGIES.register("random")
class Chance:
    """Picks any legal action, each as likely as the others."""

    def __init__(self, dice: Random) -> None:
        self._dice = dice

    def decide(self, position: Position) -> Decision[Action]:
        """Any legal action."""
        return Decision(self._dice.choice(options(position.past_actions)), "Picked by chance.")


THIRD = Fraction(1, 3)
BOLD = {
    (): (THIRD, Fraction(0), Fraction(1)),
    (Action.CHECK,): (THIRD, Fraction(0), Fraction(1)),
    (Action.BET,): (Fraction(0), THIRD, Fraction(1)),
    (Action.CHECK, Action.BET): (Fraction(0), 2 * THIRD, Fraction(1)),
}
"""How often to bet or call, by what was said and the own card: the optimum that bluffs most."""


def chances(card: int, past_actions: PastActions) -> dict[Action, Fraction]:
    """Return the probability of each option."""
    bold = Action.CALL if past_actions[-1:] == (Action.BET,) else Action.BET
    often = BOLD[past_actions][card]
    return {option: often if option is bold else 1 - often for option in options(past_actions)}


@STRATEGIES.register("optimum")
class Optimum:
    """Optimal strategy: bluffs and calls so often that no opponent can gain from it."""

    def __init__(self, dice: Random) -> None:
        self._dice = dice

    def decide(self, position: Position) -> Decision[Action]:
        """Choose an option at random with the optimal probabilities."""
        weights = chances(position.card, position.past_actions)
        explained_options = tuple(
            Option(candidate, note=f"in {float(often):.0%}") for candidate, often in weights.items()
        )
        (action,) = self._dice.choices([*weights], [float(often) for often in weights.values()])
        often = float(weights[action])
        return Decision(
            action, f"{action}: with a {CARDS[position.card]} in {often:.0%}.", explained_options
        )
