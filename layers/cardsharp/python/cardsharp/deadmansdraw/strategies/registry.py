"""The strategies of Dead Man's Draw by name."""

from collections.abc import Callable
from random import Random
from typing import TypeVar

from cardsharp.deadmansdraw.strategies.base import Strategy
from cardsharp.registry import Registry

Maker = Callable[[Random], Strategy]
M = TypeVar("M", bound=Maker)

_all: Registry[Maker] = Registry("cardsharp.deadmansdraw.strategies")
names = _all.names
about = _all.about


def strategy(name: str) -> Callable[[M], M]:
    """Decorator: registers a class or function that makes a strategy from a `Random`."""

    def register(maker: M) -> M:
        _all.makers[name] = maker
        return maker

    return register


def build(name: str, rng: Random) -> Strategy:
    """A new strategy; `rng` is the only randomness that it may use.

    Raises:
        ConfigError: no strategy has this name; the message lists those that exist.
    """
    return _all.maker(name)(rng)
