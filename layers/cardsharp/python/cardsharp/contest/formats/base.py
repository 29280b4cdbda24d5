"""Interface of contest formats, and their registry: each format registers under its name.

In formats whose places are decided by points, a won pairing scores one point and a level pairing
half a point. Teams with equal points are ordered by the number of matches won minus matches lost.
"""

from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self, TypeVar

from cardsharp.contest.formats.bracket import BracketGame
from cardsharp.contest.formats.pairing import (
    LateJoiners,
    Pairing,
    PairingHistory,
    PairingOutcome,
    PairingOutcomes,
    Pairings,
    SeededTeams,
    SeriesRules,
    TeamId,
)


class Format(ABC):
    """A contest format: computes the pairings to play from the outcomes so far, without state.

    With `allows_ties` a pairing may end level, for half a point each. With `by_points` the
    points of the game decide a pairing, not the matches won. A team is out after
    `losses_allowed` lost pairings; None means never. `is_simulated` is False for formats whose
    simulation takes too long.
    """

    __slots__ = ()

    allows_ties: ClassVar[bool] = True
    by_points: ClassVar[bool] = False
    losses_allowed: ClassVar[int | None] = None
    is_simulated: ClassVar[bool] = True

    @property
    def max_teams_per_match(self) -> int:
        """Maximum number of teams in one match."""
        return 2

    def replace_matching_fields(self, **values: object) -> Self:
        """Return a copy with the `values` that are fields of this format; ignore the others."""
        instance: Any = self
        names = {field.name for field in fields(instance)} & values.keys()
        same: Self = replace(instance, **{name: values[name] for name in names})
        return same

    def last_entry_round(self, _teams: SeededTeams) -> int | None:
        """Return the last round in which a team may join; 0 if none, None if there is no limit."""
        return 0

    def series_rules(self, matches: int, max_matches: int) -> SeriesRules:
        """Return the rules by which a series of `matches` to `max_matches` decides a pairing."""
        return SeriesRules(
            matches, max_matches, allows_ties=self.allows_ties, by_points=self.by_points
        )

    def bracket_games(self, _teams: int) -> tuple[BracketGame, ...]:
        """Return the games of the bracket for so many teams; empty without a bracket."""
        return ()

    @abstractmethod
    def determined_pairings(self, teams: SeededTeams, outcomes: PairingOutcomes) -> Pairings:
        """Return every pairing determined so far, in order; further outcomes only add to it."""

    def scores(self, _teams: SeededTeams, _decided: PairingOutcomes) -> dict[TeamId, float]:
        """Return the points that decide the places; empty if something else decides them."""
        return {}

    @abstractmethod
    def standings(self, teams: SeededTeams, outcomes: PairingOutcomes) -> list[list[TeamId]]:
        """Return the places so far, the best first; teams that share a place are grouped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LateEntryFormat(Format):
    """A format that teams may join late, starting without points; they do not extend it."""

    late_joiners: LateJoiners = ()

    def last_entry_round(self, teams: SeededTeams) -> int | None:
        """Return the last round in which a team may join; None if there is no limit."""
        return self.round_count(len(self.participants(teams, 1)))

    def participants(self, teams: SeededTeams, round_number: int) -> list[TeamId]:
        """Return the teams that take part in the round."""
        since = dict(self.late_joiners)
        return [team for team in teams if since.get(team, 1) <= round_number]

    @abstractmethod
    def round_count(self, team_count: int) -> int | None:
        """Return the number of rounds for so many teams; None if late joiners can add rounds."""

    def standings(self, teams: SeededTeams, outcomes: PairingOutcomes) -> list[list[TeamId]]:
        """Return the places by points, then by matches won less matches lost."""
        score, margin = self.scores(teams, outcomes), dict.fromkeys(teams, 0)
        for pairing, decision in decided_pairings_with_outcomes(
            self.determined_pairings(teams, outcomes), outcomes
        ):
            first, second = pairing.teams
            difference = decision.wins[0] - decision.wins[1]
            margin[first] += difference
            margin[second] -= difference
        return group_by_rank(teams, {team: (score[team], margin[team]) for team in teams})


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundByRoundFormat(LateEntryFormat):
    """A format that draws each round when the previous one has ended.

    A round in `drawn_rounds` is reused as long as all earlier rounds ended in the same way. So
    no round is drawn twice, and readers of a contest, which have `may_draw` False, need no
    matching algorithm.
    """

    drawn_rounds: tuple[PairingHistory, ...] = ()
    may_draw: bool = True

    def determined_pairings(self, teams: SeededTeams, outcomes: PairingOutcomes) -> Pairings:
        """Return every pairing determined so far."""
        all_pairings: Pairings = ()
        last_pairings: Pairings = ()
        # A draw depends on all earlier outcomes, and a ruling may change one of them. So a stored
        # draw is used only while every earlier round is the same as it was when it was made.
        histories = [_group_by_round(history) for history in self.drawn_rounds]
        for round_number in range(1, (self.round_count(len(self.participants(teams, 1))) or 0) + 1):
            if any(pairing.key not in outcomes for pairing in last_pairings):
                break
            last_round = [(pairing, outcomes[pairing.key]) for pairing in last_pairings]
            histories = [
                history for history in histories if history[round_number - 1] == last_round
            ]
            participants = self.participants(teams, round_number)
            last_pairings = _find_recorded_round(histories, round_number, participants) or (
                self.draw(round_number, participants, all_pairings, outcomes)
                if self.may_draw
                else ()
            )
            all_pairings += last_pairings
        return all_pairings

    @abstractmethod
    def draw(
        self,
        round_number: int,
        teams: SeededTeams,
        past_pairings: Pairings,
        outcomes: PairingOutcomes,
    ) -> Pairings:
        """Return the pairings of a new round between the `teams`."""


_RoundHistory = list[tuple[Pairing, PairingOutcome | None]]


def _group_by_round(history: PairingHistory) -> defaultdict[int, _RoundHistory]:
    """Group the pairings and outcomes of one recorded draw by round number."""
    rounds: defaultdict[int, _RoundHistory] = defaultdict(list)
    for pairing, end in history:
        rounds[pairing.round].append((pairing, end))
    return rounds


def _find_recorded_round(
    histories: Sequence[Mapping[int, _RoundHistory]], round_number: int, teams: SeededTeams
) -> Pairings:
    """Return the recorded round drawn in the same situation for these teams, else ()."""
    for history in histories:
        pairings = tuple(pairing for pairing, _ in history.get(round_number, ()))
        if all(set(pairing.teams) <= set(teams) for pairing in pairings):
            return pairings
    return ()


F = TypeVar("F", bound=Format)

FORMATS_BY_NAME: dict[str, Format] = {}  # the formats by their names


def register_format(name: str) -> Callable[[type[F]], type[F]]:
    """Return a decorator that registers a format's default instance under `name`."""

    def entered(format_class: type[F]) -> type[F]:
        FORMATS_BY_NAME[name] = format_class()
        return format_class

    return entered


