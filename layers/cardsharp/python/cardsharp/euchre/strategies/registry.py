"""The strategies of Euchre by name."""

from cardsharp.euchre.strategies.base import Stopwatch, Strategy, standing
from cardsharp.registry import Registry

STRATEGIES: Registry[Stopwatch, Strategy] = Registry("cardsharp.euchre.strategies")
"""Each is made from a stopwatch, the only time that it may know."""

strategy, names, about = STRATEGIES.strategy, STRATEGIES.names, STRATEGIES.about


def build(name: str, stopwatch: Stopwatch = standing) -> Strategy:
    """A new strategy; raises `ConfigError` where none has this name."""
    return STRATEGIES.build(name, stopwatch)
