"""Model of the costs on AWS: measured usage of a match, times matches, times prices.

`bot_usage`, `service_usage` and `contest_usage` return units by the names of the price list.
`make_bill` multiplies them by the prices of a region.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter, validators
from pydantic import BaseModel, Field, ValidationError

from cardsharp.errors import ConfigError
from cardsharp_tools.cli.options import CommandOptions
from cardsharp_tools.local_cloud.arena_concurrency import arena_executions
from cardsharp_tools.local_cloud.template_files import (
    all_template_resources,
    service_resource_prefix,
)

PRICE_LIST = Path(__file__).with_name("prices.toml")
MEASURED_USAGE_PATH = Path(__file__).with_name("measured.json")

# The bot, as template.yaml deploys it. Seconds without another note are those that AWS bills.
MONTH_DAYS = 31
POLLER_MEGABYTES = 128
WORKER_MEGABYTES = 384
POLLER_SECONDS = 61  # of each start: two long polls of 30 s, and the work between them
COLD_START_SECONDS = 0.2  # of a match: one worker in ten starts cold, which takes 2 s
LEASE_RENEWALS_PER_SECOND = 1  # a write unit each, while a match runs
LEASE_CHECK_READ_UNITS_PER_SECOND = 2  # of the poller, while a match runs
QUEUE_REQUESTS_PER_MATCH = 3  # send, receive and delete
QUEUE_REQUESTS_PER_DAY = 5 * 24 * 3600 / 20  # five readers of the mapping wait 20 s each
KMS_REQUESTS_PER_HOUR = 12 + 4  # the table's key every 5 minutes, the password every 15
ALARMS = {"alarms": 10, "all": 15}  # metrics that the alarms watch, by the parameter Watch

# The services, as stacks/service.yaml deploys them.
FULL_CPU_MEGABYTES = 1769  # memory with which a function has a whole processor
TABLE_SECONDS = 0.005  # assumed duration of a request to the table
INVOCATION_LOG_BYTES = 400  # START, END and REPORT, which Lambda writes
ACCESS_LOG_BYTES = 200  # a line of the API's access log
TRACED_SHARE = 0.05  # of the requests, by X-Ray; it also takes the first of each second

# The arena during a contest day.
CUP_HOURS = 2
LONG_POLL_SECONDS = 25
LONG_POLL_READ_UNITS_PER_SECOND = 0.5
LONG_POLL_WRITE_UNITS = 2  # the team is present, at the begin and at the end

MEGABYTES_PER_GB = 1024  # of memory
BYTES_PER_GB = 1e9  # of logs and storage

Amount = Annotated[float, Field(ge=0)]
Positive = validators.Number(gt=0)
NotNegative = validators.Number(gte=0)


# --- What was measured ---------------------------------------------------------------------------


class ActivityUsage(BaseModel, frozen=True, extra="forbid"):
    """Measured usage of one activity; a figure that does not matter for it is left out.

    `requests` are those to our functions. `cpu_seconds` are those of a whole processor.
    """

    requests: Amount = 0
    cpu_seconds: Amount = 0
    table_requests: Amount = 0
    read_units: Amount = 0
    write_units: Amount = 0
    log_bytes: Amount = 0
    stored_bytes: Amount = 0


class MeasuredUsage(BaseModel, frozen=True, extra="forbid"):
    """Content of measured.json, which `make bench-games` writes."""

    date: date
    matches: int
    """Number of the bot's matches that were measured."""
    metrics: dict[str, int]
    """Number of metrics that the bot records, by the template's parameter Watch."""
    bot_match: ActivityUsage
    """The bot's part of a match at the competition's arena."""
    idle_minute: ActivityUsage
    """One start of the poller, while nothing happens at the arena."""
    arena_match: ActivityUsage
    """A match of two clients at our own arena in the cloud."""
    games: dict[str, ActivityUsage]
    """A game at the HTTP service of each game."""


def load_measured(path: Path = MEASURED_USAGE_PATH) -> MeasuredUsage:
    """Return the measured figures in a file; raise `ConfigError` if they cannot be used."""
    try:
        return MeasuredUsage.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise ConfigError(
            f"The measured figures {path} cannot be used: {error}; measure them again with "
            "`make bench-games`."
        ) from error


