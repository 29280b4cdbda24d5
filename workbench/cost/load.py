"""What is wanted of a stack, or for a contest: the options of `cardsharp cost`."""

from dataclasses import dataclass
from typing import Annotated, Literal

from cyclopts import Parameter, validators

from cardsharp.deadmansdraw.scout import ScoutTiming
from workbench.show.options import CommandOptions

TIMING = ScoutTiming()

POLL_TAIL = 30
"""Seconds for which a poller may go on listening in a long poll when a match has ended."""

DIRECTORS = 2
"""Executions of the director; turns of teams that the stack plays take more, for a moment."""

CUP_HOURS = 2

_MINUTES = 60

Positive = validators.Number(gt=0)
NotNegative = validators.Number(gte=0)


@dataclass(frozen=True, kw_only=True)
class Load(CommandOptions):
    """What is wanted of a stack; the defaults are those of template.yaml.

    The worker waits through a match, which takes so long nearly all for the opponents' thinking.
    """

    matches_per_day: Annotated[float, Parameter(validator=NotNegative)] = 100
    """Matches a day."""
    hours_listening: Annotated[float, Parameter(validator=validators.Number(gte=0, lte=24))] = 24
    """Hours a day."""
    days: Annotated[float, Parameter(validator=Positive)] = 31
    """Days that are paid for."""
    days_before: Annotated[float, Parameter(validator=NotNegative)] = 2 * 365 - 31
    """Earlier days of the same load, whose matches are stored."""
    keep_days: Annotated[float, Parameter(validator=NotNegative)] = 60
    """The template's KeepDays: how long a match is kept, 0 for ever."""
    match_seconds: Annotated[float, Parameter(validator=Positive)] = 60
    """How long a match takes, mostly their thinking."""
    pollers: Annotated[int, Parameter(validator=validators.Number(gte=1, lte=2))] = 1
    """How many listen at a time."""
    worker_memory: Annotated[int, Parameter(name="--memory", validator=Positive)] = 384
    """Megabytes of the worker."""
    poller_memory: Annotated[int, Parameter(validator=Positive)] = 128
    """Megabytes of the poller."""
    architecture: Literal["arm64", "x86_64"] = "arm64"
    """Processor of the functions."""
    watch: Literal["all", "alarms"] = "alarms"
    """The template's parameter Watch."""
    listening: Literal["looks", "always", "quiet"] = "looks"
    """The template's parameter Listening."""
    hours_awake: Annotated[float, Parameter(validator=validators.Number(gte=0, lte=24))] = 0
    """Hours a day of listening, for a stack that does not always listen."""
    table: Literal["on-demand", "provisioned"] = "on-demand"
    """The template's TableBilling."""
    page_views: Annotated[float, Parameter(validator=NotNegative)] = 0
    """With DeployWeb=yes, how often a match is opened."""
    watched_hours: Annotated[float, Parameter(validator=NotNegative)] = 0
    """With DeployWeb=yes, hours for which a match that runs is watched."""
    cost_queries: Annotated[float, Parameter(validator=NotNegative)] = 0
    """How often `cloud status --costs` is asked."""

    @property
    def matches(self) -> float:
        """All matches."""
        return self.matches_per_day * self.days

    @property
    def ticks(self) -> float:
        """All starts of the poller."""
        return self.hours_listening * _MINUTES * self.days

    @property
    def waking(self) -> float:
        """The starts of the poller after which it listens: while matches run, one by one."""
        minutes = self.guarded + self.matches * POLL_TAIL / _MINUTES
        minutes += self.hours_awake * _MINUTES * self.days
        return self.ticks if self.listening == "always" else min(minutes, self.ticks)

    @property
    def guarded(self) -> float:
        """The minutes that a match runs and the poller listens; after a look half a minute late."""
        late = TIMING.tick.total_seconds() / 2 if self.listening == "looks" else 0
        return min(self.matches * max(0, self.match_seconds - late) / _MINUTES, self.ticks)

    @property
    def looks(self) -> float:
        """The looks that workers take between the starts of a poller that rests."""
        each = TIMING.tick / TIMING.between
        return (self.ticks - self.waking) * each if self.listening == "looks" else 0

    @property
    def stored(self) -> float:
        """The matches in the table when the days are over."""
        days = self.days + self.days_before
        return self.matches_per_day * (min(days, self.keep_days) if self.keep_days else days)

    @property
    def share(self) -> float:
        """The part of a month for which things that are paid by the month exist."""
        return min(self.days / 31, 1)


@dataclass(frozen=True, kw_only=True)
class Contest(CommandOptions):
    """A day of practice with a cup at its end; each team has a client that always waits.

    In practice a team plays twenty matches an hour, in the cup seven a pairing.
    """

    teams: Annotated[int, Parameter(validator=validators.Number(gte=2))] = 20
    """With --contest: teams."""
    practice_hours: Annotated[float, Parameter(validator=NotNegative)] = 8
    """With --contest: hours before it."""

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
        return self.practice_hours + CUP_HOURS
