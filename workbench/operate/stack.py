"""A deployed stack: what it is made of, what its functions logged, its matches copied to here."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from boto3.session import Session
from pydantic import AliasGenerator, BaseModel, PlainSerializer
from pydantic.alias_generators import to_camel

from cardsharp.cloud.aws import call, config, connect
from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.dynamodb import DynamoLog
from cardsharp.cloud.dynamodb_control import DynamoSwitchboard
from cardsharp.cloud.dynamodb_table import DynamoTable
from cardsharp.cloud.ports import Clock, MatchReader, Status
from cardsharp.errors import ConfigError, StoreError
from workbench.cloud.nested import prefix_of
from workbench.show.lookup import keep_match, open_log

Client: TypeAlias = Any  # a boto3 client, of which boto3 wants a literal name
Clients = Callable[[str], Client]  # gives the client of a service

DEFAULT_NAME = "cardsharp-dev"


@dataclass(frozen=True)
class Stack:
    """A stack by its name, with its outputs and its physical ids by logical name.

    `changed` is when it was created or last updated; `protected` is whether it cannot be deleted.
    """

    name: str
    changed: datetime
    protected: bool
    parameters: Mapping[str, str]
    outputs: Mapping[str, str]
    ids: Mapping[str, str]
    client: Clients = field(repr=False)

    def output(self, name: str) -> str:
        """An output's value; raises `ConfigError` if the stack has none of that name."""
        if name not in self.outputs and not self.has_bot:
            raise ConfigError(
                f"The stack {self.name} is an arena without a bot; name the bot's with --stack."
            )
        if name not in self.outputs:
            raise ConfigError(f"The stack {self.name} has no output {name}; deploy it again.")
        return self.outputs[name]

    @cached_property
    def log(self) -> DynamoLog:
        """The stack's match log."""
        return DynamoLog(self.output("MatchTable"), SystemClock(), self.client("dynamodb"))

    @cached_property
    def switchboard(self) -> DynamoSwitchboard:
        """What is set in the stack without a deployment."""
        return DynamoSwitchboard(DynamoTable(self.output("MatchTable"), self.client("dynamodb")))

    @property
    def has_bot(self) -> bool:
        """Whether a bot is deployed here, and not an arena alone."""
        return "MatchTable" in self.outputs

    @property
    def has_director(self) -> bool:
        """Whether an arena is deployed here, whose director ends late turns."""
        return "DirectorName" in self.outputs

    @property
    def log_groups(self) -> dict[str, str]:
        """The log groups by the names of their functions, also of those in nested stacks."""
        return {
            name.removesuffix("Logs").lower(): group
            for name, group in self.ids.items()
            if name.endswith("Logs") and not name.endswith("AccessLogs")
        }


def account_clients(region: str | None = None) -> Clients:
    """The clients of the account that the environment names; each is made once."""
    session = connect(lambda: Session(region_name=region))

    @cache
    def client(service: str) -> Client:
        waits = config(read_timeout=70)  # a function may be invoked for a minute
        return connect(lambda: session.client(service, config=waits))  # type: ignore[call-overload]

    return client


def find_stack(name: str, client: Clients) -> Stack:
    """The stack of that name in the account and region.

    Raises `ConfigError` if there is none; the message says what to check; `StoreError` if AWS did
    not answer, or does not let us ask.
    """
    formation = client("cloudformation")
    try:
        found = call(f"stack {name}", formation.describe_stacks, StackName=name)["Stacks"][0]
    except StoreError as error:
        if "does not exist" not in str(error):
            raise
        where = formation.meta.region_name
        raise ConfigError(
            f"There is no stack {name} in {where}; name it with --stack, and its region with "
            "--region, or deploy it (docs/first-deployment.md)."
        ) from None
    outputs = {one["OutputKey"]: one["OutputValue"] for one in found.get("Outputs", [])}
    changed = found.get("LastUpdatedTime") or found["CreationTime"]
    given = {one["ParameterKey"]: one["ParameterValue"] for one in found.get("Parameters", [])}
    protected = bool(found.get("EnableTerminationProtection"))
    return Stack(name, changed, protected, given, outputs, physical_ids(formation, name), client)


def physical_ids(formation: Client, name: str, prefix: str = "") -> dict[str, str]:
    """The physical ids in a stack and in the stacks that it nests, by their names in the whole."""
    pages = formation.get_paginator("list_stack_resources").paginate(StackName=name)
    every = "StackResourceSummaries"
    listed = call(f"stack {name}", lambda: [one for page in pages for one in page[every]])
    found = {
        f"{prefix}{one['LogicalResourceId']}": one.get("PhysicalResourceId", "") for one in listed
    }
    for one in listed:
        if one["ResourceType"] == "AWS::CloudFormation::Stack":
            inner = prefix_of(one["LogicalResourceId"])
            found |= physical_ids(formation, one["PhysicalResourceId"], inner)
    return found


