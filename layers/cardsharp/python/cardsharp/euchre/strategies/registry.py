"""The strategies of Euchre by name."""

from collections.abc import Callable
from typing import TypeVar

from cardsharp.euchre.strategies.base import Stopwatch, Strategy, standing
from cardsharp.registry import Registry

Maker = Callable[[Stopwatch], Strategy]
M = TypeVar("M", bound=Maker)

_all: Registry[Maker] = Registry("cardsharp.euchre.strategies")
names = _all.names


def strategy(name: str) -> Callable[[M], M]:
    """Decorator: registers a class or function that makes a strategy from a stopwatch."""

    def register(maker: M) -> M:
        _all.makers[name] = maker
        return maker

    return register


def build(name: str, stopwatch: Stopwatch = standing) -> Strategy:
    """A new strategy; `stopwatch` is the only time that it may know.

    Raises:
        ConfigError: no strategy has this name; the message lists those that exist.
    """
    return _all.maker(name)(stopwatch)
