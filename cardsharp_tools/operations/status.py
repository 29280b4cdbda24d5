"""Status of a deployed stack: whether it listens, plays and is healthy, in figures and words."""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta

from pydantic import Field

from cardsharp.aws.client import call_with_retries
from cardsharp.aws.telemetry import NAMESPACE
from cardsharp.core.metrics import MetricName
from cardsharp.store.match_log import MatchStatus
from cardsharp_tools.operations.dead_letters import DeadLetterQueueKind
from cardsharp_tools.operations.preflight import account_quota
from cardsharp_tools.operations.stack import CamelCaseModel, Clients, Stack, Timestamp
from cardsharp_tools.operations.stack_control import (
    EffectiveBotSettings,
    get_poller_schedule,
    is_table_protected,
    read_effective_settings,
)

MAX_POLL_AGE = timedelta(minutes=3)  # after a successful poll a stack counts as listening so long

_MAX_FINISHED_MATCHES = 20
_VISIBLE_MESSAGES_ATTRIBUTE = "ApproximateNumberOfMessages"


class BotStatus(CamelCaseModel):
    """Status of the deployed bot."""

    table: str
    settings: EffectiveBotSettings = Field(serialization_alias="settings")
    schedule: str
    last_poll: Timestamp | None
    running: tuple[str, ...]
    waiting: int
    in_flight: int  # messages that a worker has, which are not counted as waiting
    dead_letters: int
    failed_ticks: int
    results: dict[str, int] = Field(serialization_alias="lastResults")

    def document(self) -> dict[str, object]:
        """Return the status as a JSON document."""
        return super().document() | {"paused": self.settings.paused}


class ArenaDirectorStatus(CamelCaseModel):
    """Status of an arena's director; the last two fields count the last hour."""

    waiting: int
    dead_letters: int
    errors: int
    throttles: int


class StackStatus(CamelCaseModel):
    """Status of a stack; `problems` are sentences, empty if the stack is healthy."""

    stack: str
    build: str  # the commit that the functions were built from
    quota: int  # concurrent executions of the account, for all functions together
    alarms: tuple[str, ...]
    bot: BotStatus | None = Field(exclude=True)
    director: ArenaDirectorStatus | None = Field(exclude=True)
    problems: tuple[str, ...]

    def document(self) -> dict[str, object]:
        """Return the status as a JSON document, without keys for missing parts."""
        bot = {} if self.bot is None else self.bot.document()
        director = {} if self.director is None else {"director": self.director.document()}
        return super().document() | bot | director

    def lines(self) -> Iterator[str]:
        """Yield the status in words, without the problems."""
        bot, director = self.bot, self.director
        yield (
            f"stack     {self.stack}{', paused' if bot is not None and bot.settings.paused else ''}"
        )
        if bot is not None:
            last_poll_text = "never" if bot.last_poll is None else f"{bot.last_poll:%H:%M} UTC"
            yield f"settings  {bot.settings}"
            when = f"schedule {bot.schedule.lower()}, last successful poll {last_poll_text}"
            yield f"listening {bot.settings.listening_times_text}, {when}"
            waits = f"{bot.waiting} waiting, {bot.in_flight} in flight"
            yield f"playing   {', '.join(bot.running) or 'nothing'}; {waits}"
            counted = ", ".join(
                f"{match_count} {result}" for result, match_count in bot.results.items()
            )
            yield f"results   {counted or 'none yet'}"
            yield f"match log dynamodb:{bot.table}"
        if director is not None:
            yield (
                f"director  {director.waiting} ticks waiting, {director.dead_letters} "
                "dead; within an hour "
                f"{director.errors} errors, {director.throttles} refused because "
                "concurrency was used up"
            )
        yield f"quota     {self.quota} executions at once"
        yield f"build     {self.build}"


def read_status(stack: Stack) -> StackStatus:
    """Return the stack's status, up to a minute old; raise `StoreError` if AWS fails."""
    current_time = datetime.now(UTC)
    bot = _read_bot_status(stack, current_time) if stack.has_bot else None
    director = None
    if stack.has_director:
        director = ArenaDirectorStatus(
            waiting=_read_queue_depth(stack, DeadLetterQueueKind.DIRECTOR.source_queue_url(stack)),
            dead_letters=_read_queue_depth(stack, DeadLetterQueueKind.DIRECTOR.queue_url(stack)),
            errors=_sum_director_metric(stack, "Errors", current_time),
            throttles=_sum_director_metric(stack, "Throttles", current_time),
        )
    alarms = active_alarms(stack)
    return StackStatus(
        stack=stack.name,
        build=stack.outputs.get("Build", "unknown"),
        quota=account_quota(stack.client),
        alarms=alarms,
        bot=bot,
        director=director,
        problems=(
            *_list_problems(stack, bot, director, current_time),
            *(f"The alarm {name} is on (docs/operations.md)." for name in alarms),
        ),
    )


def _read_bot_status(stack: Stack, current_time: datetime) -> BotStatus:
    finished = stack.log.matches(status=MatchStatus.FINISHED, limit=_MAX_FINISHED_MATCHES)
    quarter = timedelta(minutes=15)
    polls = _sum_metric_by_minute(
        stack, MetricName.POLLS, {"service": stack.name}, current_time, quarter
    )
    return BotStatus(
        table=stack.output("MatchTable"),
        settings=read_effective_settings(stack),
        schedule=get_poller_schedule(stack)["State"],
        last_poll=max(polls, default=None),
        running=tuple(record.match_id for record in stack.log.running_matches()),
        waiting=_read_queue_depth(stack, stack.output("MatchQueueUrl")),
        in_flight=_read_queue_depth(
            stack, stack.output("MatchQueueUrl"), f"{_VISIBLE_MESSAGES_ATTRIBUTE}NotVisible"
        ),
        dead_letters=_read_queue_depth(stack, DeadLetterQueueKind.WORKER.queue_url(stack)),
        failed_ticks=_read_queue_depth(stack, DeadLetterQueueKind.POLLER.queue_url(stack)),
        results=Counter(str((match.outcome or {}).get("result")) for match in finished),
    )


