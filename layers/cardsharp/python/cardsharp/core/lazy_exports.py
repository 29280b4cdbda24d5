"""Public names of a package that are imported at their first use.

A package's `__init__` lists them, so that a reader sees its face, and functions that import one of
its modules do not pay for all the others.
"""

from collections.abc import Callable, Mapping
from importlib import import_module


def lazy_exports(package: str, modules: Mapping[str, str]) -> Callable[[str], object]:
    """Return a `__getattr__` for a package whose names lie in those of its modules.

    `modules` maps each public name to the module that defines it, relative to the package. Where
    the class has a longer name of its own, it follows behind a colon: "position:BlefPosition".
    """

    def get(name: str) -> object:
        module = modules.get(name)
        if module is None:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        module, _, own_name = module.partition(":")
        return getattr(import_module(f"{package}.{module}"), own_name or name)

    return get
