"""Tests of a faulty AWS: which requests are retried, how often, and which error is raised.

A failed connection is retried too, because nothing was sent.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
import stamina
from boto3.session import Session
from botocore.exceptions import (
    BotoCoreError,
    ConnectTimeoutError,
    EndpointConnectionError,
    ParamValidationError,
    SSLError,
)
from support.fault_server import FaultServer, full_response
from support.store_fixtures import FakeClock, set_environment

from cardsharp.aws import client
from cardsharp.aws.client import call_with_retries, create_client
from cardsharp.aws.dynamodb_table import DynamoTable
from cardsharp.aws.sqs_queue import SqsQueue
from cardsharp.errors import ConfigError, StoreError, WriteConflict
from cardsharp.store.dynamodb_match_log import DynamoMatchLog
from cardsharp.store.match_log import Lease, MatchRecord, MatchStatus

TTL, NOON = timedelta(seconds=3), FakeClock().now()
LEASE = Lease("m", "ann", 1, NOON + TTL)
FINISHED = MatchRecord(
    "m",
    MatchStatus.FINISHED,
    NOON,
    {},
    0,
    None,
    None,
    is_queued=False,
    outcome={},
    finished_at=NOON,
)
URL = "http://127.0.0.1:1"
OK: tuple[int, dict[str, Any]] = (200, {})


def error_response(code: str, status: int = 400, **details: object) -> tuple[int, dict[str, Any]]:
    """Return the response with which DynamoDB refuses a request."""
    return status, {
        "__type": f"com.amazonaws.dynamodb.v20120810#{code}",
        "Message": code,
        **details,
    }


def cancelled_transaction(*codes: str) -> tuple[int, dict[str, Any]]:
    reasons = [{"Code": code} for code in codes]
    return error_response("TransactionCanceledException", CancellationReasons=reasons)


@pytest.fixture(autouse=True)
def without_pauses() -> Iterator[None]:
    """Retry as often as in production, but without pauses."""
    with stamina.set_testing(True, attempts=5, cap=True):
        yield


@contextmanager
def serve_responses(*responses: tuple[int, dict[str, Any]]) -> Iterator[list[str]]:
    """Serve these responses in turn, the last one for ever; yield the list of operations."""
    operations = list[str]()
    script = [full_response(status, json.dumps(body).encode()) for status, body in responses]
    with FaultServer(*script) as server:
        regions = dict.fromkeys(("AWS_REGION", "AWS_DEFAULT_REGION"), "us-east-1")
        keys = dict.fromkeys(("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"), "test")
        with set_environment({"AWS_ENDPOINT_URL": server.url, **regions, **keys}):
            yield operations
        operations += [
            request.headers["X-Amz-Target"].rpartition(".")[2] for request in server.requests
        ]


def match_log() -> DynamoMatchLog:
    return DynamoMatchLog("matches", FakeClock())


@pytest.mark.parametrize(
    "transient_error",
    [
        error_response("ProvisionedThroughputExceededException"),
        error_response("ThrottlingException"),
        error_response("RequestLimitExceeded"),
        error_response("InternalServerError", status=500),
        error_response("TransactionConflictException"),
        (503, {}),
    ],
    ids=lambda passing: passing[1].get("Message", "503"),
)
def test_a_transient_error_is_tried_five_times_in_all(
    transient_error: tuple[int, dict[str, Any]],
) -> None:
    with serve_responses(transient_error, transient_error, OK) as operations:
        assert match_log().match("m") is None
    assert operations == ["GetItem"] * 3
    with (
        serve_responses(transient_error) as operations,
        pytest.raises(StoreError, match="matches refused GetItem"),
    ):
        match_log().match("m")
    assert len(operations) == 5


def test_a_transaction_conflict_is_retried_but_a_lost_lease_is_not() -> None:
    """A conflict is retried; a failed condition is not, even along with a conflict."""
    with serve_responses(cancelled_transaction("TransactionConflict", "None"), OK) as operations:
        assert match_log().reopen(FINISHED)
    assert operations == ["TransactWriteItems"] * 2
    with serve_responses(error_response("ConditionalCheckFailedException")) as operations:
        with pytest.raises(WriteConflict):
            match_log().renew_lease(LEASE, TTL)
        assert match_log().acquire_lease("m", "ann", TTL) is None
        assert not match_log().mark_queued("m", TTL)
    assert operations == ["UpdateItem"] * 3
    failed_condition = cancelled_transaction("ConditionalCheckFailed", "TransactionConflict")
    with (
        serve_responses((200, {"Items": [], "Count": 0}), failed_condition) as operations,
        pytest.raises(WriteConflict, match="no longer held"),
    ):
        match_log().retract_moves(LEASE, 1)
    assert operations == ["Query", "TransactWriteItems"]


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("AccessDeniedException", "We may not use the DynamoDB table matches; allow GetItem in"),
        ("ResourceNotFoundException", "There is no DynamoDB table matches; deploy the stack"),
        ("ValidationException", "The DynamoDB table matches refused GetItem: .*Validation"),
    ],
)
def test_a_permanent_error_is_raised_at_once_with_advice(code: str, message: str) -> None:
    with (
        serve_responses(error_response(code)) as operations,
        pytest.raises(StoreError, match=message),
    ):
        match_log().match("m")
    assert len(operations) == 1


def test_unprocessed_items_of_a_batch_are_requested_again() -> None:
    key = {"pk": {"S": "match#m"}, "sk": {"S": "header"}}
    item = {**key, "match_status": {"S": "running"}, "started_at": {"N": "0"}}
    query_response = (200, {"Items": [{**key, "started_at": {"N": "0"}}], "Count": 1})
    unprocessed_response = (200, {"Responses": {}, "UnprocessedKeys": {"matches": {"Keys": [key]}}})
    item_response = (200, {"Responses": {"matches": [item]}, "UnprocessedKeys": {}})
    with serve_responses(query_response, unprocessed_response, item_response) as operations:
        (running,) = match_log().running_matches()
    assert running.match_id == "m"
    assert operations == ["Query", "BatchGetItem", "BatchGetItem"]


@pytest.mark.parametrize(
    ("error", "attempt_count"),
    [
        (EndpointConnectionError(endpoint_url=URL), 5),
        (ConnectTimeoutError(endpoint_url=URL), 5),
        (SSLError(endpoint_url=URL, error=ValueError("a foreign certificate")), 1),
        (ParamValidationError(report="no queue is named"), 1),
    ],
)
def test_connection_errors_are_tried_five_times_and_permanent_ones_once(
    error: BotoCoreError, attempt_count: int
) -> None:
    attempts = []

    def request() -> None:
        attempts.append(error)
        raise error

    with pytest.raises(StoreError, match="The queue cannot be reached"):
        call_with_retries("queue", request)
    assert len(attempts) == attempt_count


def test_the_region_is_taken_from_the_variable_that_the_error_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AWS_CONFIG_FILE", "/none")
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ConfigError) as caught:
        create_client(lambda: Session("none", "none").client("sqs"))
    variable = next(part for part in str(caught.value).replace(",", "").split() if "REGION" in part)
    monkeypatch.setenv(variable, "eu-west-3")
    assert (
        create_client(lambda: Session("none", "none").client("sqs")).meta.region_name == "eu-west-3"
    )


def test_a_process_creates_only_one_aws_session(monkeypatch: pytest.MonkeyPatch) -> None:
    """All clients share a session, because each session takes 10 MB of a poller's 128 MB."""
    sessions: list[Session] = []

    class CountedSession(Session):
        def __init__(self) -> None:
            super().__init__("none", "none", region_name="eu-central-1")
            sessions.append(self)

    monkeypatch.setattr("boto3.session.Session", CountedSession)
    client.shared_session.cache_clear()
    try:
        for name in ("matches", "the same, for another purpose"):
            assert DynamoTable(name)._client
        assert SqsQueue("https://sqs.eu-central-1.amazonaws.com/1/q")._client
        assert len(sessions) == 1
    finally:
        client.shared_session.cache_clear()
