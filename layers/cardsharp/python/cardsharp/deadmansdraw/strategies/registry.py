"""The strategies of Dead Man's Draw by name."""

from random import Random

from cardsharp.deadmansdraw.strategies.base import Strategy
from cardsharp.registry import Registry

STRATEGIES: Registry[Random, Strategy] = Registry("cardsharp.deadmansdraw.strategies")
"""Each is made from a `Random`, the only chance that it may use."""

strategy, build = STRATEGIES.strategy, STRATEGIES.build
names, about = STRATEGIES.names, STRATEGIES.about