def _list_problems(
    stack: Stack,
    bot: BotStatus | None,
    director: ArenaDirectorStatus | None,
    current_time: datetime,
) -> Iterator[str]:
    counted: dict[str, int] = {}
    if bot is not None:
        silence = current_time - max(filter(None, [bot.last_poll, stack.updated_at]))
        if bot.schedule != "ENABLED":
            off = bot.schedule.lower()
            yield f"The schedule is {off}: nothing listens until `cardsharp cloud resume`."
        elif silence > MAX_POLL_AGE:
            yield "No poll has succeeded for 3 minutes. See `cardsharp cloud logs --problems`."
        counted = {
            "{} messages failed five times. See `cardsharp cloud dlq list`.": bot.dead_letters,
            "{} ticks failed. See `cardsharp cloud dlq list --poller`.": bot.failed_ticks,
        }
    if director is not None:
        letters, want = "`cardsharp cloud dlq list --director`", "because concurrency was used up"
        logs = "`cardsharp cloud logs --problems`"
        counted |= {
            f"{{}} ticks of the director failed for good. See {letters}.": director.dead_letters,
            f"The director failed {{}} times within an hour. See {logs}.": director.errors,
            f"AWS refused the director {{}} times within an hour {want}.": director.throttles,
        }
    yield from (
        sentence.format(problem_count)
        for sentence, problem_count in counted.items()
        if problem_count
    )
    if stack.parameters.get("Stage") == "prod" and not is_stack_and_log_protected(stack):
        yield (
            "The stack or its match log can be deleted by mistake. Protect them: "
            f"`cardsharp cloud protect --stack {stack.name}`."
        )


def is_stack_and_log_protected(stack: Stack) -> bool:
    """Return True if neither the stack nor its match log can be deleted."""
    return stack.is_protected and (not stack.has_bot or is_table_protected(stack))


def _sum_director_metric(stack: Stack, metric: str, current_time: datetime) -> int:
    """Return the sum of one of the director's Lambda metrics over the last hour."""
    dimensions = {"FunctionName": stack.output("DirectorName")}
    return round(
        sum(
            _sum_metric_by_minute(
                stack, metric, dimensions, current_time, timedelta(hours=1)
            ).values()
        )
    )


def _sum_metric_by_minute(
    stack: Stack,
    metric: str,
    dimensions: Mapping[str, str],
    current_time: datetime,
    period: timedelta,
) -> dict[datetime, float]:
    """Return the sums of a metric by minute, without the minutes that have no data.

    The metric is one of the project's own, or one of Lambda's if a dimension names a
    function.
    """
    response = call_with_retries(
        "metrics",
        stack.client("cloudwatch").get_metric_statistics,
        Namespace="AWS/Lambda" if "FunctionName" in dimensions else NAMESPACE,
        MetricName=metric,
        Dimensions=[{"Name": name, "Value": value} for name, value in dimensions.items()],
        StartTime=current_time - period,
        EndTime=current_time + timedelta(minutes=1),
        Period=60,
        Statistics=["Sum"],
    )
    return {datapoint["Timestamp"]: datapoint["Sum"] for datapoint in response["Datapoints"]}


def _read_queue_depth(stack: Stack, url: str, attribute: str = _VISIBLE_MESSAGES_ATTRIBUTE) -> int:
    ask = stack.client("sqs").get_queue_attributes
    response = call_with_retries("queue", ask, QueueUrl=url, AttributeNames=[attribute])
    return int(response["Attributes"][attribute])


def active_alarms(stack: Stack) -> tuple[str, ...]:
    """The logical names of the stack's alarms that are on."""
    response = call_with_retries(
        "alarms",
        stack.client("cloudwatch").describe_alarms,
        AlarmNamePrefix=f"{stack.name}-",
        StateValue="ALARM",
        AlarmTypes=["MetricAlarm", "CompositeAlarm"],
    )
    logical = {physical: name for name, physical in stack.ids.items()}
    listed = [*response.get("MetricAlarms", []), *response.get("CompositeAlarms", [])]
    return tuple(sorted(logical.get(alarm["AlarmName"], alarm["AlarmName"]) for alarm in listed))


def project_cost_this_month_text(client: Clients, current_time: datetime) -> str:
    """Return the month's cost of all our stacks so far, as billed by AWS; a request costs a cent.

    No cost is recorded until `project` is made a cost allocation tag in the billing console.
    """
    month = current_time.date().replace(day=1)
    response = call_with_retries(
        "bill",
        client("ce").get_cost_and_usage,
        TimePeriod={"Start": str(month), "End": str(current_time.date() + timedelta(days=1))},
        Granularity="MONTHLY",
        Metrics=["UnblendedCost"],
        Filter={"Tags": {"Key": "project", "Values": ["cardsharp"]}},
    )
    costs = [
        period["Total"]["UnblendedCost"] for period in response["ResultsByTime"] if period["Total"]
    ]
    total_cost = sum(float(cost["Amount"]) for cost in costs)
    return f"{total_cost:.2f} {costs[0]['Unit'] if costs else 'USD'} since {month}"
