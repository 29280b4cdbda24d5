"""Strategies: one module each, one method each, found by name."""

from random import Random

from cardsharp.play.strategy import Decision, Strategy
from cardsharp.play.strategy_registry import StrategyRegistry
from nim.rules import Action, State

STRATEGIES: StrategyRegistry[Random, Strategy[State, Decision[Action]]] = StrategyRegistry(
    "nim.strategies"
)
"""Each is made from the only chance that it may have."""
