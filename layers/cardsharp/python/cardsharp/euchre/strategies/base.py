"""What a strategy is: one method, from a view to a decision with its reason."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from cardsharp.euchre.actions import Action
from cardsharp.euchre.view import View

Stopwatch = Callable[[], float]
"""Seconds that never go back, for a strategy that must not take too long."""


def standing() -> float:
    """A stopwatch on which no time passes: decisions end by their work alone."""
    return 0.0


@dataclass(frozen=True, slots=True)
class Option:
    """A choice that was weighed; `points` is its expected gain in points of the deal, or None.

    A strategy that does not reckon in points leaves them out and says in `note` what it saw.
    """

    action: Action
    points: float | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    """The chosen action, why in one sentence, what else was weighed, and over how many worlds.

    `worlds` are the layouts of the hidden cards that were tried, 0 where none were. `cut` says
    that a limit of time ended the weighing early.
    """

    action: Action
    reason: str
    options: tuple[Option, ...] = ()
    worlds: int = 0
    cut: bool = False


class Strategy(Protocol):
    """A player: the same view, the same decision."""

    def decide(self, view: View) -> Decision:
        """The answer to the view's question, one of its `choices`."""
        ...
