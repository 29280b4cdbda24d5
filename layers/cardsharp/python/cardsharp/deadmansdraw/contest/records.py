"""What a contest keeps of its own: one SQLite file with settings, teams, rulings and results.

The matches are not here but in the arena, under tags that name pairing and number: from them the
director works out again where the contest stands, whatever befell it. The results are a copy for
those who look while it runs.
"""

import json
import secrets
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from pydantic import TypeAdapter

from cardsharp.cloud.sqlite_file import Contents, SqliteFile
from cardsharp.deadmansdraw.arena.players import ha1
from cardsharp.deadmansdraw.contest.elimination import DoubleElimination
from cardsharp.deadmansdraw.contest.facts import Facts
from cardsharp.deadmansdraw.contest.pairing import Decision, Format, Pairing, Rules, Team
from cardsharp.deadmansdraw.contest.round_robin import RoundRobin
from cardsharp.deadmansdraw.contest.swiss import Swiss
from cardsharp.errors import ConfigError

FORMATS: dict[str, Format] = {
    "double-elimination": DoubleElimination(),
    "round-robin": RoundRobin(),
    "swiss": Swiss(),
}

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

_CONTENTS = Contents("contest's file", "the contest's folder", (_FIRST,))


@dataclass(frozen=True, slots=True)
class Settings:
    """What a contest was founded with."""

    name: str
    format: str = "double-elimination"
    matches: int = 5
    most: int = 15
    timeout: float = 7.0
    seed: str = field(default_factory=lambda: secrets.token_hex(16), repr=False)

    @property
    def form(self) -> Format:
        """Who meets whom."""
        return FORMATS[self.format]

    @property
    def rules(self) -> Rules:
        """How many matches decide a pairing."""
        return Rules(self.matches, self.most, level=self.format != "double-elimination")


@dataclass(frozen=True, slots=True)
class Entrant:
    """A team of the contest; one with a strategy is played by the director."""

    id: Team
    name: str
    ha1: str = field(repr=False)
    strategy: str | None = None


@dataclass(frozen=True, slots=True)
class Ruling:
    """What an organiser has decided of a pairing."""

    pairing: str
    winner: Team
    reason: str


@dataclass(frozen=True, slots=True)
class Result:
    """How a pairing stands: the ids of its matches, and what those came to that have ended."""

    pairing: str
    round: int
    part: str
    teams: tuple[str, str]
    wins: tuple[int, int] = (0, 0)
    winner: str | None = None
    decided: bool = False
    matches: tuple[str, ...] = ()
    facts: tuple[Facts, ...] = ()
    ruled: str | None = None

    @property
    def points(self) -> tuple[tuple[int, int], ...]:
        """The points of the ended matches, in the order of the teams."""
        return tuple(facts.points for facts in self.facts)

    @property
    def ended(self) -> tuple[tuple[str, Facts], ...]:
        """The ended matches by their ids; of a pairing only the last one can be running."""
        return tuple(zip(self.matches, self.facts, strict=False))


_RESULT = TypeAdapter(Result)