Moment = Annotated[datetime, PlainSerializer(datetime.isoformat, when_used="unless-none")]


_CAMEL = AliasGenerator(serialization_alias=to_camel)


class OperatorView(BaseModel, frozen=True, alias_generator=_CAMEL):
    """Figures by their names, which JSON writes together: `last_poll` as `lastPoll`."""

    def document(self) -> dict[str, object]:
        """The same as a JSON document."""
        return self.model_dump(mode="json", by_alias=True)


PROBLEMS = (
    "?WARNING ?ERROR ?CRITICAL ?Traceback "
    # What Lambda says of a function that was stopped, ran out of memory, or died otherwise.
    '?"Task timed out" ?"Runtime exited" ?"Status: error" ?"Status: timeout"'
)
"""What a line has in which something went wrong."""

_LATE = timedelta(minutes=1)  # how far a look goes back, for lines that came late

_PAUSE = timedelta(seconds=2)


@dataclass(frozen=True, slots=True)
class LogLine:
    """One logged line; `fields` are those of a structured line, empty for any other."""

    at: datetime
    function: str
    text: str
    fields: dict[str, object]

    def __str__(self) -> str:
        told = f"{self.fields.get('level', '')} {self.fields.get('message', self.text)}".strip()
        usual = {"level", "message", "location", "timestamp", "service", "match_id"}
        more = " ".join(f"{key}={value}" for key, value in self.fields.items() if key not in usual)
        line = f"{self.at:%Y-%m-%d %H:%M:%S} {self.function:8} {told} {more}".rstrip()
        # Whatever was logged, no other line begins where a line of ours would.
        return line.replace("\n", "\n    ")

    @property
    def key(self) -> tuple[datetime, str, str]:
        """What tells it apart from other lines."""
        return self.at, self.function, self.text

    def document(self) -> dict[str, object]:
        """The line as a JSON document."""
        told = self.fields or {"message": self.text}
        return {"at": self.at.isoformat(), "function": self.function, **told}


def followed(
    look: Callable[[datetime], list[LogLine]], since: datetime, clock: Clock
) -> Iterator[LogLine]:
    """What `look` finds from then on, each line once; it looks back a while, for late ones."""
    told: set[tuple[datetime, str, str]] = set()
    while True:
        now = clock.now()
        fresh = [line for line in look(since) if line.key not in told]
        told |= {line.key for line in fresh}
        yield from fresh
        since = max(since, now - _LATE)
        clock.sleep(_PAUSE)


def lines_about(stack: Stack, match_id: str | None, since: datetime) -> list[LogLine]:
    """Every line of every function about a match, or of none their warnings, errors and timeouts.

    The text is looked for, not the field, so that a traceback with the id is found too.
    """
    pattern = PROBLEMS if match_id is None else f'"{match_id}"'
    wanted = {"filterPattern": pattern, "startTime": round(since.timestamp() * 1000)}
    pages = stack.client("logs").get_paginator("filter_log_events").paginate

    def events(group: str) -> list[dict[str, Any]]:
        return [one for page in pages(logGroupName=group, **wanted) for one in page["events"]]

    found = []
    for function, group in stack.log_groups.items():
        for event in call(f"log group {group}", events, group):
            fields, at = None, datetime.fromtimestamp(event["timestamp"] / 1000, UTC)
            with suppress(ValueError):
                fields = json.loads(event["message"])
            fields = fields if isinstance(fields, dict) else {}
            found.append(LogLine(at, function, event["message"].rstrip(), fields))
    return sorted(found, key=lambda line: line.at)


_EVERY = 1_000_000  # matches that are looked through for those that are missing here


def export(source: MatchReader, path: Path) -> int:
    """Copy the finished matches that a file has not got yet; how many.

    Each keeps its moments, intents and facts; notes are left out, as they expire anyway. Raises
    `StoreError` if one of the logs failed, or a match has moves that cannot be read.
    """
    with open_log(f"sqlite:{path}") as target:
        finished = source.matches(status=Status.FINISHED, limit=_EVERY)
        missing = [one for one in finished if target.match(one.match_id) is None]
        for match in missing:
            moves = source.moves(match.match_id)
            faults = [*filter(None, (match.fault, *(one.fault for one in moves)))]
            if faults or match.finished is None:
                why = "; ".join(faults)
                raise StoreError(f"Match {match.match_id} cannot be read whole: {why}.")
            if not keep_match(match, moves, target):
                raise StoreError(f"Match {match.match_id} is being copied by somebody else.")
    return len(missing)
