"""Adapters that settings choose, such as the store `sqlite:FILE` or `dynamodb:TABLE`."""

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from cardsharp.aws.ssm_credentials import ssm_provider
from cardsharp.bot.control.runtime_settings import CachedRuntimeSettings, RuntimeSettingsStore
from cardsharp.bot.match_dispatcher import MatchDispatcher
from cardsharp.bot.queueing.memory_queue import get_queue
from cardsharp.bot.settings import WorkerSettings
from cardsharp.core.clock import Clock, SystemClock
from cardsharp.core.metrics import Metrics
from cardsharp.core.queue import Queue
from cardsharp.errors import ConfigError
from cardsharp.store.locations import dynamodb_table_name, sqlite_path
from cardsharp.store.match_log_factory import build_match_log
from cardsharp.store.secret_vault import VAULT_FACTORY, SecretVault

if TYPE_CHECKING:
    from cardsharp.bot.control.poller_shift import PollerGenerations

_FUNCTION = "AWS_LAMBDA_FUNCTION_NAME"  # set in every Lambda function, and nowhere else


def in_lambda(environment: Mapping[str, str]) -> bool:
    """Return True if this process is a Lambda function."""
    return _FUNCTION in environment


def warm_up_aws(environment: Mapping[str, str]) -> None:
    """Create the AWS clients when a Lambda function starts.

    Lambda gives a starting function a full processor, and only a share of one later. Invalid
    settings are reported by the first invocation.
    """
    if not in_lambda(environment):
        return
    from cardsharp.aws import client  # noqa: PLC0415 - boto3 is slow to import

    store, queue = environment.get("CARDSHARP_STORE", ""), environment.get("CARDSHARP_QUEUE", "")
    with suppress(ConfigError):
        if dynamodb_table_name(store) is not None:
            build_match_log(store, SystemClock())
            client.prepare_client("dynamodb")
        if queue.startswith("http"):
            build_queue(queue, SystemClock())
            client.prepare_client("sqs")
        if environment.get("CARDSHARP_SECRET_ID"):
            ssm_provider()


def build_dispatcher(settings: WorkerSettings, metrics: Metrics) -> MatchDispatcher:
    """Return the match dispatcher with the match log and queue that the settings name."""
    clock = SystemClock()
    log = build_match_log(settings.store, clock, settings.retention)
    queue = build_queue(settings.queue, clock)
    runtime_settings = build_runtime_settings(settings.store, clock)
    return MatchDispatcher(log, queue, clock, settings.queue_ttl, metrics, runtime_settings)


def build_vault(location: str, clock: Clock) -> SecretVault:
    """Return the vault that belongs to a match log."""
    is_file = sqlite_path(location) is not None
    return VAULT_FACTORY.open(f"{location}.vault" if is_file else location, clock)


def build_queue(location: str, clock: Clock) -> Queue:
    """Return the queue of `memory:NAME`, one per process, or of an SQS queue's URL."""
    kind, _, name = location.partition(":")
    if kind == "memory" and name:
        return get_queue(name, clock)
    if kind in {"http", "https"} and name:
        from cardsharp.aws.sqs_queue import SqsQueue  # noqa: PLC0415 - boto3 is slow to import

        return SqsQueue(location)
    raise ConfigError(f"CARDSHARP_QUEUE must be memory:NAME or a queue's URL, not {location!r}.")


def build_poller_generations(store: str) -> "PollerGenerations":
    """Return the poller generations of the pollers that share a match log."""
    from cardsharp.bot.control.poller_shift import PollerGenerations  # noqa: PLC0415 - for a poller

    table = dynamodb_table_name(store)
    if table is None:
        return PollerGenerations()
    from cardsharp.aws import dynamodb_table  # noqa: PLC0415 - boto3 is slow
    from cardsharp.bot.control import dynamodb_control  # noqa: PLC0415 - boto3 is slow

    return dynamodb_control.DynamoPollerGenerations(dynamodb_table.DynamoTable(table))


def build_runtime_settings(store: str, clock: Clock) -> RuntimeSettingsStore:
    """Return the runtime settings that belong to a match log."""
    table = dynamodb_table_name(store)
    if table is None:
        return RuntimeSettingsStore()
    from cardsharp.aws import dynamodb_table  # noqa: PLC0415 - boto3 is slow
    from cardsharp.bot.control import dynamodb_control  # noqa: PLC0415 - boto3 is slow

    settings = dynamodb_control.DynamoRuntimeSettings(
        dynamodb_table.DynamoTable(table), consistent_read=False
    )
    return CachedRuntimeSettings(settings, clock)
