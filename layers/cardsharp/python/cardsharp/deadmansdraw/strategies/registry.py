"""Strategies by name: a module of this package registers what it defines when it is imported."""

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from random import Random
from typing import TypeVar

from cardsharp.deadmansdraw.strategies.base import Strategy
from cardsharp.errors import ConfigError

Maker = Callable[[Random], Strategy]
M = TypeVar("M", bound=Maker)

_makers: dict[str, Maker] = {}


def strategy(name: str) -> Callable[[M], M]:
    """Decorator: registers a class or function that makes a strategy from a `Random`."""

    def register(maker: M) -> M:
        _makers[name] = maker
        return maker

    return register


def names() -> tuple[str, ...]:
    """The names of all strategies, sorted."""
    _import_all()
    return tuple(sorted(_makers))


def build(name: str, rng: Random) -> Strategy:
    """A new strategy; `rng` is the only randomness that it may use.

    Raises:
        ConfigError: no strategy has this name; the message lists those that exist.
    """
    return _maker(name)(rng)


def about(name: str) -> str:
    """A line about the strategy, from the docstring of what was registered.

    Raises:
        ConfigError: no strategy has this name.
    """
    return (inspect.getdoc(_maker(name)) or "").partition("\n")[0]


def _maker(name: str) -> Maker:
    _import_all()
    if name not in _makers:
        raise ConfigError(f"No strategy is called '{name}'. There are: {', '.join(names())}.")
    return _makers[name]


def _import_all() -> None:
    package = importlib.import_module("cardsharp.deadmansdraw.strategies")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")
