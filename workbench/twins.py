"""The compiled twins of strategies, from `research/` where that folder is there.

Nothing here depends on it: where the folder or a C compiler is missing, plain Python plays the
same matches, only slower.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

_WHERE = "research.twins"


def twin_function(name: str) -> Callable[..., Any] | None:
    """The function of that name in `research/twins.py`, None where there is no such folder."""
    try:
        module = import_module(_WHERE)
    except ModuleNotFoundError as error:
        if error.name not in ("research", _WHERE):
            raise
        return None
    found: Callable[..., Any] = getattr(module, name)
    return found
