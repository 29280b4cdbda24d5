"""Strategy files as modules that any process can import by their names.

A process that a strategy starts, as `multiprocessing` does, gets functions and objects by the name
of their module. So a file's module lies in this one, and its name tells where the file is.
"""

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType
from urllib.parse import quote, unquote

from cardsharp_tools.executors import deprecated_names

__path__: list[str] = []  # as of a package, so that there are modules in it

_START = f"{__name__}."

RELATIVE = (
    "a strategy file is no part of a package, so it has no relative imports; write `from {0} "
    "import ...`, or `import {0}`, for a module that lies beside it"
)
"""Error message for a relative import in a strategy file; it says what to write instead."""


def name_of(file: Path) -> str:
    """The name of a file's module; the path is absolute."""
    return _START + quote(str(file), safe="").replace(".", "%2E")


class _Finder(MetaPathFinder):
    """Finds the file of such a module."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,  # noqa: ARG002 - the import system's own
        target: ModuleType | None = None,  # noqa: ARG002 - as above
    ) -> ModuleSpec | None:
        """Return the import spec of a strategy file; raise `ImportError` for a relative import.

        Returns None for any other module.
        """
        if not fullname.startswith(_START):
            return None
        file = Path(unquote(fullname.removeprefix(_START)))
        if not file.is_absolute():
            raise ImportError(RELATIVE.format(file))
        return spec_from_file_location(fullname, file)


sys.meta_path.append(_Finder())
deprecated_names.install()
