"""Model of the match log: the real log in SQLite as a pure function.

From the contents of the log and a call it computes the new contents and the reply, so that both can
be cached.
"""

import json
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from cardsharp.core.timestamps import from_micros, to_micros
from cardsharp.errors import StoreError, WriteConflict
from cardsharp.store.codec import decode
from cardsharp.store.match_log import ExpiredLease, Lease, MatchRecord
from cardsharp.store.sqlite_file import MEMORY_PATH
from cardsharp.store.sqlite_match_log import SqliteMatchLog
from fault_simulation.model_checking.card_match import MATCH, WORKER
from fault_simulation.model_checking.fingerprints import (
    EXPIRY_UNITS,
    Interner,
    datetime_at,
    units_since_start,
)
from fault_simulation.model_checking.process_model import PortCall
from fault_simulation.virtual_clock import START, VirtualClock

_FENCE_TOKEN = 5  # the last holder's; only whether a lease is the last one matters
_LEASE_VERSION = 1000  # the last; only whether it is still the one that was seen matters
_DEAD_OWNER = "somebody who is gone"

Row = tuple[tuple[str, Any], ...]


@dataclass(frozen=True, slots=True)
class StoreContents:
    """Contents of the log; its times are units relative to the current time."""

    match: Row | None = None
    moves: tuple[tuple[int, str | None, str | None], ...] = ()


@dataclass(frozen=True, slots=True)
class MatchLogView:
    """Contents of the match log as a checker reads them."""

    status: str | None
    outcome: Any
    intents: dict[int, Any]
    facts: dict[int, Any]


@dataclass(frozen=True, slots=True)
class StoreCaller:
    """Worker that calls the store.

    `owns_lease` is True if its lease is the last one, `version_is_current` if it saw the last
    version of the match.
    """

    index: int
    owns_lease: bool
    version_is_current: bool


class StoreReply(NamedTuple):
    """Result of a call: the new contents, the value or error, and if the version changed."""

    store: int
    value: Any
    version_changed: bool


