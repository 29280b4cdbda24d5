"""Strategies: one module each, one method each, found by name.

To add one, copy the smallest (`example_clients.py`), give it a name with `@strategy("name")` and
decide. A strategy is rebuilt for every turn and remembers nothing: all it may know is in the
`Position`.
"""

from cardsharp.deadmansdraw.strategies.base import Chance, Decision, Hurrying, Option, Strategy
from cardsharp.deadmansdraw.strategies.registry import about, build, names, strategy

__all__ = [
    "Chance",
    "Decision",
    "Hurrying",
    "Option",
    "Strategy",
    "about",
    "build",
    "names",
    "strategy",
]
