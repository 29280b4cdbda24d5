"""Which adapter a setting names."""

from pathlib import Path

from cardsharp.cloud.memory import named
from cardsharp.cloud.pause import NeverPaused, PauseSwitch
from cardsharp.cloud.ports import Clock, MatchLog, Queue
from cardsharp.cloud.vault import Vault
from cardsharp.errors import ConfigError


def build_log(store: str, clock: Clock) -> MatchLog:
    """Return the match log of `sqlite:FILE` or `dynamodb:TABLE`; `~` is the home folder."""
    kind, _, place = store.partition(":")
    if kind == "sqlite" and place:
        from cardsharp.cloud.sqlite import SqliteLog  # noqa: PLC0415 - not needed in the cloud

        return SqliteLog(Path(place).expanduser(), clock)
    if kind == "dynamodb" and place:
        from cardsharp.cloud.dynamodb import DynamoLog  # noqa: PLC0415 - boto3 is slow to import

        return DynamoLog(place, clock)
    raise ConfigError(f"CARDSHARP_STORE must be sqlite:FILE or dynamodb:TABLE, not {store!r}.")


def build_queue(queue: str, clock: Clock) -> Queue:
    """Return the queue of `memory:NAME`, one a process, or of an SQS queue's URL."""
    kind, _, name = queue.partition(":")
    if kind == "memory" and name:
        return named(name, clock)
    if kind in {"http", "https"} and name:
        from cardsharp.cloud.sqs import SqsQueue  # noqa: PLC0415 - boto3 is slow to import

        return SqsQueue(queue)
    raise ConfigError(f"CARDSHARP_QUEUE must be memory:NAME or a queue's URL, not {queue!r}.")


def build_pause(store: str, clock: Clock) -> PauseSwitch:
    """Return the pause switch that belongs to a match log."""
    kind, _, place = store.partition(":")
    if kind != "dynamodb":
        return NeverPaused()
    from cardsharp.cloud.dynamodb_pause import DynamoPause  # noqa: PLC0415 - as above
    from cardsharp.cloud.dynamodb_table import DynamoTable  # noqa: PLC0415 - as above

    return DynamoPause(DynamoTable(place), clock)


def build_vault(store: str, clock: Clock) -> Vault:
    """Return the vault that belongs to a match log."""
    kind, _, place = store.partition(":")
    if kind == "sqlite" and place:
        from cardsharp.cloud.sqlite_vault import SqliteVault  # noqa: PLC0415 - as above

        return SqliteVault(Path(place).expanduser(), clock)
    if kind == "dynamodb" and place:
        from cardsharp.cloud.dynamodb_table import DynamoTable  # noqa: PLC0415 - as above
        from cardsharp.cloud.dynamodb_vault import DynamoVault  # noqa: PLC0415 - as above

        return DynamoVault(DynamoTable(place), clock)
    raise ConfigError(f"CARDSHARP_STORE must be sqlite:FILE or dynamodb:TABLE, not {store!r}.")
