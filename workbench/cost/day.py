"""What a day of a contest in the cloud uses: what a match does, times what is planned.

Every team is taken to have one client in a long poll at all times: its read once a second and its
execution environment are most of the bill.
"""

from dataclasses import dataclass

from cardsharp.errors import ConfigError
from workbench.cost.request import billed, memory_of
from workbench.cost.usage import TRACED, Measured

POLL_SECONDS = 25
"""After which a long poll in the cloud answers and is asked again."""

UNITS_A_SECOND = 0.5
"""Read units that a waiting client costs."""

HEARD = 2
"""Write units of a long poll: that a team is there, at its begin and its end."""

DIRECTORS = 2
"""Executions of the director; turns of teams that the stack plays take more, for a moment."""

_HOUR = 3600
_MB = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """A day of practice with a cup at its end; each team has a client that always waits.

    In practice a team plays twenty matches an hour, in the cup seven a pairing.
    """

    teams: int = 20
    practice_hours: float = 8
    cup_hours: float = 2

    @property
    def matches(self) -> float:
        """All of them, of which two teams share each."""
        return 10 * self.teams * self.practice_hours + 7 * (2 * self.teams - 1)

    @property
    def executions(self) -> int:
        """Functions that run at once: those in which clients wait, and the director's."""
        return self.teams + DIRECTORS

    @property
    def hours(self) -> float:
        """For how long clients wait."""
        return self.practice_hours + self.cup_hours


def contest_usage(contest: Contest, measured: Measured) -> dict[str, float]:
    """Units by the names of the price list.

    Raises:
        ConfigError: what a match uses was not measured.
    """
    use, memory = measured.contest, memory_of("deadmansdraw")
    if use is None:
        raise ConfigError("No match of a contest was measured: `cardsharp cost --measure`.")
    waited = contest.teams * contest.hours * _HOUR
    requests = contest.matches * use.requests + waited / POLL_SECONDS
    seconds, table = requests * use.request_seconds, requests * use.request_table_requests
    used = billed(requests, seconds, table, memory=memory, logged=requests * use.request_log_bytes)
    reads = contest.matches * use.read_units + waited * UNITS_A_SECOND
    waiting = waited * memory / _MB
    return {
        **used,
        "Lambda GB-seconds arm64": waiting + used["Lambda GB-seconds arm64"],
        "DynamoDB write units": contest.matches * use.write_units + HEARD * waited / POLL_SECONDS,
        "DynamoDB read units": reads,
        "X-Ray traces": contest.hours * _HOUR + requests * TRACED,
    }
