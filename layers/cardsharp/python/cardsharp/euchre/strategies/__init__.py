"""Strategies: one module each, one method each, found by name.

To add one, copy the smallest (`chance.py`), give it a name with `@strategy("name")` and decide.
A strategy remembers nothing and throws no dice of its own: all it may know is in the `Position`,
and whatever randomness it wants it draws from its `seed`. So the same question has one answer, on
any machine, and no hidden card can leak into it.
"""

from cardsharp.euchre.strategies.base import Decision, Option, Stopwatch, Strategy
from cardsharp.euchre.strategies.registry import about, build, names, strategy

__all__ = ["Decision", "Option", "Stopwatch", "Strategy", "about", "build", "names", "strategy"]
