"""The one assembly of everything that answers HTTP, and the forms of its pages."""

import ast
import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cardsharp.server.forms import create_form_token, has_form_token, read_form
from cardsharp.server.web_application import (
    API_SETTINGS,
    LOCAL_PAGES_SETTINGS,
    ErrorPages,
    WebSettings,
    build_web_application,
)

ROOT = Path(__file__).parents[2]
SOURCES = ("layers/cardsharp/python/cardsharp", "cardsharp_tools", "functions")
ASSEMBLY = "layers/cardsharp/python/cardsharp/server/web_application.py"
OTHER_APPLICATIONS = {
    "cardsharp_tools/build/emulator_deploy.py": "a proxy for CloudFormation while a stack deploys",
    "cardsharp_tools/build/execution_environment.py": "the Runtime API of Lambda, for a function",
}
"""Modules with an ASGI application of their own, which no player or visitor reaches."""

GATES = {
    "layers/cardsharp/python/cardsharp/server/pages_service.py": "names the gate of the pages",
}
"""Modules that name a middleware for `WebSettings.gate`."""


def calls_of(source: str, *names: str) -> Iterator[str]:
    """Yield the called names of `names` in a module, with any prefix."""
    if not any(f"{name}(" in source for name in names):  # parsing all modules takes seconds
        return
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func).rpartition(".")[2]
            if name in names:
                yield name


def modules_that_call(*names: str) -> set[str]:
    return {
        str(file.relative_to(ROOT))
        for folder in SOURCES
        for file in (ROOT / folder).rglob("*.py")
        if "research" not in file.parts and list(calls_of(file.read_text("utf-8"), *names))
    }


def test_one_module_assembles_every_application() -> None:
    assert modules_that_call("Starlette", "Router") == {ASSEMBLY, *OTHER_APPLICATIONS}
    assert modules_that_call("Middleware") == {ASSEMBLY, *GATES}


def test_one_module_starts_every_server() -> None:
    server = "cardsharp_tools/local_server/http_server.py"
    assert modules_that_call("Config", "Server") - {
        "layers/cardsharp/python/cardsharp/aws/client.py",  # boto3's configuration
        "cardsharp_tools/local_cloud/emulator.py",  # the same
    } == {server}


@pytest.mark.parametrize(
    "source", ["Starlette(routes=[])", "starlette.routing.Router([])", "a = Starlette()"]
)
def test_a_planted_application_is_found(source: str) -> None:
    assert list(calls_of(source, "Starlette", "Router"))


def send_request(
    app: ASGIApp,
    path: str = "/",
    method: str = "GET",
    **options: Any,  # noqa: ANN401
) -> tuple[int, bytes]:
    """Return the status and the body of the response to a request."""
    headers = [(name.lower().encode(), value.encode()) for name, value in options.items()]
    scope: Scope = {
        "type": "http",
        "method": method,
        "path": path.replace("%2F", "/"),
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "scheme": "http",
        "server": ("127.0.0.1", 80),
        "client": ("8.8.8.8", 1),
        "headers": headers,
    }
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    return sent[0]["status"], b"".join(message.get("body", b"") for message in sent)


def application(settings: WebSettings, errors: ErrorPages = ErrorPages()) -> ASGIApp:  # noqa: B008
    def show_path(request: Request) -> PlainTextResponse:
        return PlainTextResponse(request.scope["path"] * request.query_params.get("x", 1))

    routes = [Route("/{path:path}", show_path, methods=["GET", "POST"])]
    return build_web_application(routes, settings, errors)


def test_the_checks_of_an_application_follow_from_its_settings() -> None:
    pages = application(LOCAL_PAGES_SETTINGS)
    assert send_request(pages, host="localhost")[0] == 200
    assert send_request(pages, host="evil.example")[0] == 400
    evil = {"host": "localhost", "origin": "http://evil.example"}
    assert send_request(pages, method="POST", **evil)[0] == 403
    assert send_request(pages, method="POST", host="localhost", origin="null")[0] == 200
    strict = application(replace(LOCAL_PAGES_SETTINGS, accepts_opaque_origin=False))
    assert send_request(strict, method="POST", host="localhost", origin="null")[0] == 403
    assert send_request(application(API_SETTINGS), method="POST", **evil)[0] == 200
    private = application(replace(API_SETTINGS, is_private_network_only=True))
    assert send_request(private)[0] == 403


def test_an_api_sees_paths_as_they_were_sent() -> None:
    assert send_request(application(API_SETTINGS), "/a%2Fb//c") == (200, b"/a%2Fb//c")
    merged = replace(API_SETTINGS, merges_slashes=True)
    assert send_request(application(merged), "//a%2Fb//c") == (200, b"/a%2Fb/c")
    assert send_request(application(WebSettings()), "/a%2Fb") == (200, b"/a/b")


def test_a_request_is_refused_before_the_gate_asks_for_a_password() -> None:
    """A page of another site cannot use up the guesses of a password."""
    asked: list[str] = []

    class Gate:
        def __init__(self, app: ASGIApp) -> None:
            self._app = app

        async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
            asked.append(scope["path"])
            await self._app(scope, receive, send)

    gated = application(WebSettings(hosts=["localhost"], gate=Middleware(Gate)))
    assert send_request(gated, "/1", host="evil.example")[0] == 400
    evil = {"host": "localhost", "origin": "http://evil.example"}
    assert send_request(gated, "/2", "POST", **evil)[0] == 403
    assert send_request(gated, "/3", host="localhost")[0] == 200
    assert asked == ["/3"]


def test_an_unknown_path_has_the_response_of_its_application() -> None:
    errors = ErrorPages(unknown_path=PlainTextResponse("unknown", 404))
    app = build_web_application([Route("/a", PlainTextResponse("a"))], API_SETTINGS, errors)
    assert send_request(app, "/a") == (200, b"a")
    assert send_request(app, "/a/") == (404, b"unknown"), "no redirect"


async def read_body_as_form(body: bytes) -> Any:  # noqa: ANN401
    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    return await read_form(Request({"type": "http", "headers": []}, receive), 100, 3)


@pytest.mark.parametrize(("body", "status"), [(b"a=" + b"x" * 99, 413), (b"a=1&b=2&c=3&d=4", 400)])
def test_a_form_that_is_too_large_is_refused(body: bytes, status: int) -> None:
    with pytest.raises(HTTPException) as refusal:
        asyncio.run(read_body_as_form(body))
    assert refusal.value.status_code == status


def test_a_form_is_known_by_its_token() -> None:
    token = create_form_token()
    fields = asyncio.run(read_body_as_form(f"token={token}&ä=%C3%A4".encode()))
    assert fields == {"token": token, "ä": "ä"}
    assert has_form_token(fields, token)
    for other_fields in ({}, {"token": ""}, {"token": f"{token}x"}, {"token": "ä"}):
        assert not has_form_token(other_fields, token)
