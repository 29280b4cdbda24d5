"""A contest in a SQLite file, in a folder of its own."""

from pathlib import Path

from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.sqlite_file import Contents
from cardsharp.contest.entries import Settings
from cardsharp.contest.kept import ContestsKept
from cardsharp.contest.records import Records
from cardsharp.errors import ConfigError
from cardsharp.keep.sqlite import LISTS, TABLE, SqliteKeep

FILE = "contest.db"

_FIRST = """
CREATE TABLE settings (body TEXT NOT NULL);
CREATE TABLE teams (
  id TEXT PRIMARY KEY, seed INTEGER NOT NULL, name TEXT NOT NULL UNIQUE, ha1 TEXT NOT NULL,
  strategy TEXT
);
CREATE TABLE rulings (
  pairing TEXT PRIMARY KEY, winner TEXT NOT NULL, reason TEXT NOT NULL, at TEXT NOT NULL
);
CREATE TABLE results (pairing TEXT PRIMARY KEY, place INTEGER NOT NULL, body TEXT NOT NULL);
CREATE TABLE pauses (since TEXT NOT NULL);
"""

_STAGES = """
CREATE TABLE progress (stage TEXT NOT NULL, ruled INTEGER NOT NULL);
INSERT INTO progress
  SELECT CASE WHEN EXISTS (SELECT 1 FROM results) THEN 'begun' ELSE 'open' END, 0;
"""

_PRACTICE = """
CREATE TABLE meetings (number INTEGER PRIMARY KEY, body TEXT NOT NULL);
CREATE TABLE standings (played INTEGER PRIMARY KEY, body TEXT NOT NULL);
"""

_MOVED = """
CREATE INDEX documents_by_end ON documents (expires);
CREATE TEMP VIEW named AS SELECT 'contest#' || json_extract(body, '$.name') AS own FROM settings;
INSERT INTO documents SELECT 'contests', json_extract(body, '$.name'), 1, json_object(
    'settings', json(body), 'stage', stage, 'ruled', ruled,
    'paused', json(iif(EXISTS (SELECT 1 FROM pauses), 'true', 'false')),
    'entered', (SELECT coalesce(max(seed), 0) FROM teams)
  ), NULL FROM settings, progress;
INSERT INTO documents SELECT own || '#team', id, 1, json_object(
    'id', id, 'name', name, 'ha1', ha1, 'strategy', strategy, 'seed', seed
  ), NULL FROM teams, named;
INSERT INTO documents SELECT own || '#ruling', pairing, 1, json_object(
    'pairing', pairing, 'winner', winner, 'reason', reason
  ), NULL FROM rulings, named;
INSERT INTO documents SELECT own || '#result', printf('%05d', place), 1, body, NULL
  FROM results, named;
INSERT INTO documents SELECT own || '#meeting', printf('%07d', number), 1, body, NULL
  FROM meetings, named;
INSERT INTO documents SELECT own || '#standing', printf('%07d', played), 1, body, NULL
  FROM standings, named;
DROP VIEW named;
DROP TABLE settings; DROP TABLE teams; DROP TABLE rulings; DROP TABLE results; DROP TABLE pauses;
DROP TABLE progress; DROP TABLE meetings; DROP TABLE standings;
"""

_STEPS = (_FIRST, _STAGES, _PRACTICE, f"{TABLE};{_MOVED}", LISTS)
_CONTENTS = Contents("contest's file", "the contest's folder", _STEPS)


def found_in(folder: Path, settings: Settings) -> Records:
    """A new contest in `folder`; raises `ConfigError` where one is, or where none can be."""
    if (folder / FILE).exists():
        raise ConfigError(f"There is a contest in {folder} already.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"{folder} cannot be made: {error.strerror}.") from None
    return _contests(folder).found(settings)


def kept_in(folder: Path) -> Records:
    """The contest of a folder, whatever its name; raises `ConfigError` where there is none."""
    none = ConfigError(f"There is no contest in {folder}; `cardsharp contest new` founds one.")
    if not (folder / FILE).exists():
        raise none
    contests = _contests(folder)
    for name in contests.names():
        return contests.named(name)
    raise none


def _contests(folder: Path) -> ContestsKept:
    return ContestsKept(SqliteKeep(folder / FILE, SystemClock(), _CONTENTS))
