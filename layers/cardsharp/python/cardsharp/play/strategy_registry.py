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


class StrategyRegistry(Generic[G, S]):
    """Registry of the strategies in `package`, whose modules are imported on first use."""

    def __init__(self, package: str) -> None:
        self._package = package
        self._makers: dict[str, Callable[..., S]] = {}
        self._guests: dict[str, Callable[..., S]] = {}
        self._broken: set[str] = set()
        _all[package] = self

    def register(self, name: str) -> Callable[[M], M]:
        """Decorator: registers a class or function that makes a strategy."""

        def register(maker: M) -> M:
            self._makers[name] = maker  # type: ignore[assignment]  # a class stays the class it is
            return maker

        return register

    def register_external(self, name: str, factory: Callable[..., S]) -> None:
        """Register a factory under this name; `names` does not list it."""
        self._guests[name] = factory

    def build(self, name: str, argument: G) -> S:
        """Return a new strategy built from `argument`; raise `ConfigError` if there is none."""
        return self.factory(name)(argument)

    def names(self) -> tuple[str, ...]:
        """The names of all strategies, sorted."""
        self._import_all()
        return tuple(sorted(self._makers))

    def factory(self, name: str) -> Callable[..., S]:
        """Return the factory of the strategy with this name; raises as `build`."""
        if name in self._guests:
            return self._guests[name]
        if name not in self._makers:
            self._import_all()
        if name not in self._makers:
            existing_names = ", ".join(self.names())
            hint = _HOME_ONLY if " " in name or name.endswith((".py", ".json")) else ""
            raise ConfigError(f"No strategy is called '{name}'{hint}. There are: {existing_names}.")
        return self._makers[name]

    def summary(self, name: str) -> str:
        """A line about the strategy, from the docstring of its maker; raises `ConfigError`."""
        return (inspect.getdoc(self.factory(name)) or "").partition("\n")[0]

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


_all: dict[str, StrategyRegistry[Any, Any]] = {}


def registry_for(package: str) -> StrategyRegistry[Any, Any]:
    """Return the registry of a game's strategies by their package (`Game.strategy_package`)."""
    importlib.import_module(package)
    return _all[package]
