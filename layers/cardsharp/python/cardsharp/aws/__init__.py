"""Adapters to AWS: DynamoDB, SQS and Parameter Store, with short timeouts and clear errors.

Look first at `DynamoTable`, which makes every request to a table, and `SqsQueue`, the queue port
over SQS. `set_invocation_log_context` and `metrics_recorder` are the telemetry of a function.
boto3 is slow to import, so only what needs AWS imports a module of this package.
"""

from typing import TYPE_CHECKING

from cardsharp.core.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from cardsharp.aws.client import (
        ConditionFailed,
        call_with_retries,
        create_client,
        prepare_client,
    )
    from cardsharp.aws.dynamodb_attributes import (
        Item,
        Value,
        item_key,
        number_attribute,
        string_attribute,
    )
    from cardsharp.aws.dynamodb_table import DynamoTable
    from cardsharp.aws.sqs_queue import SqsQueue
    from cardsharp.aws.ssm_credentials import (
        SecretNotSet,
        credentials_redacted_in_logs,
        fetch_credentials,
        ssm_provider,
    )
    from cardsharp.aws.telemetry import (
        install_retry_counter,
        logger,
        metrics_recorder,
        set_invocation_log_context,
    )

__all__ = (
    "ConditionFailed",
    "DynamoTable",
    "Item",
    "SecretNotSet",
    "SqsQueue",
    "Value",
    "call_with_retries",
    "create_client",
    "credentials_redacted_in_logs",
    "fetch_credentials",
    "install_retry_counter",
    "item_key",
    "logger",
    "metrics_recorder",
    "number_attribute",
    "prepare_client",
    "set_invocation_log_context",
    "ssm_provider",
    "string_attribute",
)

__getattr__ = lazy_exports(
    __name__,
    {
        "ConditionFailed": "client",
        "DynamoTable": "dynamodb_table",
        "Item": "dynamodb_attributes",
        "SecretNotSet": "ssm_credentials",
        "SqsQueue": "sqs_queue",
        "Value": "dynamodb_attributes",
        "call_with_retries": "client",
        "install_retry_counter": "telemetry",
        "create_client": "client",
        "fetch_credentials": "ssm_credentials",
        "item_key": "dynamodb_attributes",
        "logger": "telemetry",
        "metrics_recorder": "telemetry",
        "number_attribute": "dynamodb_attributes",
        "credentials_redacted_in_logs": "ssm_credentials",
        "ssm_provider": "ssm_credentials",
        "set_invocation_log_context": "telemetry",
        "string_attribute": "dynamodb_attributes",
        "prepare_client": "client",
    },
)
