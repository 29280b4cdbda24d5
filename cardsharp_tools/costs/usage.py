"""Usage of a workload: measured usage multiplied by planned numbers."""

from datetime import date
from pathlib import Path

from pydantic import BaseModel, ValidationError

from cardsharp.aws.ssm_credentials import CACHE_TTL_SECONDS
from cardsharp.errors import ConfigError
from cardsharp.server.access_gate import POLL_INTERVAL
from cardsharp_tools.costs.bill import Amount
from cardsharp_tools.costs.workload import BotWorkload, ContestWorkload
from cardsharp_tools.local_cloud.template_files import (
    MONITORING_TEMPLATE,
    all_template_resources,
    load_template,
    service_prefix,
)

MEASURED = Path(__file__).with_name("measured.json")
_MB = 1024
_GB = 1e9
_MINUTES = 60
_HOUR = 3600

TRACED_SHARE = 0.05  # part of the requests to an HTTP API that X-Ray takes, beyond one a second
QUEUE_READERS = 5  # of the queue mapping with a limit to its concurrency; else as few as two
QUEUE_READ_SECONDS = 20  # how long each of them waits for a message at most
TICK_SECONDS = 61  # billed of a tick: two long polls of 30 s, work, and the handing over
COLD_START_RATE = 0.1  # part of the worker's invocations that begin with an init
PLATFORM_LOG_BYTES = 400  # what Lambda itself logs of an invocation: START, END and REPORT
ACCESS_LOG_BYTES = 200  # what the access log has of a request
TABLE_SECONDS = 0.005  # a request to the table, assumed
FULL_CPU_MEGABYTES = 1769  # megabytes with which a function has a whole processor
POLL_SECONDS = 25  # after which a long poll in the cloud answers and is asked again
READ_UNITS_PER_SECOND = 0.5  # read units that a waiting client costs
PRESENCE_WRITE_UNITS = (
    2  # write units of a long poll: that a team is there, at its begin and its end
)


class CloudUsage(BaseModel, frozen=True, extra="forbid"):
    """Cloud usage of an activity.

    `requests` are those to our functions; `seconds` are those of a full processor.
    """

    requests: Amount
    table_requests: Amount
    queue_requests: Amount
    read_units: Amount
    write_units: Amount
    log_bytes: Amount
    seconds: Amount

    def times(self, factor: float) -> "CloudUsage":
        """Return the usage of `factor` such activities."""
        return total_usage((factor, self))


def total_usage(*parts: tuple[float, CloudUsage]) -> CloudUsage:
    """Return the sum of usages, each multiplied by its factor."""
    names = CloudUsage.model_fields
    return CloudUsage(
        **{name: sum(n * getattr(usage, name) for n, usage in parts) for name in names}
    )


class ViewerUsage(BaseModel, frozen=True, extra="forbid"):
    """Usage of the match log's pages.

    It covers opening a match of a given number of moves, and the mean response while a match is
    played: responses with news, and responses without.
    """

    moves: Amount
    view: CloudUsage
    news: CloudUsage
    nothing: CloudUsage


class MeasuredUsage(BaseModel, frozen=True, extra="forbid"):
    """Usage of one match and of one minute of polling in a local run; see `measure`.

    Opponents decide within milliseconds there. Usage that depends on duration, such as renewing
    the lease, is therefore not part of a match's units.
    """

    date: date
    matches: int
    match_write_units: Amount
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
    contest: CloudUsage
    """A match at the cloud's arena."""
    pages: ViewerUsage


def load_measured(path: Path = MEASURED) -> MeasuredUsage:
    """The measured figures in a file; raises `ConfigError` if they cannot be used."""
    try:
        return MeasuredUsage.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise ConfigError(
            f"The measured figures {path} cannot be used: {error}; measure them again with "
            "`cardsharp cost --measure`."
        ) from error


def bot_usage(workload: BotWorkload, measured: MeasuredUsage) -> dict[str, float]:
    """Units by the names of the price list."""
    used = {
        **_compute(workload),
        **_data(workload, measured),
        **_watching(workload, measured),
    }
    if not workload.page_views and not workload.watched_hours:
        return used
    pages = viewer_usage(workload, measured)
    return {item: used.get(item, 0) + pages.get(item, 0) for item in used | pages}


def viewer_usage(load: BotWorkload, measured: MeasuredUsage) -> dict[str, float]:
    """Return the usage of page views by the names of the price list."""
    use = measured.pages
    watched = load.watched_hours * _HOUR
    answers = total_usage(
        (load.page_views, use.view),
        (watched * use.moves / load.match_seconds, use.news),
        (watched / POLL_INTERVAL.total_seconds(), use.nothing),
    )
    traces = answers.requests * TRACED_SHARE
    return {
        **api_function_units(answers, function_memory("viewer"), load.architecture),
        "X-Ray traces": traces,
    }


