"""The deals in one SQLite file, for this machine; `:memory:` keeps them in this process.

Every method is one transaction, so the condition and what is written under it are one thing.
"""

import uuid
from datetime import datetime
from pathlib import Path

from cardsharp.cloud.codec import from_micros, to_micros
from cardsharp.cloud.ports import Clock
from cardsharp.cloud.sqlite_file import Contents, SqliteFile
from cardsharp.errors import Conflict
from cardsharp.euchre.cards import Card
from cardsharp.euchre.records import DealKey, Event, Record, decode_record, encode_event
from cardsharp.euchre.store import LIFE

_FIRST = """
CREATE TABLE deals (
  token TEXT NOT NULL,
  game INTEGER NOT NULL,
  deal INTEGER NOT NULL,
  cards TEXT NOT NULL,
  events TEXT NOT NULL DEFAULT '',
  version INTEGER NOT NULL DEFAULT 0,
  born TEXT NOT NULL,
  expires INTEGER NOT NULL,
  PRIMARY KEY (token, game, deal)
) WITHOUT ROWID;
CREATE INDEX deals_by_expiry ON deals (expires);
"""

_DEALS = Contents("file of deals", "EUCHRE_STORE", (_FIRST,))
_THIS = "token = ? AND game = ? AND deal = ?"


class SqliteDeals:
    """A `DealStore` in the SQLite file at `path`, made with its folder if it is not there.

    With `to_read` it must be there, and is only read.
    """

    def __init__(self, path: str | Path, clock: Clock, *, to_read: bool = False) -> None:
        self._clock = clock
        self._file = SqliteFile(path, _DEALS, to_read=to_read)

    def close(self) -> None:
        """Close the file; the store cannot be used afterwards."""
        self._file.close()

    def begin(self, key: DealKey, cards: tuple[Card, ...]) -> None:
        """Keep a new deal in the place of any older one of that key; remove what has expired."""
        now = self._clock.now()
        with self._file.transaction() as db:
            db.execute("DELETE FROM deals WHERE expires <= ?", (to_micros(now),))
            db.execute(
                "INSERT OR REPLACE INTO deals (token, game, deal, cards, born, expires) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                (*_key(key), ",".join(map(str, cards)), uuid.uuid4().hex, to_micros(now + LIFE)),
            )

    def read(self, key: DealKey) -> Record | None:
        """A deal with every event that was acknowledged, or None."""
        with self._file.reading() as db:
            row = db.execute(
                f"SELECT cards, events, born FROM deals WHERE {_THIS}",  # noqa: S608 - a constant
                _key(key),
            ).fetchone()
        if row is None:
            return None
        cards, events, born = row
        return decode_record(key, cards, born, events.splitlines())

    def began(self) -> list[tuple[DealKey, datetime]]:
        """The keys of all deals, the last begun first, and when they began."""
        with self._file.reading() as db:
            rows = db.execute(
                "SELECT token, game, deal, expires FROM deals ORDER BY expires DESC"
            ).fetchall()
        return [
            (DealKey(token, game, deal), from_micros(expires) - LIFE)
            for token, game, deal, expires in rows
        ]

    def append(self, record: Record, event: Event) -> None:
        """Add an event to the deal as it was read; raises `Conflict` if that has changed."""
        with self._file.transaction() as db:
            written = db.execute(
                "UPDATE deals SET events = events || ?, version = version + 1 "  # noqa: S608 - a constant
                f"WHERE {_THIS} AND born = ? AND version = ?",
                (encode_event(event) + "\n", *_key(record.key), record.born, len(record.log)),
            ).rowcount
        if written != 1:
            raise Conflict("The deal was changed by somebody else.")


def _key(key: DealKey) -> tuple[str, int, int]:
    return key.token, key.game, key.deal