class Records:
    """The file of the contest in `folder`."""

    def __init__(self, folder: Path) -> None:
        path = folder / FILE
        if not path.exists():
            raise ConfigError(
                f"There is no contest in {folder}; `cardsharp contest new` founds one."
            )
        self.folder = folder
        self._file = SqliteFile(path, _CONTENTS)

    @classmethod
    def found(cls, folder: Path, settings: Settings) -> "Records":
        """A new contest in `folder`; raises `ConfigError` where one is."""
        if (folder / FILE).exists():
            raise ConfigError(f"There is a contest in {folder} already.")
        folder.mkdir(parents=True, exist_ok=True)
        file = SqliteFile(folder / FILE, _CONTENTS)
        with file.transaction() as db:
            db.execute("INSERT INTO settings VALUES (?)", (json.dumps(asdict(settings)),))
        file.close()
        return cls(folder)

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    @property
    def settings(self) -> Settings:
        """What the contest was founded with."""
        with self._file.reading() as db:
            return Settings(**json.loads(db.execute("SELECT body FROM settings").fetchone()[0]))

    # --- teams -----------------------------------------------------------------------------

    def teams(self) -> list[Entrant]:
        """The teams, the best seed first."""
        query = "SELECT id, name, ha1, strategy FROM teams ORDER BY seed"
        with self._file.reading() as db:
            return [Entrant(*row) for row in db.execute(query)]

    def enter(self, name: str, strategy: str | None = None) -> tuple[Entrant, str]:
        """A new team and its password, which nobody can read again."""
        self._refuse_once_begun()
        if any(team.name == name for team in self.teams()):
            raise ConfigError(f"There is a team called {name} already.")
        team_id, password = secrets.token_hex(12), secrets.token_urlsafe(18)
        team = Entrant(team_id, name, ha1(team_id, password), strategy)
        with self._file.transaction() as db:
            db.execute(
                "INSERT INTO teams SELECT ?, coalesce(max(seed), 0) + 1, ?, ?, ? FROM teams",
                (team.id, team.name, team.ha1, team.strategy),
            )
        return team, password

    def new_password(self, name: str) -> tuple[Entrant, str]:
        """A team and its new password; the old one is void once the contest is started again."""
        team, password = self.team(name), secrets.token_urlsafe(18)
        with self._file.transaction() as db:
            proof = ha1(team.id, password)
            db.execute("UPDATE teams SET ha1 = ? WHERE id = ?", (proof, team.id))
        return team, password

    def remove(self, name: str) -> None:
        """Remove a team before the contest has begun."""
        self._refuse_once_begun()
        team = self.team(name)
        with self._file.transaction() as db:
            db.execute("DELETE FROM teams WHERE id = ?", (team.id,))

    def team(self, name: str) -> Entrant:
        """The team with that name or id."""
        found = [team for team in self.teams() if name in (team.id, team.name)]
        if not found:
            names = ", ".join(team.name for team in self.teams()) or "nobody yet"
            raise ConfigError(f"No team is called {name}; entered are {names}.")
        return found[0]

    def _refuse_once_begun(self) -> None:
        if self.results():
            raise ConfigError("The contest has begun; its teams stay as they are.")

    # --- what organisers say ---------------------------------------------------------------

    def rule(self, pairing: str, winner: str, reason: str) -> None:
        """Decide a pairing, whatever its matches were; a later ruling replaces an earlier one."""
        team = self.team(winner)
        row = (pairing, team.id, reason, datetime.now(UTC).isoformat())
        with self._file.transaction() as db:
            db.execute("INSERT OR REPLACE INTO rulings VALUES (?, ?, ?, ?)", row)

    def rulings(self) -> dict[str, Ruling]:
        """The rulings by pairing."""
        with self._file.reading() as db:
            rows = db.execute("SELECT pairing, winner, reason FROM rulings").fetchall()
        return {row[0]: Ruling(*row) for row in rows}

    @property
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

    # --- results ---------------------------------------------------------------------------

    def keep(self, results: Iterable[Result]) -> None:
        """Keep how the contest stands, in place of how it stood."""
        rows = [
            (result.pairing, place, _RESULT.dump_json(result).decode())
            for place, result in enumerate(results)
        ]
        with self._file.transaction() as db:
            db.execute("DELETE FROM results")
            db.executemany("INSERT INTO results VALUES (?, ?, ?)", rows)

    def results(self) -> list[Result]:
        """How the contest stood last, the pairings in their order."""
        with self._file.reading() as db:
            rows = db.execute("SELECT body FROM results ORDER BY place").fetchall()
        return [_RESULT.validate_json(body) for (body,) in rows]

    def table(self) -> list[list[Team]]:
        """The places so far, the best first."""
        decided = {
            result.pairing: Decision(result.wins, result.winner)
            for result in self.results()
            if result.decided
        }
        return self.settings.form.table([team.id for team in self.teams()], decided)


def result_of(
    pairing: Pairing,
    decision: Decision | None,
    facts: tuple[Facts, ...],
    matches: tuple[str, ...],
    ruling: Ruling | None,
) -> Result:
    """A pairing as it is kept."""
    return Result(
        pairing=pairing.key,
        round=pairing.round,
        part=pairing.part,
        teams=pairing.teams,
        wins=(0, 0) if decision is None else decision.wins,
        winner=None if decision is None else decision.winner,
        decided=decision is not None,
        matches=matches,
        facts=facts,
        ruled=None if ruling is None else ruling.reason,
    )
