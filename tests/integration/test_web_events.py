"""What a service answers to an event that API Gateway never sends, but a person's own call."""

import json
from datetime import timedelta
from typing import Any

import pytest
from support.cloud_benches import moto_client

from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.secrets import provider
from cardsharp.deadmansdraw.contest.site import SERVICE
from cardsharp.errors import Malformed
from cardsharp.games import game
from cardsharp.web.events import Handler
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


def arena(environment: dict[str, str]) -> Handler:
    """The arena in the cloud, whose table nobody has made."""
    return SERVICE.build({"ARENA_STORE": "dynamodb:none", **environment})


@pytest.mark.parametrize("name", ["blef", "euchre", "deadmansdraw"])
@pytest.mark.parametrize(("part", "event"), ODD)
def test_an_event_that_is_none_is_refused_with_what_is_wrong_about_it(
    name: str,
    part: str,
    event: Any,  # noqa: ANN401 - whatever somebody sends
) -> None:
    with moto_client():
        if name == "deadmansdraw":
            asked = arena({})
            if "connectionId" in str(event):  # it has no feed
                part = "requestContext.http.method"
        else:
            service = game(name).service
            assert service is not None
            told = service.load()
            asked = told.build({told.store: "sqlite::memory:"})
        answer = asked(event, context())
    assert answer["statusCode"] == 400
    assert f": {part} must be " in json.loads(answer["body"])["error"]


@pytest.mark.parametrize("event", [None, [], "tick"])
def test_the_director_says_what_it_expects(event: Any) -> None:  # noqa: ANN401 - as above
    with pytest.raises(Malformed, match="expects an event of its queue or schedule"):
        direct(event, context())


@pytest.mark.parametrize("body", [None, 5])
def test_a_record_whose_body_is_no_text_is_no_record_of_the_director(body: object) -> None:
    with pytest.raises(Malformed):
        direct({"Records": [{"messageId": "a", "body": body}]}, context())


def test_an_arena_without_its_organisers_password_says_what_to_type(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    with moto_client():
        provider.cache_clear()
        try:
            answer = arena({"CARDSHARP_SERVICE_SECRET": "/s/deadmansdraw"})(PLAIN, context())
        finally:
            provider.cache_clear()
    assert answer["statusCode"] == 503
    told = json.loads(answer["body"])["error"]
    assert "no organiser's password" in told
    assert "`cardsharp cloud rotate-secret --service deadmansdraw`" in told
