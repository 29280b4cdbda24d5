"""The match log in one SQLite file, the default on a local machine.

Every method is one transaction, so a condition and the write it guards are atomic. Bodies are
JSON text; those of versions up to 0.3 are packed. Summaries are not stored.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import date, datetime, timedelta
from pathlib import Path

from cardsharp.core.clock import Clock
from cardsharp.core.timestamps import duration_to_micros, from_micros, to_micros
from cardsharp.errors import WriteConflict
from cardsharp.store.match_log import (
    NO_SUMMARIES,
    NO_SUMMARY,
    Body,
    DebugNote,
    ExpiredLease,
    Lease,
    MatchRecord,
    MatchStatus,
    MoveRecord,
    MoveSummary,
    Summaries,
)
from cardsharp.store.match_records import (
    NOTE_TTL,
    day_bounds,
    decode_bodies_and_errors,
    encode_body,
    lease_conflict,
    reopened_outcome_note,
    retracted_move_note,
    unreadable_match,
)
from cardsharp.store.sqlite_file import (
    Connection,
    FileSchema,
    Row,
    SqliteFile,
    parse_migrations,
)

MATCH_LOG_SCHEMA = FileSchema(
    "match log", "CARDSHARP_STORE", parse_migrations(Path(__file__).with_name("matches.sql"))
)


class SqliteMatchLog:
    """`MatchLog` in the SQLite file at `path`, created if missing unless `read_only`."""

    def __init__(self, path: Path, clock: Clock, *, read_only: bool = False) -> None:
        self._file = SqliteFile(path, MATCH_LOG_SCHEMA, read_only=read_only)
        self._clock = clock

    def close(self) -> None:
        """Close the file; the log cannot be used afterwards."""
        self._file.close()

    def mark_queued(
        self, match_id: str, ttl: timedelta, expired_lease: ExpiredLease | None = None
    ) -> bool:
        """Mark a running match as queued if it is free or unchanged; True for one caller only."""
        with self._file.transaction() as db:
            record = _to_match_record(_get_or_insert_match(db, match_id, self._clock.now()))
            is_open = record.ttl is None or (
                expired_lease is not None and expired_lease.lease_version == record.lease_version
            )
            if record.status is MatchStatus.FINISHED or not is_open:
                return False
            idle = timedelta(0) if expired_lease is None else expired_lease.idle_for
            columns = {"ttl": duration_to_micros(ttl), "announced": duration_to_micros(idle)}
            _update_match(db, match_id, beat=record.lease_version + 1, **columns)
        return True

    def acquire_lease(
        self, match_id: str, owner: str, ttl: timedelta, header: Body | None = None
    ) -> Lease | None:
        """Acquire the lease of a match that is free, queued or this owner's; else None."""
        with self._file.transaction() as db:
            row = _get_or_insert_match(db, match_id, self._clock.now())
            record = _to_match_record(row)
            lease = record.lease
            is_leased = lease is not None and lease.owner != owner and not record.is_queued
            if record.status is MatchStatus.FINISHED or is_leased:
                return None
            if record.status is MatchStatus.ANNOUNCED:
                _update_match(
                    db, match_id, status=MatchStatus.RUNNING, header=encode_body(header or {})
                )
            fence, idle = row["fence"] + 1, row["announced"] or 0
            columns = {
                "fence": fence,
                "owner": owner,
                "ttl": duration_to_micros(ttl),
                "announced": None,
            }
            _update_match(db, match_id, beat=record.lease_version + 1, **columns)
        return Lease(match_id, owner, fence, timedelta(microseconds=idle))

    def renew_lease(self, lease: Lease, ttl: timedelta) -> None:
        """Renew the lease; raise `WriteConflict` if it is no longer ours."""
        with self._lease_transaction(lease) as db:
            _update_match(db, lease.match_id, ttl=duration_to_micros(ttl), announced=None)

    def release_lease(self, lease: Lease, park_for: timedelta | None = None) -> None:
        """Release the lease; quiet if it is already lost."""
        ttl = None if park_for is None else duration_to_micros(park_for)
        with suppress(WriteConflict), self._lease_transaction(lease) as db:
            _update_match(db, lease.match_id, owner=None, ttl=ttl, announced=None)

    def update_header(self, lease: Lease, header: Body) -> None:
        """Replace the match's header facts."""
        with self._lease_transaction(lease) as db:
            _update_match(db, lease.match_id, header=encode_body(header))

    def write_intent(
        self, lease: Lease, sequence: int, intent: Body, summary: MoveSummary = NO_SUMMARY
    ) -> None:
        """Write the intent of move `sequence`; raise `WriteConflict` if it already has facts."""
        del summary
        with self._lease_transaction(lease) as db:
            written = db.execute(
                "INSERT INTO moves (match_id, sequence, intent) VALUES (?, ?, ?) "
                "ON CONFLICT (match_id, sequence) DO UPDATE SET intent = excluded.intent "
                "WHERE facts IS NULL",
                (lease.match_id, sequence, encode_body(intent)),
            ).rowcount
            if written != 1:
                raise WriteConflict(
                    f"Move {sequence} of match {lease.match_id} was already played."
                )

    def write_facts(
        self, lease: Lease, facts: Mapping[int, Body], summaries: Summaries = NO_SUMMARIES
    ) -> None:
        """Write the facts of moves by sequence; a move that already has facts keeps them."""
        del summaries
        with self._lease_transaction(lease) as db:
            db.executemany(
                "INSERT INTO moves (match_id, sequence, facts) VALUES (?, ?, ?) "
                "ON CONFLICT (match_id, sequence) DO UPDATE SET facts = excluded.facts "
                "WHERE facts IS NULL",
                [(lease.match_id, move, encode_body(body)) for move, body in facts.items()],
            )

    def retract_moves(self, lease: Lease, sequence: int) -> None:
        """Remove the moves from `sequence` on; each is preserved as a note."""
        timestamp, first_key = self._clock.now(), (lease.match_id, sequence)
        with self._lease_transaction(lease) as db:
            for move in _list_moves(db, *first_key):
                _insert_note(db, lease.match_id, retracted_move_note(move, timestamp))
            db.execute("DELETE FROM moves WHERE match_id = ? AND sequence >= ?", first_key)

    def finish(self, lease: Lease, outcome: Body) -> None:
        """Close the match with its outcome and clear the lease; quiet if it is finished."""
        with self._file.transaction() as db:
            record = _find_match(db, lease.match_id)
            if record is not None and record.status is MatchStatus.FINISHED:
                return
            _require_lease(db, lease)
            timestamp = to_micros(self._clock.now())
            _update_match(
                db,
                lease.match_id,
                status=MatchStatus.FINISHED,
                outcome=encode_body(outcome),
                finished=timestamp,
            )
            _update_match(db, lease.match_id, owner=None, ttl=None, announced=None)

    def reopen(self, match: MatchRecord) -> bool:
        """Make a match run again that is finished as in this record; True for one caller only."""
        with self._file.transaction() as db:
            record = _find_match(db, match.match_id)
            if (
                record is None
                or record.finished_at is None
                or record.finished_at != match.finished_at
            ):
                return False
            runs = {"status": MatchStatus.RUNNING, "outcome": None, "finished": None}
            _update_match(db, match.match_id, beat=record.lease_version + 1, **runs)
            _insert_note(db, match.match_id, reopened_outcome_note(match, self._clock.now()))
        return True

    def add_note(self, match_id: str, kind: str, body: Body) -> None:
        """Keep a debugging note for two weeks, and drop those that are older."""
        timestamp = self._clock.now()
        with self._file.transaction() as db:
            db.execute("DELETE FROM notes WHERE expires_at <= ?", (to_micros(timestamp),))
            _insert_note(db, match_id, DebugNote(kind, timestamp, body))

    def match(self, match_id: str) -> MatchRecord | None:
        """Return the header of a match, None if the log does not have it."""
        with self._file.locked_connection() as db:
            return _find_match(db, match_id)

    def moves(self, match_id: str) -> list[MoveRecord]:
        """Return all moves of a match in the order of their sequence."""
        with self._file.locked_connection() as db:
            return _list_moves(db, match_id)

    def matches(
        self,
        day: date | None = None,
        status: MatchStatus | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> list[MatchRecord]:
        """Headers, the last started first; `day` is a UTC day."""
        query = ["SELECT * FROM matches WHERE TRUE"]
        params: dict[str, object] = {"status": status, "limit": limit, "cursor": cursor}
        # By an index, whatever has been played before: the poller asks once a second.
        if status is not None:
            query.append("AND status = :status")
        if day is not None:
            query.append("AND started BETWEEN :first AND :last")
            day_start, day_end = day_bounds(day)
            params |= {"first": to_micros(day_start), "last": to_micros(day_end)}
        if cursor is not None:
            query.append(
                "AND (started, rowid) < (SELECT started, rowid FROM matches WHERE id = :cursor)"
            )
        # The deals of a table began at one moment, and were written down in their order.
        query.append("ORDER BY started DESC, rowid DESC LIMIT :limit")
        with self._file.locked_connection() as db:
            return [_to_match_record(row) for row in db.execute(" ".join(query), params)]

    def running_matches(self) -> list[MatchRecord]:
        """Return the running matches with their current leases."""
        return self.matches(status=MatchStatus.RUNNING, limit=-1)

    def notes(self, match_id: str) -> list[DebugNote]:
        """Return the unexpired debugging notes of a match, oldest first."""
        with self._file.locked_connection() as db:
            rows = db.execute(
                "SELECT * FROM notes WHERE match_id = ? AND expires_at > ? ORDER BY at, rowid",
                (match_id, to_micros(self._clock.now())),
            ).fetchall()
        return list(map(_to_note, rows))

    def ids_finished_earlier_than(self, moment: datetime) -> list[str]:
        """Return the ids of the matches that finished before a moment, the oldest first."""
        query = "SELECT id FROM matches WHERE status = ? AND finished < ? ORDER BY finished"
        with self._file.locked_connection() as db:
            return [
                row["id"] for row in db.execute(query, (MatchStatus.FINISHED, to_micros(moment)))
            ]

    def delete_match(self, match_id: str) -> None:
        """Delete a finished match with all that belongs to it; quiet about any other."""
        with self._file.transaction() as db:
            if db.execute(
                "DELETE FROM matches WHERE id = ? AND status = ?", (match_id, MatchStatus.FINISHED)
            ).rowcount:
                db.execute("DELETE FROM moves WHERE match_id = ?", (match_id,))
                db.execute("DELETE FROM notes WHERE match_id = ?", (match_id,))

    def vacuum(self) -> None:
        """Free the disk space of deleted rows; raise `StoreError` if another process writes."""
        with self._file.locked_connection() as db:
            db.execute("VACUUM")
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    @contextmanager
    def _lease_transaction(self, lease: Lease) -> Iterator[Connection]:
        """Yield a transaction in which the lease is valid; raise `WriteConflict` if it is not."""
        with self._file.transaction() as db:
            _require_lease(db, lease)
            yield db


def _find_match(db: Connection, match_id: str) -> MatchRecord | None:
    row = db.execute("SELECT * FROM matches WHERE id = ?", (match_id,)).fetchone()
    return None if row is None else _to_match_record(row)


def _update_match(db: Connection, match_id: str, **columns: str | int | None) -> None:
    """Set columns of a match."""
    sets = "SET " + ", ".join(f"{column} = :{column}" for column in columns)
    db.execute(f"UPDATE matches {sets} WHERE id = :id", {**columns, "id": match_id})


def _list_moves(db: Connection, match_id: str, first_sequence: int = 0) -> list[MoveRecord]:
    """Return the moves of a match from a sequence on, in order."""
    rows = db.execute(
        "SELECT * FROM moves WHERE match_id = ? AND sequence >= ? ORDER BY sequence",
        (match_id, first_sequence),
    ).fetchall()
    return [_to_move_record(row) for row in rows]


def _get_or_insert_match(db: Connection, match_id: str, timestamp: datetime) -> Row:
    """Return the row of a match.

    A missing row is inserted without header, lease or queue mark.
    """
    db.execute(
        "INSERT INTO matches (id, status, started) VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING",
        (match_id, MatchStatus.ANNOUNCED, to_micros(timestamp)),
    )
    row: Row = db.execute("SELECT * FROM matches WHERE id = ?", (match_id,)).fetchone()
    return row


def _insert_note(db: Connection, match_id: str, note: DebugNote) -> None:
    until = to_micros(note.created_at + NOTE_TTL)
    db.execute(
        "INSERT INTO notes (match_id, kind, at, body, expires_at) VALUES (?, ?, ?, ?, ?)",
        (match_id, note.kind, to_micros(note.created_at), encode_body(note.body), until),
    )


def _require_lease(db: Connection, lease: Lease) -> None:
    """Count a write to a match; raise `WriteConflict` unless the lease is its current one."""
    if not db.execute(
        "UPDATE matches SET beat = beat + 1 WHERE id = ? AND fence = ? AND owner = ?",
        (lease.match_id, lease.fence_token, lease.owner),
    ).rowcount:
        raise lease_conflict(lease)


def _to_match_record(row: Row) -> MatchRecord:
    """Return a row as a record.

    An unreadable row counts as finished, so that no worker attends the match.
    """
    owner, ttl, finished = row["owner"], row["ttl"], row["finished"]
    try:
        bodies, fault = decode_bodies_and_errors(header=row["header"], outcome=row["outcome"])
        return MatchRecord(
            match_id=row["id"],
            status=MatchStatus(row["status"]),
            started_at=from_micros(row["started"]),
            header=bodies["header"] or {},
            lease_version=row["beat"],
            ttl=None if ttl is None else timedelta(microseconds=ttl),
            lease=None if owner is None else Lease(row["id"], owner, row["fence"]),
            is_queued=row["announced"] is not None,
            outcome=bodies["outcome"],
            finished_at=None if finished is None else from_micros(finished),
            read_error=fault,
        )
    except (TypeError, ValueError, OverflowError) as error:
        return unreadable_match(str(row["id"]), f"its row is broken: {error}")


def _to_move_record(row: Row) -> MoveRecord:
    bodies, fault = decode_bodies_and_errors(intent=row["intent"], facts=row["facts"])
    return MoveRecord(row["sequence"], **bodies, read_error=fault)


def _to_note(row: Row) -> DebugNote:
    """Return the note of a row; a body that cannot be read is empty."""
    bodies, _ = decode_bodies_and_errors(body=row["body"])
    return DebugNote(row["kind"], from_micros(row["at"]), bodies["body"] or {})
