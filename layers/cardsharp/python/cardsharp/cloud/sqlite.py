"""The match log in one SQLite file: the newcomer's default and the laptop's mode.

Every method is one transaction, so the condition and what is written under it are one thing.
"""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

from cardsharp.cloud.codec import (
    NOTE_LIFE,
    encode,
    from_micros,
    pack,
    readable,
    reopened,
    to_micros,
    withdrawn,
)
from cardsharp.cloud.ports import (
    Body,
    Clock,
    Lease,
    MatchRecord,
    MoveRecord,
    NoteRecord,
    Outwaited,
    Status,
)
from cardsharp.cloud.sqlite_file import Contents, SqliteFile, steps_in
from cardsharp.errors import Conflict

LOG = Contents("match log", "CARDSHARP_STORE", steps_in(Path(__file__).with_name("matches.sql")))


class SqliteLog:
    """A `MatchLog` in the SQLite file at `path`, made if it is not there, unless `to_read`."""

    def __init__(self, path: Path, clock: Clock, *, to_read: bool = False) -> None:
        self._file = SqliteFile(path, LOG, to_read=to_read)
        self._clock = clock

    def close(self) -> None:
        """Close the file; the log cannot be used afterwards."""
        self._file.close()

    def announce(self, match_id: str, ttl: timedelta, seen: Outwaited | None = None) -> bool:
        """Announce a running match that is free, or still as it was seen: True for one caller."""
        with self._file.transaction() as db:
            record = _match_of(_announced(db, match_id, self._clock.now()))
            is_open = record.ttl is None or (seen is not None and seen.beat == record.beat)
            if record.status is Status.FINISHED or not is_open:
                return False
            idle = timedelta(0) if seen is None else seen.idle
            told = {"ttl": _micros(ttl), "announced": _micros(idle)}
            _set(db, match_id, beat=record.beat + 1, **told)
        return True

    def take(
        self, match_id: str, owner: str, ttl: timedelta, header: Body | None = None
    ) -> Lease | None:
        """Take the lease of a match that is free, announced or this owner's; else None."""
        with self._file.transaction() as db:
            row = _announced(db, match_id, self._clock.now())
            record = _match_of(row)
            lease = record.lease
            is_held = lease is not None and lease.owner != owner and not record.announced
            if record.status is Status.FINISHED or is_held:
                return None
            if record.status is Status.ANNOUNCED:
                _set(db, match_id, status=Status.RUNNING, header=encode(header or {}))
            fence, idle = row["fence"] + 1, row["announced"] or 0
            told = {"fence": fence, "owner": owner, "ttl": _micros(ttl), "announced": None}
            _set(db, match_id, beat=record.beat + 1, **told)
        return Lease(match_id, owner, fence, timedelta(microseconds=idle))

    def renew(self, lease: Lease, ttl: timedelta) -> None:
        """Renew the lease; raises `Conflict` if it is no longer ours."""
        with self._owned(lease) as db:
            _set(db, lease.match_id, ttl=_micros(ttl), announced=None)

    def release(self, lease: Lease, rest: timedelta | None = None) -> None:
        """Give the lease back; quiet if it is already lost."""
        ttl = None if rest is None else _micros(rest)
        with suppress(Conflict), self._owned(lease) as db:
            _set(db, lease.match_id, owner=None, ttl=ttl, announced=None)

    def describe(self, lease: Lease, header: Body) -> None:
        """Replace the match's header facts."""
        with self._owned(lease) as db:
            _set(db, lease.match_id, header=encode(header))

    def intend(self, lease: Lease, sequence: int, intent: Body) -> None:
        """Write what move `sequence` is going to be; `Conflict` if it already has facts."""
        with self._owned(lease) as db:
            written = db.execute(
                "INSERT INTO moves (match_id, sequence, intent) VALUES (?, ?, ?) "
                "ON CONFLICT (match_id, sequence) DO UPDATE SET intent = excluded.intent "
                "WHERE facts IS NULL",
                (lease.match_id, sequence, pack(encode(intent))),
            ).rowcount
            if written != 1:
                raise Conflict(f"Move {sequence} of match {lease.match_id} was already played.")

    def record(self, lease: Lease, facts: Mapping[int, Body]) -> None:
        """Write the facts of moves by sequence; a move that already has facts keeps them."""
        with self._owned(lease) as db:
            db.executemany(
                "INSERT INTO moves (match_id, sequence, facts) VALUES (?, ?, ?) "
                "ON CONFLICT (match_id, sequence) DO UPDATE SET facts = excluded.facts "
                "WHERE facts IS NULL",
                [(lease.match_id, move, pack(encode(body))) for move, body in facts.items()],
            )

    def withdraw(self, lease: Lease, sequence: int) -> None:
        """Take out the moves from `sequence` on; each is kept as a note."""
        now, lost = self._clock.now(), (lease.match_id, sequence)
        with self._owned(lease) as db:
            for move in _moves(db, *lost):
                _keep_note(db, lease.match_id, withdrawn(move, now))
            db.execute("DELETE FROM moves WHERE match_id = ? AND sequence >= ?", lost)

    def finish(self, lease: Lease, outcome: Body) -> None:
        """Close the match with its outcome and clear the lease; quiet if it is finished."""
        with self._file.transaction() as db:
            record = _match(db, lease.match_id)
            if record is not None and record.status is Status.FINISHED:
                return
            _own(db, lease)
            now = to_micros(self._clock.now())
            _set(db, lease.match_id, status=Status.FINISHED, outcome=encode(outcome), finished=now)
            _set(db, lease.match_id, owner=None, ttl=None, announced=None)

    def reopen(self, match: MatchRecord) -> bool:
        """Make a match run again that is finished as this record says: True for one caller."""
        with self._file.transaction() as db:
            now = _match(db, match.match_id)
            if now is None or now.finished is None or now.finished != match.finished:
                return False
            runs = {"status": Status.RUNNING, "outcome": None, "finished": None}
            _set(db, match.match_id, beat=now.beat + 1, **runs)
            _keep_note(db, match.match_id, reopened(match, self._clock.now()))
        return True

    def note(self, match_id: str, kind: str, body: Body) -> None:
        """Keep a debugging note for two weeks, and drop those that are older."""
        now = self._clock.now()
        with self._file.transaction() as db:
            db.execute("DELETE FROM notes WHERE expires_at <= ?", (to_micros(now),))
            _keep_note(db, match_id, NoteRecord(kind, now, body))

    def match(self, match_id: str) -> MatchRecord | None:
        """The header of a match, or None if the log does not know it."""
        with self._file.reading() as db:
            return _match(db, match_id)

    def moves(self, match_id: str) -> list[MoveRecord]:
        """All moves of a match in the order of their sequence."""
        with self._file.reading() as db:
            return _moves(db, match_id)

    def matches(
        self, day: date | None = None, status: Status | None = None, limit: int = 100
    ) -> list[MatchRecord]:
        """Headers, the last started first; `day` is a UTC day."""
        query, told = ["SELECT * FROM matches WHERE TRUE"], {"status": status, "limit": limit}
        # By an index, whatever has been played before: the poller asks once a second.
        if status is not None:
            query.append("AND status = :status")
        if day is not None:
            query.append("AND started BETWEEN :first AND :last")
            first, last = (datetime.combine(day, at, UTC) for at in (time.min, time.max))
            told |= {"first": to_micros(first), "last": to_micros(last)}
        # The deals of a table began at one moment, and were written down in their order.
        query.append("ORDER BY started DESC, rowid DESC LIMIT :limit")
        with self._file.reading() as db:
            return [_match_of(row) for row in db.execute(" ".join(query), told)]

    def running(self) -> list[MatchRecord]:
        """The running matches with their present leases."""
        return self.matches(status=Status.RUNNING, limit=-1)

    def notes(self, match_id: str) -> list[NoteRecord]:
        """The unexpired debugging notes of a match, oldest first."""
        with self._file.reading() as db:
            rows = db.execute(
                "SELECT * FROM notes WHERE match_id = ? AND expires_at > ? ORDER BY at, rowid",
                (match_id, to_micros(self._clock.now())),
            ).fetchall()
        return list(map(_note_of, rows))

    def finished_before(self, moment: datetime) -> list[str]:
        """The ids of the matches that finished before a moment, the oldest first."""
        query = "SELECT id FROM matches WHERE status = ? AND finished < ? ORDER BY finished"
        with self._file.reading() as db:
            return [row["id"] for row in db.execute(query, (Status.FINISHED, to_micros(moment)))]

    def forget(self, match_id: str) -> None:
        """Delete a finished match with all that belongs to it; quiet about any other."""
        with self._file.transaction() as db:
            if db.execute(
                "DELETE FROM matches WHERE id = ? AND status = ?", (match_id, Status.FINISHED)
            ).rowcount:
                db.execute("DELETE FROM moves WHERE match_id = ?", (match_id,))
                db.execute("DELETE FROM notes WHERE match_id = ?", (match_id,))

    def shrink(self) -> None:
        """Give back the room of what was deleted, while nobody writes; raises `StoreError`."""
        with self._file.reading() as db:
            db.execute("VACUUM")
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    @contextmanager
    def _owned(self, lease: Lease) -> Iterator[sqlite3.Connection]:
        """Yield a transaction in which the lease is ours; raises `Conflict` if it is not."""
        with self._file.transaction() as db:
            _own(db, lease)
            yield db


