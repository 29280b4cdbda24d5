"""The deals: a codec over the port of what is kept (`cardsharp.keep.port`), a document a deal.

| partition | sort | body |
|---|---|---|
| token#TOKEN | deal#GAME#DEAL | `cards`: 24 numbers with commas; `events`: a JSON text a line |

GAME and DEAL have ten digits each. Deals expire some hours after they began: no call marks the end
of a game, and so nothing else can clean up (docs/spec/euchre.md section 5).

A deal is its cards, and what was reported or answered, in order of arrival. An event is stored
under its natural key, by which a repeated request is known. Its text form is a JSON list whose
first element names the kind.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from cardsharp.cloud.dynamodb_items import Item
from cardsharp.cloud.ports import Clock
from cardsharp.errors import StoreError
from cardsharp.euchre.cards import DECK, Card
from cardsharp.keep.port import Keep, Key, Put
from cardsharp.keep.stores import Store

EventKey = tuple[str | int | bool, ...]


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
    def key(self) -> EventKey:
        """A bid is repeated under the same round and position, by the same method."""
        return ("bid", self.ours, self.round, self.pos)


class SwapEvent(NamedTuple):
    """Our own discard, and who called."""

    declarer: int
    card: Card

    @property
    def key(self) -> EventKey:
        """There is one discard in a deal."""
        return ("swap",)


class DefenseEvent(NamedTuple):
    """Whether a seat defends alone."""

    pos: int
    alone: bool

    @property
    def key(self) -> EventKey:
        """A seat answers once."""
        return ("defense", self.pos)


class PlayEvent(NamedTuple):
    """A card played, ours or another's."""

    trick: int
    seq: int
    pos: int
    card: Card

    @property
    def key(self) -> EventKey:
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

    def find(self, key: EventKey) -> Event | None:
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


LIFE = timedelta(hours=24)  # how long a deal is kept


@dataclass(frozen=True, slots=True)
class Deals:
    """Deals by key, as of now; every method raises `StoreError` if it fails."""

    keep: Keep
    clock: Clock

    def begin(self, key: DealKey, cards: tuple[Card, ...]) -> None:
        """Keep a new deal in the place of any older one of that key."""
        self._write(Record(key, cards, expires=self.clock.now() + LIFE), None)

    def read(self, key: DealKey) -> Record | None:
        """A deal with every event that was acknowledged, or None."""
        found = self.keep.get(_place(key))
        if found is None:
            return None
        events = str(found.body.get("events")).splitlines()
        try:
            cards = tuple(map(int, str(found.body.get("cards")).split(",")))
        except ValueError:
            cards = ()
        if sorted(cards) != list(DECK):
            raise StoreError("The cards of a stored deal cannot be read.")
        return Record(key, cards, tuple(map(decode_event, events)), found.version, found.expires)

    def append(self, record: Record, event: Event) -> None:
        """Add an event to the deal as it was read; raises `Conflict` if it has changed since."""
        self._write(replace(record, log=(*record.log, event)), record.version)

    def close(self) -> None:
        """Let go of files and connections; nothing is asked of it any more."""
        self.keep.close()

    def _write(self, record: Record, expected: int | None) -> None:
        events = "".join(f"{encode_event(event)}\n" for event in record.log)
        body = {"cards": ",".join(map(str, record.cards)), "events": events}
        self.keep.commit(Put(_place(record.key), body, expected, record.expires))


def key_at(place: Key) -> DealKey:
    """The deal of which a document is."""
    _, game, deal = place.sort.split("#")
    return DealKey(place.partition.removeprefix("token#"), int(game), int(deal))


def _place(key: DealKey) -> Key:
    return Key(f"token#{key.token}", f"deal#{key.game:010}#{key.deal:010}")


def _earlier(item: Item) -> Mapping[str, object]:
    """The body of a deal that version 0.2 began: an attribute each, the events a list."""
    events = "".join(f"{event['S']}\n" for event in item["events"]["L"])
    return {"cards": item["cards"]["S"], "events": events}


DEAL_STORE = Store(
    Deals,
    "EUCHRE_STORE",
    "file of deals",
    Path(__file__).with_name("deals.sql"),
    {"earlier": _earlier},
)
