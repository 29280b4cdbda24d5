"""A deployed stack: what it is made of, found by its name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, cached_property
from typing import Annotated, Any, TypeAlias

from boto3.session import Session
from pydantic import AliasGenerator, BaseModel, PlainSerializer
from pydantic.alias_generators import to_camel

from cardsharp.aws.client import call_with_retries, client_config, create_client
from cardsharp.aws.dynamodb_table import DynamoTable
from cardsharp.bot.control.dynamodb_control import DynamoRuntimeSettings
from cardsharp.core.clock import SystemClock
from cardsharp.errors import ConfigError, StoreError
from cardsharp.store.dynamodb_match_log import DynamoMatchLog
from cardsharp_tools.local_cloud.nested_stacks import resource_name_prefix

Client: TypeAlias = Any  # a boto3 client, of which boto3 wants a literal name
Clients = Callable[[str], Client]  # gives the client of a service

DEFAULT_NAME = "cardsharp-dev"


@dataclass(frozen=True)
class Stack:
    """Deployed stack with its outputs, and its physical ids by logical name.

    `changed` is when it was created or last updated; `protected` is whether it cannot be deleted.
    """

    name: str
    updated_at: datetime
    is_protected: bool
    parameters: Mapping[str, str]
    outputs: Mapping[str, str]
    ids: Mapping[str, str]
    client: Clients = field(repr=False)

    def output(self, name: str) -> str:
        """Return an output's value; raise `ConfigError` if the stack does not have it."""
        if name not in self.outputs and not self.has_bot:
            raise ConfigError(
                f"The stack {self.name} has no bot. Name the bot's stack with --stack."
            )
        if name not in self.outputs:
            raise ConfigError(f"The stack {self.name} has no output {name}. Deploy it again.")
        return self.outputs[name]

    @cached_property
    def log(self) -> DynamoMatchLog:
        """Match log of the stack."""
        return DynamoMatchLog(self.output("MatchTable"), SystemClock(), self.client("dynamodb"))

    @property
    def match_log_table(self) -> DynamoTable:
        """The table of the match log."""
        return DynamoTable(self.output("MatchTable"), self.client("dynamodb"))

    @cached_property
    def runtime_settings_store(self) -> DynamoRuntimeSettings:
        """Runtime settings of the stack, which change without a deployment."""
        return DynamoRuntimeSettings(self.match_log_table)

    @property
    def has_bot(self) -> bool:
        """True if it is the stack of a bot, and not of an arena, a game or pages."""
        return "PollerName" in self.outputs

    @property
    def has_director(self) -> bool:
        """True if the stack includes an arena, whose director ends late turns."""
        return "DirectorName" in self.outputs

    @property
    def log_group_by_function(self) -> dict[str, str]:
        """Log groups by function name, also those in nested stacks."""
        return {
            name.removesuffix("Logs").lower(): group
            for name, group in self.ids.items()
            if name.endswith("Logs") and not name.endswith("AccessLogs")
        }


def account_clients(region: str | None = None) -> Clients:
    """Return the AWS clients of the environment's account; each is created once."""
    session = create_client(lambda: Session(region_name=region))

    @cache
    def client(service: str) -> Client:
        waits = client_config(read_timeout=70)  # a function may be invoked for a minute
        return create_client(lambda: session.client(service, config=waits))  # type: ignore[call-overload]

    return client


def find_stack(name: str, client: Clients) -> Stack:
    """Return the stack of that name in the account and region.

    Raises `ConfigError` if there is none; the message says what to check; `StoreError` if AWS did
    not answer, or does not let us ask.
    """
    formation = client("cloudformation")
    try:
        description = call_with_retries(f"stack {name}", formation.describe_stacks, StackName=name)[
            "Stacks"
        ][0]
    except StoreError as error:
        if "does not exist" not in str(error):
            raise
        region = formation.meta.region_name
        raise ConfigError(
            f"There is no stack {name} in {region}. Give its name with --stack and its region with "
            "--region, or deploy it (docs/first-deployment.md)."
        ) from None
    outputs = {
        output["OutputKey"]: output["OutputValue"] for output in description.get("Outputs", [])
    }
    changed = description.get("LastUpdatedTime") or description["CreationTime"]
    parameters = {
        parameter["ParameterKey"]: parameter["ParameterValue"]
        for parameter in description.get("Parameters", [])
    }
    protected = bool(description.get("EnableTerminationProtection"))
    return Stack(
        name,
        changed,
        protected,
        parameters,
        outputs,
        physical_ids_by_logical_name(formation, name),
        client,
    )


def physical_ids_by_logical_name(
    formation: Client, stack_name: str, name_prefix: str = ""
) -> dict[str, str]:
    """Return the physical ids in a stack and its nested stacks, by flattened logical names.

    Each name begins with `name_prefix`.
    """
    pages = formation.get_paginator("list_stack_resources").paginate(StackName=stack_name)
    every = "StackResourceSummaries"
    listed = call_with_retries(
        f"stack {stack_name}", lambda: [resource for page in pages for resource in page[every]]
    )
    ids = {
        f"{name_prefix}{resource['LogicalResourceId']}": resource.get("PhysicalResourceId", "")
        for resource in listed
    }
    for resource in listed:
        if resource["ResourceType"] == "AWS::CloudFormation::Stack":
            inner = resource_name_prefix(resource["LogicalResourceId"])
            ids |= physical_ids_by_logical_name(formation, resource["PhysicalResourceId"], inner)
    return ids


Timestamp = Annotated[datetime, PlainSerializer(datetime.isoformat, when_used="unless-none")]


_CAMEL = AliasGenerator(serialization_alias=to_camel)


class CamelCaseModel(BaseModel, frozen=True, alias_generator=_CAMEL):
    """Model with camelCase names in JSON: `last_poll` becomes `lastPoll`."""

    def document(self) -> dict[str, object]:
        """Return the model as a JSON document."""
        return self.model_dump(mode="json", by_alias=True)
