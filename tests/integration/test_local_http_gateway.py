"""Tests that the local HTTP gateway converts requests and responses as API Gateway does."""

import asyncio
import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any
from unittest.mock import AsyncMock

import pytest
import requests
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from support.api_gateway import FunctionApplication, function_server
from support.lambda_events import invocation_context
from support.waiting import HANG_SECONDS

from cardsharp.core.clock import SystemClock
from cardsharp.errors import InvalidInput
from cardsharp.games.blef.service.bootstrap import SERVICE
from cardsharp.games.blef.service.game_store import GAME_STORE_FACTORY
from cardsharp.games.blef.service.routes import API
from cardsharp.games.blef.service.service import BlefService
from cardsharp.store.sqlite_file import MEMORY_PATH
from cardsharp_tools.local_cloud.api_gateway_events import INTERNAL_ERROR_RESPONSE, parse_response
from cardsharp_tools.local_cloud.lambda_events import Event, LambdaFunction, LocalLambdaContext
from cardsharp_tools.local_play.game_service import api_server as front_of
from cardsharp_tools.local_server.request_threads import run_in_threads
from cardsharp_tools.local_server.service_server import (
    MAX_SERVICE_BODY_BYTES,
    RequestLimiter,
    ServiceServer,
)
from director.app import handler as direct


def echo(event: Event, context: LocalLambdaContext) -> Event:
    """Return the event; raise an error for the path `/fail`."""
    if event["rawPath"] == "/fail":
        raise ValueError("as asked")
    return {"event": event, "left": context.get_remaining_time_in_millis()}


TIMEOUT = timedelta(seconds=HANG_SECONDS)


@pytest.fixture(scope="module")
def echo_gateway() -> Iterator[ServiceServer]:
    with function_server(LambdaFunction("echo", echo, TIMEOUT)) as front:
        yield front


def test_a_request_becomes_the_event_that_api_gateway_sends(echo_gateway: ServiceServer) -> None:
    response = requests.post(
        f"{echo_gateway.url}/a%2Fb?x=1&y=%20a+b&x=2&z&bad=%FF",
        data="{}",
        headers={"Content-Type": "application/json", "X-Odd": "A"},
        timeout=HANG_SECONDS,
    ).json()
    event = response["event"]
    assert (event["version"], event["rawPath"]) == ("2.0", "/a%2Fb")
    assert event["queryStringParameters"] == {"x": "1,2", "y": " a b", "z": "", "bad": "\ufffd"}
    assert event["headers"]["x-odd"] == "A"
    assert event["requestContext"]["http"]["method"] == "POST"
    assert event["requestContext"]["stage"] == "$default"
    assert (event["body"], event["isBase64Encoded"]) == ("{}", False)
    assert 0 < response["left"] <= TIMEOUT / timedelta(milliseconds=1)


def test_a_function_that_fails_is_a_500_without_its_reason(echo_gateway: ServiceServer) -> None:
    """An error of the function, or an unreadable response, gives a 500 without details."""
    error_response = requests.get(f"{echo_gateway.url}/fail", timeout=HANG_SECONDS)
    assert (error_response.status_code, error_response.json()) == (
        500,
        {"message": "Internal Server Error"},
    )
    for response in (
        {"statusCode": "x"},
        {"statusCode": 200, "body": "*", "isBase64Encoded": True},
    ):
        assert parse_response(response) == INTERNAL_ERROR_RESPONSE


def test_requests_to_an_application_that_blocks_do_not_wait_for_each_other() -> None:
    """Each request has a thread; a failure after the response costs the client nothing."""
    both_here = threading.Barrier(2)

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        body = await Request(scope, receive).body()
        if scope["path"] == "/fail":
            raise ValueError("as asked")
        both_here.wait(HANG_SECONDS)
        await Response(body)(scope, receive, send)
        raise ValueError("after the response")

    with ServiceServer(run_in_threads(answer)) as server, ThreadPoolExecutor(2) as threads:
        responses = threads.map(
            lambda text: requests.post(server.url, data=text, timeout=HANG_SECONDS), ("a", "b")
        )
        assert [(response.status_code, response.text) for response in responses] == [
            (200, "a"),
            (200, "b"),
        ]
        assert requests.get(f"{server.url}/fail", timeout=HANG_SECONDS).status_code == 500


