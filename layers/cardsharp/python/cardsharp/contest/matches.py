"""The matches of a contest at its tables: each is known by its pairing and number, from its tags.

Who begins one looks first whether it is there, and its seed follows from the contest's own: so
nothing has to be remembered, and no match is lost or counted twice whoever dies when. Where a
ruling brings other teams into a pairing, what those before them played does not count.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from hashlib import sha256
from itertools import count
from typing import NamedTuple

from cardsharp.contest.pairing import Pairing
from cardsharp.contest.tables import Tabled, TableHost, TableOrder


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
