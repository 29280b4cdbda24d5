"""Compiled twins of strategies, which `cardsharp_tools/research/` provides.

The lab does not depend on them: without that folder, or without a C compiler, plain Python plays
the same matches, only slower.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

_NATIVE_MODULE = "cardsharp_tools.research.native_engines"


def find_native_function(name: str) -> Callable[..., Any] | None:
    """Return a function of the compiled code by its name.

    It is in `cardsharp_tools/research/native_engines.py`. The result is None if that folder does
    not exist.
    """
    try:
        module = import_module(_NATIVE_MODULE)
    except ModuleNotFoundError as error:
        if error.name not in ("cardsharp_tools.research", _NATIVE_MODULE):
            raise
        return None
    function: Callable[..., Any] = getattr(module, name)
    return function