async def request_status_from(gateway: RequestLimiter, source: str) -> int:
    """Return the status of the response to a request from a source address."""
    scope = {"type": "http", "method": "GET", "path": "/", "raw_path": b"/", "query_string": b""}
    receive = AsyncMock(return_value={"type": "http.request", "body": b""})
    send = AsyncMock()
    await gateway({**scope, "headers": [], "client": (source, 1)}, receive, send)
    return int(send.call_args_list[0].args[0]["status"])


def test_one_caller_cannot_block_other_callers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many requests of one address delay no other address.

    On this machine no caller waits for another.
    """
    monkeypatch.setattr("cardsharp_tools.local_server.service_server.MAX_CONCURRENCY", 5)
    monkeypatch.setattr("cardsharp_tools.local_server.service_server.MAX_CONCURRENCY_PER_CLIENT", 2)
    release = threading.Event()

    def handle_slowly(event: Event, _context: LocalLambdaContext) -> Event:
        if event["requestContext"]["http"]["sourceIp"] in {"192.0.2.1", "127.0.0.1"}:
            release.wait(HANG_SECONDS)
        return {"statusCode": 200}

    async def send_requests() -> None:
        function = LambdaFunction("slow", handle_slowly, timedelta(seconds=HANG_SECONDS))
        clock = SystemClock()
        gateway = RequestLimiter(FunctionApplication(function, clock), clock)
        blocked_sources = ["192.0.2.1"] * 9 + ["127.0.0.1"] * 2
        blocked_tasks = [
            asyncio.ensure_future(request_status_from(gateway, source))
            for source in blocked_sources
        ]
        try:
            other_requests = [
                request_status_from(gateway, f"192.0.2.{number}") for number in (2, 3, 2)
            ]
            assert (
                await asyncio.wait_for(asyncio.gather(*other_requests), HANG_SECONDS) == [200] * 3
            )
            assert not any(task.done() for task in blocked_tasks)
        finally:
            release.set()
        assert await asyncio.gather(*blocked_tasks) == [200] * len(blocked_sources)

    asyncio.run(send_requests())


def test_a_body_beyond_the_limit_is_rejected_whatever_the_path() -> None:
    """The limit of a gateway; the service's own, of 8 kB, is for the bodies that it reads."""
    service = BlefService(GAME_STORE_FACTORY.open_file(MEMORY_PATH, SystemClock()), SystemClock())
    with front_of(API, service) as front:
        for path in ("/v2/games/create", "/nowhere"):
            url, size = f"{front.url}{path}", MAX_SERVICE_BODY_BYTES
            largest = requests.post(url, data=b"x" * size, timeout=HANG_SECONDS)
            assert largest.status_code == (404 if path == "/nowhere" else 413)
            assert "error" in largest.json()
            too_large = requests.post(url, data=b"x" * (size + 1), timeout=HANG_SECONDS)
            assert (too_large.status_code, too_large.json()) == (413, {"message": "Too Long"})


class SleepSignallingClock(SystemClock):
    """System clock that signals when a caller begins to sleep."""

    def __init__(self) -> None:
        self.sleep_signals = threading.Semaphore(0)

    def sleep(self, duration: timedelta) -> None:
        self.sleep_signals.release()
        super().sleep(duration)


def test_a_long_poll_returns_on_a_move_and_on_shutdown() -> None:
    clock = SleepSignallingClock()
    service = BlefService(GAME_STORE_FACTORY.open_file(MEMORY_PATH, clock), clock)
    with front_of(API, service) as front, ThreadPoolExecutor(2) as threads:
        game = requests.get(f"{front.url}/v2/games/create", timeout=HANG_SECONDS).json()[
            "game_uuid"
        ]
        address = f"{front.url}/v2/games/{game}"

        def long_poll() -> requests.Response:
            return requests.get(address, {"wait": "true"}, timeout=HANG_SECONDS)

        poll = threads.submit(long_poll)
        assert clock.sleep_signals.acquire(timeout=HANG_SECONDS)
        requests.get(f"{address}/join", {"nickname": "ann"}, timeout=HANG_SECONDS)
        game_view = poll.result(timeout=HANG_SECONDS).json()
        assert [player["nickname"] for player in game_view["players"]] == ["ann"]

        while clock.sleep_signals.acquire(blocking=False):
            pass
        poll = threads.submit(long_poll)
        assert clock.sleep_signals.acquire(timeout=HANG_SECONDS)
        front.stop()
        assert poll.result(timeout=HANG_SECONDS).json() == game_view


