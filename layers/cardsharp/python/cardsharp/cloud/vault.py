"""Secrets that belong to a match, such as the id by which a service knows its player.

They are kept apart from the match log, so that nothing that shows a match can show them: at home
in a file of their own beside the log's, for its owner's eyes; in its table in partitions of their
own, which no index lists.

| partition | sort | body |
|---|---|---|
| vault#MATCH | secret | the secret |
"""

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from cardsharp.cloud.ports import Body, Clock
from cardsharp.keep.port import Keep, Key, Put, is_done
from cardsharp.keep.stores import Store

LIFE = timedelta(days=90)  # how long a secret is kept after it was last written


@dataclass(frozen=True, slots=True)
class Vault:
    """Keeps one secret body for each match; every method raises `StoreError` if it fails."""

    keep: Keep
    clock: Clock

    def add(self, match_id: str, secret: Body) -> bool:
        """Keep a secret; return False, and keep the old one, if there is one already."""
        return is_done(self.keep, self._put(match_id, secret, 0))

    def replace(self, match_id: str, secret: Body) -> None:
        """Keep a secret whatever was kept before."""
        self.keep.commit(self._put(match_id, secret, None))

    def find(self, match_id: str) -> Body | None:
        """The secret as of now, or None."""
        found = self.keep.get(_key(match_id))
        return None if found is None else found.body

    def close(self) -> None:
        """Let go of files and connections; nothing is asked of it any more."""
        self.keep.close()

    def _put(self, match_id: str, secret: Body, expected: int | None) -> Put:
        return Put(_key(match_id), secret, expected, self.clock.now() + LIFE)


VAULTS = Store(
    Vault,
    "CARDSHARP_STORE",
    "vault",
    Path(__file__).with_suffix(".sql"),
    {"body": "secret_json"},
)


def _key(match_id: str) -> Key:
    return Key(f"vault#{match_id}", "secret")
