"""What a contest keeps of its own: settings, teams, rulings and results.

The matches are not here but in the arena, under tags that name pairing and number: from them the
director works out again where the contest stands, whatever befell it. The results are a copy for
those who look while it runs. What keeps it is a `Store`: a file at home, a table in the cloud.
"""

import secrets
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Protocol

from cardsharp.deadmansdraw.arena.players import LONGEST_NAME, ha1
from cardsharp.deadmansdraw.contest.elimination import DoubleElimination
from cardsharp.deadmansdraw.contest.facts import Facts
from cardsharp.deadmansdraw.contest.ladder import Ladder
from cardsharp.deadmansdraw.contest.meetings import Meeting, Standing
from cardsharp.deadmansdraw.contest.pairing import Decision, Format, Pairing, Rules, Team
from cardsharp.deadmansdraw.contest.round_robin import RoundRobin
from cardsharp.deadmansdraw.contest.swiss import Swiss
from cardsharp.errors import ConfigError, Conflict

FORMATS: dict[str, Format] = {
    "double-elimination": DoubleElimination(),
    "round-robin": RoundRobin(),
    "swiss": Swiss(),
    "ladder": Ladder(),
}


class Stage(StrEnum):
    """How far a contest is."""

    OPEN = "open"
    BEGUN = "begun"
    OVER = "over"


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
    def practice(self) -> str:
        """The tag of its practice."""
        return f"{self.name}-practice"

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


class Store(Protocol):
    """What keeps a contest; every method raises `StoreError` where it fails."""

    def settings(self) -> Settings:
        """What the contest was founded with."""

    def teams(self) -> list[Entrant]:
        """The teams, the best seed first."""

    def add(self, team: Entrant) -> None:
        """Enter a team as the last seed.

        Raises:
            Conflict: the name is taken, or the contest has begun.
        """

    def replace(self, team: Entrant) -> None:
        """Keep a team's new password."""

    def remove(self, team: Entrant) -> None:
        """Remove a team; raises `Conflict` where the contest has begun."""

    def seed(self, order: Sequence[Team]) -> None:
        """Let the teams be seeded in this order; raises `Conflict` where the contest has begun."""

    def stage(self) -> Stage:
        """How far the contest is."""

    def begin(self) -> None:
        """Let a contest that is open begin; from now on its teams stay as they are."""

    def end(self, ruled: int) -> None:
        """Let the contest be over, unless more than `ruled` rulings were made in it."""

    def rule(self, ruling: Ruling) -> None:
        """Keep a ruling in place of an earlier one; a contest that was over goes on."""

    def rulings(self) -> dict[str, Ruling]:
        """The rulings by pairing."""

    def ruled(self) -> int:
        """How often a ruling was made."""

    def paused(self) -> bool:
        """Whether no match is to begin."""

    def pause(self, *, on: bool) -> None:
        """Let no match begin, or let them begin again."""

    def keep(self, results: Iterable[Result]) -> None:
        """Keep how the contest stands, in place of how it stood."""

    def results(self) -> list[Result]:
        """How the contest stood last, the pairings in their order."""

    def add_meeting(self, meeting: Meeting) -> None:
        """Keep a match of practice that has ended, by its number."""

    def meetings(self) -> list[Meeting]:
        """The matches of practice that have ended, by their numbers."""

    def add_standing(self, standing: Standing) -> None:
        """Keep ratings, by how many matches made them."""

    def standings(self) -> list[Standing]:
        """The ratings over time, the oldest first."""

    def close(self) -> None:
        """Let go of what it has open."""


def _seen(name: str) -> str:
    """A name as people tell names apart: capitals, widths and ligatures make no other one."""
    return unicodedata.normalize("NFKC", name).casefold()


