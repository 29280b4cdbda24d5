"""Unusual requests are answered as they were before the services were ASGI applications.

Among them are encoded, doubled and missing parts of paths, queries and bodies, wrong methods,
content types and JSON, and the preflight requests of browsers.
"""

import base64
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from support.blef_service import RecordedRandomness, memory_client
from support.euchre_service import EuchreServiceHarness
from support.recordings import recording

from cardsharp.core.clock import SystemClock
from cardsharp.games.blef.simulation import make_deal_function
from cardsharp_tools.local_cloud.api_gateway_events import HttpRequest, parse_response, to_event

GAME, ANN, BOB = (f"{number:08x}-0000-4000-8000-000000000001" for number in (1, 2, 3))
"""The identities of the game that the requests to Blef are about, and of its players."""

Answer = tuple[int, dict[str, str], str]


def answer_of(status: int, headers: Any, text: str) -> Answer:  # noqa: ANN401 - any mapping
    """An answer; its length is API Gateway's to write, and was not in the recording."""
    named = {name.lower(): value for name, value in dict(headers).items()}
    named.pop("content-length", None)
    return status, named, text


def ask_blef(request: HttpRequest) -> Answer:
    """The answer about a new game, in which ann is to move."""
    chance = RecordedRandomness(make_deal_function(Random(1)))
    client = memory_client(chance=chance)
    chance.uuids, chance.orders = [GAME, ANN, BOB], {2: (0, 1)}
    client.create()
    client.join(GAME, "ann")
    client.join(GAME, "bob")
    client.get(f"/games/{GAME}/start", admin_uuid=ANN)
    reply = client.send(request)
    return answer_of(reply.status, reply.headers, reply.text)


def euchre_asker() -> Callable[[HttpRequest], Answer]:
    """A function that asks one service, whose deals go on from request to request."""
    service = EuchreServiceHarness()

    def ask(request: HttpRequest) -> Answer:
        answer = parse_response(service.handle_event(to_event(request, SystemClock().now())))
        return answer_of(answer.status, answer.headers, answer.body.decode())

    return ask


@pytest.mark.parametrize(("service", "requests"), [("blef", 244), ("euchre", 210)])
def test_an_unusual_request_is_answered_as_before(service: str, requests: int) -> None:
    ask = ask_blef if service == "blef" else euchre_asker()
    rows = [row for row in recording("unusual_requests") if row["service"] == service]
    assert len(rows) == requests
    for row in rows:
        headers = tuple((name, value) for name, value in row["headers"])
        body = base64.b64decode(row["body"])
        answer = ask(HttpRequest(row["method"], row["target"], headers, body))
        assert answer == (row["status"], row["answer_headers"], row["answer"]), row
