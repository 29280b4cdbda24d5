"""Port of document stores: documents by key, changed in transactions.

It promises only what conditional transactions of both DynamoDB and SQLite do well. A store of a
domain is a codec on top of it: it defines which documents exist and what their bodies mean.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from cardsharp.errors import WriteConflict

MAX_TRANSACTION_WRITES = 100  # documents in one commit: as many as a transaction of DynamoDB takes


class Key(NamedTuple):
    """Key of a document. The documents of a partition are sorted by `sort_key`."""

    partition_key: str
    sort_key: str


class Document(NamedTuple):
    """A document that was read; `version` counts its writes from 1."""

    key: Key
    version: int
    body: Mapping[str, object]
    expires_at: datetime | None = None


class IndexEntry(NamedTuple):
    """Entry of a document in an index: sorted by `sort_time`, with the listed attributes."""

    index_name: str
    sort_time: datetime
    attributes: Mapping[str, str | bool]


class Put(NamedTuple):
    """Write a document that has `expected_version`; 0 if it must not exist.

    With None it is written unconditionally. From `expires_at` on it counts as missing. It is in
    an index as long as it is written with an `index_entry`.
    """

    key: Key
    body: Mapping[str, object]
    expected_version: int | None = 0
    expires_at: datetime | None = None
    index_entry: IndexEntry | None = None


class Delete(NamedTuple):
    """Remove a document that has `expected_version`.

    With None it is removed unconditionally if it exists, and must be the only write.
    """

    key: Key
    expected_version: int | None


class Increment(NamedTuple):
    """Write that adds to a counter without a version condition, up to `max_value`.

    A missing counter begins at 0. The counter is read as a document of version 1 with the
    body `{"count": ...}`, and never exceeds `max_value`.
    """

    key: Key
    amount: int
    expires_at: datetime
    max_value: int | None = None


Write = Put | Delete | Increment


class DocumentStore(Protocol):
    """Document store for any number of processes at once; every method raises `StoreError`."""

    def get(self, key: Key) -> Document | None:
        """Return a document with every acknowledged change; None if there is none."""

    def query(
        self, partition: str, exclusive_start: str = "", limit: int = 1000
    ) -> Sequence[Document]:
        """Return at most `limit` documents of a partition in order of their `sort_key`.

        All have a `sort_key` greater than `exclusive_start`.
        """

    def commit(self, *writes: Write) -> None:
        """Make all writes, to different documents, or none.

        Raises `WriteConflict` if the condition of one does not hold.
        """

    def query_index(
        self, index_name: str, since: datetime, limit: int
    ) -> Sequence[tuple[Key, IndexEntry]]:
        """Return at most `limit` entries of an index after a moment, the last first.

        A change may show late. Expired entries may be among them; unreadable ones are left out.
        """

    def close(self) -> None:
        """Release all resources; the store cannot be used afterwards."""


def try_commit(documents: DocumentStore, *writes: Write) -> bool:
    """Make the writes; return False if a condition did not hold."""
    try:
        documents.commit(*writes)
    except WriteConflict:
        return False
    return True
