"""Strategies: one module each, one method each, found by name."""

from random import Random

from cardsharp.registry import Registry
from cardsharp.strategy import Decision, Strategy
from nim.rules import Action, State

STRATEGIES: Registry[Random, Strategy[State, Decision[Action]]] = Registry("nim.strategies")
"""Each is made from the only chance that it may have."""
