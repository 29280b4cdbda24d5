"""Fake match host without a game, for the directors of contest and practice."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256

from fault_simulation.faults import Errors, FaultInjector, FaultKind, FaultPlan

from cardsharp.contest.formats.pairing import MatchScore
from cardsharp.contest.match_host import (
    FullMatchReport,
    MatchRequest,
    MatchResultFacts,
    MatchSummary,
    TeamPresence,
)
from cardsharp.errors import Unreachable


@dataclass
class FakeMatch:
    """Match of the host; a foreign match was begun by a team itself."""

    id: str
    request: MatchRequest
    is_foreign: bool = False
    score: MatchScore | None = None
    finished_at: str = ""
    poll_count: int = 0
    timed_out_turns: dict[str, int] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Tag that names its pairing and its number."""
        return self.request.tags[2]


class FakeMatchHost:
    """Match host whose matches finish at the second poll.

    The turns of teams in `absent` time out, one per poll. `idle_by_team` has the seconds
    since the last request of a team, 0 by default, and `tags_by_team` the tags for which it
    waits, any by default.
    """

    def __init__(self) -> None:
        self.begun_matches: list[FakeMatch] = []
        self.absent: set[str] = set()
        self.idle_by_team: dict[str, float | None] = {}
        self.tags_by_team: dict[str, tuple[str, ...]] = {}
        self.current_time = datetime(2026, 1, 1, tzinfo=UTC)

    def names_by_match(self) -> dict[str, str]:
        """Return the pairing and number of each match by its id."""
        return {match.id: match.name for match in self.begun_matches}

    def matches(self, tags: tuple[str, ...] = (), ids: tuple[str, ...] = ()) -> list[MatchSummary]:
        """Return summaries of the selected matches, as they were before this poll."""
        matches_by_id = [fake_match for fake_match in self.begun_matches if fake_match.id in ids]
        selected = matches_by_id or [
            fake_match
            for fake_match in self.begun_matches
            if set(tags) & set(fake_match.request.tags)
        ]
        summaries = [
            MatchSummary(
                fake_match.id,
                fake_match.request.teams,
                fake_match.request.tags,
                fake_match.finished_at,
                fake_match.score,
                max(fake_match.timed_out_turns.values(), default=0),
                fake_match.is_foreign,
            )
            for fake_match in selected
        ]
        for fake_match in matches_by_id:
            self._advance_match(fake_match)
        return summaries

    def _advance_match(self, fake_match: FakeMatch) -> None:
        """Advance a match; its points depend on the seed alone, and some matches are ties."""
        if fake_match.score is not None:
            return
        fake_match.poll_count += 1
        for team in self.absent & set(fake_match.request.teams):
            fake_match.timed_out_turns[team] = fake_match.timed_out_turns.get(team, 0) + 1
        if fake_match.poll_count > (5 if fake_match.timed_out_turns else 1):
            digest = sha256(fake_match.request.seed.encode()).digest()
            points_by_team = dict(
                zip(sorted(fake_match.request.teams), (byte % 5 for byte in digest), strict=False)
            )
            points = [points_by_team[team] for team in fake_match.request.teams]
            is_tie = points.count(max(points)) > 1
            self._finish(
                fake_match, MatchScore(tuple(points), None if is_tie else points.index(max(points)))
            )

    def match_report(self, match_id: str) -> FullMatchReport:
        """Return the report of a match; a team that let two turns time out is gone."""
        fake_match = self._match_by_id(match_id)
        teams, zeros = fake_match.request.teams, (0,) * len(fake_match.request.teams)
        timeouts = tuple(fake_match.timed_out_turns.get(team, 0) for team in teams)
        score = fake_match.score or MatchScore(zeros, None)
        facts = MatchResultFacts(score.points, score.winner, 60, 1, zeros, timeouts)
        absent_teams = tuple(team for team in teams if fake_match.timed_out_turns.get(team, 0) > 1)
        return FullMatchReport(
            teams, facts, self.current_time, fake_match.score is not None, absent_teams
        )

    def begin_match(self, request: MatchRequest) -> str:
        """Begin a match, and return its id."""
        return self.add(f"{len(self.begun_matches):024x}", request).id

    def add(self, match: str, request: MatchRequest, *, foreign: bool = False) -> FakeMatch:
        """Add a match with that id."""
        self.begun_matches.append(FakeMatch(match, request, foreign))
        return self.begun_matches[-1]

    def end_match(self, match_id: str, winner: str | None, comment: str) -> None:
        """End a match without points."""
        del comment
        fake_match = self._match_by_id(match_id)
        winner_index = None if winner is None else fake_match.request.teams.index(winner)
        self._finish(fake_match, MatchScore((0,) * len(fake_match.request.teams), winner_index))

    def presence_by_player(self) -> dict[str, TeamPresence]:
        """Return 0 seconds for every playing team, unless `idle_by_team` says otherwise."""
        idle_by_team = (
            dict.fromkeys(
                (t for fake_match in self.begun_matches for t in fake_match.request.teams), 0.0
            )
            | self.idle_by_team
        )
        return {
            team: TeamPresence(idle, self.tags_by_team.get(team))
            for team, idle in idle_by_team.items()
        }

    def _match_by_id(self, match: str) -> FakeMatch:
        return next(fake_match for fake_match in self.begun_matches if fake_match.id == match)

    def _finish(self, fake_match: FakeMatch, score: MatchScore) -> None:
        """End a match one second after the previous one."""
        self.current_time += timedelta(seconds=1)
        fake_match.score, fake_match.finished_at = score, self.current_time.isoformat()


def with_faults(match_host: FakeMatchHost, plan: FaultPlan) -> FakeMatchHost:
    """Return the match host with calls that suffer the plan's faults."""
    return FaultInjector(match_host, plan, FAULTY_CALLS, LOST_ERRORS)


FAULTY_CALLS = {"matches", "match_report", "begin_match", "end_match"}
LOST_ERRORS: Errors = dict.fromkeys(
    (FaultKind.REQUEST_LOST, FaultKind.RESPONSE_LOST),
    lambda: Unreachable("no answer", outcome_unknown=True),
)
