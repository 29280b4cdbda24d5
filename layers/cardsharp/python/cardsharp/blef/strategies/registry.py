"""Strategies by name: a module of this package registers what it defines when it is imported."""

import importlib
import pkgutil
import re
from collections.abc import Callable
from functools import cache
from random import Random
from typing import TypeVar

from cardsharp.blef.strategies.base import Strategy
from cardsharp.errors import ConfigError

Maker = Callable[..., Strategy]
"""Takes a `Random`, and the numbers that the name has in parentheses, each with a default."""

M = TypeVar("M", bound=Maker)

_makers: dict[str, Maker] = {}
_CALL = re.compile(r"([a-z][a-z0-9-]*)(?:\(([0-9., ]*)\))?")


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
    """A new strategy, e.g. `greedy` or `threshold(0.2, 0.5)`; it uses no randomness but `rng`.

    Raises:
        ConfigError: there is no such strategy, or the numbers are not what it takes.
    """
    _import_all()
    call = _CALL.fullmatch(name.strip())
    if call is None or call[1] not in _makers:
        raise ConfigError(f"No strategy is called '{name}'. There are: {', '.join(names())}.")
    try:
        numbers = [float(number) for number in call[2].split(",")] if call[2] else []
        return _makers[call[1]](rng, *numbers)
    except (TypeError, ValueError):
        raise ConfigError(
            f"The numbers of '{name}' are not what {call[1]} takes; "
            "write them as in threshold(0.2, 0.5)."
        ) from None


@cache
def _import_all() -> None:
    package = importlib.import_module("cardsharp.blef.strategies")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")
