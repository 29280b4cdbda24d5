"""Strategies: one module each, one method each, found by name."""

from random import Random

from cardsharp.registry import Registry
from cardsharp.strategy import Decision, Strategy
from nim.position import Position
from nim.rules import Action

STRATEGIES: Registry[Random, Strategy[Position, Decision[Action]]] = Registry("nim.strategies")
"""Each is made from the only chance that it may have."""

strategy, build = STRATEGIES.strategy, STRATEGIES.build
names, about = STRATEGIES.names, STRATEGIES.about
