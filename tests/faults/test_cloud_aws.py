"""A faulty AWS: what is tried again, how often, and what is told in the end."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
import stamina
from support.cloud_benches import environment
from support.cloud_clock import FakeClock
from support.fault_server import Fault, FaultServer, Handler, answer

from cardsharp.cloud.dynamodb import DynamoLog
from cardsharp.cloud.ports import Lease, MatchRecord, Status
from cardsharp.errors import Conflict, StoreError

TTL = timedelta(seconds=3)
LEASE = Lease("m", "ann", 1, FakeClock().now() + TTL)
NOON = FakeClock().now()
FINISHED = MatchRecord(
    "m", Status.FINISHED, NOON, {}, 0, None, None, announced=False, outcome={}, finished=NOON
)
OK: tuple[int, dict[str, Any]] = (200, {})


def fault(code: str, status: int = 400, **more: object) -> tuple[int, dict[str, Any]]:
    """Return what DynamoDB answers when it refuses."""
    return status, {"__type": f"com.amazonaws.dynamodb.v20120810#{code}", "Message": code, **more}


def cancelled(*codes: str) -> tuple[int, dict[str, Any]]:
    reasons = [{"Code": code} for code in codes]
    return fault("TransactionCanceledException", CancellationReasons=reasons)


REFUSED = cancelled("ConditionalCheckFailed", "TransactionConflict")


@contextmanager
def scripted(*answers: tuple[int, dict[str, Any]]) -> Iterator[list[str]]:
    """Serve these answers in turn, the last one for ever; yields the operations asked for."""
    asked: list[str] = []

    def noted(status: int, body: dict[str, Any]) -> Fault:
        said = answer(status, json.dumps(body).encode(), content_type="application/x-amz-json-1.0")

        def fault(handler: Handler) -> None:
            asked.append(handler.headers["X-Amz-Target"].rpartition(".")[2])
            said(handler)

        return fault

    with FaultServer(*(noted(*one) for one in answers)) as server:
        region = {
            "AWS_ENDPOINT_URL": server.url,
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_REGION": "us-east-1",
            "AWS_DEFAULT_REGION": "us-east-1",
        }
        # The attempts as in production, without the pauses between them.
        with environment(region), stamina.set_testing(True, attempts=5, cap=True):
            yield asked


def log() -> DynamoLog:
    return DynamoLog("matches", FakeClock())


@pytest.mark.parametrize(
    "passing",
    [
        fault("ProvisionedThroughputExceededException"),
        fault("ThrottlingException"),
        fault("RequestLimitExceeded"),
        fault("InternalServerError", status=500),
        fault("TransactionConflictException"),
        (503, {}),
    ],
    ids=lambda passing: passing[1].get("Message", "503"),
)
def test_what_passes_is_tried_again(passing: tuple[int, dict[str, Any]]) -> None:
    with scripted(passing, passing, OK) as asked:
        assert log().match("m") is None
    assert asked == ["GetItem"] * 3


def test_a_cancelled_transaction_is_tried_again_if_only_a_collision_was_in_its_way() -> None:
    with scripted(cancelled("TransactionConflict", "None"), OK) as asked:
        assert log().reopen(FINISHED)
    assert asked == ["TransactWriteItems"] * 2


def test_what_does_not_pass_is_told_after_five_attempts() -> None:
    with (
        scripted(fault("ThrottlingException")) as asked,
        pytest.raises(StoreError, match="The DynamoDB table matches refused GetItem"),
    ):
        log().match("m")
    assert len(asked) == 5


def test_a_lost_lease_is_never_tried_again() -> None:
    with scripted(fault("ConditionalCheckFailedException")) as asked:
        with pytest.raises(Conflict):
            log().renew(LEASE, TTL)
        assert log().take("m", "ann", TTL) is None
        assert not log().announce("m", TTL)
    assert asked == ["UpdateItem"] * 3


def test_a_refused_condition_outweighs_a_collision_in_the_same_transaction() -> None:
    with (
        scripted((200, {"Items": [], "Count": 0}), REFUSED) as asked,
        pytest.raises(Conflict, match="no longer held"),
    ):
        log().withdraw(LEASE, 1)
    assert asked == ["Query", "TransactWriteItems"]


def test_a_move_that_was_played_is_told_apart_from_a_lost_lease() -> None:
    with (
        scripted((200, {"Attributes": {}}), fault("ConditionalCheckFailedException")),
        pytest.raises(Conflict, match="Move 1 of match m was already played"),
    ):
        log().intend(LEASE, 1, {})


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("AccessDeniedException", "We may not use the DynamoDB table matches; allow GetItem in"),
        ("ResourceNotFoundException", "There is no DynamoDB table matches; deploy the stack"),
        ("ValidationException", "The DynamoDB table matches refused GetItem: .*Validation"),
    ],
)
def test_what_cannot_pass_is_told_at_once_with_what_to_do(code: str, told: str) -> None:
    with scripted(fault(code)) as asked, pytest.raises(StoreError, match=told):
        log().match("m")
    assert len(asked) == 1


def test_items_that_a_batch_left_over_are_asked_for_again() -> None:
    key = {"pk": {"S": "match#m"}, "sk": {"S": "header"}}
    item = {**key, "match_status": {"S": "running"}, "started_at": {"N": "0"}}
    listed = (200, {"Items": [{**key, "started_at": {"N": "0"}}], "Count": 1})
    left = (200, {"Responses": {}, "UnprocessedKeys": {"matches": {"Keys": [key]}}})
    given = (200, {"Responses": {"matches": [item]}, "UnprocessedKeys": {}})
    with scripted(listed, left, given) as asked:
        (running,) = log().running()
    assert running.match_id == "m"
    assert asked == ["Query", "BatchGetItem", "BatchGetItem"]
