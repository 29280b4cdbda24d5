"""The tables of the match log in SQLite, and their rows as records."""

import sqlite3
from datetime import timedelta

from cardsharp.cloud.codec import from_micros, readable
from cardsharp.cloud.ports import Lease, MatchRecord, MoveRecord, Status
from cardsharp.cloud.sqlite_file import Contents

_FIRST = """
CREATE TABLE matches (
  id TEXT PRIMARY KEY,
  status TEXT NOT NULL,
  started INTEGER NOT NULL,
  header TEXT NOT NULL DEFAULT '{}',
  fence INTEGER NOT NULL DEFAULT 0,
  owner TEXT,
  lease_until INTEGER,
  announced_until INTEGER,
  outcome TEXT,
  finished INTEGER
);
CREATE INDEX matches_by_start ON matches (started);
CREATE INDEX matches_by_status ON matches (status, started);
CREATE TABLE moves (
  match_id TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  intent TEXT,
  facts TEXT,
  PRIMARY KEY (match_id, sequence)
) WITHOUT ROWID;
CREATE TABLE notes (
  match_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  at INTEGER NOT NULL,
  body TEXT NOT NULL,
  expires_at INTEGER NOT NULL
);
CREATE INDEX notes_by_match ON notes (match_id, at);
"""

# The tables stay as they are, but an older version could not read them.
_INTENTS_AND_FACTS_ARE_PACKED = ""

_WITHOUT_MOMENTS = """
ALTER TABLE matches ADD COLUMN beat INTEGER NOT NULL DEFAULT 0;
ALTER TABLE matches ADD COLUMN ttl INTEGER;
ALTER TABLE matches ADD COLUMN announced INTEGER;
UPDATE matches SET ttl = 3000000 WHERE owner IS NOT NULL;
ALTER TABLE matches DROP COLUMN lease_until;
ALTER TABLE matches DROP COLUMN announced_until;
"""
"""Durations in microseconds; `announced` is how long nobody had held the match by then."""

LOG = Contents(
    "match log", "CARDSHARP_STORE", (_FIRST, _INTENTS_AND_FACTS_ARE_PACKED, _WITHOUT_MOMENTS)
)


def match_of(row: sqlite3.Row) -> MatchRecord:
    """A row of the matches table as its record; nobody shall attend one without a meaning."""
    try:
        return _understood(row)
    except (TypeError, ValueError, OverflowError) as error:
        return MatchRecord(
            str(row["id"]), Status.FINISHED, from_micros(0), {}, fault=f"its row is broken: {error}"
        )


def _understood(row: sqlite3.Row) -> MatchRecord:
    lease = None
    if row["owner"] is not None:
        lease = Lease(row["id"], row["owner"], row["fence"])
    bodies, fault = readable(header=row["header"], outcome=row["outcome"])
    return MatchRecord(
        match_id=row["id"],
        status=Status(row["status"]),
        started=from_micros(row["started"]),
        header=bodies["header"] or {},
        beat=row["beat"],
        ttl=None if row["ttl"] is None else timedelta(microseconds=row["ttl"]),
        lease=lease,
        announced=row["announced"] is not None,
        outcome=bodies["outcome"],
        finished=None if row["finished"] is None else from_micros(row["finished"]),
        fault=fault,
    )


def move_of(row: sqlite3.Row) -> MoveRecord:
    """A row of the moves table as its record."""
    bodies, fault = readable(intent=row["intent"], facts=row["facts"])
    return MoveRecord(row["sequence"], **bodies, fault=fault)
