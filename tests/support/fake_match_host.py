"""Tables without a game, for the directors of contest and practice."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256

from fault_simulation.faults import Errors, FaultInjector, FaultKind, FaultPlan

from cardsharp.contest.formats.pairing import MatchScore
from cardsharp.contest.match_host import HostReport, MatchFacts, MatchRequest, MatchSummary
from cardsharp.errors import Unreachable


@dataclass
class FakeMatch:
    """A match that was begun, or that a team has begun itself."""

    id: str
    request: MatchRequest
    is_foreign: bool = False
    score: MatchScore | None = None
    last: str = ""
    polls: int = 0
    timed_out_turns: dict[str, int] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Which match of which pairing it says it is."""
        return self.request.tags[2]


class FakeMatchHost:
    """Matches that end at the second look.

    The turns of who is `absent` run out, one a look; `heard` are the seconds since teams were heard
    of, by default all just now.
    """

    def __init__(self) -> None:
        self.begun_matches: list[FakeMatch] = []
        self.absent: set[str] = set()
        self.idle_by_team: dict[str, float | None] = {}
        self.now = datetime(2026, 1, 1, tzinfo=UTC)

    def matches(self, tags: tuple[str, ...] = (), ids: tuple[str, ...] = ()) -> list[MatchSummary]:
        """Those asked for, as they were before this look."""
        with_id = [one for one in self.begun_matches if one.id in ids]
        asked = with_id or [one for one in self.begun_matches if set(tags) & set(one.request.tags)]
        found = [
            MatchSummary(
                one.id, one.request.teams, one.request.tags, one.last, one.score,
                max(one.timed_out_turns.values(), default=0), one.is_foreign,
            )
            for one in asked
        ]  # fmt: skip
        for one in with_id:
            self._play(one)
        return found

    def _play(self, one: FakeMatch) -> None:
        """Points by the seed alone, so that every run has the same; some matches are drawn."""
        if one.score is not None:
            return
        one.polls += 1
        for team in self.absent & set(one.request.teams):
            one.timed_out_turns[team] = one.timed_out_turns.get(team, 0) + 1
        if one.polls > (5 if one.timed_out_turns else 1):
            digest = sha256(one.request.seed.encode()).digest()
            has = dict(zip(sorted(one.request.teams), (byte % 5 for byte in digest), strict=False))
            points = [has[team] for team in one.request.teams]
            drawn = points.count(max(points)) > 1
            self._stop(one, MatchScore(tuple(points), None if drawn else points.index(max(points))))

    def match_record(self, match_id: str) -> HostReport:
        """A match; who has left two turns to the clock is gone."""
        one = self._one(match_id)
        teams, nothing = one.request.teams, (0,) * len(one.request.teams)
        late = tuple(one.timed_out_turns.get(team, 0) for team in teams)
        score = one.score or MatchScore(nothing, None)
        facts = MatchFacts(score.points, score.winner, 60, 1, nothing, late)
        gone = tuple(team for team in teams if one.timed_out_turns.get(team, 0) > 1)
        return HostReport(teams, facts, self.now, one.score is not None, gone)

    def begin_match(self, request: MatchRequest) -> str:
        """One more."""
        return self.add(f"{len(self.begun_matches):024x}", request).id

    def add(self, match: str, order: MatchRequest, *, foreign: bool = False) -> FakeMatch:
        """A match of that id."""
        self.begun_matches.append(FakeMatch(match, order, foreign))
        return self.begun_matches[-1]

    def end_match(self, match: str, winner: str | None, comment: str) -> None:
        """Without points."""
        del comment
        one = self._one(match)
        place = None if winner is None else one.request.teams.index(winner)
        self._stop(one, MatchScore((0,) * len(one.request.teams), place))

    def idle_seconds(self) -> dict[str, float | None]:
        """Everybody who plays is there."""
        return (
            dict.fromkeys((t for one in self.begun_matches for t in one.request.teams), 0.0)
            | self.idle_by_team
        )

    def _one(self, match: str) -> FakeMatch:
        return next(one for one in self.begun_matches if one.id == match)

    def _stop(self, one: FakeMatch, score: MatchScore) -> None:
        """Every match ends a second after the last."""
        self.now += timedelta(seconds=1)
        one.score, one.last = score, self.now.isoformat()


def with_faults(tables: FakeMatchHost, plan: FaultPlan) -> FakeMatchHost:
    """The tables to a director whose calls suffer what the plan says."""
    return FaultInjector(tables, plan, CALLS, LOST_ERRORS)


CALLS = {"matches", "account", "begin", "end"}
LOST_ERRORS: Errors = dict.fromkeys(
    (FaultKind.REQUEST_LOST, FaultKind.RESPONSE_LOST),
    lambda: Unreachable("no answer", outcome_unknown=True),
)
