"""The port of the deals: what the service may ask of the place where they are kept.

Adapters raise `StoreError` for a failing backend and `Conflict` where somebody else was first.
Every read is as of now. Deals expire some hours after they began: no call marks the end of a
game, and so nothing else can clean up (docs/spec/euchre.md section 5).
"""

from datetime import timedelta
from typing import Protocol

from cardsharp.euchre.cards import Card
from cardsharp.euchre.records import DealKey, Event, Record

LIFE = timedelta(hours=24)
"""How long a deal is kept."""


class DealStore(Protocol):
    """Deals by key."""

    def begin(self, key: DealKey, cards: tuple[Card, ...]) -> None:
        """Keep a new deal in the place of any older one of that key."""
        ...

    def read(self, key: DealKey) -> Record | None:
        """A deal with every event that was acknowledged, or None."""
        ...

    def append(self, record: Record, event: Event) -> None:
        """Add an event to the deal as it was read.

        Raises `Conflict` if it has changed since then, has begun anew or is gone.
        """
        ...