def count_points(
    teams: SeededTeams, finished: Iterable[tuple[Pairing, PairingOutcome]]
) -> dict[TeamId, float]:
    """Return the points of each team."""
    totals = dict.fromkeys(teams, 0.0)
    for pairing, decision in finished:
        for team in pairing.teams:
            if decision.winner in (team, None):
                totals[team] += 1.0 if decision.winner else 0.5
    return totals


def decided_pairings_with_outcomes(
    pairings: Iterable[Pairing], outcomes: PairingOutcomes
) -> list[tuple[Pairing, PairingOutcome]]:
    """Return the decided pairings, each with its outcome."""
    return [(pairing, outcomes[pairing.key]) for pairing in pairings if pairing.key in outcomes]


def count_byes_since_joining(
    teams: SeededTeams, past_pairings: Sequence[Pairing], late_joiners: LateJoiners = ()
) -> Counter[TeamId]:
    """Count the byes of each team since it joined."""
    rounds, since = {pairing.round for pairing in past_pairings}, dict(late_joiners)
    played = Counter(team for pairing in past_pairings for team in pairing.teams)
    round_counts = {
        team: sum(round_number >= since.get(team, 1) for round_number in rounds) for team in teams
    }
    return Counter({team: round_counts[team] - played[team] for team in teams})


def group_by_rank(
    teams: SeededTeams, sort_key: Mapping[TeamId, tuple[float, ...]]
) -> list[list[TeamId]]:
    """Group the teams by `sort_key`, the highest first; equal teams share a place."""
    ranks = sorted(set(sort_key.values()), reverse=True)
    return [[team for team in teams if sort_key[team] == rank] for rank in ranks]
