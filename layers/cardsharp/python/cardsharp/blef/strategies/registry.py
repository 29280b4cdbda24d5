"""The strategies of Blef by name, some of which take numbers: `threshold(0.2, 0.5)`."""

import re
from collections.abc import Callable
from random import Random
from typing import TypeVar

from cardsharp.blef.strategies.base import Strategy
from cardsharp.errors import ConfigError
from cardsharp.registry import Registry

Maker = Callable[..., Strategy]
"""Takes a `Random`, and the numbers that the name has in parentheses, each with a default."""

M = TypeVar("M", bound=Maker)

_all: Registry[Maker] = Registry("cardsharp.blef.strategies")
names = _all.names

_CALL = re.compile(r"([a-z][a-z0-9-]*)(?:\(([0-9., ]*)\))?")


def strategy(name: str) -> Callable[[M], M]:
    """Decorator: registers a class or function that makes a strategy from a `Random`."""

    def register(maker: M) -> M:
        _all.makers[name] = maker
        return maker

    return register


def build(name: str, rng: Random) -> Strategy:
    """A new strategy, e.g. `greedy` or `threshold(0.2, 0.5)`; it uses no randomness but `rng`.

    Raises:
        ConfigError: there is no such strategy, or the numbers are not what it takes.
    """
    call = _CALL.fullmatch(name.strip())
    maker = _all.maker(name if call is None else call[1])
    try:
        numbers = [float(number) for number in call[2].split(",")] if call and call[2] else []
        return maker(rng, *numbers)
    except (TypeError, ValueError):
        raise ConfigError(
            f"The numbers of '{name}' are not what the strategy takes; "
            "write them as in threshold(0.2, 0.5)."
        ) from None
