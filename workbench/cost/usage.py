"""How much of everything a load uses: what was measured, times what is planned."""

from datetime import date
from math import exp
from pathlib import Path

from pydantic import BaseModel, ValidationError

from cardsharp.cloud.secrets import MAX_AGE
from cardsharp.errors import ConfigError
from cardsharp.viewer.assembly import PAUSE
from workbench.cloud.template import TEMPLATE, WATCHING, all_resources, load_template
from workbench.cost.bill import Amount
from workbench.cost.load import Contest, Load

MEASURED = Path(__file__).with_name("measured.json")
_MB = 1024
_GB = 1e9
_MINUTES = 60
_HOUR = 3600

TRACED = 0.05  # part of the requests to an HTTP API that X-Ray takes, beyond one a second
READERS = 5  # of the queue mapping with a limit to its concurrency; else as few as two
READ_SECONDS = 20  # how long each of them waits for a message at most
TICK_SECONDS = 61  # billed of a tick: two long polls of 30 s, work, and the handing over
ARENA_SECONDS = 0.1  # a question to the arena over a new connection, assumed: three ways
TLS_SECONDS = 0.005  # of a whole processor, assumed, for that connection's keys
COLD_STARTS = 0.1  # part of the worker's invocations that begin with an init
PLATFORM_BYTES = 400  # what Lambda itself logs of an invocation: START, END and REPORT
ACCESS_BYTES = 200  # what the access log has of a request
TABLE_SECONDS = 0.005  # a request to the table, assumed
WHOLE_PROCESSOR = 1769  # megabytes with which a function has a whole processor
POLL_SECONDS = 25  # after which a long poll in the cloud answers and is asked again
UNITS_A_SECOND = 0.5  # read units that a waiting client costs
HEARD = 2  # write units of a long poll: that a team is there, at its begin and its end


class CloudUse(BaseModel, frozen=True, extra="forbid"):
    """What something used; `requests` are those to us, and `seconds` of a whole processor."""

    requests: Amount
    table_requests: Amount
    queue_requests: Amount
    read_units: Amount
    write_units: Amount
    log_bytes: Amount
    seconds: Amount

    def times(self, number: float) -> "CloudUse":
        """What so many of it use."""
        return used_by((number, self))

    def billed(self, memory: float) -> float:
        """The seconds for which Lambda bills a look at the arena at so many megabytes."""
        worked = (self.seconds + TLS_SECONDS) * max(1, WHOLE_PROCESSOR / memory)
        return worked + (self.table_requests + self.queue_requests) * TABLE_SECONDS + ARENA_SECONDS


def used_by(*parts: tuple[float, CloudUse]) -> CloudUse:
    """What is used together: of each so many."""
    names = CloudUse.model_fields
    return CloudUse(**{name: sum(n * getattr(one, name) for n, one in parts) for name in names})


class PagesUse(BaseModel, frozen=True, extra="forbid"):
    """What the pages of the match log used.

    Opening a match of so many moves, and the means of the answers while one is played: those that
    brought news, and those that did not.
    """

    moves: Amount
    view: CloudUse
    news: CloudUse
    nothing: CloudUse


class Measured(BaseModel, frozen=True, extra="forbid"):
    """What one match and one minute of listening used in a local run; see `measure`.

    Opponents think in milliseconds there, and what goes by time (renewing the lease) is not in the
    units of a match.
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
    look: CloudUse
    """A look at the arena."""
    tick: CloudUse
    """A tick of a poller that rests."""
    contest: CloudUse
    """A match at the cloud's arena."""
    pages: PagesUse


def load_measured(path: Path = MEASURED) -> Measured:
    """The measured figures in a file; raises `ConfigError` if they cannot be used."""
    try:
        return Measured.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise ConfigError(
            f"The measured figures {path} cannot be used: {error}; measure them anew with "
            "`cardsharp cost --measure`."
        ) from error


def usage(load: Load, measured: Measured) -> dict[str, float]:
    """Units by the names of the price list."""
    used = {**_compute(load, measured), **_data(load, measured), **_watching(load, measured)}
    if not load.page_views and not load.watched_hours:
        return used
    pages = pages_usage(load, measured)
    return {item: used.get(item, 0) + pages.get(item, 0) for item in used | pages}


def pages_usage(load: Load, measured: Measured) -> dict[str, float]:
    """What looking at pages uses, by the names of the price list."""
    use = measured.pages
    watched = load.watched_hours * _HOUR
    answers = used_by(
        (load.page_views, use.view),
        (watched * use.moves / load.match_seconds, use.news),
        (watched / PAUSE.total_seconds(), use.nothing),
    )
    traces = answers.requests * TRACED
    return {**billed(answers, memory_of("viewer"), load.architecture), "X-Ray traces": traces}


def _compute(load: Load, measured: Measured) -> dict[str, float]:
    invocations = load.matches * max(1, load.match_seconds / 245)  # handed on after that long
    resting = load.ticks - load.waking
    seconds = load.waking * TICK_SECONDS + resting * measured.tick.billed(load.poller_memory)
    poller = seconds * load.pollers * load.poller_memory / _MB
    # A process goes on from tick to tick, or look to look, and asks when what it keeps is too old.
    secret = load.ticks * _MINUTES / MAX_AGE + invocations
    if load.looks:
        secret += resting * _MINUTES / MAX_AGE
    looking = load.looks * measured.look.billed(load.worker_memory) * load.worker_memory / _MB
    init = invocations * COLD_STARTS * 2  # seconds, at a worker's share of a processor
    worker = (load.matches * load.match_seconds + init) * load.worker_memory / _MB
    return {
        f"Lambda GB-seconds {load.architecture}": poller + worker + looking,
        "Lambda requests": load.ticks + invocations + load.looks,
        "Schedule invocations": load.ticks,
        "X-Ray traces": (load.ticks + invocations + load.looks) * (load.watch == "all"),
        "KMS requests": load.ticks / 5 + secret,  # the table's key, asked for every five minutes
    }


