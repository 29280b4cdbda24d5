"""What a service answers to an event that API Gateway never sends, but a person's own call."""

import json
from datetime import timedelta
from typing import Any

import pytest

from cardsharp.blef.assembly import SERVICE
from cardsharp.cloud.clock import SystemClock
from cardsharp.errors import Malformed
from director.app import handler as direct
from workbench.cloud.context import LambdaContext

PLAIN: dict[str, Any] = {"requestContext": {"http": {"method": "GET"}}, "rawPath": "/api/whoami"}
"""The least that is a request."""

HALF = "\ud800"
"""Half a surrogate pair, which JSON can hold."""

ODD: list[tuple[str, object]] = [
    ("the event", None),
    ("the event", [PLAIN]),
    ("requestContext", {}),
    ("requestContext", {**PLAIN, "requestContext": None}),
    ("requestContext.http.method", {**PLAIN, "requestContext": {"http": "GET"}}),
    ("requestContext.http.method", {**PLAIN, "requestContext": {}}),
    ("rawPath", {**PLAIN, "rawPath": None}),
    ("rawPath", {**PLAIN, "rawPath": f"/{HALF}"}),
    ("rawQueryString", {**PLAIN, "rawQueryString": f"a={HALF}"}),
    ("queryStringParameters", {**PLAIN, "queryStringParameters": {"a": 1}}),
    ("headers", {**PLAIN, "headers": ["accept"]}),
    ("headers", {**PLAIN, "headers": {"accept": HALF}}),
    ("cookies", {**PLAIN, "cookies": "a=b"}),
    ("body", {**PLAIN, "body": {"a": 1}}),
    ("requestContext.routeKey", {"requestContext": {"connectionId": "a"}}),
    (
        "requestContext.identity",
        {"requestContext": {"connectionId": "a", "routeKey": "$connect", "identity": "me"}},
    ),
]


def context() -> LambdaContext:
    """An invocation with time enough."""
    return LambdaContext("f", timedelta(seconds=20), SystemClock())


@pytest.mark.parametrize(("part", "event"), ODD)
def test_an_event_that_is_none_is_refused_with_what_is_wrong_about_it(
    part: str,
    event: Any,  # noqa: ANN401 - whatever somebody sends
) -> None:
    answer = SERVICE.build({SERVICE.store: "sqlite::memory:"})(event, context())
    assert answer["statusCode"] == 400
    assert f": {part} must be " in json.loads(answer["body"])["error"]


@pytest.mark.parametrize("body", [None, 5])
def test_a_record_whose_body_is_no_text_is_no_record_of_the_director(body: object) -> None:
    with pytest.raises(Malformed):
        direct({"Records": [{"messageId": "a", "body": body}]}, context())
