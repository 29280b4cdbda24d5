"""A connection to AWS that does not come about: nothing was sent, so it is tried again."""

import socket
from collections.abc import Iterator

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

from cardsharp.cloud import aws
from cardsharp.cloud.aws import call, config, connect
from cardsharp.cloud.dynamodb_table import DynamoTable
from cardsharp.cloud.sqs import SqsQueue
from cardsharp.errors import ConfigError, StoreError

URL = "http://127.0.0.1:1"


@pytest.fixture(autouse=True)
def attempts() -> Iterator[None]:
    """As many as in production, without the pauses between them."""
    with stamina.set_testing(True, attempts=5, cap=True):
        yield


def test_an_endpoint_where_nobody_listens_yet_is_tried_again() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    client = Session("none", "none", region_name="eu-central-1").client(
        "sqs", endpoint_url=f"http://127.0.0.1:{port}", config=config(1)
    )
    tries = iter(range(3))

    def request() -> str:
        if next(tries) < 2:
            client.list_queues()
        return "there"

    assert call("queue", request) == "there"
    assert next(tries, None) is None
    with pytest.raises(StoreError, match="The queue cannot be reached: Could not connect"):
        call("queue", client.list_queues)


@pytest.mark.parametrize(
    ("error", "tried"),
    [
        (EndpointConnectionError(endpoint_url=URL), 5),
        (ConnectTimeoutError(endpoint_url=URL), 5),
        (SSLError(endpoint_url=URL, error=ValueError("a foreign certificate")), 1),
        (ParamValidationError(report="no queue is named"), 1),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BotoCoreError) else str(value),
)
def test_what_may_pass_is_tried_five_times_and_what_may_not_once(
    error: BotoCoreError, tried: int
) -> None:
    tries = []

    def request() -> None:
        tries.append(error)
        raise error

    with pytest.raises(StoreError, match="The queue cannot be reached"):
        call("queue", request)
    assert len(tries) == tried


def test_the_region_is_taken_from_the_variable_that_the_error_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AWS_CONFIG_FILE", "/none")
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ConfigError) as caught:
        connect(lambda: Session("none", "none").client("sqs"))
    named = next(word for word in str(caught.value).replace(",", "").split() if "REGION" in word)
    monkeypatch.setenv(named, "eu-west-3")
    assert connect(lambda: Session("none", "none").client("sqs")).meta.region_name == "eu-west-3"


def test_a_process_keeps_what_it_knows_of_aws_only_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A session has 10 MB, and a poller with five of them had 123 of 128 MB."""
    made: list[Session] = []

    class Counted(Session):
        def __init__(self) -> None:
            super().__init__("none", "none", region_name="eu-central-1")
            made.append(self)

    monkeypatch.setattr("boto3.session.Session", Counted)
    aws.session.cache_clear()
    try:
        for name in ("matches", "the same, for another purpose"):
            assert DynamoTable(name)._client
        assert SqsQueue("https://sqs.eu-central-1.amazonaws.com/1/q")._client
        assert len(made) == 1
    finally:
        aws.session.cache_clear()
