"""Stores of the fault simulation: SQLite, or DynamoDB and SQS, with faults at each call.

With SQLite every call of match log, vault and queue is a step. With AWS every request to
DynamoDB and SQS is a step, including the retries of an adapter; moto answers in this
process.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any, cast

import stamina
from botocore.exceptions import ClientError, EndpointConnectionError, ReadTimeoutError
from support.store_fixtures import set_environment

from cardsharp.aws.sqs_queue import SqsQueue
from cardsharp.bot.bootstrap import build_vault
from cardsharp.bot.queueing.memory_queue import MemoryQueue
from cardsharp.core.clock import Clock
from cardsharp.core.queue import Queue
from cardsharp.store.dynamodb_match_log import DynamoMatchLog
from cardsharp.store.match_log import MatchLog
from cardsharp.store.secret_vault import VAULT_FACTORY, SecretVault
from cardsharp.store.sqlite_file import MEMORY_PATH
from cardsharp.store.sqlite_match_log import SqliteMatchLog
from cardsharp_tools.local_cloud.template_files import all_template_resources, create_table_request
from fault_simulation.faults import AWS_REQUESTS, Errors, FaultInjector, FaultKind, FaultPlan
from fault_simulation.virtual_clock import VirtualClock

HOUR = timedelta(hours=1)

StorePorts = tuple[MatchLog, SecretVault, Queue]


@dataclass(frozen=True)
class Stores:
    """Match log, vault and queue of one match.

    `with_faults` returns them as a worker under a fault plan uses them.
    """

    log: MatchLog
    vault: SecretVault
    queue: Queue
    with_faults: Callable[[FaultPlan, Clock], StorePorts]
    dump: Callable[[], str]  # all that the log has, as text
    close: Callable[[], None]


StoreFactory = Callable[[Path, VirtualClock], Stores]


def local_stores(folder: Path, clock: VirtualClock) -> Stores:
    folder.mkdir(exist_ok=True)
    log, vault = (
        SqliteMatchLog(Path(MEMORY_PATH), clock),
        build_vault(f"sqlite:{folder / 'log'}", clock),
    )
    queue = MemoryQueue(clock, visibility_timeout=HOUR)

    def with_faults(plan: FaultPlan, worker_clock: Clock) -> StorePorts:
        worker_log = copy(log)  # the same file, opened on a machine with that clock
        worker_log._clock = worker_clock
        return cast(
            "StorePorts", tuple(FaultInjector(store, plan) for store in (worker_log, vault, queue))
        )

    def dump() -> str:
        with log._file.locked_connection() as db:
            return "\n".join(db.iterdump())

    def close() -> None:
        log.close()
        vault.close()

    return Stores(log, vault, queue, with_faults, dump, close)


@contextmanager
def aws_stores() -> Iterator[StoreFactory]:
    """Yield a factory of stores on DynamoDB and SQS; retries are immediate."""
    # Here, for they take seconds to import.
    from boto3.session import Session  # noqa: PLC0415
    from botocore import UNSIGNED  # noqa: PLC0415
    from botocore.config import Config  # noqa: PLC0415
    from moto import mock_aws  # noqa: PLC0415

    region = {"AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x"}
    with set_environment(region), mock_aws(), stamina.set_testing(True, attempts=5, cap=True):
        session = Session(region_name="us-east-1")
        # To sign a request, and to tell who asks, takes a tenth of its time; nobody reads it here.
        client_config = Config(signature_version=UNSIGNED, user_agent="world")
        clients = (
            session.client("dynamodb", config=client_config),
            session.client("sqs", config=client_config),
        )
        table, store_numbers = (
            create_table_request(all_template_resources()["Matches"]["Properties"]),
            count(),
        )
        yield lambda _, clock: _open_aws_stores(
            *clients, f"matches-{next(store_numbers)}", table, clock
        )


def _open_aws_stores(dynamodb: Any, sqs: Any, name: str, table: Any, clock: Clock) -> Stores:  # noqa: ANN401
    """Return stores with a new table and a new queue."""
    clients = dynamodb, sqs
    dynamodb.create_table(TableName=name, **table)
    queue_attributes = {"VisibilityTimeout": str(int(HOUR.total_seconds()))}
    url = sqs.create_queue(QueueName=name, Attributes=queue_attributes)["QueueUrl"]

    def open_stores(dynamodb: Any, sqs: Any, worker_clock: Clock) -> StorePorts:  # noqa: ANN401 - boto3's
        vault = VAULT_FACTORY.open_dynamodb_store(name, worker_clock, dynamodb)
        return DynamoMatchLog(name, worker_clock, dynamodb), vault, SqsQueue(url, sqs)

    def with_faults(plan: FaultPlan, worker_clock: Clock) -> StorePorts:
        return open_stores(
            *(FaultInjector(client, plan, AWS_REQUESTS, AWS_ERRORS) for client in clients),
            worker_clock,
        )

    def dump() -> str:
        items = dynamodb.scan(TableName=name)["Items"]
        visible_items = [item for item in items if not item["pk"]["S"].startswith("vault#")]
        return json.dumps(visible_items)

    def close() -> None:
        dynamodb.delete_table(TableName=name)
        sqs.delete_queue(QueueUrl=url)

    return Stores(*open_stores(*clients, clock), with_faults, dump, close)


def _client_error(code: str, status: int, **details: object) -> ClientError:
    metadata = {"HTTPStatusCode": status}
    body = {"Error": {"Code": code, "Message": code}, "ResponseMetadata": metadata, **details}
    return ClientError(cast("Any", body), "Anything")


AWS_ERRORS: Errors = {
    FaultKind.THROTTLED: lambda: _client_error("ThrottlingException", 400),
    FaultKind.CONFLICT: lambda: _client_error(
        "TransactionCanceledException", 400, CancellationReasons=[{"Code": "TransactionConflict"}]
    ),
    FaultKind.STORE_DOWN: lambda: EndpointConnectionError(endpoint_url="https://aws.example"),
    FaultKind.REQUEST_LOST: lambda: EndpointConnectionError(endpoint_url="https://aws.example"),
    FaultKind.RESPONSE_LOST: lambda: ReadTimeoutError(endpoint_url="https://aws.example"),
    FaultKind.HTTP_500: lambda: _client_error("InternalServerError", 500),
    FaultKind.HTTP_500_DONE: lambda: _client_error("InternalServerError", 500),
}  # in the words of boto3
