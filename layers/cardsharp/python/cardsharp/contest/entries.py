"""What a contest has: settings, teams, rulings, how its pairings stand, and its practice."""

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from cardsharp.contest import elimination, ladder, round_robin, seated, swiss  # noqa: F401
from cardsharp.contest.formats import FORMATS, Format
from cardsharp.contest.ladder import round_of
from cardsharp.contest.pairing import Decision, Pairing, Rules, Team
from cardsharp.contest.tables import Facts, Numbers
from cardsharp.games import game
from cardsharp.ratings import Rating

DEFAULT_FORMAT = "double-elimination"


class Stage(StrEnum):
    """How far a contest is."""

    OPEN = "open"
    BEGUN = "begun"
    OVER = "over"


@dataclass(frozen=True, slots=True)
class Settings:
    """What a contest was founded with."""

    name: str
    format: str = DEFAULT_FORMAT
    matches: int = 5
    most: int = 15
    timeout: float = 7.0
    seed: str = field(default_factory=lambda: secrets.token_hex(16), repr=False)
    game: str = field(default_factory=lambda: game(None).name)
    seats: int = 2

    @property
    def practice(self) -> str:
        """The tag of its practice."""
        return f"{self.name}-practice"

    @property
    def has_arena(self) -> bool:
        """Whether its matches are played at an arena, where any client can sit down."""
        return self.game == game(None).name

    @property
    def form(self) -> Format:
        """Who meets whom."""
        return FORMATS[self.format].given(seats=self.seats)

    def form_of(
        self, teams: "Iterable[Entrant]", *results: "Iterable[Result]", draws: bool = False
    ) -> Format:
        """Who meets whom, late teams too, after what was drawn; only a director `draws` further."""
        late = tuple((team.id, team.since) for team in teams if team.since > 1)
        drawn = tuple(
            tuple((one.drawn, one.so_far if one.decided else None) for one in found)
            for found in results
        )
        return self.form.given(late=late, drawn=drawn, draws=draws)

    @property
    def rules(self) -> Rules:
        """How many matches decide a pairing."""
        return self.form.rules(self.matches, self.most)


@dataclass(frozen=True, slots=True)
class Entrant:
    """A team of the contest, from the round `since` on; one with a strategy is played here."""

    id: Team
    name: str
    ha1: str = field(repr=False)
    strategy: str | None = None
    since: int = 1


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
    teams: tuple[Team, ...]
    wins: tuple[int, ...] = (0, 0)
    winner: Team | None = None
    decided: bool = False
    matches: tuple[str, ...] = ()
    facts: tuple[Facts, ...] = ()
    ruled: str | None = None
    counts: bool = True
    """Whether it does: where a ruling brought other teams here, what was played before does not."""

    @property
    def drawn(self) -> Pairing:
        """The pairing as it was drawn."""
        return Pairing(self.pairing, self.round, self.part, self.teams)

    @property
    def points(self) -> tuple[Numbers, ...]:
        """The points of the ended matches, in the order of the teams."""
        return tuple(facts.points for facts in self.facts)

    @property
    def ended(self) -> tuple[tuple[str, Facts], ...]:
        """The ended matches by their ids; of a pairing only the last one can be running."""
        return tuple(zip(self.matches, self.facts, strict=False))

    @property
    def so_far(self) -> Decision:
        """Matches won by each and their points, and the winner where it is decided."""
        found = Decision.of(self.teams, self.facts, self.winner)
        return replace(found, wins=self.wins) if self.decided else found

    def tally(self, form: Format) -> Numbers:
        """What each has of what decides: matches won or, where the format says so, points."""
        return self.so_far.points if form.by_points else self.so_far.wins


def following(results: Iterable[Result], form: Format, teams: Sequence[Team]) -> list[Result]:
    """These results as far as they follow from each other, and who meets by them."""
    offered = {(one.pairing, one.teams): one for one in results}
    decided = decided_of(())
    while True:
        shown = [
            offered.get((pairing.key, pairing.teams)) or result_of(pairing)
            for pairing in form.pairings(teams, decided)
        ]
        before, decided = decided, decided_of(shown)
        if decided == before:
            return shown


def decided_of(results: Iterable[Result]) -> dict[str, Decision]:
    """How the pairings ended that have ended, by their keys."""
    return {result.pairing: result.so_far for result in results if result.decided}


def result_of(
    pairing: Pairing,
    decision: Decision | None = None,
    facts: tuple[Facts, ...] = (),
    matches: tuple[str, ...] = (),
    ruling: Ruling | None = None,
) -> Result:
    """A pairing as it is kept."""
    return Result(
        *(pairing.key, pairing.round, pairing.part, pairing.teams),
        wins=(0,) * len(pairing.teams) if decision is None else decision.wins,
        winner=None if decision is None else decision.winner,
        decided=decision is not None,
        matches=matches,
        facts=facts,
        ruled=None if ruling is None else ruling.reason,
    )


@dataclass(frozen=True, slots=True)
class Meeting:
    """A match of practice that has ended at that moment, by the arena's clock.

    `teams` are in the order of their seats, and so are the facts. Where somebody is `gone`, who
    did not act in two turns one after the other, it does not count for the ratings.
    """

    number: int
    teams: tuple[Team, ...]
    match: str
    at: datetime
    facts: Facts
    gone: tuple[Team, ...] = ()

    @property
    def pairing(self) -> Pairing:
        """The two teams as a pairing."""
        return Pairing(str(self.number), round_of(self.number), "practice", self.teams)

    @property
    def winner(self) -> Team | None:
        """Who has won."""
        return None if self.facts.winner is None else self.teams[self.facts.winner]

    @property
    def share(self) -> float:
        """What the first team made of it: 1, a half or 0."""
        ((_, _, share),) = self.facts.shares()
        return share


@dataclass(frozen=True, slots=True)
class Standing:
    """The ratings after so many matches, when the last of them had ended."""

    played: int
    at: datetime
    ratings: dict[Team, Rating]


@dataclass(frozen=True, slots=True)
class Fault:
    """What went wrong with a team that is played for, in a sentence."""

    at: datetime
    what: str


@dataclass(frozen=True, slots=True)
class Faults:
    """Those of a team: how many there were, and the last ones, the newest first."""

    count: int = 0
    last: tuple[Fault, ...] = ()