def _match(db: sqlite3.Connection, match_id: str) -> MatchRecord | None:
    row = db.execute("SELECT * FROM matches WHERE id = ?", (match_id,)).fetchone()
    return None if row is None else _match_of(row)


def _set(db: sqlite3.Connection, match_id: str, **told: str | int | None) -> None:
    """Write these columns of a match."""
    sets = "SET " + ", ".join(f"{column} = :{column}" for column in told)
    db.execute(f"UPDATE matches {sets} WHERE id = :id", {**told, "id": match_id})


def _moves(db: sqlite3.Connection, match_id: str, first: int = 0) -> list[MoveRecord]:
    """The moves of a match from that sequence on, in order."""
    rows = db.execute(
        "SELECT * FROM moves WHERE match_id = ? AND sequence >= ? ORDER BY sequence",
        (match_id, first),
    ).fetchall()
    return [_move_of(row) for row in rows]


def _announced(db: sqlite3.Connection, match_id: str, now: datetime) -> sqlite3.Row:
    """A match's row; one that is not there is added without header, lease or announcement."""
    db.execute(
        "INSERT INTO matches (id, status, started) VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING",
        (match_id, Status.ANNOUNCED, to_micros(now)),
    )
    row: sqlite3.Row = db.execute("SELECT * FROM matches WHERE id = ?", (match_id,)).fetchone()
    return row


