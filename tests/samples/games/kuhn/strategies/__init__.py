"""Strategies of Kuhn poker."""

from random import Random

from cardsharp.registry import Registry
from cardsharp.strategy import Decision, Strategy
from kuhn.rules import Action, Position

STRATEGIES: Registry[Random, Strategy[Position, Decision[Action]]] = Registry("kuhn.strategies")
"""Each is made from the only chance that it may have."""
