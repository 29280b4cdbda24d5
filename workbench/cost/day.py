"""What a day of a contest in the cloud uses: what a match does, times what is planned.

Every team is taken to have one client in a long poll at all times: its read once a second and its
execution environment are most of the bill.
"""

from dataclasses import dataclass

from cardsharp.errors import ConfigError
from workbench.cost.request import (
    ACCESS_BYTES,
    PLATFORM_BYTES,
    TABLE_SECONDS,
    WHOLE_PROCESSOR,
    memory_of,
)
from workbench.cost.usage import TRACED, Measured

POLL_SECONDS = 25
"""After which a long poll in the cloud answers and is asked again."""

UNITS_A_SECOND = 0.5
"""Read units that a waiting client costs."""

_HOUR = 3600
_MB = 1024
_GB = 1e9


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
    share = max(1, WHOLE_PROCESSOR / memory)
    worked = requests * (use.request_seconds * share + use.request_table_requests * TABLE_SECONDS)
    reads = contest.matches * use.read_units + waited * UNITS_A_SECOND
    logged = requests * (use.request_log_bytes + PLATFORM_BYTES + ACCESS_BYTES)
    return {
        "Lambda GB-seconds arm64": (waited + worked) * memory / _MB,
        "Lambda requests": requests,
        "HTTP API requests": requests,
        "DynamoDB write units": contest.matches * use.write_units,
        "DynamoDB read units": reads,
        "Logs GB written": logged / _GB,
        "X-Ray traces": contest.hours * _HOUR + requests * TRACED,
    }
