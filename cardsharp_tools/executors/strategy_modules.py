"""Strategy files as modules that any process can import by their names.

A process that a strategy starts with `multiprocessing` gets functions and objects by the name of
their module. So the module of a strategy file is a submodule of this one, and its name contains
the path of the file. Any process that imports this module can then find the file.
"""

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

from cardsharp_tools.executors import deprecated_names
from cardsharp_tools.executors.path_quoting import quote_path, unquote_path

__path__: list[str] = []  # as of a package, so that there are modules in it

_MODULE_PREFIX = f"{__name__}."

RELATIVE = (
    "a strategy file is not part of a package, so relative imports do not work; write `from {0} "
    "import ...` or `import {0}` for a module in the same folder"
)
"""Error message for a relative import in a strategy file; it says what to write instead."""


def module_name(file: Path) -> str:
    """Return the module name of a file, given by its absolute path."""
    return _MODULE_PREFIX + quote_path(file, safe="").replace(".", "%2E")


class _StrategyModuleFinder(MetaPathFinder):
    """Import hook that finds the file of a strategy module by its name."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,  # noqa: ARG002 - the import system's own
        target: ModuleType | None = None,  # noqa: ARG002 - as above
    ) -> ModuleSpec | None:
        """Return the import spec of a strategy file; raise `ImportError` for a relative import.

        Returns None for any other module.
        """
        if not fullname.startswith(_MODULE_PREFIX):
            return None
        file = unquote_path(fullname.removeprefix(_MODULE_PREFIX))
        if not file.is_absolute():
            raise ImportError(RELATIVE.format(file))
        return spec_from_file_location(fullname, file)


sys.meta_path.append(_StrategyModuleFinder())
deprecated_names.install()
