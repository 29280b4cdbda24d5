"""Models of a contest: settings, teams, rulings, results of its pairings, and practice."""

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from cardsharp.analysis.ratings import Rating
from cardsharp.contest.formats import (  # noqa: F401 - each registers its format
    double_elimination,
    ladder,
    pods,
    round_robin,
    swiss,
)
from cardsharp.contest.formats.base import FORMATS_BY_NAME, Format
from cardsharp.contest.formats.ladder import round_of_match_number
from cardsharp.contest.formats.pairing import Pairing, PairingOutcome, SeriesRules, TeamId
from cardsharp.contest.match_host import MatchResultFacts, Points
from cardsharp.play.catalog import get_game

DEFAULT_FORMAT = "double-elimination"


class ContestStage(StrEnum):
    """Stage of a contest."""

    OPEN = "open"
    RUNNING = "begun"
    OVER = "over"


@dataclass(frozen=True, slots=True)
class ContestSettings:
    """Settings with which a contest was created."""

    name: str
    format: str = DEFAULT_FORMAT
    matches: int = 5
    most: int = 15
    timeout: float = 7.0
    seed: str = field(default_factory=lambda: secrets.token_hex(16), repr=False)
    game: str = field(default_factory=lambda: get_game(None).name)
    seats: int = 2

    @property
    def practice_tag(self) -> str:
        """Tag of the practice matches of the contest."""
        return f"{self.name}-practice"

    @property
    def has_arena(self) -> bool:
        """True if matches are played at an arena, where any client can take a seat."""
        return self.game == get_game(None).name

    @property
    def format_without_history(self) -> Format:
        """Format without its teams and earlier draws, which decides the pairings."""
        return FORMATS_BY_NAME[self.format].replace_matching_fields(max_teams_per_match=self.seats)

    def format_with_history(
        self,
        teams: "Iterable[TeamEntry]",
        *results: "Iterable[PairingResult]",
        may_draw: bool = False,
    ) -> Format:
        """Return the format with late teams and recorded draws; a director has `may_draw` True."""
        late = tuple((team.id, team.since) for team in teams if team.since > 1)
        history = tuple(
            tuple(
                (result.as_pairing, result.current_outcome if result.decided else None)
                for result in stored_results
            )
            for stored_results in results
        )
        return self.format_without_history.replace_matching_fields(
            late_joiners=late, drawn_rounds=history, may_draw=may_draw
        )

    @property
    def series_rules(self) -> SeriesRules:
        """Rules by which a series of matches decides a pairing."""
        return self.format_without_history.series_rules(self.matches, self.most)


@dataclass(frozen=True, slots=True)
class TeamEntry:
    """A team of the contest from round `since` on; its `strategy`, if any, is run by the host."""

    id: TeamId
    name: str
    ha1: str = field(repr=False)
    strategy: str | None = None
    since: int = 1


@dataclass(frozen=True, slots=True)
class Ruling:
    """Organiser's decision of a pairing."""

    pairing: str
    winner: TeamId
    reason: str


@dataclass(frozen=True, slots=True)
class PairingResult:
    """Result of a pairing so far: wins, winner, match ids, and facts of the ended matches."""

    pairing: str
    round: int
    part: str
    teams: tuple[TeamId, ...]
    wins: tuple[int, ...] = (0, 0)
    winner: TeamId | None = None
    decided: bool = False
    matches: tuple[str, ...] = ()
    facts: tuple[MatchResultFacts, ...] = ()
    ruled: str | None = None
    counts: bool = True
    """False for earlier matches of a pairing for which a ruling has brought in other teams."""

    @property
    def as_pairing(self) -> Pairing:
        """The pairing as it was drawn."""
        return Pairing(self.pairing, self.round, self.part, self.teams)

    @property
    def match_points(self) -> tuple[Points, ...]:
        """The points of the ended matches, in the order of the teams."""
        return tuple(facts.points for facts in self.facts)

    @property
    def finished_match_ids_and_facts(self) -> tuple[tuple[str, MatchResultFacts], ...]:
        """Ids and facts of the ended matches; only the last match of a pairing can be running."""
        return tuple(zip(self.matches, self.facts, strict=False))

    @property
    def current_outcome(self) -> PairingOutcome:
        """Matches won by each and their points, and the winner where it is decided."""
        outcome = PairingOutcome.from_scores(self.teams, self.facts, self.winner)
        return replace(outcome, wins=self.wins) if self.decided else outcome

    def deciding_totals(self, contest_format: Format) -> Points:
        """Return the totals that decide: matches won or, if the format says so, points."""
        return (
            self.current_outcome.points if contest_format.by_points else self.current_outcome.wins
        )


