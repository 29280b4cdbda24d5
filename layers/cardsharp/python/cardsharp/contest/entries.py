"""What a contest has: its settings, teams and rulings, and how its pairings stand."""

import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from cardsharp.contest import elimination, ladder, round_robin, swiss  # noqa: F401 - formats
from cardsharp.contest.facts import Facts
from cardsharp.contest.pairing import FORMATS, Decision, Format, Pairing, Rules, Team
from cardsharp.games import game


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
    game: str = field(default_factory=lambda: game(None).name)

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
        return FORMATS[self.format]

    @property
    def rules(self) -> Rules:
        """How many matches decide a pairing."""
        return Rules(self.matches, self.most, level=self.form.level)


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
