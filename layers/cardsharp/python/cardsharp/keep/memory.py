"""Documents in this process only."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

from cardsharp.cloud.codec import decode, encode
from cardsharp.cloud.ports import Clock
from cardsharp.errors import Conflict
from cardsharp.keep.port import Change, Check, Delete, Document, Key


@dataclass(frozen=True, slots=True)
class MemoryKeep:
    """A `Keep` that is gone with its process."""

    clock: Clock
    _kept: dict[Key, Document] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def get(self, key: Key) -> Document | None:
        """See `Keep`."""
        found = self._kept.get(key)
        gone = found is None or (found.expires is not None and found.expires <= self.clock.now())
        return None if gone else found

    def range(self, partition: str, after: str = "", most: int = 1000) -> Sequence[Document]:
        """See `Keep`."""
        with self._lock:
            keys = sorted(key for key in self._kept if key.partition == partition)
        found = (self.get(key) for key in keys if key.sort > after)
        return [document for document in found if document is not None][:most]

    def commit(self, *changes: Change) -> None:
        """See `Keep`."""
        with self._lock:
            for change in changes:
                if change.expected not in {None, self._version(change.key)}:
                    raise Conflict("The document was changed by somebody else.")
            for change in changes:
                match change:
                    case Check():
                        pass
                    case Delete(key):
                        del self._kept[key]
                    case _:
                        body = decode(encode(change.body))  # nobody else's, and JSON as elsewhere
                        version = self._version(change.key) + 1
                        document = Document(change.key, version, body, change.expires)
                        self._kept[change.key] = document

    def close(self) -> None:
        """See `Keep`."""

    def _version(self, key: Key) -> int:
        there = self.get(key)
        return 0 if there is None else there.version
