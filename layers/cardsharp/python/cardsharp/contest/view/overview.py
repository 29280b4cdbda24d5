"""Overview of a contest for its page: from the records, and from the arena's live matches.

It includes only what every spectator may know: no seed, no password, no hidden card.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, lru_cache
from itertools import zip_longest
from random import Random
from statistics import fmean
from typing import NamedTuple

from cardsharp.analysis.ratings import Z_95
from cardsharp.contest.formats.ladder import rate_teams
from cardsharp.contest.formats.pairing import PairingOutcome, TeamId
from cardsharp.contest.match_host import LiveMatch, MatchResultFacts
from cardsharp.contest.models import PairingResult, outcomes_by_key
from cardsharp.contest.practice import LadderRow, practice_ladder
from cardsharp.contest.results import ContestRecords
from cardsharp.contest.view.bracket_layout import BracketLayout, layout_bracket, layout_rounds
from cardsharp.contest.view.match_charts import (
    AnyChart,
    FinishedMatch,
    RatingChart,
    build_match_charts,
    build_rating_chart,
)
from cardsharp.contest.view.page_sections import (
    BOARD_SECTION_NAMES,
    SECTION_NAMES_BY_STAGE,
    PageSection,
    PageStage,
    page_sections,
)
from cardsharp.contest.view.progress import ContestProgress, contest_progress

_SAMPLE_COUNT = 2000


@dataclass(frozen=True, slots=True)
class MeanMatchStats:
    """Statistics of some matches: means per match, with `points` per team."""

    points: float
    busts: float
    timeouts: int
    seconds: float


def mean_match_stats(matches: Sequence[tuple[MatchResultFacts, Sequence[int]]]) -> MeanMatchStats:
    """Return the statistics of matches, each for the teams at the given places."""
    return MeanMatchStats(
        points=_mean(
            [fmean(facts.points[at] for at in team_indexes) for facts, team_indexes in matches]
        ),
        busts=_mean(
            [sum(facts.busts[at] for at in team_indexes) for facts, team_indexes in matches]
        ),
        timeouts=sum(facts.late[at] for facts, team_indexes in matches for at in team_indexes),
        seconds=_mean([facts.seconds for facts, _ in matches]),
    )


def _mean(values: Sequence[float]) -> float:
    return fmean(values) if values else 0.0


@lru_cache(maxsize=4)
def probability_strongest(team: TeamId, results: tuple[PairingResult, ...]) -> float | None:
    """Return the probability that a team is the strongest, sampling ratings; None without one."""
    shares = [
        ((result.teams[first_index], result.teams[second_index]), share)
        for result in results
        for facts in result.facts
        for first_index, second_index, share in facts.pairwise_shares()
    ]
    ratings_by_team = rate_teams({member for teams, _ in shares for member in teams}, shares)
    if team not in ratings_by_team:
        return None
    dice = Random(0)
    samples = [
        max(
            ratings_by_team,
            key=lambda candidate: dice.gauss(
                ratings_by_team[candidate].value, ratings_by_team[candidate].margin / Z_95
            ),
        )
        for _ in range(_SAMPLE_COUNT)
    ]
    return samples.count(team) / _SAMPLE_COUNT


MIN_TEAMS = 2  # teams of a contest that can be drawn


@dataclass(frozen=True, slots=True)
class StandingsRow:
    """A team's row in the standings: its range of places, and its outlook.

    `score` are the points that decide the places, None if something else decides them.
    `pairings` are won and lost; `matches` are won, drawn and lost.
    """

    place_range: str
    team: TeamId
    outlook: str
    score: float | None
    pairings: tuple[int, int]
    matches: tuple[int, int, int]
    stats: MeanMatchStats


@dataclass(frozen=True, slots=True)
class RoundStatsRow:
    """Row of statistics: the matches with one tag, such as those of a round."""

    title: str
    tag: str | None
    pairings: int
    decided_pairings: int
    matches: int
    stats: MeanMatchStats


class RunningMatch(NamedTuple):
    """A running match with its number in its pairing; a practice match has no `result`."""

    match: LiveMatch
    result: PairingResult | None = None
    number: int = 1


class ContestOverview:
    """State of a contest at one moment, with the matches `running` at its arena."""

    def __init__(self, records: ContestRecords, running: Iterable[LiveMatch] = ()) -> None:
        self.settings, self.form = records.settings, records.contest_format
        self.paused = records.is_paused
        self.frozen = records.frozen_at
        self.teams = [team.id for team in records.teams()]
        self.names = records.team_names_with_removed()
        self._withdrawn_teams = records.withdrawal_reasons_by_team()
        self.connections = records.connections_by_team()
        self.hosted_teams = {team.id for team in records.teams() if team.strategy is not None}
        self.results, self.listed = records.results(), records.results_with_discarded()
        self._records = records
        self._running_by_id = {match.id: match for match in running}
        self._rating_history = records.practice_rating_history()

    def late_turn_counts(self) -> Counter[TeamId]:
        """Return how many turns of each team ended by time, in the matches that are over."""
        counts = Counter[TeamId]()
        for result in self.listed:
            for _, facts in result.finished_match_ids_and_facts:
                counts.update(dict(zip(result.teams, facts.late, strict=True)))
        for match in self._records.practice_matches():
            counts.update(dict(zip(match.teams, match.facts.late, strict=True)))
        return counts

    @property
    def state_label(self) -> str:
        """The contest's state in one or two words."""
        if not self.results:
            return "practice" if self.has_practice else "not started"
        if self.is_over:
            return "finished"
        return "paused" if self.paused else "running"

    @property
    def stage(self) -> PageStage:
        """The contest's stage."""
        if not self.results:
            return PageStage.PRACTICE if self.has_practice else PageStage.NOT_BEGUN
        return PageStage.OVER if self.is_over else PageStage.RUNNING

    def sections(self, *, is_board: bool) -> list[PageSection]:
        """Return the sections of the page in their order, or those of the view for a projector."""
        names = (BOARD_SECTION_NAMES if is_board else SECTION_NAMES_BY_STAGE)[self.stage]
        return page_sections(
            names,
            is_knockout=self.is_knockout,
            has_charts=bool(self.results),
            has_ratings=self.has_practice,
        )

    def progress(self, current_time: datetime) -> ContestProgress | None:
        """Return the time since the first match and the expected time to the end, if known."""
        if self.is_over or self.frozen:
            return None
        return contest_progress(self.settings, len(self.teams), self.results, current_time)

    @property
    def is_over(self) -> bool:
        """True if every pairing is decided."""
        return bool(self.results) and all(result.decided for result in self.results)

    @property
    def has_practice(self) -> bool:
        """True if there is practice to show."""
        return bool(self._rating_history) or any(
            match.result is None for match in self.running_matches()
        )

    @property
    def champions(self) -> list[TeamId]:
        """Teams in first place, once the contest is over; empty earlier."""
        return self._standings[0] if self.is_over else []

    @property
    def winner_confidence(self) -> float | None:
        """Probability that the single champion is the strongest; None without one or matches."""
        if len(self.champions) != 1:
            return None
        return probability_strongest(self.champions[0], tuple(self.results))

    @cached_property
    def _standings(self) -> list[list[TeamId]]:
        if len(self.teams) < MIN_TEAMS:
            return [self.teams] if self.teams else []
        return self.form.standings(self.teams, self._outcomes)

    @property
    def _outcomes(self) -> dict[str, PairingOutcome]:
        return outcomes_by_key(self.results)

    @cached_property
    def page_hash(self) -> str:
        """Hash that changes whenever the page does, except for running matches."""
        content = (self.settings, self.paused, self.frozen, self.names, self.results, self.stage)
        fingerprint = repr((*content, len(self._rating_history), self.connections))
        return hashlib.blake2b(fingerprint.encode(), digest_size=9).hexdigest()

    @property
    def is_knockout(self) -> bool:
        """True if the format is a knockout, with a bracket."""
        return self.form.losses_allowed is not None

    def bracket_layout(self) -> BracketLayout:
        """The bracket, or the rounds side by side."""
        games = self.form.bracket_games(len(self.teams))
        if games:
            return layout_bracket(games, self.teams, self.results)
        return layout_rounds(self.results, self.form)

    def standings(self) -> Iterator[StandingsRow]:
        """Yield the teams by place; teams sharing one are ordered by pairings lost and won."""
        place, scores = 1, self.form.scores(self.teams, self._outcomes)
        for level in self._standings:
            last_place = place + len(level) - 1
            shared = str(place) if place == last_place else f"{place} to {last_place}"
            lines = (self._build_standings_row(shared, team, scores.get(team)) for team in level)
            yield from sorted(lines, key=lambda line: (line.pairings[1], -line.pairings[0]))
            place = last_place + 1

    def _build_standings_row(self, places: str, team: TeamId, score: float | None) -> StandingsRow:
        results = [result for result in self.results if team in result.teams]
        decided = [result.winner for result in results if result.decided]
        pairings = decided.count(team), sum(winner not in (team, None) for winner in decided)
        played = [
            (facts, result.teams.index(team))
            for result in results
            for _match, facts in result.finished_match_ids_and_facts
        ]
        won = sum(facts.winner == team_index for facts, team_index in played)
        ties = sum(facts.winner is None for facts, _ in played)
        matches = won, ties, len(played) - won - ties
        stats = mean_match_stats([(facts, (team_index,)) for facts, team_index in played])
        fate = self._describe_team_status(team, pairings[1])
        return StandingsRow(places, team, fate, score, pairings, matches, stats)

    def _describe_team_status(self, team: TeamId, loss_count: int) -> str:
        if team in self.champions:
            return "champion" if len(self.champions) == 1 else "first"
        if team in self._withdrawn_teams:
            return "withdrawn"
        lives = self.form.losses_allowed
        if lives is None or self.is_over:
            return ""
        return "out" if loss_count >= lives else "one loss" if loss_count else "no loss"

    def round_statistics(self) -> Iterator[RoundStatsRow]:
        """Yield the statistics of each round, and of the whole contest."""
        name = self.settings.name
        for round_number in sorted({result.round for result in self.results}):
            round_results = [result for result in self.results if result.round == round_number]
            yield _build_round_row(
                f"Round {round_number}", f"{name}_Round{round_number}", round_results
            )
        # Practice matches have the tag of the contest as well, so it has no statistics of its own.
        yield _build_round_row("All rounds", None, self.results)

    @property
    def practice_match_count(self) -> int:
        """Number of practice matches that have ended."""
        return len(self._records.practice_matches())

    def practice_ladder(self) -> list[LadderRow]:
        """Return the practice ladder, the best first."""
        return practice_ladder(self._records) if self.has_practice else []

    def practice_rating_chart(self) -> RatingChart | None:
        """The ratings of practice over time."""
        return build_rating_chart(self._rating_history)

    def match_charts(self) -> list[AnyChart]:
        """The charts of the matches that have ended."""
        return build_match_charts(
            [
                FinishedMatch(tuple(self.names.get(team, team) for team in result.teams), facts)
                for result in self.results
                for facts in result.facts
            ]
        )

    def running_matches(self) -> list[RunningMatch]:
        """The matches that are being played: the contest's, then those of practice."""
        contest_matches = [
            RunningMatch(self._running_by_id[match], result, match_number)
            for result in self.results
            if not result.decided
            for match_number, match in enumerate(result.matches, 1)
            if match in self._running_by_id
        ]
        tag = self.settings.practice_tag
        return contest_matches + [
            RunningMatch(match)
            for match in self._running_by_id.values()
            if not match.is_foreign and tag in match.tags
        ]

    def matches_of_pairing(
        self, result: PairingResult
    ) -> list[tuple[str, MatchResultFacts | None]]:
        """Return the matches of a pairing, with the facts of those that have ended."""
        return list(zip_longest(result.matches, result.facts))


def _build_round_row(
    title: str, tag: str | None, results: Sequence[PairingResult]
) -> RoundStatsRow:
    played = [facts for result in results for _match, facts in result.finished_match_ids_and_facts]
    decided = sum(result.decided for result in results)
    of_all = mean_match_stats([(facts, range(len(facts.points))) for facts in played])
    return RoundStatsRow(title, tag, len(results), decided, len(played), of_all)
