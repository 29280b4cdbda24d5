"""The worker's handler with a strategy that thinks, so that a death can hit our own turns too."""

import threading
from random import Random

from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.strategies import Decision, Strategy, build, strategy
from worker.app import handler

__all__ = ["NAME", "handler"]

NAME = "thinking"
SECONDS = 0.15


@strategy(NAME)
class Thinking:
    """Decides as the champion does, after a while."""

    def __init__(self, rng: Random) -> None:
        self._inner: Strategy = build("champion", rng)

    def decide(self, position: Position) -> Decision:
        """The champion's decision."""
        threading.Event().wait(SECONDS)
        return self._inner.decide(position)
