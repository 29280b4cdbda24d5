"""A contest in a SQLite file, in a folder of its own."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from cardsharp.cloud.sqlite_file import Contents, SqliteFile
from cardsharp.deadmansdraw.contest.codec import (
    decode_meeting,
    decode_result,
    decode_settings,
    decode_standing,
    encode_meeting,
    encode_result,
    encode_settings,
    encode_standing,
)
from cardsharp.deadmansdraw.contest.meetings import Meeting, Standing
from cardsharp.deadmansdraw.contest.pairing import Team
from cardsharp.deadmansdraw.contest.records import Entrant, Result, Ruling, Settings, Stage
from cardsharp.errors import ConfigError, Conflict

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

_CONTENTS = Contents("contest's file", "the contest's folder", (_FIRST, _STAGES, _PRACTICE))


class SqliteContest:
    """A `Store` in the file of the contest in `folder`."""

    def __init__(self, folder: Path) -> None:
        path = folder / FILE
        if not path.exists():
            raise ConfigError(
                f"There is no contest in {folder}; `cardsharp contest new` founds one."
            )
        self._file = SqliteFile(path, _CONTENTS)

    @classmethod
    def found(cls, folder: Path, settings: Settings) -> "SqliteContest":
        """A new contest in `folder`; raises `ConfigError` where one is, or where none can be."""
        if (folder / FILE).exists():
            raise ConfigError(f"There is a contest in {folder} already.")
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(f"{folder} cannot be made: {error.strerror}.") from None
        file = SqliteFile(folder / FILE, _CONTENTS)
        with file.transaction() as db:
            db.execute("INSERT INTO settings VALUES (?)", (encode_settings(settings),))
        file.close()
        return cls(folder)

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def settings(self) -> Settings:
        """What the contest was founded with."""
        with self._file.reading() as db:
            return decode_settings(db.execute("SELECT body FROM settings").fetchone()[0])

    def teams(self) -> list[Entrant]:
        """The teams, the best seed first."""
        query = "SELECT id, name, ha1, strategy FROM teams ORDER BY seed"
        with self._file.reading() as db:
            return [Entrant(*row) for row in db.execute(query)]

    def add(self, team: Entrant) -> None:
        """Enter a team as the last seed; raises `Conflict`."""
        self._change_teams(
            "INSERT OR IGNORE INTO teams SELECT ?, coalesce(max(seed), 0) + 1, ?, ?, ? FROM teams",
            (team.id, team.name, team.ha1, team.strategy),
        )

    def replace(self, team: Entrant) -> None:
        """Keep a team's new password."""
        with self._file.transaction() as db:
            db.execute("UPDATE teams SET ha1 = ? WHERE id = ?", (team.ha1, team.id))

    def remove(self, team: Entrant) -> None:
        """Remove a team; raises `Conflict` where the contest has begun."""
        self._change_teams("DELETE FROM teams WHERE id = ?", (team.id,))

    def seed(self, order: Sequence[Team]) -> None:
        """Let the teams be seeded in this order; raises `Conflict` where the contest has begun."""
        statement = "UPDATE teams SET seed = ? WHERE id = ?"
        self._change_teams(statement, *((place, team) for place, team in enumerate(order, 1)))

    def _change_teams(self, statement: str, *values: tuple[str | int | None, ...]) -> None:
        with self._file.transaction() as db:
            (stage,) = db.execute("SELECT stage FROM progress").fetchone()
            if stage != Stage.OPEN or not db.executemany(statement, values).rowcount:
                raise Conflict("The teams were changed by somebody else, or the contest has begun.")

    def stage(self) -> Stage:
        """How far the contest is."""
        with self._file.reading() as db:
            return Stage(db.execute("SELECT stage FROM progress").fetchone()[0])

    def begin(self) -> None:
        """Let a contest that is open begin."""
        with self._file.transaction() as db:
            move = "UPDATE progress SET stage = ? WHERE stage = ?"
            db.execute(move, (Stage.BEGUN, Stage.OPEN))

    def end(self, ruled: int) -> None:
        """Let the contest be over, unless more than `ruled` rulings were made in it."""
        with self._file.transaction() as db:
            db.execute("UPDATE progress SET stage = ? WHERE ruled <= ?", (Stage.OVER, ruled))

    def rule(self, ruling: Ruling) -> None:
        """Keep a ruling in place of an earlier one; a contest that was over goes on."""
        row = (ruling.pairing, ruling.winner, ruling.reason, datetime.now(UTC).isoformat())
        with self._file.transaction() as db:
            db.execute("INSERT OR REPLACE INTO rulings VALUES (?, ?, ?, ?)", row)
            db.execute("UPDATE progress SET stage = ?, ruled = ruled + 1", (Stage.BEGUN,))

    def rulings(self) -> dict[str, Ruling]:
        """The rulings by pairing."""
        with self._file.reading() as db:
            rows = db.execute("SELECT pairing, winner, reason FROM rulings").fetchall()
        return {row[0]: Ruling(*row) for row in rows}

    def ruled(self) -> int:
        """How often a ruling was made."""
        with self._file.reading() as db:
            return int(db.execute("SELECT ruled FROM progress").fetchone()[0])

    def paused(self) -> bool:
        """Whether no match is to begin."""
        with self._file.reading() as db:
            return db.execute("SELECT 1 FROM pauses").fetchone() is not None

    def pause(self, *, on: bool) -> None:
        """Let no match begin, or let them begin again."""
        with self._file.transaction() as db:
            db.execute("DELETE FROM pauses")
            if on:
                db.execute("INSERT INTO pauses VALUES (?)", (datetime.now(UTC).isoformat(),))

    def keep(self, results: Iterable[Result]) -> None:
        """Keep how the contest stands, in place of how it stood."""
        rows = [
            (result.pairing, place, encode_result(result)) for place, result in enumerate(results)
        ]
        with self._file.transaction() as db:
            db.execute("DELETE FROM results")
            db.executemany("INSERT INTO results VALUES (?, ?, ?)", rows)

    def results(self) -> list[Result]:
        """How the contest stood last, the pairings in their order."""
        with self._file.reading() as db:
            rows = db.execute("SELECT body FROM results ORDER BY place").fetchall()
        return [decode_result(body) for (body,) in rows]

    def add_meeting(self, meeting: Meeting) -> None:
        """Keep a match of practice that has ended, by its number."""
        row = (meeting.number, encode_meeting(meeting))
        with self._file.transaction() as db:
            db.execute("INSERT OR REPLACE INTO meetings VALUES (?, ?)", row)

    def meetings(self) -> list[Meeting]:
        """The matches of practice that have ended, by their numbers."""
        with self._file.reading() as db:
            rows = db.execute("SELECT body FROM meetings ORDER BY number").fetchall()
        return [decode_meeting(body) for (body,) in rows]

    def add_standing(self, standing: Standing) -> None:
        """Keep ratings, by how many matches made them."""
        row = (standing.played, encode_standing(standing))
        with self._file.transaction() as db:
            db.execute("INSERT OR REPLACE INTO standings VALUES (?, ?)", row)

    def standings(self) -> list[Standing]:
        """The ratings over time, the oldest first."""
        with self._file.reading() as db:
            rows = db.execute("SELECT body FROM standings ORDER BY played").fetchall()
        return [decode_standing(body) for (body,) in rows]
