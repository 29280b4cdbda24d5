"""Where the matches of a contest are played: what its director asks of whoever hosts them.

Dead Man's Draw is played at its arena, any other game at tables of the contest's own. What
each team has is told in the order of the seats.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import NamedTuple, Protocol

from cardsharp.contest.facts import Facts, Numbers
from cardsharp.contest.pairing import Score, Team


class TableOrder(NamedTuple):
    """A match that is to begin; who knows its tags and seed finds it again."""

    teams: tuple[Team, ...]
    tags: tuple[str, ...]
    seed: str
    timeout: timedelta


@dataclass(frozen=True, slots=True)
class Tabled:
    """A match as it was seen last; its score is None while it runs.

    `late` are the turns in a row that ran out of time. A match is `foreign` that a team has begun,
    which may give it any tag.
    """

    id: str
    teams: tuple[Team, ...]
    tags: tuple[str, ...]
    last: str
    score: Score | None = None
    late: int = 0
    foreign: bool = False

    def ordered(self, teams: tuple[Team, ...]) -> "Tabled":
        """The same for the teams in this order."""
        order = [self.teams.index(team) for team in teams]
        return replace(self, teams=teams, score=self.score and self.score.ordered(order))


@dataclass(frozen=True, slots=True)
class Account:
    """A match read whole: what it came to so far, its last moment, and who has left it.

    `at` is None where the host tells no time; `gone` have left their last turns to the clock.
    """

    teams: tuple[Team, ...]
    facts: Facts
    at: datetime | None
    over: bool
    gone: tuple[Team, ...] = ()

    def facts_of(self, teams: tuple[Team, ...]) -> Facts:
        """The facts in the order of these teams."""
        if teams == self.teams:
            return self.facts
        return self.facts.ordered([self.teams.index(team) for team in teams])


@dataclass(frozen=True, slots=True)
class Playing:
    """A match as spectators see it now; `note` says in a few words what lies on the table."""

    id: str
    teams: tuple[Team, ...]
    tags: tuple[str, ...]
    points: Numbers
    active: Team | None
    turn: int
    note: str
    foreign: bool = False


class TableHost(Protocol):
    """What a director asks of who hosts its matches, as the organiser."""

    def matches(self, tags: tuple[str, ...] = (), ids: tuple[str, ...] = ()) -> list[Tabled]:
        """Matches with any of these tags, or of these ids."""

    def account(self, match: str) -> Account:
        """A match read whole."""

    def begin(self, order: TableOrder) -> str:
        """The id of a new match."""

    def end(self, match: str, winner: Team | None, comment: str) -> None:
        """End a match by decision; without a winner it is drawn."""


class PracticeHost(TableHost, Protocol):
    """What practice asks beside."""

    def idle(self) -> Mapping[Team, float | None]:
        """How many seconds ago each player was heard of, None where it never was."""