# --- The bot -------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class BotWorkload(CommandOptions):
    """Workload of a deployed bot; the defaults are those of template.yaml."""

    matches_per_day: Annotated[float, Parameter(validator=NotNegative)] = 100
    """Matches a day."""
    listening_hours: Annotated[float, Parameter(validator=validators.Number(gte=0, lte=24))] = 24
    """Hours a day in which the poller listens."""
    days: Annotated[float, Parameter(validator=validators.Number(gt=0, lte=MONTH_DAYS))] = 31
    """Number of days that the bill covers; the free tier is that of a month."""
    match_seconds: Annotated[float, Parameter(validator=Positive)] = 60
    """Duration of a match, most of which is the opponent's thinking time."""
    retention_days: Annotated[float, Parameter(name="--keep-days", validator=Positive)] = 60
    """The template's KeepDays: days for which a match is stored. The bill includes all of them."""
    monitoring: Annotated[Literal["all", "alarms"], Parameter(name="--watch")] = "alarms"
    """The template's Watch: which metrics are recorded."""


def bot_usage(load: BotWorkload, measured: MeasuredUsage) -> dict[str, float]:
    """Return the units that a bot uses. Its worker waits while the opponents think."""
    match, idle_minute = measured.bot_match, measured.idle_minute
    matches = load.matches_per_day * load.days
    match_seconds = matches * load.match_seconds
    hours = load.listening_hours * load.days
    minutes = hours * 60  # each minute the schedule starts a poller
    checked_seconds = min(match_seconds, hours * 3600)  # matches come one after the other

    poller_seconds = minutes * POLLER_SECONDS
    worker_seconds = match_seconds + matches * COLD_START_SECONDS
    megabyte_seconds = poller_seconds * POLLER_MEGABYTES + worker_seconds * WORKER_MEGABYTES
    write_units = matches * match.write_units + minutes * idle_minute.write_units
    read_units = matches * match.read_units + minutes * idle_minute.read_units
    log_bytes = matches * match.log_bytes + minutes * idle_minute.log_bytes
    log_bytes += (matches + minutes) * INVOCATION_LOG_BYTES
    stored = matches * match.stored_bytes / BYTES_PER_GB * load.retention_days / MONTH_DAYS
    months = load.days / MONTH_DAYS
    recorded_months = months * load.listening_hours / 24  # AWS bills metrics by the hour
    is_fully_watched = load.monitoring == "all"
    return {
        "Lambda GB-seconds arm64": megabyte_seconds / MEGABYTES_PER_GB,
        "Lambda requests": minutes + matches,
        "Schedule invocations": minutes,
        "SQS requests": load.days * QUEUE_REQUESTS_PER_DAY + matches * QUEUE_REQUESTS_PER_MATCH,
        "DynamoDB write units": write_units + match_seconds * LEASE_RENEWALS_PER_SECOND,
        "DynamoDB read units": read_units + checked_seconds * LEASE_CHECK_READ_UNITS_PER_SECOND,
        "DynamoDB storage GB": stored,
        "DynamoDB recovery GB": stored,
        "KMS requests": hours * KMS_REQUESTS_PER_HOUR + matches,
        "Logs GB written": log_bytes / BYTES_PER_GB,
        "CloudWatch metrics": measured.metrics[load.monitoring] * recorded_months,
        "CloudWatch alarm metrics": ALARMS[load.monitoring] * months,
        "CloudWatch composite alarms": months * is_fully_watched,
        "CloudWatch dashboards": months * is_fully_watched,
        "X-Ray traces": (minutes + matches) * is_fully_watched,
    }


# --- Services and contests -----------------------------------------------------------------------


def service_usage(game: str, games: float, measured: MeasuredUsage) -> dict[str, float]:
    """Return the units that so many games use at the HTTP service of a game."""
    return _compute_api_units(measured.games[game], games, function_memory(game))


def _compute_api_units(usage: ActivityUsage, times: float, megabytes: int) -> dict[str, float]:
    """Return the billed units of `times` activities.

    They run in a function of `megabytes` of memory behind an HTTP API.
    """
    requests = times * usage.requests
    # A function with less memory has only a part of a processor.
    cpu_seconds = usage.cpu_seconds * max(1, FULL_CPU_MEGABYTES / megabytes)
    duration_seconds = times * (cpu_seconds + usage.table_requests * TABLE_SECONDS)
    log_bytes = times * usage.log_bytes + requests * (INVOCATION_LOG_BYTES + ACCESS_LOG_BYTES)
    return {
        "Lambda GB-seconds arm64": duration_seconds * megabytes / MEGABYTES_PER_GB,
        "Lambda requests": requests,
        "HTTP API requests": requests,
        "DynamoDB write units": times * usage.write_units,
        "DynamoDB read units": times * usage.read_units,
        "Logs GB written": log_bytes / BYTES_PER_GB,
        "X-Ray traces": requests * TRACED_SHARE,
    }


