"""A deployed stack: what it is made of, found by its name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, cached_property
from typing import Annotated, Any, TypeAlias

from boto3.session import Session
from pydantic import AliasGenerator, BaseModel, PlainSerializer
from pydantic.alias_generators import to_camel

from cardsharp.cloud.aws import call, config, connect
from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.dynamodb import DynamoLog
from cardsharp.cloud.dynamodb_control import DynamoSwitchboard
from cardsharp.cloud.dynamodb_table import DynamoTable
from cardsharp.errors import ConfigError, StoreError
from workbench.cloud.nested import prefix_of

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
