"""Which adapter a setting names, such as `sqlite:FILE` or `dynamodb:TABLE` that of a store."""

from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.memory import named
from cardsharp.cloud.metrics import Meter
from cardsharp.cloud.offering import Offering
from cardsharp.cloud.ports import Clock, MatchLog, Queue, Relay
from cardsharp.cloud.secrets import provider
from cardsharp.cloud.settings import Workplace
from cardsharp.cloud.switches import KeptSwitchboard, Switchboard
from cardsharp.cloud.vault import VAULTS, Vault
from cardsharp.errors import ConfigError

_FUNCTION = "AWS_LAMBDA_FUNCTION_NAME"  # every function of Lambda has it, and nobody else
_TABLE = "dynamodb:"  # before the name of a table


def in_lambda(environment: Mapping[str, str]) -> bool:
    """Whether this process is a function of Lambda."""
    return _FUNCTION in environment


def prepare(environment: Mapping[str, str]) -> None:
    """In a function of Lambda do at its start what the first question to AWS would do.

    It starts with a whole processor and works with a part of one. Settings that cannot be used
    are told of by the first invocation.
    """
    if not in_lambda(environment):
        return
    from cardsharp.cloud import aws  # noqa: PLC0415 - boto3 is slow to import

    store, queue = environment.get("CARDSHARP_STORE", ""), environment.get("CARDSHARP_QUEUE", "")
    with suppress(ConfigError):
        if store.startswith(_TABLE):
            build_log(store, SystemClock())
            aws.prepare("dynamodb")
        if queue.startswith("http"):
            build_queue(queue, SystemClock())
            aws.prepare("sqs")
        if environment.get("CARDSHARP_SECRET_ID"):
            provider()


def build_offering(settings: Workplace, meter: Meter) -> Offering:
    """Match log, queue and clock as the settings name them, and what offers matches."""
    clock = SystemClock()
    log = build_log(settings.store, clock, settings.keep)
    queue = build_queue(settings.queue, clock)
    switchboard = build_switchboard(settings.store, clock)
    return Offering(log, queue, clock, settings.announce, meter, switchboard)


def build_log(store: str, clock: Clock, keep: timedelta | None = None) -> MatchLog:
    """The match log of `sqlite:FILE` or `dynamodb:TABLE`; `~` is the home folder.

    A table drops by itself what is written with `keep` when so long has passed; a file keeps all.
    """
    kind, _, place = store.partition(":")
    if kind == "sqlite" and place:
        from cardsharp.cloud.sqlite import SqliteLog  # noqa: PLC0415 - not in the cloud

        return SqliteLog(Path(place).expanduser(), clock)
    if kind == "dynamodb" and place:
        from cardsharp.cloud.dynamodb import DynamoLog  # noqa: PLC0415 - boto3 is slow to import

        return DynamoLog(place, clock, keep=keep)
    raise ConfigError(f"CARDSHARP_STORE must be sqlite:FILE or dynamodb:TABLE, not {store!r}.")


def build_vault(store: str, clock: Clock) -> Vault:
    """The vault that belongs to a match log."""
    return VAULTS.open(f"{store}.vault" if store.startswith("sqlite:") else store, clock)


def build_queue(queue: str, clock: Clock) -> Queue:
    """The queue of `memory:NAME`, one a process, or of an SQS queue's URL."""
    kind, _, name = queue.partition(":")
    if kind == "memory" and name:
        return named(name, clock)
    if kind in {"http", "https"} and name:
        from cardsharp.cloud.sqs import SqsQueue  # noqa: PLC0415 - boto3 is slow to import

        return SqsQueue(queue)
    raise ConfigError(f"CARDSHARP_QUEUE must be memory:NAME or a queue's URL, not {queue!r}.")


def build_relay(store: str) -> Relay:
    """The relay of the pollers that share a match log."""
    if not store.startswith(_TABLE):
        return Relay()
    from cardsharp.cloud import dynamodb_control, dynamodb_table  # noqa: PLC0415 - boto3 is slow

    table = dynamodb_table.DynamoTable(store.removeprefix(_TABLE))
    return dynamodb_control.DynamoRelay(table)


def build_switchboard(store: str, clock: Clock) -> Switchboard:
    """The switchboard that belongs to a match log."""
    if not store.startswith(_TABLE):
        return Switchboard()
    from cardsharp.cloud import dynamodb_control, dynamodb_table  # noqa: PLC0415 - boto3 is slow

    table = dynamodb_table.DynamoTable(store.removeprefix(_TABLE))
    return KeptSwitchboard(dynamodb_control.DynamoSwitchboard(table, of_now=False), clock)
