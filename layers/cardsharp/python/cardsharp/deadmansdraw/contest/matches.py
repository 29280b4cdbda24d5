"""The matches of a contest at its arena: each is known by its pairing and number, from its tags.

Who begins one looks first whether it is there, and its seed follows from the contest's own: so
nothing has to be remembered, and no match is lost or counted twice whoever dies when. Where a
ruling brings other teams into a pairing, what those before them played does not count.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from hashlib import sha256
from itertools import count
from typing import NamedTuple, Protocol

from cardsharp.deadmansdraw.contest.facts import score_of
from cardsharp.deadmansdraw.contest.pairing import Pairing, Score
from cardsharp.deadmansdraw.wire import MatchCreated, MatchParams, MatchView


class Arena(Protocol):
    """What a director asks of an arena, as its organiser; `ArenaClient` does it."""

    def matches(self, tags: tuple[str, ...] = ..., ids: tuple[str, ...] = ...) -> list[MatchView]:
        """Matches with any of these tags, or of these ids, without their moves."""

    def view(self, match_id: str) -> MatchView:
        """A match with all its moves."""

    def create_match(self, params: MatchParams) -> MatchCreated:
        """A new match."""

    def terminate(
        self, match_id: str, winner_id: str | None = None, comment: str | None = None
    ) -> MatchView:
        """The match after it was ended by decision."""


@dataclass(frozen=True, slots=True)
class Played:
    """A match of a pairing; its score is None while it runs."""

    match: str
    score: Score | None


class _Which(NamedTuple):
    """Which match it is: of which pairing, the how manieth, and between which teams."""

    key: str
    number: int
    teams: frozenset[str]


@dataclass
class Matches:
    """The matches under the tag `name`; `secret` is what their seeds follow from."""

    arena: Arena
    name: str
    secret: str
    timeout: timedelta
    _views: dict[_Which, MatchView] = field(default_factory=dict, init=False)
    _read: set[int] = field(default_factory=set, init=False)

    def forget(self) -> None:
        """Know nothing any more, as after a call that may have had its effect or not."""
        self._views.clear()
        self._read.clear()

    def follow(self) -> None:
        """Read again what ran."""
        running = tuple(view.id for view in self._views.values() if not view.finished)
        if running:
            self._take(self.arena.matches(ids=running))

    def read(self, rounds: Iterable[int]) -> None:
        """Read the matches of these rounds, those that were not read before.

        Round by round, as all of them may be more than one answer holds.
        """
        for number in rounds:
            if number not in self._read:
                self._take(self.arena.matches(tags=(f"{self.name}_Round{number}",)))
                self._read.add(number)

    def of(self, pairing: Pairing) -> list[Played]:
        """The matches of a pairing in their order."""
        return [
            Played(view.id, score_of(view, pairing) if view.finished else None)
            for view in self.views(pairing)
        ]

    def views(self, pairing: Pairing) -> Iterator[MatchView]:
        """The matches of a pairing in their order, as they were seen last."""
        teams = frozenset(pairing.teams)
        for number in count():
            view = self._views.get(_Which(pairing.key, number, teams))
            if view is None:
                return
            yield view

    def known(self) -> Iterator[tuple[str, MatchView]]:
        """Yield every match as it was seen last, each with its pairing's key."""
        return ((which.key, view) for which, view in self._views.items())

    def idle(self, pairings: Iterable[Pairing]) -> Iterator[str]:
        """Yield the matches that run though none of the pairings is between their teams."""
        wanted = {(pairing.key, frozenset(pairing.teams)) for pairing in pairings}
        for which, view in self._views.items():
            if not view.finished and (which.key, which.teams) not in wanted:
                yield view.id

    def begin(self, pairing: Pairing) -> None:
        """Begin the next match of a pairing."""
        number = len(self.of(pairing))
        params = MatchParams(
            player_ids=pairing.seats(number),
            tags=(f"{self.name}_Round{pairing.round}", self.name, _tag(self, pairing, number)),
            random_seed=_seed(self.secret, pairing.key, number),
            timeout=self.timeout,
        )
        created = self.arena.create_match(params)
        self._take(self.arena.matches(ids=(created.id,)))

    def _take(self, found: Iterable[MatchView]) -> None:
        for view in sorted(found, key=lambda view: view.id):
            # Teams may give their own practice matches any tag.
            which = None if view.created_by_player_id else _number_of(self.name, view)
            if which is not None and self._views.setdefault(which, view).id == view.id:
                self._views[which] = view


def _tag(matches: Matches, pairing: Pairing, number: int) -> str:
    return f"{matches.name}:{pairing.key}:{number}"


def _number_of(name: str, view: MatchView) -> _Which | None:
    """Which match of which pairing it is, by its tags."""
    tags = defaultdict(str, enumerate(view.creation_params.tags))
    prefix, _, rest = tags[2].partition(":")
    key, _, number = rest.rpartition(":")
    if prefix != name or not key or not number.isdecimal():
        return None
    return _Which(key, int(number), frozenset(view.player_ids))


def _seed(secret: str, key: str, number: int) -> str:
    """The seed of a match: from the contest's own, which nobody sees."""
    digest = sha256(f"{secret}:{key}:{number}".encode()).digest()
    return str(int.from_bytes(digest[:7]))