def _data(load: Load, measured: Measured) -> dict[str, float]:
    renewals = load.match_seconds * measured.renewals_per_second
    resting, looked = load.ticks - load.waking, load.looks > 0
    queued = resting * measured.tick.queue_requests * looked + load.looks
    reads = load.waking * measured.idle_minute_read_units
    reads += load.guarded * measured.busy_minute_read_units
    reads *= load.pollers
    reads += resting * measured.tick.read_units + load.looks * measured.look.read_units
    stored = load.stored * measured.match_stored_bytes / _GB * load.share
    # Each poller that listens begins a generation.
    writes = load.matches * (measured.match_write_units + renewals) + load.waking
    writes += resting * measured.tick.write_units * looked
    reads += load.matches * measured.match_read_units
    by_the_hour = load.table == "provisioned"  # which the table's units are paid by
    hours = 24 * load.days * by_the_hour
    queued += mapping_requests(load) + load.matches * measured.match_queue_requests
    return {
        "SQS requests": queued,
        "DynamoDB write units": 0 if by_the_hour else writes,
        "DynamoDB read units": 0 if by_the_hour else reads,
        "DynamoDB write capacity hours": capacity("WriteCapacityUnits") * hours,
        "DynamoDB read capacity hours": capacity("ReadCapacityUnits") * hours,
        "DynamoDB storage GB": stored,
        "DynamoDB recovery GB": stored,
    }


def mapping_requests(load: Load) -> float:
    """The questions of the queue mapping's readers, each until a message or its wait is over."""
    minutes = 24 * _MINUTES * load.days
    rate = load.looks / minutes / _MINUTES / READERS  # messages a second for each reader
    waits = (1 - exp(-rate * READ_SECONDS)) / rate if rate else READ_SECONDS
    return READERS * minutes * _MINUTES / waits


def capacity(kind: str) -> int:
    """The units a second of the match log with its indexes where `TableBilling=provisioned`."""
    table = load_template(TEMPLATE)["Resources"]["Matches"]["Properties"]
    asked = [one["ProvisionedThroughput"] for one in (table, *table["GlobalSecondaryIndexes"])]
    return sum(int(one["Fn::If"][1][kind]) for one in asked)


def alarm_metrics(watch_all: bool) -> int:
    """The metrics that the bot's alarms watch, each of which is paid for."""
    conditions = {None, "WatchAll"} if watch_all else {None}
    return sum(
        sum("MetricStat" in query for query in one["Properties"].get("Metrics", [])) or 1
        for one in load_template(WATCHING)["Resources"].values()
        if one["Type"] == "AWS::CloudWatch::Alarm" and one.get("Condition") in conditions
    )


def _watching(load: Load, measured: Measured) -> dict[str, float]:
    everything = load.watch == "all"
    metrics = measured.metrics if everything else measured.alarmed_metrics
    written = load.matches * measured.match_log_bytes + load.ticks * measured.idle_minute_log_bytes
    written += load.looks * measured.look.log_bytes
    return {
        "CloudWatch metrics": metrics * load.share * load.hours_listening / 24,
        "CloudWatch alarm metrics": alarm_metrics(everything) * load.share,
        "CloudWatch composite alarms": load.share * everything,
        "CloudWatch dashboards": load.share * everything,
        "Logs GB written": written / _GB,
        "Cost Explorer requests": load.cost_queries,
    }


def contest_usage(contest: Contest, measured: Measured) -> dict[str, float]:
    """What a day of a contest in the cloud uses, by the names of the price list.

    Every team is taken to have one client in a long poll at all times: its read once a second and
    its execution environment are most of the bill.
    """
    use, memory = measured.contest, memory_of("deadmansdraw")
    waited = contest.teams * contest.hours * _HOUR
    requests = contest.matches * use.requests + waited / POLL_SECONDS
    # Requests that wait use as much, but for the table's units.
    used = billed(use.times(requests / use.requests), memory)
    reads = contest.matches * use.read_units + waited * UNITS_A_SECOND
    waiting = waited * memory / _MB
    return {
        **used,
        "Lambda GB-seconds arm64": waiting + used["Lambda GB-seconds arm64"],
        "DynamoDB write units": contest.matches * use.write_units + HEARD * waited / POLL_SECONDS,
        "DynamoDB read units": reads,
        "X-Ray traces": contest.hours * _HOUR + requests * TRACED,
    }


def memory_of(game: str) -> int:
    """The megabytes of a game's function, or the viewer's, where nobody asks for others."""
    told = all_resources()[f"{game}Service"]["Properties"]["MemorySize"]
    return int(told["Fn::If"][2]) if isinstance(told, dict) else int(told)


def billed(use: CloudUse, memory: float, architecture: str = "arm64") -> dict[str, float]:
    """What requests to a function behind an HTTP API use, by the names of the price list."""
    busy = use.seconds * max(1, WHOLE_PROCESSOR / memory) + use.table_requests * TABLE_SECONDS
    logged = use.log_bytes + use.requests * (PLATFORM_BYTES + ACCESS_BYTES)
    return {
        f"Lambda GB-seconds {architecture}": busy * memory / _MB,
        "Lambda requests": use.requests,
        "HTTP API requests": use.requests,
        "Logs GB written": logged / _GB,
        "DynamoDB write units": use.write_units,
        "DynamoDB read units": use.read_units,
    }
