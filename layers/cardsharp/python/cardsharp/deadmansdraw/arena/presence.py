"""Who is there: when each player last asked for a match, waited for a turn or acted."""

from datetime import datetime
from typing import Protocol


class Presence(Protocol):
    """When the arena last heard of its players."""

    def note(self, player: str, at: datetime) -> None:
        """Keep that a player was heard of."""

    def last(self, player: str) -> datetime | None:
        """When a player was last heard of, None where it never was."""


class Heard:
    """Presence in one process; who was there before it began is not known."""

    def __init__(self) -> None:
        self._last: dict[str, datetime] = {}

    def note(self, player: str, at: datetime) -> None:
        """Keep that a player was heard of."""
        self._last[player] = at

    def last(self, player: str) -> datetime | None:
        """When a player was last heard of, None where it never was."""
        return self._last.get(player)
