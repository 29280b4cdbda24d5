"""What one player may take of an arena, so that there is enough for all.

Whoever is refused is told so with a 429, and the organiser by a line in the log.
"""

import logging
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

from cardsharp.deadmansdraw.arena.counts import Counts
from cardsharp.deadmansdraw.arena.players import User
from cardsharp.web.refusals import Refused

DAY = timedelta(days=1)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Quotas:
    """Of each player: matches that it creates in a day, and requests that wait at a time."""

    matches: int
    at_once: int


OF_A_TEAM = Quotas(matches=2_000, at_once=64)
"""In a contest and in the cloud: 30 times what a team played in the week of 2023."""

AT_HOME = Quotas(matches=100_000, at_once=2_000)
"""Of who has the machine for itself."""


class Shares:
    """Holds players to their quotas; the organiser has none."""

    def __init__(self, quotas: Quotas, counts: Counts) -> None:
        self._quotas, self._counts = quotas, counts
        self._answering: Counter[str] = Counter()
        self._told: set[str] = set()

    @contextmanager
    def answering(self, user: User) -> Iterator[None]:
        """While a request of this user is being answered.

        Raises:
            Refused: too many of them are.
        """
        most = self._quotas.at_once
        if self._answering[user.id] >= most:
            raise self._refused(user, f"Only {most} requests of a player are answered at a time.")
        self._answering[user.id] += 1
        try:
            yield
        finally:
            self._answering[user.id] -= 1

    def creates(self, user: User) -> None:
        """A match is about to be created.

        Raises:
            Refused: this user has created too many today.
        """
        most = self._quotas.matches
        if user.plays and self._counts.count(f"matches {user.id}", DAY).number > most:
            raise self._refused(user, f"A player may create {most} matches in a day.")

    def _refused(self, user: User, told: str) -> Refused:
        """What is answered; the organiser reads once of each player who is refused."""
        if user.id not in self._told:
            self._told.add(user.id)
            _log.warning("%s (%s) was refused: %s", user.name, user.id, told)
        return Refused(429, told)
