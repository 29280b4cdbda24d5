"""Tables without a game, for the directors of contest and practice."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256

from world.faults import Errors, FaultPlan, Faulty, Kind

from cardsharp.contest.pairing import Score
from cardsharp.contest.tables import Account, Facts, Tabled, TableOrder
from cardsharp.errors import Unreachable


@dataclass
class Made:
    """A match that was begun, or that a team has begun itself."""

    id: str
    order: TableOrder
    foreign: bool = False
    score: Score | None = None
    last: str = ""
    looks: int = 0
    late: dict[str, int] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Which match of which pairing it says it is."""
        return self.order.tags[2]


class FakeTables:
    """Matches that end at the second look.

    The turns of who is `absent` run out, one a look; `heard` are the seconds since teams were heard
    of, by default all just now.
    """

    def __init__(self) -> None:
        self.made: list[Made] = []
        self.absent: set[str] = set()
        self.heard: dict[str, float | None] = {}
        self.now = datetime(2026, 1, 1, tzinfo=UTC)

    def matches(self, tags: tuple[str, ...] = (), ids: tuple[str, ...] = ()) -> list[Tabled]:
        """Those asked for, as they were before this look."""
        with_id = [one for one in self.made if one.id in ids]
        asked = with_id or [one for one in self.made if set(tags) & set(one.order.tags)]
        found = [
            Tabled(
                one.id, one.order.teams, one.order.tags, one.last, one.score,
                max(one.late.values(), default=0), one.foreign,
            )
            for one in asked
        ]  # fmt: skip
        for one in with_id:
            self._play(one)
        return found

    def _play(self, one: Made) -> None:
        """Points by the seed alone, so that every run has the same; some matches are drawn."""
        if one.score is not None:
            return
        one.looks += 1
        for team in self.absent & set(one.order.teams):
            one.late[team] = one.late.get(team, 0) + 1
        if one.looks > (5 if one.late else 1):
            digest = sha256(one.order.seed.encode()).digest()
            has = dict(zip(sorted(one.order.teams), (byte % 5 for byte in digest), strict=False))
            points = [has[team] for team in one.order.teams]
            drawn = points.count(max(points)) > 1
            self._stop(one, Score(tuple(points), None if drawn else points.index(max(points))))

    def account(self, match: str) -> Account:
        """A match; who has left two turns to the clock is gone."""
        one = self._one(match)
        teams, nothing = one.order.teams, (0,) * len(one.order.teams)
        late = tuple(one.late.get(team, 0) for team in teams)
        score = one.score or Score(nothing, None)
        facts = Facts(score.points, score.winner, 60, 1, nothing, late)
        gone = tuple(team for team in teams if one.late.get(team, 0) > 1)
        return Account(teams, facts, self.now, one.score is not None, gone)

    def begin(self, order: TableOrder) -> str:
        """One more."""
        return self.add(f"{len(self.made):024x}", order).id

    def add(self, match: str, order: TableOrder, *, foreign: bool = False) -> Made:
        """A match of that id."""
        self.made.append(Made(match, order, foreign))
        return self.made[-1]

    def end(self, match: str, winner: str | None, comment: str) -> None:
        """Without points."""
        del comment
        one = self._one(match)
        place = None if winner is None else one.order.teams.index(winner)
        self._stop(one, Score((0,) * len(one.order.teams), place))

    def idle(self) -> dict[str, float | None]:
        """Everybody who plays is there."""
        return dict.fromkeys((t for one in self.made for t in one.order.teams), 0.0) | self.heard

    def _one(self, match: str) -> Made:
        return next(one for one in self.made if one.id == match)

    def _stop(self, one: Made, score: Score) -> None:
        """Every match ends a second after the last."""
        self.now += timedelta(seconds=1)
        one.score, one.last = score, self.now.isoformat()


def disturbed(tables: FakeTables, plan: FaultPlan) -> FakeTables:
    """The tables to a director whose calls suffer what the plan says."""
    return Faulty(tables, plan, CALLS, LOST)


CALLS = {"matches", "account", "begin", "end"}
LOST: Errors = dict.fromkeys(
    (Kind.REQUEST_LOST, Kind.RESPONSE_LOST), lambda: Unreachable("no answer", doubtful=True)
)
