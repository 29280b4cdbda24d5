"""A deal as it is stored: the cards, and what was reported or answered, in order of arrival.

An event is stored under its natural key, by which a repeated request is known. Its text form is
a JSON list whose first element names the kind.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from cardsharp.errors import StoreError
from cardsharp.euchre.cards import Card

Key = tuple[str | int | bool, ...]


@dataclass(frozen=True, slots=True)
class DealKey:
    """Which deal; keys repeat, and then the older deal is overwritten."""

    token: str
    game: int
    deal: int


class BidEvent(NamedTuple):
    """A bid with the round and position as they were sent, which are no more than its name.

    `ours` tells our own answer from a report. `suit` is -1 for a pass.
    """

    ours: bool
    round: int
    pos: int
    suit: int
    alone: bool

    @property
    def key(self) -> Key:
        """A bid is repeated under the same round and position, by the same method."""
        return ("bid", self.ours, self.round, self.pos)


class SwapEvent(NamedTuple):
    """Our own discard, and who called."""

    declarer: int
    card: Card

    @property
    def key(self) -> Key:
        """There is one discard in a deal."""
        return ("swap",)


class DefenseEvent(NamedTuple):
    """Whether a seat defends alone."""

    pos: int
    alone: bool

    @property
    def key(self) -> Key:
        """A seat answers once."""
        return ("defense", self.pos)


class PlayEvent(NamedTuple):
    """A card played, ours or another's."""

    trick: int
    seq: int
    pos: int
    card: Card

    @property
    def key(self) -> Key:
        """A seat plays one card to a trick."""
        return ("play", self.trick, self.pos)


Event = BidEvent | SwapEvent | DefenseEvent | PlayEvent

_KINDS = {"bid": BidEvent, "swap": SwapEvent, "defense": DefenseEvent, "play": PlayEvent}
_NAMES = {kind: name for name, kind in _KINDS.items()}
_SHAPES: dict[tuple[object, ...], Callable[..., Event]] = {
    (name, *kind.__annotations__.values()): kind for name, kind in _KINDS.items()
}
"""The kinds by their name and the types of their values."""


@dataclass(frozen=True, slots=True)
class Record:
    """A deal as it was read: `version` counts what was written under its key."""

    key: DealKey
    cards: tuple[Card, ...]
    log: tuple[Event, ...] = ()
    version: int = 0
    expires: datetime | None = None

    @property
    def events(self) -> tuple[Event, ...]:
        """The events in order, of those with the same key only the last, in the first's place."""
        return tuple({event.key: event for event in self.log}.values())

    def find(self, key: Key) -> Event | None:
        """The event of that key."""
        return next((event for event in reversed(self.log) if event.key == key), None)


def encode_event(event: Event) -> str:
    """An event as JSON text."""
    return json.dumps([_NAMES[type(event)], *event], separators=(",", ":"))


def decode_event(text: str) -> Event:
    """The event that `encode_event` made this text from; raises `StoreError` if none did."""
    try:
        name, *values = json.loads(text)
        return _SHAPES[name, *map(type, values)](*values)
    except (ValueError, KeyError, TypeError) as error:
        raise StoreError(f"A stored event cannot be read: {text!r}.") from error
