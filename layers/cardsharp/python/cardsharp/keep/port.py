"""The one port under what is kept: documents by key, changed all or nothing.

It promises what a conditional transaction of DynamoDB and one of SQLite both do well, and nothing
else. A store is a codec over it: it says which documents there are and what their bodies mean.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from cardsharp.errors import Conflict

MOST_CHANGES = 100  # documents in one commit: as many as a transaction of DynamoDB takes


class Key(NamedTuple):
    """Where a document is. Those of a partition are kept in the order of their `sort`."""

    partition: str
    sort: str


class Document(NamedTuple):
    """A document as it was read; `version` counts its writes from 1."""

    key: Key
    version: int
    body: Mapping[str, object]
    expires: datetime | None = None


class Listed(NamedTuple):
    """How a document stands in a list: in the order of `at`, with what the list shows of it."""

    name: str
    at: datetime
    shown: Mapping[str, str | bool]


class Put(NamedTuple):
    """Write a document that has the `expected` version; 0 for one that must not be there.

    With None it is written unread, whatever is there. From `expires` on it is as if it were not
    there. It stands in a list for as long as it is written with `listed`.
    """

    key: Key
    body: Mapping[str, object]
    expected: int | None = 0
    expires: datetime | None = None
    listed: Listed | None = None


class Delete(NamedTuple):
    """Remove a document of the `expected` version; with None unread and alone, if it is there."""

    key: Key
    expected: int | None


class Add(NamedTuple):
    """Add to a count, unread and whoever else adds; where there is none it begins at 0.

    It is read as a document of version 1 with the body `{"count": ...}`, and is `most` at most.
    """

    key: Key
    by: int
    expires: datetime
    most: int | None = None


Change = Put | Delete | Add


class Keep(Protocol):
    """Keeps documents, for any number of processes at once; every method raises `StoreError`."""

    def get(self, key: Key) -> Document | None:
        """A document with every change that was acknowledged; None where there is none."""

    def range(self, partition: str, after: str = "", most: int = 1000) -> Sequence[Document]:
        """At most so many documents of a partition whose `sort` is greater, in order."""

    def commit(self, *changes: Change) -> None:
        """Make all changes, of different documents, or none; raises `Conflict` if one cannot be."""

    def entries(self, name: str, since: datetime, most: int) -> Sequence[tuple[Key, Listed]]:
        """At most so many entries of a list after a moment, the last first; a change may be late.

        One that has expired may be among them, and one that cannot be read is left out.
        """

    def close(self) -> None:
        """Let go of what it holds; it cannot be used afterwards."""


def is_done(keep: Keep, *changes: Change) -> bool:
    """Make the changes; whether nothing was in their way."""
    try:
        keep.commit(*changes)
    except Conflict:
        return False
    return True
