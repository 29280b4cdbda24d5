"""The vault at home: a SQLite file of its own beside the match log's, for its owner's eyes."""

from datetime import timedelta
from pathlib import Path

from cardsharp.cloud.codec import decode, encode, to_micros
from cardsharp.cloud.ports import Body, Clock
from cardsharp.cloud.sqlite_file import Contents, SqliteFile
from cardsharp.cloud.vault import LIFE

_FIRST = """
CREATE TABLE secrets (id TEXT PRIMARY KEY, body TEXT NOT NULL, expires_at INTEGER NOT NULL)
"""

_VAULT = Contents("vault", "CARDSHARP_STORE", (_FIRST,))


class SqliteVault:
    """A `Vault` in the file that belongs to the match log at `log`."""

    def __init__(self, log: Path, clock: Clock) -> None:
        self._file = SqliteFile(log.with_name(f"{log.name}.vault"), _VAULT)
        self._clock = clock

    def close(self) -> None:
        """Close the file; the vault cannot be used afterwards."""
        self._file.close()

    def add(self, match_id: str, secret: Body) -> bool:
        """Keep a secret; return False, and keep the old one, if there is one already."""
        with self._file.transaction() as db:
            db.execute("DELETE FROM secrets WHERE expires_at <= ?", (self._in(timedelta(0)),))
            row = (match_id, encode(secret), self._in(LIFE))
            return db.execute("INSERT OR IGNORE INTO secrets VALUES (?, ?, ?)", row).rowcount == 1

    def replace(self, match_id: str, secret: Body) -> None:
        """Keep a secret whatever was kept before."""
        with self._file.transaction() as db:
            row = (match_id, encode(secret), self._in(LIFE))
            db.execute("INSERT OR REPLACE INTO secrets VALUES (?, ?, ?)", row)

    def find(self, match_id: str) -> Body | None:
        """The secret as of now, or None."""
        with self._file.reading() as db:
            query = "SELECT body FROM secrets WHERE id = ? AND expires_at > ?"
            row = db.execute(query, (match_id, self._in(timedelta(0)))).fetchone()
        return None if row is None else decode(row["body"])

    def _in(self, duration: timedelta) -> int:
        return to_micros(self._clock.now() + duration)