def align_results_with_pairings(
    results: Iterable[PairingResult], contest_format: Format, teams: Sequence[TeamId]
) -> list[PairingResult]:
    """Return one result for each pairing of the format, in the format's order.

    A pairing for which no result fits gets an empty one.
    """
    offered = {(result.pairing, result.teams): result for result in results}
    decided = outcomes_by_key(())
    while True:
        consistent = [
            offered.get((pairing.key, pairing.teams)) or build_result(pairing)
            for pairing in contest_format.determined_pairings(teams, decided)
        ]
        previous, decided = decided, outcomes_by_key(consistent)
        if decided == previous:
            return consistent


def outcomes_by_key(results: Iterable[PairingResult]) -> dict[str, PairingOutcome]:
    """Return the outcomes of the decided pairings by their keys."""
    return {result.pairing: result.current_outcome for result in results if result.decided}


def build_result(
    pairing: Pairing,
    outcome: PairingOutcome | None = None,
    facts: tuple[MatchResultFacts, ...] = (),
    matches: tuple[str, ...] = (),
    ruling: Ruling | None = None,
) -> PairingResult:
    """Build the stored result of a pairing."""
    return PairingResult(
        *(pairing.key, pairing.round, pairing.section, pairing.teams),
        wins=(0,) * len(pairing.teams) if outcome is None else outcome.wins,
        winner=None if outcome is None else outcome.winner,
        decided=outcome is not None,
        matches=matches,
        facts=facts,
        ruled=None if ruling is None else ruling.reason,
    )


@dataclass(frozen=True, slots=True)
class PracticeMatch:
    """An ended practice match; `at` is the time of its end by the arena's clock.

    `teams` and the facts are in the order of the seats. Teams in `gone` did not act in two
    turns in a row; such a match does not count for the ratings.
    """

    number: int
    teams: tuple[TeamId, ...]
    match: str
    at: datetime
    facts: MatchResultFacts
    gone: tuple[TeamId, ...] = ()

    @property
    def pairing(self) -> Pairing:
        """The two teams as a pairing."""
        return Pairing(str(self.number), round_of_match_number(self.number), "practice", self.teams)

    @property
    def winner(self) -> TeamId | None:
        """Team that won, or None."""
        return None if self.facts.winner is None else self.teams[self.facts.winner]

    @property
    def first_team_share(self) -> float:
        """Share of the first team in the match: 1, a half or 0."""
        ((_, _, share),) = self.facts.pairwise_shares()
        return share


@dataclass(frozen=True, slots=True)
class RatingSnapshot:
    """Ratings after `played` matches, at the time when the last of them had ended."""

    played: int
    at: datetime
    ratings: dict[TeamId, Rating]


@dataclass(frozen=True, slots=True)
class TeamConnection:
    """Connection of a team whose program asks for matches: since when, and the program's name.

    `last_move_at` is the time of its last action in a match, None if there was none.
    """

    since: datetime
    client: str = ""
    last_move_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class TeamFault:
    """Error of a team that is played by a strategy on the host, described in a sentence."""

    at: datetime
    what: str


@dataclass(frozen=True, slots=True)
class TeamFaults:
    """Errors of a team: their total number, and the last ones, the newest first."""

    count: int = 0
    last: tuple[TeamFault, ...] = ()
