"""Registry of a game's strategies by name. Each module of a package registers its own."""

import importlib
import inspect
import logging
import pkgutil
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from cardsharp.errors import ConfigError

_log = logging.getLogger(__name__)

G = TypeVar("G")  # the factories' argument: a random generator or a clock
S = TypeVar("S")  # the game's strategies
M = TypeVar("M", bound=Callable[..., object])


_LOCAL_ONLY_HINT = " here: a strategy from a file or program plays only on your own computer"


class StrategyRegistry(Generic[G, S]):
    """Registry of the strategies in `package`. Its modules are imported on first use."""

    def __init__(self, package: str) -> None:
        self._package = package
        self._makers: dict[str, Callable[..., S]] = {}
        self._local_makers: dict[str, Callable[..., S]] = {}
        self._broken_modules: set[str] = set()
        _registries[package] = self

    def register(self, name: str) -> Callable[[M], M]:
        """Return a decorator that registers a class or function as the factory of a strategy."""

        def register(maker: M) -> M:
            self._makers[name] = maker  # type: ignore[assignment]  # a class stays the class it is
            return maker

        return register

    def register_unlisted(self, name: str, factory: Callable[..., S]) -> None:
        """Register a factory under this name; `names` does not list it."""
        self._local_makers[name] = factory

    def build(self, name: str, argument: G) -> S:
        """Return a new strategy built from `argument`; raise `ConfigError` if there is none."""
        return self.factory(name)(argument)

    def names(self) -> tuple[str, ...]:
        """Return the names of all strategies, sorted."""
        self._import_all()
        return tuple(sorted(self._makers))

    def factory(self, name: str) -> Callable[..., S]:
        """Return the factory of the strategy with this name; raises as `build`."""
        if name in self._local_makers:
            return self._local_makers[name]
        if name not in self._makers:
            self._import_all()
        if name not in self._makers:
            existing_names = ", ".join(self.names())
            hint = _LOCAL_ONLY_HINT if " " in name or name.endswith((".py", ".json")) else ""
            raise ConfigError(f"No strategy is called '{name}'{hint}. There are: {existing_names}.")
        return self._makers[name]

    def summary(self, name: str) -> str:
        """Return the first line of the docstring of a strategy's factory.

        Raises `ConfigError` if there is no such strategy.
        """
        return (inspect.getdoc(self.factory(name)) or "").partition("\n")[0]

    def _import_all(self) -> None:
        """Import all modules of the package; log a module that fails once and skip it."""
        package = importlib.import_module(self._package)
        for module in pkgutil.iter_modules(package.__path__):
            name = f"{package.__name__}.{module.name}"
            if name in self._broken_modules:
                continue
            try:
                importlib.import_module(name)
            except Exception as error:  # noqa: BLE001 - one broken file must not disable the others
                self._broken_modules.add(name)
                _log.warning("%s is left out: %s: %s", name, type(error).__name__, error)


_registries: dict[str, StrategyRegistry[Any, Any]] = {}


def registry_for(package: str) -> StrategyRegistry[Any, Any]:
    """Return the registry of a game's strategies by their package (`Game.strategy_package`)."""
    importlib.import_module(package)
    return _registries[package]
