"""What a deleted stack would leave behind: passwords, which it did not make, and its match log."""

from cardsharp.cloud.aws import call
from cardsharp.errors import ConfigError
from workbench.operate.stack import Stack

PASSWORDS = ("arena", "viewer", "deadmansdraw")
"""What `rotate-secret` calls its parameters, below the stack's name."""


def forget(stack: Stack, *, matches: bool) -> list[str]:
    """Delete a stack's passwords, and where wanted its match log; the names of what went.

    Raises:
        ConfigError: it is still playing, or its match log is protected against deletion.
    """
    table = stack.outputs.get("MatchTable")
    if table is not None and stack.log.running():
        raise ConfigError("It is still playing; `cardsharp cloud pause`, and wait for the end.")
    if matches and table is not None:
        _delete_table(stack, table)
    names = [f"/{stack.name}/{one}" for one in PASSWORDS]
    told = call("passwords", stack.client("ssm").delete_parameters, Names=names)
    return [*told["DeletedParameters"], *([table] if matches and table is not None else [])]


def _delete_table(stack: Stack, table: str) -> None:
    dynamodb = stack.client("dynamodb")
    told = call("match log", dynamodb.describe_table, TableName=table)["Table"]
    if told.get("DeletionProtectionEnabled"):
        raise ConfigError(
            f"{table} is protected against deletion: aws dynamodb update-table "
            f"--table-name {table} --no-deletion-protection-enabled"
        )
    call("match log", dynamodb.delete_table, TableName=table)
