"""The tables of the match log in SQLite, and their rows as records."""

import sqlite3
from datetime import timedelta
from pathlib import Path

from cardsharp.cloud.codec import from_micros, readable
from cardsharp.cloud.ports import Lease, MatchRecord, MoveRecord, Status
from cardsharp.cloud.sqlite_file import Contents, steps_in

LOG = Contents("match log", "CARDSHARP_STORE", steps_in(Path(__file__).with_name("matches.sql")))


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
