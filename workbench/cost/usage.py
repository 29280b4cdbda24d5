"""How much of everything a load uses: what was measured, times what is planned."""

import tomllib
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from cardsharp.cloud.secrets import MAX_AGE
from cardsharp.errors import ConfigError
from cardsharp.viewer.assembly import PAUSE
from workbench.cloud.template import TEMPLATE, WATCHING, all_resources, load_template
from workbench.cost.request import ACCESS_BYTES, PLATFORM_BYTES, TABLE_SECONDS, WHOLE_PROCESSOR

MEASURED = Path(__file__).with_name("measured.toml")
_MB = 1024
_GB = 1e9
_MINUTES = 60
_HOUR = 3600

TRACED = 0.05
"""Part of the requests to an HTTP API that X-Ray takes, beyond one a second."""

MAPPING_REQUESTS = 15
"""A minute: five readers of the queue mapping, each waiting up to 20 s for a message."""

TICK_SECONDS = 61
"""Billed of each tick: two long polls of 30 s, the work around them, the wait for a successor."""

QUIET_SECONDS = 2
"""Billed of a tick of a quiet poller in which it finds nothing: one question, and no wait."""

COLD_STARTS = 0.1
"""Part of the worker's invocations that begin with an init."""

Amount = Annotated[float, Field(ge=0)]


class RequestUse(BaseModel):
    """What a request to a game's HTTP service used, the mean of a typical match; see `games`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    read_units: Amount
    write_units: Amount
    log_bytes: Amount


class ContestUse(BaseModel):
    """What a match at the cloud's arena used, the mean of some; see `contest`.

    What names a request is a request's, also of those with which clients wait.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    matches: int
    requests: Amount
    read_units: Amount
    write_units: Amount
    request_seconds: Amount
    request_table_requests: Amount
    request_log_bytes: Amount


class AnswerUse(BaseModel):
    """What an answer of the pages used, or some together; `seconds` of a whole processor."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    requests: Amount
    read_units: Amount
    table_requests: Amount
    seconds: Amount


class PagesUse(BaseModel):
    """What the pages of the match log used; see `pages`.

    Opening a match of so many moves, and the means of the answers while one is played: those that
    brought news, and those that did not.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    moves: Amount
    view: AnswerUse
    news: AnswerUse
    nothing: AnswerUse


class Measured(BaseModel):
    """What one match and one minute of listening used in a local run; see `measure`.

    `match_seconds` is the worker's time in that run, where opponents think in milliseconds;
    what goes by time (renewing the lease) is not in the units of a match. A line is a fact or an
    intent in the match log: matches are of different length, and their lines cost alike.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    date: date
    matches: int
    match_seconds: Amount
    match_write_units: Amount
    line_write_units: Amount
    line_write_requests: Amount
    match_read_units: Amount
    match_queue_requests: Amount
    match_log_bytes: Amount
    match_stored_bytes: Amount
    renewals_per_second: Amount
    idle_minute_read_units: Amount
    idle_minute_log_bytes: Amount
    busy_minute_read_units: Amount
    metrics: Amount
    alarmed_metrics: Amount
    requests: dict[str, RequestUse] = {}
    contest: ContestUse | None = None
    pages: PagesUse | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What is wanted of a stack.

    `match_seconds` is how long a match takes, nearly all of it the opponents' thinking, which
    the worker waits through.
    """

    matches_per_day: float
    hours_listening: float = 24
    days: float = 30
    match_seconds: float = 60
    pollers: int = 1
    poller_memory: int = 128
    worker_memory: int = 384
    architecture: str = "arm64"
    watch_all: bool = False
    quiet: bool = False
    hours_awake: float = 0
    """Of a quiet stack: how many hours a day it listens all the same."""
    provisioned: bool = False
    page_views: float = 0
    """How often a match is opened on the pages (`DeployWeb`), in all days together."""
    watched_hours: float = 0
    """For how many hours a running match is watched there, each browser by itself."""

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
        """The starts of the poller after which it listens; a quiet one's, matches one by one."""
        minutes = self.matches * (self.match_seconds / _MINUTES + 1)
        minutes += self.hours_awake * _MINUTES * self.days
        return min(minutes, self.ticks) if self.quiet else self.ticks

    @property
    def share(self) -> float:
        """The part of a month for which things that are paid by the month exist."""
        return min(self.days / 30, 1)


def load_measured(path: Path = MEASURED) -> Measured:
    """The measured figures in a file.

    Raises:
        ConfigError: they cannot be used.
    """
    try:
        return Measured.model_validate(tomllib.loads(path.read_text()))
    except (OSError, tomllib.TOMLDecodeError, ValidationError) as error:
        raise ConfigError(
            f"The measured figures {path} cannot be used: {error}; measure them anew with "
            "`cardsharp cost --measure`."
        ) from error


def usage(load: Load, measured: Measured) -> dict[str, float]:
    """Units by the names of the price list."""
    used = {**_compute(load), **_data(load, measured), **_watching(load, measured)}
    if not load.page_views and not load.watched_hours:
        return used
    pages = pages_usage(load, measured)
    return {item: used.get(item, 0) + pages.get(item, 0) for item in used | pages}


