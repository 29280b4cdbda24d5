"""Secrets that belong to a match, such as the id by which a service knows its player.

They are kept apart from the match log, so that nothing that shows a match can show them.
"""

from datetime import timedelta
from typing import Protocol

from cardsharp.cloud.ports import Body

LIFE = timedelta(days=90)
"""How long a secret is kept after it was last written."""


class Vault(Protocol):
    """Keeps one secret body for each match; every method raises `StoreError` if it fails."""

    def add(self, match_id: str, secret: Body) -> bool:
        """Keep a secret; return False, and keep the old one, if there is one already."""
        ...

    def replace(self, match_id: str, secret: Body) -> None:
        """Keep a secret whatever was kept before."""
        ...

    def find(self, match_id: str) -> Body | None:
        """The secret as of now, or None."""
        ...

    def close(self) -> None:
        """Let go of files and connections; nothing is asked of it any more."""
        ...