class StoreGraph:
    """All contents that the log has had, by number; 0 is the empty log."""

    def __init__(self) -> None:
        self._log = SqliteMatchLog(Path(MEMORY_PATH), VirtualClock())
        contents = Interner[StoreContents]()
        self._number, self.contents = contents.number, contents.all
        self._number(StoreContents())
        # What a question does; the same log later; with other owners; what is in it.
        self.call, self.advance_time = cache(self._call), cache(self._advance_time)
        self._renamed, self.record = cache(self._rename_owner), cache(self._record)

    def without_worker(self, store: int, index: int) -> int:
        """Return the log without this worker, whose lease may still be in it."""
        return self._renamed(store, (_owner_name(index), _DEAD_OWNER))

    def with_workers_swapped(self, store: int) -> int:
        """Return the log with the workers of index 0 and 1 swapped."""
        return self._renamed(
            store, (_owner_name(0), _owner_name(1)), (_owner_name(1), _owner_name(0))
        )

    def _rename_owner(self, store: int, *names: tuple[str, str]) -> int:
        contents, new_names = self.contents[store], dict(names)
        row = dict(contents.match or ())
        if row.get("owner") not in new_names:
            return store
        match = tuple({**row, "owner": new_names[row["owner"]]}.items())
        return self._number(replace(contents, match=match))

    def _advance_time(self, store: int, by: int) -> int:
        """Return the log `by` units later; times that are older than the expiry are equal."""
        contents = self.contents[store]
        if contents.match is None:
            return store
        row = dict(contents.match)
        if row["finished"] is not None:
            row["finished"] = max(row["finished"] - by, -EXPIRY_UNITS)
        return self._number(replace(contents, match=tuple(row.items())))

    def _record(self, store: int) -> MatchLogView:
        row, moves = dict(self.contents[store].match or ()), self.contents[store].moves
        return MatchLogView(
            status=row.get("status"),
            outcome=json.loads(row["outcome"]) if row.get("outcome") else None,
            intents={n: json.loads(i) for n, i, _ in moves if i is not None},
            facts={n: json.loads(f) for n, _, f in moves if f is not None},
        )

    def _call(self, store: int, call: PortCall, caller: StoreCaller) -> StoreReply:
        self._write(self.contents[store])
        args = [_to_log_argument(arg, caller) for arg in call.args]
        try:
            value = _to_caller_value(getattr(self._log, call.name)(*args), caller)
        except StoreError as error:
            value = (
                WriteConflict("lost")
                if isinstance(error, WriteConflict)
                else StoreError(str(error))
            )
        new_contents, lease_version = self._read()
        return StoreReply(self._number(new_contents), value, lease_version != _LEASE_VERSION)

    def _write(self, contents: StoreContents) -> None:
        with self._log._file.transaction() as db:
            for table in ("matches", "moves", "notes"):
                db.execute(f"DELETE FROM {table}")  # noqa: S608 - names of our own
            if contents.match is not None:
                row = dict(contents.match)
                if row["finished"] is not None:
                    row["finished"] = to_micros(datetime_at(row["finished"]))
                names, placeholders = ", ".join(row), ", ".join(f":{name}" for name in row)
                db.execute(f"INSERT INTO matches ({names}) VALUES ({placeholders})", row)  # noqa: S608
            insert = "INSERT INTO moves (match_id, sequence, intent, facts) VALUES (?, ?, ?, ?)"
            db.executemany(insert, [(MATCH, *move) for move in contents.moves])

    def _read(self) -> tuple[StoreContents, int]:
        with self._log._file.locked_connection() as db:
            match_row = db.execute("SELECT * FROM matches").fetchone()
            moves_query = "SELECT sequence, intent, facts FROM moves ORDER BY sequence"
            moves = db.execute(moves_query).fetchall()
        if match_row is None:
            return StoreContents(), _LEASE_VERSION
        row = dict(match_row)
        lease_version = row["beat"]
        row |= {"fence": _FENCE_TOKEN, "beat": _LEASE_VERSION, "started": to_micros(START)}
        if row["finished"] is not None:
            row["finished"] = units_since_start(from_micros(row["finished"]))
        moves_by_sequence = tuple((n, _text(i), _text(f)) for n, i, f in moves)
        return StoreContents(tuple(row.items()), moves_by_sequence), lease_version


def _text(body: Any) -> str | None:  # noqa: ANN401
    """Return a body of the log, packed or not, as a text that can be compared."""
    return None if body is None else json.dumps(decode(body), sort_keys=True)


def _owner_name(index: int) -> str:
    return f"w{index}"


def _to_log_argument(value: Any, caller: StoreCaller) -> Any:  # noqa: ANN401
    """Translate an argument of the model to the value that the real log takes."""
    if isinstance(value, Lease):
        fence = _FENCE_TOKEN if caller.owns_lease else _FENCE_TOKEN - 1
        return replace(value, owner=_owner_name(caller.index), fence_token=fence)
    if isinstance(value, ExpiredLease):
        return replace(
            value,
            lease_version=_LEASE_VERSION
            if caller.version_is_current and value.lease_version == 0
            else _LEASE_VERSION - 1,
        )
    return _owner_name(caller.index) if value == WORKER else value


def _to_caller_value(value: Any, caller: StoreCaller) -> Any:  # noqa: ANN401
    """Translate a value of the real log to the one that its caller sees in the model."""
    if isinstance(value, Lease):
        is_caller = value.owner == _owner_name(caller.index)
        return replace(value, owner=WORKER if is_caller else "other", fence_token=int(is_caller))
    if isinstance(value, MatchRecord):
        lease_version = 0 if caller.version_is_current else 1
        return replace(
            value, lease=_to_caller_value(value.lease, caller), lease_version=lease_version
        )
    return [_to_caller_value(item, caller) for item in value] if isinstance(value, list) else value