def test_many_clients_that_wait_delay_nobody() -> None:
    """More than the 40 threads that anyio, on which Starlette is built, has by default."""
    clock, waiting_count = SleepSignallingClock(), 60
    service = BlefService(GAME_STORE_FACTORY.open_file(MEMORY_PATH, clock), clock)
    with front_of(API, service) as front, ThreadPoolExecutor(waiting_count) as threads:
        address = f"{front.url}/v2/games/{service.create()}"

        def wait() -> requests.Response:
            return requests.get(address, {"wait": "true"}, timeout=HANG_SECONDS)

        waiting = [threads.submit(wait) for _ in range(waiting_count)]
        for _ in waiting:
            assert clock.sleep_signals.acquire(timeout=HANG_SECONDS)
        assert requests.get(f"{front.url}/v2/version", timeout=HANG_SECONDS).status_code == 200
        joined = requests.get(f"{address}/join", {"nickname": "ann"}, timeout=HANG_SECONDS)
        assert joined.status_code == 200
        for client in waiting:
            assert client.result(timeout=HANG_SECONDS).json()["players"]


# --- what API Gateway never sends, but a person's own call --------------------------------------


MINIMAL_EVENT: dict[str, Any] = {
    "requestContext": {"http": {"method": "GET"}},
    "rawPath": "/api/whoami",
}
"""The least that is a request."""

LONE_SURROGATE = "\ud800"  # half a surrogate pair, which JSON can hold

HANDSHAKE_CONTEXT, INVALID_IDENTITY = (
    {"connectionId": "a"},
    {"routeKey": "$connect", "identity": "me"},
)
INVALID_EVENTS: list[tuple[str, object]] = [
    ("the event", None),
    ("the event", [MINIMAL_EVENT]),
    ("requestContext", {}),
    ("requestContext", {**MINIMAL_EVENT, "requestContext": None}),
    ("requestContext.http.method", {**MINIMAL_EVENT, "requestContext": {"http": "GET"}}),
    ("requestContext.http.method", {**MINIMAL_EVENT, "requestContext": {}}),
    ("rawPath", {**MINIMAL_EVENT, "rawPath": None}),
    ("rawPath", {**MINIMAL_EVENT, "rawPath": f"/{LONE_SURROGATE}"}),
    ("rawQueryString", {**MINIMAL_EVENT, "rawQueryString": f"a={LONE_SURROGATE}"}),
    ("queryStringParameters", {**MINIMAL_EVENT, "queryStringParameters": {"a": 1}}),
    ("headers", {**MINIMAL_EVENT, "headers": ["accept"]}),
    ("headers", {**MINIMAL_EVENT, "headers": {"accept": LONE_SURROGATE}}),
    ("cookies", {**MINIMAL_EVENT, "cookies": "a=b"}),
    ("body", {**MINIMAL_EVENT, "body": {"a": 1}}),
    ("requestContext.routeKey", {"requestContext": HANDSHAKE_CONTEXT}),
    ("requestContext.identity", {"requestContext": {**HANDSHAKE_CONTEXT, **INVALID_IDENTITY}}),
]


def test_a_malformed_event_is_refused_with_its_wrong_field() -> None:
    """The error names the malformed field; a director's record without text is rejected too."""
    handler = SERVICE.build_handler({SERVICE.store_setting: "sqlite::memory:"})
    for field, event in INVALID_EVENTS:
        response = handler(event, invocation_context())
        assert response["statusCode"] == 400
        assert f": {field} must be " in json.loads(response["body"])["error"]
    for body in (None, 5):
        with pytest.raises(InvalidInput):
            direct({"Records": [{"messageId": "a", "body": body}]}, invocation_context())
