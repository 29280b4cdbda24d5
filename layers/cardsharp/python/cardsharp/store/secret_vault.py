"""Secrets that belong to a match, such as the id by which a service knows its player.

They are stored apart from the match log, so that nothing that shows a match can show them. On a
local machine they are in a file of their own beside that of the log, which only its owner can
read. In a table they are in partitions of their own, which no index lists.

| partition | sort | body |
|---|---|---|
| vault#MATCH | secret | the secret |
"""

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from cardsharp.core.clock import Clock
from cardsharp.store.documents import DocumentStore, Key, Put, try_commit
from cardsharp.store.factories import StoreFactory
from cardsharp.store.match_log import Body

SECRET_TTL = timedelta(days=90)  # a secret expires so long after its last write


@dataclass(frozen=True, slots=True)
class SecretVault:
    """Store of one secret body per match; every method raises `StoreError` if it fails."""

    documents: DocumentStore
    clock: Clock

    def add(self, match_id: str, secret: Body) -> bool:
        """Store a secret; return False, and change nothing, if there is one already."""
        return try_commit(self.documents, self._build_put(match_id, secret, 0))

    def replace(self, match_id: str, secret: Body) -> None:
        """Store a secret in place of any earlier one."""
        self.documents.commit(self._build_put(match_id, secret, None))

    def find(self, match_id: str) -> Body | None:
        """Return the current secret, None if there is none."""
        document = self.documents.get(_secret_key(match_id))
        return None if document is None else document.body

    def close(self) -> None:
        """Release files and connections; the vault cannot be used afterwards."""
        self.documents.close()

    def _build_put(self, match_id: str, secret: Body, expected_version: int | None) -> Put:
        return Put(_secret_key(match_id), secret, expected_version, self.clock.now() + SECRET_TTL)


VAULT_FACTORY = StoreFactory(
    SecretVault,
    "CARDSHARP_STORE",
    "vault",
    Path(__file__).with_suffix(".sql"),
    {"body": "secret_json"},
)


def _secret_key(match_id: str) -> Key:
    return Key(f"vault#{match_id}", "secret")