def pages_usage(load: Load, measured: Measured) -> dict[str, float]:
    """What looking at the pages uses, by the names of the price list.

    Raises:
        ConfigError: it was not measured.
    """
    use = measured.pages
    if use is None:
        raise ConfigError("No page was measured: `python -m workbench.cost.pages`.")
    watched = load.watched_hours * _HOUR
    answers = {
        "view": (load.page_views, use.view),
        "news": (watched * use.moves / load.match_seconds, use.news),
        "nothing": (watched / PAUSE.total_seconds(), use.nothing),
    }.values()
    memory = int(str(all_resources()["viewerService"].properties["MemorySize"]))
    share = max(1, WHOLE_PROCESSOR / memory)
    requests = sum(times * one.requests for times, one in answers)
    seconds = sum(
        times * (one.seconds * share + one.table_requests * TABLE_SECONDS) for times, one in answers
    )
    return {
        f"Lambda GB-seconds {load.architecture}": seconds * memory / _MB,
        "Lambda requests": requests,
        "HTTP API requests": requests,
        "DynamoDB read units": sum(times * one.read_units for times, one in answers),
        "Logs GB written": requests * (PLATFORM_BYTES + ACCESS_BYTES) / _GB,
        "X-Ray traces": requests * TRACED,
    }


def _compute(load: Load) -> dict[str, float]:
    invocations = load.matches * max(1, load.match_seconds / 245)  # handed on after that long
    seconds = load.waking * TICK_SECONDS + (load.ticks - load.waking) * QUIET_SECONDS
    poller = seconds * load.pollers * load.poller_memory / _MB
    # The poller's process goes on from tick to tick and asks when what it keeps is too old.
    secret = load.ticks * _MINUTES / MAX_AGE + invocations
    init = invocations * COLD_STARTS * 2  # seconds, at a worker's share of a processor
    worker = (load.matches * load.match_seconds + init) * load.worker_memory / _MB
    return {
        f"Lambda GB-seconds {load.architecture}": poller + worker,
        "Lambda requests": load.ticks + invocations,
        "Schedule invocations": load.ticks,
        "X-Ray traces": load.ticks + invocations,
        "KMS requests": load.ticks / 5 + secret,  # the table's key, asked for every five minutes
    }


def _data(load: Load, measured: Measured) -> dict[str, float]:
    busy_minutes = min(load.matches * load.match_seconds / _MINUTES, load.ticks)
    renewals = load.match_seconds * measured.renewals_per_second
    mapping = MAPPING_REQUESTS * 24 * _MINUTES * load.days
    reads = load.ticks * measured.idle_minute_read_units
    reads += busy_minutes * measured.busy_minute_read_units
    reads *= load.pollers
    stored = load.matches * measured.match_stored_bytes / _GB
    # Each poller that listens begins a generation.
    writes = load.matches * (measured.match_write_units + renewals) + load.waking
    reads += load.matches * measured.match_read_units
    hours = 24 * load.days * load.provisioned
    return {
        "SQS requests": mapping + load.matches * measured.match_queue_requests,
        "DynamoDB write units": 0 if load.provisioned else writes,
        "DynamoDB read units": 0 if load.provisioned else reads,
        "DynamoDB write capacity hours": capacity("WriteCapacityUnits") * hours,
        "DynamoDB read capacity hours": capacity("ReadCapacityUnits") * hours,
        "DynamoDB storage GB": stored,
        "DynamoDB recovery GB": stored,
    }


def capacity(kind: str) -> int:
    """The units a second of the match log with its indexes where `TableBilling=provisioned`."""
    table = load_template(TEMPLATE)["Resources"]["Matches"]["Properties"]
    asked = [one["ProvisionedThroughput"] for one in (table, *table["GlobalSecondaryIndexes"])]
    return sum(int(one["Fn::If"][1][kind]) for one in asked)


def alarm_metrics(watch_all: bool) -> int:
    """The metrics that the bot's alarms watch, each of which is paid for."""
    conditions = {None, "WatchAll"} if watch_all else {None}
    return sum(
        _metrics_of(resource["Properties"])
        for resource in load_template(WATCHING)["Resources"].values()
        if resource["Type"] == "AWS::CloudWatch::Alarm" and resource.get("Condition") in conditions
    )


def _metrics_of(alarm: dict[str, Any]) -> int:
    return sum("MetricStat" in query for query in alarm.get("Metrics", [])) or 1


def _watching(load: Load, measured: Measured) -> dict[str, float]:
    metrics = measured.metrics if load.watch_all else measured.alarmed_metrics
    written = load.matches * measured.match_log_bytes + load.ticks * measured.idle_minute_log_bytes
    return {
        "CloudWatch metrics": metrics * load.share * load.hours_listening / 24,
        "CloudWatch alarm metrics": alarm_metrics(load.watch_all) * load.share,
        "CloudWatch composite alarms": load.share * load.watch_all,
        "CloudWatch dashboards": load.share * load.watch_all,
        "Logs GB written": written / _GB,
    }