class Records:
    """The records of one contest, in the store that keeps them."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def close(self) -> None:
        """Let go of the store."""
        self._store.close()

    @property
    def settings(self) -> Settings:
        """What the contest was founded with."""
        return self._store.settings()

    @property
    def stage(self) -> Stage:
        """How far the contest is."""
        return self._store.stage()

    def begin(self) -> None:
        """Let the contest begin, if it has not; from now on its teams stay as they are."""
        self._store.begin()

    def end(self, ruled: int) -> None:
        """Let the contest be over, unless more than `ruled` rulings were made in it."""
        self._store.end(ruled)

    # --- teams -----------------------------------------------------------------------------

    def teams(self) -> list[Entrant]:
        """The teams, the best seed first."""
        return self._store.teams()

    def enter(self, name: str, strategy: str | None = None) -> tuple[Entrant, str]:
        """A new team and its password, which nobody can read again."""
        self._refuse_once_begun()
        if not name.strip() or len(name) > LONGEST_NAME:
            raise ConfigError(
                f"A team's name has 1 to {LONGEST_NAME} characters, and is not empty."
            )
        if not name.isprintable() or name != name.strip():
            raise ConfigError(
                f"The team's name {name!r} has characters that nobody sees, or blanks around it; "
                "leave them out, so that no two names look alike."
            )
        alike = next((team.name for team in self.teams() if _seen(team.name) == _seen(name)), None)
        if alike is not None:
            raise ConfigError(f"There is a team called {alike} already.")
        team_id, password = secrets.token_hex(12), secrets.token_urlsafe(18)
        team = Entrant(team_id, name, ha1(team_id, password), strategy)
        try:
            self._store.add(team)
        except Conflict:
            raise ConfigError(f"Somebody else is changing the teams; enter {name} again.") from None
        return team, password

    def new_password(self, name: str) -> tuple[Entrant, str]:
        """A team and its new password, which counts within seconds in place of the old one."""
        team, password = self.team(name), secrets.token_urlsafe(18)
        self._store.replace(replace(team, ha1=ha1(team.id, password)))
        return team, password

    def remove(self, name: str) -> None:
        """Remove a team before the contest has begun."""
        self._refuse_once_begun()
        try:
            self._store.remove(self.team(name))
        except Conflict:
            self._refuse_once_begun()
            raise

    def seed(self, order: Sequence[Team]) -> None:
        """Let the teams be seeded in this order of all their ids, before the contest has begun."""
        self._refuse_once_begun()
        self._store.seed(order)

    def team(self, name: str) -> Entrant:
        """The team with that name or id."""
        found = [team for team in self.teams() if name in (team.id, team.name)]
        if not found:
            names = ", ".join(team.name for team in self.teams()) or "nobody yet"
            raise ConfigError(f"No team is called {name}; entered are {names}.")
        return found[0]

    def _refuse_once_begun(self) -> None:
        if self.stage is not Stage.OPEN:
            raise ConfigError("The contest has begun; its teams stay as they are.")

    # --- what organisers say ---------------------------------------------------------------

    def rule(self, pairing: str, winner: str, reason: str) -> None:
        """Decide a pairing, whatever its matches were; a later ruling replaces an earlier one."""
        self._store.rule(Ruling(pairing, self.team(winner).id, reason))

    def rulings(self) -> dict[str, Ruling]:
        """The rulings by pairing."""
        return self._store.rulings()

    @property
    def ruled(self) -> int:
        """How often a ruling was made."""
        return self._store.ruled()

    @property
    def paused(self) -> bool:
        """Whether no match is to begin."""
        return self._store.paused()

    def pause(self, *, on: bool) -> None:
        """Let no match begin, or let them begin again."""
        self._store.pause(on=on)

    # --- results ---------------------------------------------------------------------------

    def keep(self, results: Iterable[Result]) -> None:
        """Keep how the contest stands, in place of how it stood."""
        self._store.keep(results)

    def results(self) -> list[Result]:
        """How the contest stood last, the pairings in their order."""
        return self._store.results()

    # --- practice --------------------------------------------------------------------------

    def add_meeting(self, meeting: Meeting) -> None:
        """Keep a match of practice that has ended."""
        self._store.add_meeting(meeting)

    def meetings(self) -> list[Meeting]:
        """The matches of practice that have ended, in the order in which they did."""
        return sorted(self._store.meetings(), key=lambda meeting: (meeting.at, meeting.number))

    def add_standing(self, standing: Standing) -> None:
        """Keep the ratings of a moment."""
        self._store.add_standing(standing)

    def standings(self) -> list[Standing]:
        """The ratings of practice over time, the oldest first."""
        return self._store.standings()

    # --- places ----------------------------------------------------------------------------

    def table(self) -> list[list[Team]]:
        """The places so far, the best first."""
        return places(self.settings, self.teams(), self.results())


def places(
    settings: Settings, teams: Iterable[Entrant], results: Iterable[Result]
) -> list[list[Team]]:
    """The places after such results, the best first."""
    decided = {
        result.pairing: Decision(result.wins, result.winner) for result in results if result.decided
    }
    return settings.form.table([team.id for team in teams], decided)


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
