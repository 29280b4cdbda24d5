"""What practice keeps: each match that has ended, and the ratings over time."""

from dataclasses import dataclass
from datetime import datetime

from cardsharp.contest.facts import Facts
from cardsharp.contest.ladder import round_of
from cardsharp.contest.pairing import Pairing, Team
from cardsharp.ratings import Rating


@dataclass(frozen=True, slots=True)
class Meeting:
    """A match of practice that has ended at that moment, by the arena's clock.

    `teams` are in the order of their seats, and so are the facts. Where somebody is `gone`, who
    did not act in two turns one after the other, it does not count for the ratings.
    """

    number: int
    teams: tuple[Team, ...]
    match: str
    at: datetime
    facts: Facts
    gone: tuple[Team, ...] = ()

    @property
    def pairing(self) -> Pairing:
        """The two teams as a pairing."""
        return Pairing(str(self.number), round_of(self.number), "practice", self.teams)

    @property
    def winner(self) -> Team | None:
        """Who has won."""
        return None if self.facts.winner is None else self.teams[self.facts.winner]

    @property
    def share(self) -> float:
        """What the first team made of it: 1, a half or 0."""
        ((_, _, share),) = self.facts.shares()
        return share


@dataclass(frozen=True, slots=True)
class Standing:
    """The ratings after so many matches, when the last of them had ended."""

    played: int
    at: datetime
    ratings: dict[Team, Rating]
