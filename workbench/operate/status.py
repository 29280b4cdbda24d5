"""Whether a stack listens, plays and is well: one look, in figures and in a sentence."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from cardsharp.cloud.aws import call
from cardsharp.cloud.metrics import Metric
from cardsharp.cloud.ports import Status
from cardsharp.cloud.telemetry import NAMESPACE
from workbench.operate.stack import Clients, Stack
from workbench.operate.switching import Held, held

FRESH = timedelta(minutes=3)
"""As long as this after its last successful poll a stack counts as listening."""

_FINISHED = 20


@dataclass(frozen=True, slots=True)
class Look:
    """What a look at a stack found; `problems` are sentences, none where all is well."""

    stack: str
    table: str
    build: str
    """The commit that the functions were built from."""

    held: Held
    schedule: str
    last_poll: datetime | None
    running: tuple[str, ...]
    waiting: int
    in_flight: int
    """Messages that a worker has, which are not counted as waiting."""
    quota: int
    """Concurrent executions of the account, for all functions together."""
    dead_letters: int
    failed_ticks: int
    alarms: tuple[str, ...]
    results: dict[str, int]
    problems: tuple[str, ...]

    def document(self) -> dict[str, object]:
        """The look as a JSON document."""
        return {
            "stack": self.stack,
            "table": self.table,
            "build": self.build,
            "paused": self.held.paused,
            "settings": self.held.document(),
            "schedule": self.schedule,
            "lastPoll": None if self.last_poll is None else self.last_poll.isoformat(),
            "running": list(self.running),
            "waiting": self.waiting,
            "inFlight": self.in_flight,
            "quota": self.quota,
            "deadLetters": self.dead_letters,
            "failedTicks": self.failed_ticks,
            "alarms": list(self.alarms),
            "lastResults": self.results,
            "problems": list(self.problems),
        }


def look_at(stack: Stack, now: datetime | None = None) -> Look:
    """Look at everything once; what AWS tells may be a minute old.

    Raises:
        StoreError: AWS did not answer, or does not let us look.
    """
    now = now or datetime.now(UTC)
    schedule, last_poll = _schedule(stack), _last_poll(stack, now)
    heard = max(filter(None, [last_poll, stack.changed]))
    dead, failed = _depth(stack, "DeadLetterUrl"), _depth(stack, "PollerDeadLetterUrl")
    alarms = _alarms(stack)
    return Look(
        stack=stack.name,
        table=stack.output("MatchTable"),
        build=stack.outputs.get("Build", "unknown"),
        held=held(stack),
        schedule=schedule,
        last_poll=last_poll,
        running=tuple(record.match_id for record in stack.log.running()),
        waiting=_depth(stack, "MatchQueueUrl"),
        in_flight=_depth(stack, "MatchQueueUrl", "ApproximateNumberOfMessagesNotVisible"),
        quota=_quota(stack),
        dead_letters=dead,
        failed_ticks=failed,
        alarms=alarms,
        results=_results(stack),
        problems=(
            *_schedule_problems(schedule, now - heard),
            *_protection_problems(stack),
            *([f"{dead} messages failed for good: `cardsharp cloud dlq list`."] if dead else []),
            *([f"{failed} ticks failed: `cardsharp cloud dlq list --ticks`."] if failed else []),
            *(f"The alarm {name} is on (docs/operations.md)." for name in alarms),
        ),
    )


def _schedule_problems(schedule: str, silence: timedelta) -> list[str]:
    if schedule != "ENABLED":
        return [
            f"The schedule is {schedule.lower()}: nobody listens until `cardsharp cloud resume`."
        ]
    if silence > FRESH:
        return ["No poll has succeeded for 3 minutes: `cardsharp cloud logs --problems`."]
    return []


def _protection_problems(stack: Stack) -> list[str]:
    if stack.protected or stack.parameters.get("Stage") != "prod":
        return []
    cure = "aws cloudformation update-termination-protection --enable-termination-protection"
    return [f"The stack can be deleted by mistake: `{cure} --stack-name {stack.name}`."]


def _quota(stack: Stack) -> int:
    told = call("account's settings", stack.client("lambda").get_account_settings)
    return int(told["AccountLimit"]["ConcurrentExecutions"])


def _schedule(stack: Stack) -> str:
    name = stack.ids["PollerEveryMinute"]
    state: str = call("schedule", stack.client("scheduler").get_schedule, Name=name)["State"]
    return state


def _last_poll(stack: Stack, now: datetime) -> datetime | None:
    """The minute of the last successful poll within a quarter of an hour."""
    answer = call(
        "metrics",
        stack.client("cloudwatch").get_metric_statistics,
        Namespace=NAMESPACE,
        MetricName=Metric.POLLS.value,
        Dimensions=[{"Name": "service", "Value": stack.name}],
        StartTime=now - timedelta(minutes=15),
        EndTime=now + timedelta(minutes=1),
        Period=60,
        Statistics=["Sum"],
    )
    moments: list[datetime] = [point["Timestamp"] for point in answer["Datapoints"]]
    return max(moments, default=None)


def _depth(stack: Stack, queue: str, name: str = "ApproximateNumberOfMessages") -> int:
    answer = call(
        queue,
        stack.client("sqs").get_queue_attributes,
        QueueUrl=stack.output(queue),
        AttributeNames=[name],
    )
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


def _results(stack: Stack) -> dict[str, int]:
    """How the last finished matches ended."""
    counted: dict[str, int] = {}
    for record in stack.log.matches(status=Status.FINISHED, limit=_FINISHED):
        result = str((record.outcome or {}).get("result"))
        counted[result] = counted.get(result, 0) + 1
    return counted


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
