"""Matches of a contest: their hosts, their identity and their results.

Dead Man's Draw is played at its arena, any other game on a host of the contest itself. Figures
of teams are in the order of the seats.

A match is identified by its pairing and number, which are in its tags. The director looks up
whether a match exists first, and derives its seed from the contest's secret. So nothing has to
be remembered, and no match is lost or counted twice if a process dies. Where a ruling brings
other teams into a pairing, the matches of the earlier teams do not count.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from hashlib import sha256
from itertools import combinations, count
from typing import NamedTuple, Protocol

from cardsharp.contest.formats.pairing import MatchScore, Pairing, TeamId

Points = tuple[float, ...]  # points of each team of a match, in the teams' order


@dataclass(frozen=True, slots=True)
class MatchResultFacts(MatchScore):
    """Detailed result of an ended match, for its teams in their order.

    `busts` are turns that lost their cards, `late` turns that the host ended at the time limit,
    `banked` turns that ended well. `autopicks` are moves that the host was to pick. Matches of
    older versions lack some of these.
    """

    seconds: float
    turns: int
    busts: tuple[int, ...] = (0, 0)
    late: tuple[int, ...] = (0, 0)
    banked: tuple[int, ...] = ()
    moves: tuple[int, ...] = ()
    autopicks: tuple[int, ...] = ()
    began: datetime | None = None

    def pairwise_shares(self) -> list[tuple[int, int, float]]:
        """Return each pair's share: 1, a half or 0.

        With more than two teams the winner beats all others, and those are compared by points.
        """
        more = len(self.points) > 2  # noqa: PLR2004 - with two teams the winner is enough
        rank_keys = [(at == self.winner, more and points) for at, points in enumerate(self.points)]
        return [
            (
                first_index,
                second_index,
                pairwise_share(rank_keys[first_index], rank_keys[second_index]),
            )
            for first_index, second_index in combinations(range(len(rank_keys)), 2)
        ]


def pairwise_share(value: object, other: object) -> float:
    """Return 1 if `value` is greater than `other`, a half if they are equal, else 0."""
    return 0.5 if value == other else float(value > other)  # type: ignore[operator]  # alike


def format_points(points: float) -> str:
    """Format points with as few digits as possible."""
    return f"{points:.10g}"


class MatchRequest(NamedTuple):
    """A match to begin; its tags and seed identify it."""

    teams: tuple[TeamId, ...]
    tags: tuple[str, ...]
    seed: str
    turn_timeout: timedelta


@dataclass(frozen=True, slots=True)
class MatchSummary:
    """Last observed state of a match; its score is None while it runs.

    `consecutive_timeouts` counts the latest turns in a row that ran out of time. `is_foreign`
    marks a match begun by a team, which may carry any tag.
    """

    id: str
    teams: tuple[TeamId, ...]
    tags: tuple[str, ...]
    last_move_at: str
    score: MatchScore | None = None
    consecutive_timeouts: int = 0
    is_foreign: bool = False

    def reordered(self, teams: tuple[TeamId, ...]) -> "MatchSummary":
        """Return the summary with its teams in this order."""
        order = [self.teams.index(team) for team in teams]
        return replace(self, teams=teams, score=self.score and self.score.reordered(order))


@dataclass(frozen=True, slots=True)
class FullMatchReport:
    """Full report of a match: its result so far, its last move and the absent teams.

    `last_move_at` is None if the host gives no times. `absent_teams` let their last turns time
    out.
    """

    teams: tuple[TeamId, ...]
    facts: MatchResultFacts
    last_move_at: datetime | None
    is_over: bool
    absent_teams: tuple[TeamId, ...] = ()

    def facts_in_team_order(self, teams: tuple[TeamId, ...]) -> MatchResultFacts:
        """Return the facts in the order of these teams."""
        return self.facts.reordered([self.teams.index(team) for team in teams])


@dataclass(frozen=True, slots=True)
class LiveMatch:
    """A match as spectators see it now; `note` describes its position in a few words."""

    id: str
    teams: tuple[TeamId, ...]
    tags: tuple[str, ...]
    points: Points
    team_to_act: TeamId | None
    turn: int
    note: str
    is_foreign: bool = False


class TeamPresence(NamedTuple):
    """Presence of a team at its match host.

    `idle_seconds` is the time since its last request, None if it was never seen. `awaited_tags`
    are the tags for which it waits, None for any. `client` is the name of its program, as it
    says itself; it is empty for teams that the host plays. `last_move_at` is the time of its last
    action in a match, None before the first.
    """

    idle_seconds: float | None
    awaited_tags: tuple[str, ...] | None = None
    client: str = ""
    last_move_at: datetime | None = None


class MatchHost(Protocol):
    """Interface that a match host offers to the directors of contest and practice."""

    def matches(self, tags: tuple[str, ...] = (), ids: tuple[str, ...] = ()) -> list[MatchSummary]:
        """Return the matches with any of these tags or ids."""

    def match_report(self, match_id: str) -> FullMatchReport:
        """Return the full report of a match."""

    def begin_match(self, request: MatchRequest) -> str:
        """Begin a match and return its id."""

    def end_match(self, match_id: str, winner: TeamId | None, comment: str) -> None:
        """End a match by decision; without a winner it is a draw."""

    def presence_by_player(self) -> Mapping[TeamId, TeamPresence]:
        """Return the presence of each player."""


class _MatchKey(NamedTuple):
    """Identity of a match: the key of its pairing, its number in it, and its teams."""

    key: str
    number: int
    teams: frozenset[str]


@dataclass
class ContestMatches:
    """Matches with the tag `contest_name`; their seeds are derived from `seed_secret`.

    They also have the tags in `more_tags`.
    """

    match_host: MatchHost
    contest_name: str
    seed_secret: str
    turn_timeout: timedelta
    more_tags: tuple[str, ...] = ()
    _summaries: dict[_MatchKey, MatchSummary] = field(default_factory=dict, init=False)
    _loaded_rounds: set[int] = field(default_factory=set, init=False)

    def clear_cache(self) -> None:
        """Forget all cached matches, as after a call whose effect is unknown."""
        self._summaries.clear()
        self._loaded_rounds.clear()

    def refresh_running(self) -> None:
        """Read the matches that were running again."""
        running = tuple(view.id for view in self.running_matches())
        if running:
            self._cache_summaries(self.match_host.matches(ids=running))

    def load_rounds(self, rounds: Iterable[int]) -> None:
        """Read rounds that were not read yet, one request each, because responses are limited."""
        for round_number in rounds:
            if round_number not in self._loaded_rounds:
                self._cache_summaries(
                    self.match_host.matches(tags=(f"{self.contest_name}_Round{round_number}",))
                )
                self._loaded_rounds.add(round_number)

    def load_later_rounds(self, last_known_round: int) -> None:
        """Read rounds beyond the last determined one, whose pairings a ruling may have removed."""
        for round_number in count(last_known_round + 1):
            previous_count = len(self._summaries)
            self.load_rounds((round_number,))
            if len(self._summaries) == previous_count:
                return

    def matches_of(self, pairing: Pairing) -> list[MatchSummary]:
        """Return the matches of a pairing in order, with scores in the order of its teams."""
        teams = frozenset(pairing.teams)
        matches: list[MatchSummary] = []
        while (
            summary := self._summaries.get(_MatchKey(pairing.key, len(matches), teams))
        ) is not None:
            matches.append(summary.reordered(pairing.teams))
        return matches

    def cached_matches(self) -> Iterator[tuple[str, MatchSummary]]:
        """Yield every match as last observed, each with its pairing's key."""
        return ((which.key, view) for which, view in self._summaries.items())

    def ended_matches_except(
        self, counted_ids: Collection[str]
    ) -> Iterator[tuple[Pairing, MatchSummary]]:
        """Yield the ended matches that are not in `counted`, each with its pairing."""
        for which, view in self._summaries.items():
            if view.score is not None and view.id not in counted_ids:
                round_number = int(view.tags[0].rpartition("_Round")[2])
                yield Pairing(which.key, round_number, "round", view.teams), view

    def running_matches(self) -> list[MatchSummary]:
        """Return the running matches, also those that do not count after a ruling."""
        return [view for view in self._summaries.values() if view.score is None]

    def begin_next_match(self, pairing: Pairing) -> None:
        """Begin the next match of a pairing."""
        match_number = len(self.matches_of(pairing))
        # The seed of a match decides its cards. It is derived from a secret of the contest, so that
        # no team can predict it, and a restarted director derives the same one.
        digest = sha256(f"{self.seed_secret}:{pairing.key}:{match_number}".encode()).digest()
        match_request = MatchRequest(
            teams=pairing.seating_of_match(match_number),
            tags=(
                f"{self.contest_name}_Round{pairing.round}",
                self.contest_name,
                f"{self.contest_name}:{pairing.key}:{match_number}",
                *self.more_tags,
            ),
            seed=str(int.from_bytes(digest[:7])),
            turn_timeout=self.turn_timeout,
        )
        self._cache_summaries(
            self.match_host.matches(ids=(self.match_host.begin_match(match_request),))
        )

    def _cache_summaries(self, summaries: Iterable[MatchSummary]) -> None:
        for view in sorted(summaries, key=lambda view: view.id):
            which = None if view.is_foreign else _parse_match_key(self.contest_name, view)
            # If two processes began the same match at the same time, the first by id counts and
            # the other one is ignored. So a restarted director chooses the same one again.
            if which is not None and self._summaries.setdefault(which, view).id == view.id:
                self._summaries[which] = view


def _parse_match_key(name: str, view: MatchSummary) -> _MatchKey | None:
    """Return the identity of a match from its tags; None if it is not of this contest."""
    tags = defaultdict(str, enumerate(view.tags))
    prefix, _, rest = tags[2].partition(":")
    key, _, match_number = rest.rpartition(":")
    if prefix != name or not key or not match_number.isdecimal():
        return None
    return _MatchKey(key, int(match_number), frozenset(view.teams))
