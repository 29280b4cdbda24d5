"""Strategies: one module each, one method each, found by name.

To add one, copy the smallest (`greedy.py`), give it a name with `@strategy("name")` and decide.
A strategy remembers nothing: all it may know is in the `Position`.
"""

from cardsharp.blef.strategies.base import Decision, Option, Strategy
from cardsharp.blef.strategies.registry import about, build, names, strategy

__all__ = ["Decision", "Option", "Strategy", "about", "build", "names", "strategy"]
