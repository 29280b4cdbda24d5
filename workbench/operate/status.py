"""Whether a stack listens, plays and is well: one look, in figures and in a sentence."""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta

from pydantic import Field

from cardsharp.cloud.aws import call
from cardsharp.cloud.metrics import Metric
from cardsharp.cloud.ports import Status
from cardsharp.cloud.telemetry import NAMESPACE
from workbench.operate.letters import LetterBox
from workbench.operate.orders import Held, held, schedule_of
from workbench.operate.preflight import quota_of
from workbench.operate.stack import Clients, Moment, OperatorView, Stack

FRESH = timedelta(minutes=3)  # after a successful poll a stack counts as listening so long

_FINISHED = 20
_MESSAGES = "ApproximateNumberOfMessages"


class BotStatus(OperatorView):
    """What a look at the deployed bot found."""

    table: str
    held: Held = Field(serialization_alias="settings")
    schedule: str
    last_poll: Moment | None
    running: tuple[str, ...]
    waiting: int
    in_flight: int  # messages that a worker has, which are not counted as waiting
    dead_letters: int
    failed_ticks: int
    results: dict[str, int] = Field(serialization_alias="lastResults")

    def document(self) -> dict[str, object]:
        """The same as a JSON document."""
        return super().document() | {"paused": self.held.paused}


class DirectorStatus(OperatorView):
    """What a look at an arena's director found; the last two were counted for an hour."""

    waiting: int
    dead_letters: int
    errors: int
    throttles: int


class StackLook(OperatorView):
    """What a look at a stack found; `problems` are sentences, none where all is well."""

    stack: str
    build: str  # the commit that the functions were built from
    quota: int  # concurrent executions of the account, for all functions together
    alarms: tuple[str, ...]
    bot: BotStatus | None = Field(exclude=True)
    director: DirectorStatus | None = Field(exclude=True)
    problems: tuple[str, ...]

    def document(self) -> dict[str, object]:
        """The look as a JSON document; what is not deployed has no keys."""
        bot = {} if self.bot is None else self.bot.document()
        director = {} if self.director is None else {"director": self.director.document()}
        return super().document() | bot | director

    def lines(self) -> Iterator[str]:
        """What was found in words, but for its problems."""
        bot, told = self.bot, self.director
        yield f"stack     {self.stack}{', paused' if bot is not None and bot.held.paused else ''}"
        if bot is not None:
            last = "never" if bot.last_poll is None else f"{bot.last_poll:%H:%M} UTC"
            yield f"settings  {bot.held}"
            when = f"schedule {bot.schedule.lower()}, last successful poll {last}"
            yield f"listening {bot.held.when}, {when}"
            waits = f"{bot.waiting} waiting, {bot.in_flight} in flight"
            yield f"playing   {', '.join(bot.running) or 'nothing'}; {waits}"
            counted = ", ".join(f"{number} {result}" for result, number in bot.results.items())
            yield f"results   {counted or 'none yet'}"
            yield f"match log dynamodb:{bot.table}"
        if told is not None:
            yield (
                f"director  {told.waiting} ticks waiting, {told.dead_letters} dead; within an hour "
                f"{told.errors} errors, {told.throttles} refused for want of concurrency"
            )
        yield f"quota     {self.quota} executions at once"
        yield f"build     {self.build}"


def look_at(stack: Stack) -> StackLook:
    """Look at everything once, perhaps a minute old; raises `StoreError` if AWS does not answer."""
    now = datetime.now(UTC)
    bot = _bot(stack, now) if stack.has_bot else None
    director = None
    if stack.has_director:
        director = DirectorStatus(
            waiting=_depth(stack, LetterBox.DIRECTOR.target(stack)),
            dead_letters=_depth(stack, LetterBox.DIRECTOR.letters(stack)),
            errors=_counted(stack, "Errors", now),
            throttles=_counted(stack, "Throttles", now),
        )
    alarms = _alarms(stack)
    return StackLook(
        stack=stack.name,
        build=stack.outputs.get("Build", "unknown"),
        quota=quota_of(stack.client),
        alarms=alarms,
        bot=bot,
        director=director,
        problems=(
            *_problems(stack, bot, director, now),
            *(f"The alarm {name} is on (docs/operations.md)." for name in alarms),
        ),
    )


def _bot(stack: Stack, now: datetime) -> BotStatus:
    finished = stack.log.matches(status=Status.FINISHED, limit=_FINISHED)
    quarter = timedelta(minutes=15)
    polls = _minutes(stack, Metric.POLLS, {"service": stack.name}, now, quarter)
    return BotStatus(
        table=stack.output("MatchTable"),
        held=held(stack),
        schedule=schedule_of(stack)["State"],
        last_poll=max(polls, default=None),
        running=tuple(record.match_id for record in stack.log.running()),
        waiting=_depth(stack, stack.output("MatchQueueUrl")),
        in_flight=_depth(stack, stack.output("MatchQueueUrl"), f"{_MESSAGES}NotVisible"),
        dead_letters=_depth(stack, LetterBox.WORKER.letters(stack)),
        failed_ticks=_depth(stack, LetterBox.POLLER.letters(stack)),
        results=Counter(str((one.outcome or {}).get("result")) for one in finished),
    )