def function_memory(game: str) -> int:
    """Return the megabytes of the function of a game's service, as its template deploys it."""
    memory_size = all_template_resources()[f"{service_resource_prefix(game)}Service"]["Properties"][
        "MemorySize"
    ]
    return int(memory_size["Fn::If"][2]) if isinstance(memory_size, dict) else int(memory_size)


@dataclass(frozen=True, kw_only=True)
class ContestWorkload(CommandOptions):
    """A day of practice and a cup; a client of each team waits at the arena all the time."""

    teams: Annotated[int, Parameter(validator=validators.Number(gte=2))] = 20
    """With --contest: number of teams."""
    practice_hours: Annotated[float, Parameter(validator=NotNegative)] = 8
    """With --contest: hours of practice before the contest."""
    practice_matches: Annotated[float, Parameter(validator=NotNegative)] = 145
    """With --contest: practice matches of a team an hour. Teams whose programs answer at once
    played 145 in a stack of six teams; slower programs play fewer."""

    @property
    def matches(self) -> float:
        """Number of matches in practice and cup; in the cup a pairing has seven."""
        practice_matches = self.practice_matches * self.teams / 2 * self.practice_hours
        return practice_matches + 7 * (2 * self.teams - 1)

    @property
    def executions(self) -> int:
        """Number of functions that run at once at most."""
        return arena_executions(self.teams)

    @property
    def hours(self) -> float:
        """Hours of the contest day: practice and cup."""
        return self.practice_hours + CUP_HOURS


def contest_usage(contest: ContestWorkload, measured: MeasuredUsage) -> dict[str, float]:
    """Return the units that a contest day uses at our arena in the cloud.

    The largest part is the memory of the functions in which the clients wait.
    """
    match, megabytes = measured.arena_match, function_memory("deadmansdraw")
    waited_seconds = contest.teams * contest.hours * 3600
    long_polls = waited_seconds / LONG_POLL_SECONDS
    # A long poll computes and logs as much as any other request.
    requests = contest.matches * match.requests + long_polls
    units = _compute_api_units(match, requests / match.requests, megabytes)
    units["Lambda GB-seconds arm64"] += waited_seconds * megabytes / MEGABYTES_PER_GB
    units["X-Ray traces"] += contest.hours * 3600
    write_units = contest.matches * match.write_units + long_polls * LONG_POLL_WRITE_UNITS
    read_units = contest.matches * match.read_units
    read_units += waited_seconds * LONG_POLL_READ_UNITS_PER_SECOND
    return units | {"DynamoDB write units": write_units, "DynamoDB read units": read_units}


# --- Prices --------------------------------------------------------------------------------------


class PriceList(BaseModel, frozen=True, extra="forbid"):
    """Prices by region and item at a date, and the units a month that cost nothing."""

    date: date
    free: dict[str, Amount]
    regions: dict[str, dict[str, Amount]]


@cache
def load_price_list() -> PriceList:
    """Return the price list of this version."""
    return PriceList.model_validate(tomllib.loads(PRICE_LIST.read_text("utf-8")))


@dataclass(frozen=True, slots=True)
class BillItem:
    """Line of a bill in USD, without the free tier and after it.

    The free tier covers `free_units`, if no other stack of the account uses it.
    """

    item: str
    units: float
    full_price: float
    free_units: float
    amount_due: float


def make_bill(units: Mapping[str, float], region: str) -> list[BillItem]:
    """Return the bill, the most expensive line first; raise `ConfigError` for an unknown region."""
    price_list = load_price_list()
    if region not in price_list.regions:
        raise ConfigError(
            f"There are no prices for {region}. Give --region with one of "
            f"{', '.join(sorted(price_list.regions))}, or add the prices to {PRICE_LIST}."
        )
    bill = []
    for item, quantity in units.items():
        price = price_list.regions[region][item]
        free_units = min(quantity, price_list.free.get(item, 0))
        due = (quantity - free_units) * price
        bill.append(BillItem(item, quantity, quantity * price, free_units, due))
    return sorted(bill, key=lambda bill_item: (-bill_item.full_price, bill_item.item))
