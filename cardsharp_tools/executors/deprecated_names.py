"""Import paths and names of version 0.2, which strategy files may use until 0.4.0.

`cardsharp.deadmansdraw.position` is `cardsharp.games.deadmansdraw.position` today, and
`Position.pending` is `Position.pending_effect`. A strategy file that still uses the old names gets
the new things and a `DeprecationWarning`. `deprecated_names.toml` lists the names; docs/naming.md
has all of them.
"""

import sys
import tomllib
import warnings
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from pathlib import Path
from types import ModuleType
from typing import Any

REMOVED_IN = "0.4.0"

Names = Mapping[str, Mapping[str, str]]


@cache
def _load_rename_tables() -> tuple[Mapping[str, str], Names, Names]:
    """Return the new names by the old ones.

    These are the names of modules, of each module's members, and of attributes of classes.
    """
    text = Path(__file__).with_suffix(".toml").read_text("utf-8")
    tables = tomllib.loads(text)
    return tables["modules"], tables["names"], tables["attributes"]


def _warn_deprecated(old_name: str, new_name: str) -> None:
    message = f"{old_name} is called {new_name} since 0.3.0; the old name goes in {REMOVED_IN}"
    warnings.warn(message, DeprecationWarning, stacklevel=3)


class _OldModule(ModuleType):
    """Module under its old path; it looks up every name in the new module."""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the new module has
        """Return the thing that the old name meant."""
        if name.startswith("__"):
            raise AttributeError(name)
        modules, names_by_module, _ = _load_rename_tables()
        new_name = names_by_module.get(self.__name__, {}).get(name, name)
        return getattr(import_module(modules[self.__name__]), new_name)


class _OldModuleLoader(Loader):
    """Loader of a module under its old path."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return a module that forwards to the new one."""
        modules, _, _ = _load_rename_tables()
        _warn_deprecated(spec.name, modules[spec.name])
        return _OldModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Mark it as a package, and give the classes of its game their old attributes."""
        module.__path__ = []
        modules, _, attributes = _load_rename_tables()
        game = ".".join(modules[module.__name__].split(".")[:3])
        for class_path, renamed in attributes.items():
            owner, _, name = class_path.partition(":")
            if owner.startswith(f"{game}."):
                _add_old_attributes(getattr(import_module(owner), name), renamed)


class _OldModuleFinder(MetaPathFinder):
    """Finder of the modules that have moved since 0.2."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,  # noqa: ARG002 - the import system's own
        target: ModuleType | None = None,  # noqa: ARG002 - as above
    ) -> ModuleSpec | None:
        """Return a spec for an old path, and None for any other."""
        modules, _, _ = _load_rename_tables()
        return spec_from_loader(fullname, _OldModuleLoader()) if fullname in modules else None


def _add_old_attributes(owner: type[Any], renamed: Mapping[str, str]) -> None:
    """Add the old names of attributes to a class, as properties that warn."""
    for old_name, new_name in renamed.items():
        if not hasattr(owner, old_name):
            setattr(
                owner,
                old_name,
                property(_create_deprecated_getter(f"{owner.__name__}.{old_name}", new_name)),
            )


def _create_deprecated_getter(old_name: str, new_name: str) -> Any:  # noqa: ANN401 - a getter of any class's attribute
    """Return a getter that warns and reads the attribute under its new name."""

    def get(instance: object) -> Any:  # noqa: ANN401 - the attribute's own type
        _warn_deprecated(old_name, new_name)
        return getattr(instance, new_name)

    return get


def install() -> None:
    """Make the old import paths work in this process from now on."""
    if not any(isinstance(finder, _OldModuleFinder) for finder in sys.meta_path):
        # First, or a folder that an update left behind would be taken for a package.
        sys.meta_path.insert(0, _OldModuleFinder())