def _compute(load: BotWorkload) -> dict[str, float]:
    invocations = load.matches * max(1, load.match_seconds / 245)  # handed on after that long
    poller = load.poller_starts * TICK_SECONDS * load.pollers * load.poller_memory / _MB
    # A process goes on from tick to tick, and asks when what it keeps is too old.
    secret = load.poller_starts * _MINUTES / CACHE_TTL_SECONDS + invocations
    init = invocations * COLD_START_RATE * 2  # seconds, at a worker's share of a processor
    worker = (load.matches * load.match_seconds + init) * load.worker_memory / _MB
    return {
        f"Lambda GB-seconds {load.architecture}": poller + worker,
        "Lambda requests": load.poller_starts + invocations,
        "Schedule invocations": load.poller_starts,
        "X-Ray traces": (load.poller_starts + invocations) * (load.monitoring == "all"),
        "KMS requests": load.poller_starts / 5
        + secret,  # the table's key, asked for every five minutes
    }


def _data(load: BotWorkload, measured: MeasuredUsage) -> dict[str, float]:
    renewals = load.match_seconds * measured.renewals_per_second
    reads = load.poller_starts * measured.idle_minute_read_units
    reads += load.lease_watch_minutes * measured.busy_minute_read_units
    reads *= load.pollers
    stored = load.stored_matches * measured.match_stored_bytes / _GB * load.month_fraction
    # Each poller that listens begins a generation.
    writes = load.matches * (measured.match_write_units + renewals) + load.poller_starts
    reads += load.matches * measured.match_read_units
    queued = queue_reader_requests(load) + load.matches * measured.match_queue_requests
    return {
        "SQS requests": queued,
        "DynamoDB write units": writes,
        "DynamoDB read units": reads,
        "DynamoDB storage GB": stored,
        "DynamoDB recovery GB": stored,
    }


def queue_reader_requests(load: BotWorkload) -> float:
    """Return the requests of the queue mapping's pollers, each until a message or its timeout."""
    return QUEUE_READERS * 24 * _HOUR * load.days / QUEUE_READ_SECONDS


def alarm_metrics(watch_all: bool) -> int:
    """The metrics that the bot's alarms watch, each of which is paid for."""
    conditions = {None, "IsFullyWatched"} if watch_all else {None}
    return sum(
        sum("MetricStat" in query for query in resource["Properties"].get("Metrics", [])) or 1
        for resource in load_template(MONITORING_TEMPLATE)["Resources"].values()
        if resource["Type"] == "AWS::CloudWatch::Alarm" and resource.get("Condition") in conditions
    )


def _watching(load: BotWorkload, measured: MeasuredUsage) -> dict[str, float]:
    everything = load.monitoring == "all"
    metrics = measured.metrics if everything else measured.alarmed_metrics
    written = (
        load.matches * measured.match_log_bytes
        + load.poller_starts * measured.idle_minute_log_bytes
    )
    return {
        "CloudWatch metrics": metrics * load.month_fraction * load.listening_hours / 24,
        "CloudWatch alarm metrics": alarm_metrics(everything) * load.month_fraction,
        "CloudWatch composite alarms": load.month_fraction * everything,
        "CloudWatch dashboards": load.month_fraction * everything,
        "Logs GB written": written / _GB,
        "Cost Explorer requests": load.cost_queries,
    }


def contest_usage(contest: ContestWorkload, measured: MeasuredUsage) -> dict[str, float]:
    """Return a day's usage of a contest in the cloud, by the names of the price list.

    Every team is assumed to have one client in a long poll at all times; its read once a second
    and its execution environment are the largest part of the bill.
    """
    use, memory = measured.contest, function_memory("deadmansdraw")
    waited = contest.teams * contest.hours * _HOUR
    requests = contest.matches * use.requests + waited / POLL_SECONDS
    # Requests that wait use as much, but for the table's units.
    used = api_function_units(use.times(requests / use.requests), memory)
    reads = contest.matches * use.read_units + waited * READ_UNITS_PER_SECOND
    waiting = waited * memory / _MB
    return {
        **used,
        "Lambda GB-seconds arm64": waiting + used["Lambda GB-seconds arm64"],
        "DynamoDB write units": contest.matches * use.write_units
        + PRESENCE_WRITE_UNITS * waited / POLL_SECONDS,
        "DynamoDB read units": reads,
        "X-Ray traces": contest.hours * _HOUR + requests * TRACED_SHARE,
    }


def function_memory(game: str) -> int:
    """The megabytes of a game's function, or the viewer's, where nobody asks for others."""
    memory_size = all_template_resources()[f"{service_prefix(game)}Service"]["Properties"][
        "MemorySize"
    ]
    return int(memory_size["Fn::If"][2]) if isinstance(memory_size, dict) else int(memory_size)


def api_function_units(
    use: CloudUsage, memory: float, architecture: str = "arm64"
) -> dict[str, float]:
    """Return the usage of a function behind an HTTP API, by the names of the price list."""
    busy = use.seconds * max(1, FULL_CPU_MEGABYTES / memory) + use.table_requests * TABLE_SECONDS
    logged = use.log_bytes + use.requests * (PLATFORM_LOG_BYTES + ACCESS_LOG_BYTES)
    return {
        f"Lambda GB-seconds {architecture}": busy * memory / _MB,
        "Lambda requests": use.requests,
        "HTTP API requests": use.requests,
        "Logs GB written": logged / _GB,
        "DynamoDB write units": use.write_units,
        "DynamoDB read units": use.read_units,
    }
