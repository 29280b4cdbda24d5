"""Store of deals: a codec over `cardsharp.store.documents`, one document a deal.

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

from cardsharp.aws.dynamodb_attributes import Item
from cardsharp.core.clock import Clock
from cardsharp.errors import StoreError
from cardsharp.games.euchre.cards import DECK, Card
from cardsharp.store.documents import DocumentStore, Key, Put
from cardsharp.store.factories import StoreFactory

EventKey = tuple[str | int | bool, ...]


@dataclass(frozen=True, slots=True)
class DealKey:
    """Key of a deal; if a key is used again, it overwrites the older deal."""

    token: str
    game: int
    deal: int


class BidEvent(NamedTuple):
    """A bid, with the round and position exactly as they were sent.

    `is_answer` is True for our answer, False for a reported bid. `suit` is -1 for a pass.
    """

    is_answer: bool
    round: int
    bid_index: int
    suit: int
    alone: bool

    @property
    def key(self) -> EventKey:
        """Key of the event: repeated bids of the same round, position and method share it."""
        return ("bid", self.is_answer, self.round, self.bid_index)


class DiscardEvent(NamedTuple):
    """Our discard, and the seat that called."""

    caller_seat: int
    card: Card

    @property
    def key(self) -> EventKey:
        """Key of the event; a deal has one discard."""
        return ("swap",)


class DefenseEvent(NamedTuple):
    """Answer of a seat about defending alone."""

    seat: int
    alone: bool

    @property
    def key(self) -> EventKey:
        """Key of the event; a seat answers once."""
        return ("defense", self.seat)


class PlayEvent(NamedTuple):
    """A card played, by us or by another seat."""

    trick: int
    trick_position: int
    seat: int
    card: Card

    @property
    def key(self) -> EventKey:
        """Key of the event; a seat plays one card to a trick."""
        return ("play", self.trick, self.seat)


Event = BidEvent | DiscardEvent | DefenseEvent | PlayEvent

_EVENT_CLASSES = {"bid": BidEvent, "swap": DiscardEvent, "defense": DefenseEvent, "play": PlayEvent}
_EVENT_NAMES = {kind: name for name, kind in _EVENT_CLASSES.items()}
_EVENT_BY_SHAPE: dict[tuple[object, ...], Callable[..., Event]] = {
    (name, *kind.__annotations__.values()): kind for name, kind in _EVENT_CLASSES.items()
}
"""The kinds by their name and the types of their values."""


@dataclass(frozen=True, slots=True)
class DealRecord:
    """A deal as it was read: `version` counts what was written under its key."""

    key: DealKey
    cards: tuple[Card, ...]
    raw_events: tuple[Event, ...] = ()
    version: int = 0
    expires_at: datetime | None = None

    @property
    def deduplicated_events(self) -> tuple[Event, ...]:
        """The events in order; the last one with a key replaces the earlier ones."""
        return tuple({event.key: event for event in self.raw_events}.values())

    def find_last_event(self, key: EventKey) -> Event | None:
        """Return the last event with that key, or None."""
        return next((event for event in reversed(self.raw_events) if event.key == key), None)


def encode_event(event: Event) -> str:
    """Return an event as JSON text."""
    return json.dumps([_EVENT_NAMES[type(event)], *event], separators=(",", ":"))


def decode_event(text: str) -> Event:
    """The event that `encode_event` made this text from; raises `StoreError` if none did."""
    try:
        name, *values = json.loads(text)
        return _EVENT_BY_SHAPE[name, *map(type, values)](*values)
    except (ValueError, KeyError, TypeError) as error:
        raise StoreError(f"A stored event cannot be read: {text!r}.") from error


DEAL_TTL = timedelta(hours=24)  # how long a deal is kept


@dataclass(frozen=True, slots=True)
class DealStore:
    """Deals by key, as of now; every method raises `StoreError` if it fails."""

    documents: DocumentStore
    clock: Clock

    def begin(self, key: DealKey, cards: tuple[Card, ...]) -> None:
        """Store a new deal, replacing any older one of that key."""
        self._write(DealRecord(key, cards, expires_at=self.clock.now() + DEAL_TTL), None)

    def read(self, key: DealKey) -> DealRecord | None:
        """A deal with every event that was acknowledged, or None."""
        document = self.documents.get(_to_document_key(key))
        if document is None:
            return None
        events = str(document.body.get("events")).splitlines()
        try:
            cards = tuple(map(int, str(document.body.get("cards")).split(",")))
        except ValueError:
            cards = ()
        if sorted(cards) != list(DECK):
            raise StoreError("The cards of a stored deal cannot be read.")
        return DealRecord(
            key, cards, tuple(map(decode_event, events)), document.version, document.expires_at
        )

    def append(self, record: DealRecord, event: Event) -> None:
        """Append an event to a deal that was read; raise `WriteConflict` if the deal changed."""
        self._write(replace(record, raw_events=(*record.raw_events, event)), record.version)

    def close(self) -> None:
        """Close files and connections; the store cannot be used any more."""
        self.documents.close()

    def _write(self, record: DealRecord, expected_version: int | None) -> None:
        events = "".join(f"{encode_event(event)}\n" for event in record.raw_events)
        body = {"cards": ",".join(map(str, record.cards)), "events": events}
        self.documents.commit(
            Put(_to_document_key(record.key), body, expected_version, record.expires_at)
        )


def deal_key_of(document_key: Key) -> DealKey:
    """Return the deal key of a document's key."""
    _, game, deal = document_key.sort_key.split("#")
    return DealKey(document_key.partition_key.removeprefix("token#"), int(game), int(deal))


def _to_document_key(key: DealKey) -> Key:
    return Key(f"token#{key.token}", f"deal#{key.game:010}#{key.deal:010}")


def _decode_legacy_deal(item: Item) -> Mapping[str, object]:
    """Return the body of a deal that version 0.2 began.

    There each field was an attribute, and the events were a list.
    """
    events = "".join(f"{event['S']}\n" for event in item["events"]["L"])
    return {"cards": item["cards"]["S"], "events": events}


DEAL_STORE_FACTORY = StoreFactory(
    DealStore,
    "EUCHRE_STORE",
    "file of deals",
    Path(__file__).with_name("deals.sql"),
    {"decode_legacy": _decode_legacy_deal},
)
