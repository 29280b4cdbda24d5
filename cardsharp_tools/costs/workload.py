"""Planned workload of a stack or a contest: the options of `cardsharp cost`."""

from dataclasses import dataclass
from typing import Annotated, Literal

from cyclopts import Parameter, validators

from cardsharp_tools.cli.options import CommandOptions

DIRECTOR_EXECUTIONS = 2
"""Executions of the director; turns of teams that the stack plays take more, for a moment."""

CONTEST_HOURS = 2

_MINUTES = 60

Positive = validators.Number(gt=0)
NotNegative = validators.Number(gte=0)


@dataclass(frozen=True, kw_only=True)
class BotWorkload(CommandOptions):
    """Planned workload of a stack; the defaults are those of template.yaml.

    The worker waits during a match, whose duration is almost entirely the opponents' thinking
    time.
    """

    matches_per_day: Annotated[float, Parameter(validator=NotNegative)] = 100
    """Matches a day."""
    listening_hours: Annotated[float, Parameter(validator=validators.Number(gte=0, lte=24))] = 24
    """Hours a day in which the poller listens."""
    days: Annotated[float, Parameter(validator=Positive)] = 31
    """Number of days that the bill covers."""
    history_days: Annotated[float, Parameter(validator=NotNegative)] = 2 * 365 - 31
    """Number of earlier days with the same load, whose matches are still stored."""
    retention_days: Annotated[float, Parameter(name="--keep-days", validator=NotNegative)] = 60
    """The template's KeepDays: days for which a match is stored; 0 means for ever."""
    match_seconds: Annotated[float, Parameter(validator=Positive)] = 60
    """Duration of a match, most of which is the opponent's thinking time."""
    pollers: Annotated[int, Parameter(validator=validators.Number(gte=1, lte=2))] = 1
    """Number of pollers that listen at the same time."""
    worker_memory: Annotated[int, Parameter(validator=Positive)] = 384
    """Memory of the worker in megabytes."""
    poller_memory: Annotated[int, Parameter(validator=Positive)] = 128
    """Memory of the poller in megabytes."""
    architecture: Literal["arm64", "x86_64"] = "arm64"
    """Processor architecture of the functions."""
    monitoring: Annotated[Literal["all", "alarms"], Parameter(name="--watch")] = "alarms"
    """The template's Watch: which metrics are recorded."""
    page_views: Annotated[float, Parameter(validator=NotNegative)] = 0
    """With the stack of the pages: number of match pages that visitors open."""
    watched_hours: Annotated[float, Parameter(validator=NotNegative)] = 0
    """With the stack of the pages: hours for which somebody watches running matches."""
    cost_queries: Annotated[float, Parameter(validator=NotNegative)] = 0
    """Number of `cloud status --costs` commands."""

    @property
    def matches(self) -> float:
        """All matches."""
        return self.matches_per_day * self.days

    @property
    def poller_starts(self) -> float:
        """All starts of the poller."""
        return self.listening_hours * _MINUTES * self.days

    @property
    def lease_watch_minutes(self) -> float:
        """The minutes in which a match runs and the poller listens."""
        return min(self.matches * self.match_seconds / _MINUTES, self.poller_starts)

    @property
    def stored_matches(self) -> float:
        """The matches in the table when the days are over."""
        days = self.days + self.history_days
        return self.matches_per_day * (
            min(days, self.retention_days) if self.retention_days else days
        )

    @property
    def month_fraction(self) -> float:
        """The part of a month for which things that are paid by the month exist."""
        return min(self.days / 31, 1)


@dataclass(frozen=True, kw_only=True)
class ContestWorkload(CommandOptions):
    """A day of practice with a cup at its end; each team has a client that always waits.

    In practice a team plays twenty matches an hour, in the cup seven a pairing.
    """

    teams: Annotated[int, Parameter(validator=validators.Number(gte=2))] = 20
    """With --contest: number of teams."""
    practice_hours: Annotated[float, Parameter(validator=NotNegative)] = 8
    """With --contest: hours of practice before the contest."""

    @property
    def matches(self) -> float:
        """All of them, of which two teams share each."""
        return 10 * self.teams * self.practice_hours + 7 * (2 * self.teams - 1)

    @property
    def executions(self) -> int:
        """Functions that run at once: those in which clients wait, and the director's."""
        return self.teams + DIRECTOR_EXECUTIONS

    @property
    def hours(self) -> float:
        """For how long clients wait."""
        return self.practice_hours + CONTEST_HOURS