def _keep_note(db: sqlite3.Connection, match_id: str, note: NoteRecord) -> None:
    until = to_micros(note.at + NOTE_LIFE)
    db.execute(
        "INSERT INTO notes (match_id, kind, at, body, expires_at) VALUES (?, ?, ?, ?, ?)",
        (match_id, note.kind, to_micros(note.at), encode(note.body), until),
    )


def _own(db: sqlite3.Connection, lease: Lease) -> None:
    """Count a write to a match; raises `Conflict` unless the lease is its present one."""
    if not db.execute(
        "UPDATE matches SET beat = beat + 1 WHERE id = ? AND fence = ? AND owner = ?",
        (lease.match_id, lease.fence, lease.owner),
    ).rowcount:
        raise Conflict(f"Match {lease.match_id} is no longer held by {lease.owner}.")


def _micros(duration: timedelta) -> int:
    return duration // timedelta(microseconds=1)


def _match_of(row: sqlite3.Row) -> MatchRecord:
    """A row of the matches table as its record; nobody shall attend one without a meaning."""
    owner, ttl, finished = row["owner"], row["ttl"], row["finished"]
    try:
        bodies, fault = readable(header=row["header"], outcome=row["outcome"])
        return MatchRecord(
            match_id=row["id"],
            status=Status(row["status"]),
            started=from_micros(row["started"]),
            header=bodies["header"] or {},
            beat=row["beat"],
            ttl=None if ttl is None else timedelta(microseconds=ttl),
            lease=None if owner is None else Lease(row["id"], owner, row["fence"]),
            announced=row["announced"] is not None,
            outcome=bodies["outcome"],
            finished=None if finished is None else from_micros(finished),
            fault=fault,
        )
    except (TypeError, ValueError, OverflowError) as error:
        return MatchRecord(
            str(row["id"]), Status.FINISHED, from_micros(0), {}, fault=f"its row is broken: {error}"
        )


def _move_of(row: sqlite3.Row) -> MoveRecord:
    bodies, fault = readable(intent=row["intent"], facts=row["facts"])
    return MoveRecord(row["sequence"], **bodies, fault=fault)


def _note_of(row: sqlite3.Row) -> NoteRecord:
    """A row of the notes table as its record; a body that cannot be read is empty."""
    bodies, _ = readable(body=row["body"])
    return NoteRecord(row["kind"], from_micros(row["at"]), bodies["body"] or {})
