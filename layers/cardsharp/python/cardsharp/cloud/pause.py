"""Whether new matches are taken up: a switch that an operator turns.

A pause stops nothing that runs: the matches of the match log are watched over and played on.
"""

from typing import Protocol


class PauseSwitch(Protocol):
    """The switch as poller and practice see it."""

    def is_on(self) -> bool:
        """Whether new matches are to be left alone, as of now."""
        ...


class NeverPaused:
    """The switch of a home on this machine, which is paused by stopping it."""

    def is_on(self) -> bool:
        """False, always."""
        return False