def _problems(
    stack: Stack, bot: BotStatus | None, director: DirectorStatus | None, now: datetime
) -> Iterator[str]:
    counted: dict[str, int] = {}
    if bot is not None:
        silence = now - max(filter(None, [bot.last_poll, stack.changed]))
        if bot.schedule != "ENABLED":
            off = bot.schedule.lower()
            yield f"The schedule is {off}: nobody listens until `cardsharp cloud resume`."
        elif silence > FRESH:
            yield "No poll has succeeded for 3 minutes: `cardsharp cloud logs --problems`."
        counted = {
            "{} messages failed for good: `cardsharp cloud dlq list`.": bot.dead_letters,
            "{} ticks failed: `cardsharp cloud dlq list --ticks`.": bot.failed_ticks,
        }
    if director is not None:
        letters, want = "`cardsharp cloud dlq list --director`", "for want of concurrency"
        logs = "`cardsharp cloud logs --problems`"
        counted |= {
            f"{{}} ticks of the director failed for good: {letters}.": director.dead_letters,
            f"The director failed {{}} times within an hour: {logs}.": director.errors,
            f"The director was refused {{}} times within an hour {want}.": director.throttles,
        }
    yield from (sentence.format(number) for sentence, number in counted.items() if number)
    if not stack.protected and stack.parameters.get("Stage") == "prod":
        cure = "aws cloudformation update-termination-protection --enable-termination-protection"
        yield f"The stack can be deleted by mistake: `{cure} --stack-name {stack.name}`."


def _counted(stack: Stack, metric: str, now: datetime) -> int:
    """How often Lambda counted that of the director within an hour."""
    named = {"FunctionName": stack.output("DirectorName")}
    return round(sum(_minutes(stack, metric, named, now, timedelta(hours=1)).values()))


def _minutes(
    stack: Stack, metric: str, named: Mapping[str, str], now: datetime, back: timedelta
) -> dict[datetime, float]:
    """The sums of a metric of ours, or of one of our functions, by the minutes that have any."""
    answer = call(
        "metrics",
        stack.client("cloudwatch").get_metric_statistics,
        Namespace="AWS/Lambda" if "FunctionName" in named else NAMESPACE,
        MetricName=metric,
        Dimensions=[{"Name": name, "Value": value} for name, value in named.items()],
        StartTime=now - back,
        EndTime=now + timedelta(minutes=1),
        Period=60,
        Statistics=["Sum"],
    )
    return {point["Timestamp"]: point["Sum"] for point in answer["Datapoints"]}


def _depth(stack: Stack, url: str, name: str = _MESSAGES) -> int:
    ask = stack.client("sqs").get_queue_attributes
    answer = call("queue", ask, QueueUrl=url, AttributeNames=[name])
    return int(answer["Attributes"][name])


def _alarms(stack: Stack) -> tuple[str, ...]:
    """The logical names of the stack's alarms that are on."""
    answer = call(
        "alarms",
        stack.client("cloudwatch").describe_alarms,
        AlarmNamePrefix=f"{stack.name}-",
        StateValue="ALARM",
        AlarmTypes=["MetricAlarm", "CompositeAlarm"],
    )
    logical = {physical: name for name, physical in stack.ids.items()}
    listed = [*answer.get("MetricAlarms", []), *answer.get("CompositeAlarms", [])]
    return tuple(sorted(logical.get(one["AlarmName"], one["AlarmName"]) for one in listed))


def spend(client: Clients, now: datetime) -> str:
    """What all of our stacks have cost since the month began, as AWS bills it; a cent to ask.

    Nothing is counted before the billing console makes `project` a cost allocation tag.
    """
    month = now.date().replace(day=1)
    answer = call(
        "bill",
        client("ce").get_cost_and_usage,
        TimePeriod={"Start": str(month), "End": str(now.date() + timedelta(days=1))},
        Granularity="MONTHLY",
        Metrics=["UnblendedCost"],
        Filter={"Tags": {"Key": "project", "Values": ["cardsharp"]}},
    )
    costs = [one["Total"]["UnblendedCost"] for one in answer["ResultsByTime"] if one["Total"]]
    amount = sum(float(one["Amount"]) for one in costs)
    return f"{amount:.2f} {costs[0]['Unit'] if costs else 'USD'} since {month}"
