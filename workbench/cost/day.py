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

_HOUR = 3600
_MB = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """A day of practice with a cup at its end; each team has a client that always waits."""

    teams: int = 20
    practice_hours: float = 8
    practice_matches: int = 1_600
    cup_matches: int = 273
    cup_hours: float = 2

    @property
    def matches(self) -> int:
        """All of them."""
        return self.practice_matches + self.cup_matches

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
        "DynamoDB write units": contest.matches * use.write_units,
        "DynamoDB read units": reads,
        "X-Ray traces": contest.hours * _HOUR + requests * TRACED,
    }
