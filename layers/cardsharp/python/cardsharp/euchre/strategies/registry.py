"""Strategies by name: a module of this package registers what it defines when it is imported."""

import importlib
import pkgutil
from collections.abc import Callable
from typing import TypeVar

from cardsharp.errors import ConfigError
from cardsharp.euchre.strategies.base import Stopwatch, Strategy, standing

Maker = Callable[[Stopwatch], Strategy]
M = TypeVar("M", bound=Maker)

_makers: dict[str, Maker] = {}


def strategy(name: str) -> Callable[[M], M]:
    """Decorator: registers a class or function that makes a strategy from a stopwatch."""

    def register(maker: M) -> M:
        _makers[name] = maker
        return maker

    return register


def names() -> tuple[str, ...]:
    """The names of all strategies, sorted."""
    _import_all()
    return tuple(sorted(_makers))


def build(name: str, stopwatch: Stopwatch = standing) -> Strategy:
    """A new strategy; `stopwatch` is the only time that it may know.

    Raises:
        ConfigError: no strategy has this name; the message lists those that exist.
    """
    _import_all()
    if name not in _makers:
        raise ConfigError(f"No strategy is called '{name}'. There are: {', '.join(names())}.")
    return _makers[name](stopwatch)


def _import_all() -> None:
    package = importlib.import_module("cardsharp.euchre.strategies")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")
