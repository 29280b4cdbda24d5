"""Strategies of one game by name: a module of its package registers what it defines."""

import importlib
import inspect
import pkgutil
from typing import Generic, TypeVar

from cardsharp.errors import ConfigError

M = TypeVar("M")


class Registry(Generic[M]):
    """What makes the strategies of `package`, whose modules are imported when one is asked for."""

    def __init__(self, package: str) -> None:
        self._package = package
        self.makers: dict[str, M] = {}

    def names(self) -> tuple[str, ...]:
        """The names of all strategies, sorted."""
        self._import_all()
        return tuple(sorted(self.makers))

    def maker(self, name: str) -> M:
        """What makes the strategy of that name.

        Raises:
            ConfigError: no strategy has this name; the message lists those that exist.
        """
        self._import_all()
        if name not in self.makers:
            there = ", ".join(self.names())
            raise ConfigError(f"No strategy is called '{name}'. There are: {there}.")
        return self.makers[name]

    def about(self, name: str) -> str:
        """A line about the strategy, from the docstring of what was registered.

        Raises:
            ConfigError: no strategy has this name.
        """
        return (inspect.getdoc(self.maker(name)) or "").partition("\n")[0]

    def _import_all(self) -> None:
        package = importlib.import_module(self._package)
        for module in pkgutil.iter_modules(package.__path__):
            importlib.import_module(f"{package.__name__}.{module.name}")
