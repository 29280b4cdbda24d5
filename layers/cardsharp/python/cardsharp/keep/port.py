"""The one port under what is kept: documents by key, changed all or nothing.

It promises what a conditional transaction of DynamoDB and one of SQLite both do well, and nothing
else. A store is a codec over it: it says which documents there are and what their bodies mean.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

MOST_CHANGES = 100
"""Documents in one commit: as many as a transaction of DynamoDB takes."""


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


class Put(NamedTuple):
    """Write a document that has the `expected` version; 0 for one that must not be there.

    With None it is written unread, whatever is there. From `expires` on it is as if it were not
    there.
    """

    key: Key
    body: Mapping[str, object]
    expected: int | None = 0
    expires: datetime | None = None


class Delete(NamedTuple):
    """Remove a document that has the `expected` version; with None unread, if it is there.

    Unread it is removed by itself, in a commit of nothing else.
    """

    key: Key
    expected: int | None


Change = Put | Delete


class Keep(Protocol):
    """Keeps documents, for any number of processes at once; every method raises `StoreError`."""

    def get(self, key: Key) -> Document | None:
        """A document with every change that was acknowledged; None where there is none."""
        ...

    def range(self, partition: str, after: str = "", most: int = 1000) -> Sequence[Document]:
        """At most so many documents of a partition whose `sort` is greater, in order."""
        ...

    def commit(self, *changes: Change) -> None:
        """Make all changes, of different documents, or none.

        Raises:
            Conflict: a document has not the version that was expected.
        """
        ...

    def close(self) -> None:
        """Let go of what it holds; it cannot be used afterwards."""
        ...
