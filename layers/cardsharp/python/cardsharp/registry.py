"""Strategies of one game by name: a module of its package registers what it defines."""

import importlib
import inspect
import logging
import pkgutil
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from cardsharp.errors import ConfigError

_log = logging.getLogger(__name__)

G = TypeVar("G")  # what a strategy is made from: chance, or a stopwatch
S = TypeVar("S")  # the game's strategies
M = TypeVar("M", bound=Callable[..., object])


_HOME_ONLY = " here: a file or a program of one's own plays at home, not in what is deployed"


class Registry(Generic[G, S]):
    """What makes the strategies of `package`, whose modules are imported when one is asked for."""

    def __init__(self, package: str) -> None:
        self._package = package
        self._makers: dict[str, Callable[..., S]] = {}
        self._guests: dict[str, Callable[..., S]] = {}
        self._broken: set[str] = set()
        _all[package] = self

    def strategy(self, name: str) -> Callable[[M], M]:
        """Decorator: registers a class or function that makes a strategy."""

        def register(maker: M) -> M:
            self._makers[name] = maker  # type: ignore[assignment]  # a class stays the class it is
            return maker

        return register

    def admit(self, name: str, maker: Callable[..., S]) -> None:
        """Have this made where the name is asked for; `names` does not list it."""
        self._guests[name] = maker

    def build(self, name: str, given: G) -> S:
        """A new strategy, made from `given` alone; `ConfigError` lists those that exist."""
        return self.maker(name)(given)

    def names(self) -> tuple[str, ...]:
        """The names of all strategies, sorted."""
        self._import_all()
        return tuple(sorted(self._makers))

    def maker(self, name: str) -> Callable[..., S]:
        """What makes the strategy of that name; raises as `build`."""
        if name in self._guests:
            return self._guests[name]
        if name not in self._makers:
            self._import_all()
        if name not in self._makers:
            there = ", ".join(self.names())
            where = _HOME_ONLY if " " in name or name.endswith((".py", ".json")) else ""
            raise ConfigError(f"No strategy is called '{name}'{where}. There are: {there}.")
        return self._makers[name]

    def about(self, name: str) -> str:
        """A line about the strategy, from the docstring of its maker; raises `ConfigError`."""
        return (inspect.getdoc(self.maker(name)) or "").partition("\n")[0]

    def _import_all(self) -> None:
        """Import all modules; one that fails is left out and named, once."""
        package = importlib.import_module(self._package)
        for module in pkgutil.iter_modules(package.__path__):
            name = f"{package.__name__}.{module.name}"
            if name in self._broken:
                continue
            try:
                importlib.import_module(name)
            except Exception as error:  # noqa: BLE001 - anybody's file; the others are to play
                self._broken.add(name)
                _log.warning("%s is left out: %s: %s", name, type(error).__name__, error)


_all: dict[str, Registry[Any, Any]] = {}


def strategies_of(package: str) -> Registry[Any, Any]:
    """The strategies of a game, by the name of their package (`Game.strategies`)."""
    importlib.import_module(package)
    return _all[package]
