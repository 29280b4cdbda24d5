"""The real match log in SQLite, as a function: from what it holds and is asked to both anew."""

import json
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from cardsharp.cloud.codec import decode, from_micros, to_micros
from cardsharp.cloud.ports import Lease, MatchRecord, Outwaited
from cardsharp.cloud.sqlite import SqliteLog
from cardsharp.cloud.sqlite_file import MEMORY
from cardsharp.errors import Conflict, StoreError
from world.clock import START, StillClock
from world.explore.cards import MATCH, ME
from world.explore.process import Question
from world.explore.values import PAST, Numbered, moment, units

_FENCE = 5  # the last holder's; only whether a lease is the last one matters
_BEAT = 1000  # the last; only whether it is still the one that was seen matters
_GONE = "somebody who is gone"

Row = tuple[tuple[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Contents:
    """All that the log holds, its moments in units from now."""

    match: Row | None = None
    moves: tuple[tuple[int, str | None, str | None], ...] = ()


@dataclass(frozen=True, slots=True)
class Record:
    """What is in the log, for a judge."""

    status: str | None
    outcome: Any
    intents: dict[int, Any]
    facts: dict[int, Any]


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks: in which place, whether its lease is the last one, and the beat that it saw."""

    place: int
    holds: bool
    knows: bool


class Told(NamedTuple):
    """The log after a question, its answer or error, and whether there is another beat now."""

    store: int
    value: Any
    beats: bool


class Stores:
    """Every content that the log was seen with, by number; 0 is the empty log."""

    def __init__(self) -> None:
        self._log = SqliteLog(Path(MEMORY), StillClock())
        contents = Numbered[Contents]()
        self._number, self.all = contents.number, contents.all
        self._number(Contents())
        # What a question does; the same log later; with other owners; what is in it.
        self.ask, self.later = cache(self._ask), cache(self._later)
        self._renamed, self.record = cache(self._rename), cache(self._record)

    def without(self, store: int, place: int) -> int:
        """The same log when the worker in this place is gone, and may still have the lease."""
        return self._renamed(store, (_name(place), _GONE))

    def swapped(self, store: int) -> int:
        """The same log when the workers in places 0 and 1 have changed them."""
        return self._renamed(store, (_name(0), _name(1)), (_name(1), _name(0)))

    def _rename(self, store: int, *names: tuple[str, str]) -> int:
        contents, new = self.all[store], dict(names)
        row = dict(contents.match or ())
        if row.get("owner") not in new:
            return store
        match = tuple({**row, "owner": new[row["owner"]]}.items())
        return self._number(replace(contents, match=match))

    def _later(self, store: int, by: int) -> int:
        """So many units nearer to the past, of which the far part is one."""
        contents = self.all[store]
        if contents.match is None:
            return store
        row = dict(contents.match)
        if row["finished"] is not None:
            row["finished"] = max(row["finished"] - by, -PAST)
        return self._number(replace(contents, match=tuple(row.items())))

    def _record(self, store: int) -> Record:
        row, moves = dict(self.all[store].match or ()), self.all[store].moves
        return Record(
            status=row.get("status"),
            outcome=json.loads(row["outcome"]) if row.get("outcome") else None,
            intents={n: json.loads(i) for n, i, _ in moves if i is not None},
            facts={n: json.loads(f) for n, _, f in moves if f is not None},
        )

    def _ask(self, store: int, question: Question, asker: Asker) -> Told:
        self._write(self.all[store])
        args = [_asked(one, asker) for one in question.args]
        try:
            value = _told(getattr(self._log, question.name)(*args), asker)
        except StoreError as error:
            value = Conflict("lost") if isinstance(error, Conflict) else StoreError(str(error))
        after, beat = self._read()
        return Told(self._number(after), value, beat != _BEAT)

    def _write(self, contents: Contents) -> None:
        with self._log._file.transaction() as db:
            for table in ("matches", "moves", "notes"):
                db.execute(f"DELETE FROM {table}")  # noqa: S608 - names of our own
            if contents.match is not None:
                row = dict(contents.match)
                if row["finished"] is not None:
                    row["finished"] = to_micros(moment(row["finished"]))
                names, places = ", ".join(row), ", ".join(f":{name}" for name in row)
                db.execute(f"INSERT INTO matches ({names}) VALUES ({places})", row)  # noqa: S608
            into = "INSERT INTO moves (match_id, sequence, intent, facts) VALUES (?, ?, ?, ?)"
            db.executemany(into, [(MATCH, *move) for move in contents.moves])

    def _read(self) -> tuple[Contents, int]:
        with self._log._file.reading() as db:
            found = db.execute("SELECT * FROM matches").fetchone()
            asked = "SELECT sequence, intent, facts FROM moves ORDER BY sequence"
            moves = db.execute(asked).fetchall()
        if found is None:
            return Contents(), _BEAT
        row = dict(found)
        beat = row["beat"]
        row |= {"fence": _FENCE, "beat": _BEAT, "started": to_micros(START)}
        if row["finished"] is not None:
            row["finished"] = units(from_micros(row["finished"]))
        moved = tuple((n, _text(i), _text(f)) for n, i, f in moves)
        return Contents(tuple(row.items()), moved), beat


def _text(body: Any) -> str | None:  # noqa: ANN401
    """A body as the log keeps it, packed or not, as one that can be compared."""
    return None if body is None else json.dumps(decode(body), sort_keys=True)


def _name(place: int) -> str:
    return f"w{place}"


def _asked(value: Any, asker: Asker) -> Any:  # noqa: ANN401
    """An argument as the log is to see it."""
    if isinstance(value, Lease):
        fence = _FENCE if asker.holds else _FENCE - 1
        return replace(value, owner=_name(asker.place), fence=fence)
    if isinstance(value, Outwaited):
        return replace(value, beat=_BEAT if asker.knows and value.beat == 0 else _BEAT - 1)
    return _name(asker.place) if value == ME else value


def _told(value: Any, asker: Asker) -> Any:  # noqa: ANN401
    """An answer as its asker sees it."""
    if isinstance(value, Lease):
        mine = value.owner == _name(asker.place)
        return replace(value, owner=ME if mine else "other", fence=int(mine))
    if isinstance(value, MatchRecord):
        beat = 0 if asker.knows else 1
        return replace(value, lease=_told(value.lease, asker), beat=beat)
    return [_told(one, asker) for one in value] if isinstance(value, list) else value
