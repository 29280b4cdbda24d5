"""The port of the games: what the service may ask of the place where they are kept.

Adapters raise `StoreError` for a failing backend and `Conflict` where somebody else was first.
A game that has expired is absent, whether or not it was already removed.
"""

import hashlib
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Protocol

from cardsharp.blef.records import ClosedRound, GameRecord, room_of
from cardsharp.blef.state import Round

LIST_LIMIT = 500
"""Public games in the list."""


@dataclass(frozen=True, slots=True)
class Saved:
    """A game as it was read: `version` grows by one with every change.

    `receipts` belong to the adapter, which knows its own writes again by them.
    """

    game: GameRecord
    version: int
    changed: datetime
    expires: datetime
    receipts: tuple[str, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class Listing:
    """A public game as the list shows it."""

    uuid: str
    nicknames: tuple[str, ...]
    started: bool
    changed: datetime

    @property
    def room(self) -> int:
        """The number by which people know the game."""
        return room_of(self.uuid)


_STEP = timedelta(milliseconds=2)


def moment_of(now: datetime, before: datetime) -> datetime:
    """When a change counts as made: after the one before, whatever the clocks of two machines say.

    Clients leave out what is not newer than what they know.
    """
    return max(now, before + _STEP)


def closed_at(changed: datetime, closed: Round) -> ClosedRound:
    """A round as a change closed it: a moment before the game as it is then."""
    return ClosedRound(closed, changed - _STEP / 2)


def caller_on(day: date, caller: str) -> str:
    """Under what a caller's games of a day are counted: the address itself is nowhere kept."""
    return hashlib.sha256(f"{day} {caller}".encode()).hexdigest()


class GameStore(Protocol):
    """Games, their closed rounds, and how many there are."""

    def create(self, game: GameRecord) -> None:
        """Keep a new game."""
        ...

    def admit(self, caller: str, most: int) -> bool:
        """Count a game that a caller creates today; False where `most` are counted already."""
        ...

    def read(self, game_uuid: str) -> Saved | None:
        """A game as of now, with every change that was acknowledged, or None."""
        ...

    def write(self, saved: Saved, game: GameRecord, closed: Round | None = None) -> Saved:
        """Put `game` in the place of what was read, together with the round that it closed.

        Returns what is there now. Raises `Conflict` if the game was changed after `saved` was
        read; nothing is written then.
        """
        ...

    def closed_round(self, game_uuid: str, number: int) -> ClosedRound | None:
        """A closed round of a game, or None."""
        ...

    def listed(self) -> list[Listing]:
        """The public games that changed recently, by uuid; a change may show late.

        Of more than `LIST_LIMIT` the last changed.
        """
        ...

    def count_active(self) -> int:
        """How many games changed recently, to the minute."""
        ...

    def count_all(self) -> int:
        """How many games there are; one may be counted up to a day after it expired.

        One that nobody has joined, up to an hour.
        """
        ...
