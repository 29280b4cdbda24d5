"""The matches of a contest: where they are played, which each is, and what it came to.

Dead Man's Draw is played at its arena, any other game at tables of the contest's own. What
each team has is told in the order of the seats.

A match is known by its pairing and number, from its tags. Who begins one looks first whether it is
there, and its seed follows from the contest's own: so nothing has to be remembered, and no match is
lost or counted twice whoever dies when. Where a ruling brings other teams into a pairing, what
those before them played does not count.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from hashlib import sha256
from itertools import combinations, count
from typing import NamedTuple, Protocol

from cardsharp.contest.pairing import Pairing, Score, Team

Numbers = tuple[float, ...]  # one for each team at a table, in their order


@dataclass(frozen=True, slots=True)
class Facts(Score):
    """A match that has ended, for its teams in their order.

    `busts` are turns that lost their cards, in games that have such; `late` those that the host
    ended for running out of time; `banked` those that ended well. `autopicks` are moves in which
    the host was to pick. Matches of older versions do not know all of it.
    """

    seconds: float
    turns: int
    busts: tuple[int, ...] = (0, 0)
    late: tuple[int, ...] = (0, 0)
    banked: tuple[int, ...] = ()
    moves: tuple[int, ...] = ()
    autopicks: tuple[int, ...] = ()
    began: datetime | None = None

    def shares(self) -> list[tuple[int, int, float]]:
        """What each made of each other: 1, a half or 0; of more than two those behind by points."""
        more = len(self.points) > 2  # noqa: PLR2004 - of two the winner says it all
        order = [(at == self.winner, more and one) for at, one in enumerate(self.points)]
        return [
            (one, other, share_of(order[one], order[other]))
            for one, other in combinations(range(len(order)), 2)
        ]


def share_of(one: object, other: object) -> float:
    """1 where what one has is more, a half where it is as much, else 0."""
    return 0.5 if one == other else float(one > other)  # type: ignore[operator]  # alike


def shown(points: float) -> str:
    """Points with as few digits as say them."""
    return f"{points:.10g}"


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
    """What directors of contest and practice ask of who hosts their matches, as the organiser."""

    def matches(self, tags: tuple[str, ...] = (), ids: tuple[str, ...] = ()) -> list[Tabled]:
        """Matches with any of these tags, or of these ids."""

    def account(self, match: str) -> Account:
        """A match read whole."""

    def begin(self, order: TableOrder) -> str:
        """The id of a new match."""

    def end(self, match: str, winner: Team | None, comment: str) -> None:
        """End a match by decision; without a winner it is drawn."""

    def idle(self) -> Mapping[Team, float | None]:
        """How many seconds ago each player was heard of, None where it never was."""


class _Which(NamedTuple):
    """Which match it is: of which pairing, the how manieth, and between which teams."""

    key: str
    number: int
    teams: frozenset[str]


@dataclass
class Matches:
    """The matches under the tag `name`; `secret` is what their seeds follow from."""

    tables: TableHost
    name: str
    secret: str
    timeout: timedelta
    _views: dict[_Which, Tabled] = field(default_factory=dict, init=False)
    _read: set[int] = field(default_factory=set, init=False)

    def forget(self) -> None:
        """Know nothing any more, as after a call that may have had its effect or not."""
        self._views.clear()
        self._read.clear()

    def follow(self) -> None:
        """Read again what ran."""
        running = tuple(view.id for view in self._views.values() if view.score is None)
        if running:
            self._take(self.tables.matches(ids=running))

    def read(self, rounds: Iterable[int]) -> None:
        """Read the matches of rounds not read before, one by one: an answer may not hold all."""
        for number in rounds:
            if number not in self._read:
                self._take(self.tables.matches(tags=(f"{self.name}_Round{number}",)))
                self._read.add(number)

    def read_on(self, last: int) -> None:
        """Read the rounds after the last that is known: a ruling may have taken them away."""
        for number in count(last + 1):
            before = len(self._views)
            self.read((number,))
            if len(self._views) == before:
                return

    def of(self, pairing: Pairing) -> list[Tabled]:
        """The matches of a pairing in their order, their scores in that of its teams."""
        teams = frozenset(pairing.teams)
        found: list[Tabled] = []
        while (seen := self._views.get(_Which(pairing.key, len(found), teams))) is not None:
            found.append(seen.ordered(pairing.teams))
        return found

    def known(self) -> Iterator[tuple[str, Tabled]]:
        """Yield every match as it was seen last, each with its pairing's key."""
        return ((which.key, view) for which, view in self._views.items())

    def uncounted(self, counted: Collection[str]) -> Iterator[tuple[Pairing, Tabled]]:
        """Yield the ended matches that are none of those, each with the pairing that it was of."""
        for which, view in self._views.items():
            if view.score is not None and view.id not in counted:
                number = int(view.tags[0].rpartition("_Round")[2])
                yield Pairing(which.key, number, "round", view.teams), view

    def idle(self, pairings: Iterable[Pairing]) -> Iterator[str]:
        """Yield the matches that run though none of the pairings is between their teams."""
        wanted = {(pairing.key, frozenset(pairing.teams)) for pairing in pairings}
        for which, view in self._views.items():
            if view.score is None and (which.key, which.teams) not in wanted:
                yield view.id

    def begin(self, pairing: Pairing) -> None:
        """Begin the next match of a pairing."""
        number = len(self.of(pairing))
        # From the contest's own, which nobody sees.
        digest = sha256(f"{self.secret}:{pairing.key}:{number}".encode()).digest()
        order = TableOrder(
            teams=pairing.seats(number),
            tags=(
                f"{self.name}_Round{pairing.round}",
                self.name,
                f"{self.name}:{pairing.key}:{number}",
            ),
            seed=str(int.from_bytes(digest[:7])),
            timeout=self.timeout,
        )
        self._take(self.tables.matches(ids=(self.tables.begin(order),)))

    def _take(self, found: Iterable[Tabled]) -> None:
        for view in sorted(found, key=lambda view: view.id):
            which = None if view.foreign else _number_of(self.name, view)
            if which is not None and self._views.setdefault(which, view).id == view.id:
                self._views[which] = view


def _number_of(name: str, view: Tabled) -> _Which | None:
    """Which match of which pairing it is, by its tags."""
    tags = defaultdict(str, enumerate(view.tags))
    prefix, _, rest = tags[2].partition(":")
    key, _, number = rest.rpartition(":")
    if prefix != name or not key or not number.isdecimal():
        return None
    return _Which(key, int(number), frozenset(view.teams))
