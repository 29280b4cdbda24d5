"""What every game that is mounted promises of the parts that it names."""

import json
import re
from datetime import UTC, datetime
from functools import cache
from itertools import product
from typing import Any

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator, validate
from support.games import GAMES, id_of

from cardsharp.cloud.clock import SystemClock
from cardsharp.game import Game, Part
from cardsharp.web.api import PAGE
from cardsharp.web.events import Handler
from cardsharp.web.service import Service
from workbench.cloud.context import Function
from workbench.cloud.http_events import WireRequest, http_event, read_answer

BODIES = (
    b"",
    b"{",
    b"[]",
    b"null",
    b'{"x": 1}',
    b'{"nickname": NaN}',
    b'{"nickname": "a\\ud800"}',
    b"[" * 5000,
    b'{"game": 1, "token": []}',
    b"\xff\xfe",
    b"9" * 9000,
)
QUERIES = ("", "?x=1", "?game=%00&token=%FF&player_uuid=1&pos=-1&round=x&wait=&heap=9")

SERVED = [
    game for game in GAMES if game.service is not None and isinstance(game.service.load(), Service)
]
"""Those whose API is a table of routes; an application of its own has tests of its own."""

every_service = pytest.mark.parametrize("game", SERVED, ids=id_of)


@pytest.mark.parametrize("game", GAMES, ids=id_of)
def test_every_part_is_where_it_is_said_to_be(game: Game) -> None:
    parts = game._asdict()
    loaded = {name: part.load() for name, part in parts.items() if isinstance(part, Part)}
    assert loaded.keys() >= {"simulation", "replay"}
    for name in {"attend", "order", "listen", "replay", "simulation", "archive"} & loaded.keys():
        assert callable(loaded[name]), name


@cache
def handler_of(game: Game) -> Handler:
    """A service of that game which keeps its matches in this process."""
    service: Service[Any] = part_of(game)
    return service.build({service.store: "sqlite::memory:"})


def asked(game: Game, request: WireRequest) -> Any:  # noqa: ANN401 - whatever is answered
    """What that service answers."""
    handler = handler_of(game)
    context = Function(game.name, handler).context(SystemClock())
    event = http_event(request, datetime(2026, 11, 22, tzinfo=UTC))
    return read_answer(handler(event, context))


def part_of(game: Game) -> Service[Any]:
    assert game.service is not None
    service = game.service.load()
    assert isinstance(service, Service)
    return service


@every_service
def test_whatever_is_sent_is_answered_and_garbage_is_refused(game: Game) -> None:
    """Every route with every kind of nonsense: 4xx with a reason in JSON, never 5xx."""
    api = part_of(game).api
    for route in api.routes:
        path = api.base + re.sub(r"{\w+}", "nonsense", route.path)
        for method, body, query in product(route.methods, BODIES, QUERIES):
            answer = asked(game, WireRequest(method, path + query, body=body))
            assert answer.status < 500, (route.name, method, body, query)
            assert isinstance(json.loads(answer.body), dict | list)
    assert asked(game, WireRequest("GET", f"{api.base}/nowhere")).status == 404
    assert asked(game, WireRequest("DELETE", f"{api.base}{api.routes[0].path}")).status == 405


@every_service
def test_the_document_names_every_route_and_refers_to_what_is_there(game: Game) -> None:
    service = part_of(game)
    served = json.loads(asked(game, WireRequest("GET", service.api.document_path)).body)
    assert served == json.loads(json.dumps(service.document()))
    assert served["openapi"].startswith("3.1")
    for route in service.api.routes:
        operations = served["paths"][f"{service.api.base}{route.path}"]
        assert {method.upper() for method in operations} >= set(route.methods)
        assert all(operation["responses"] for operation in operations.values())
    named = re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(served))
    assert named
    assert set(named) <= served["components"]["schemas"].keys()
    validate(served, cls=OpenAPIV31SpecValidator)


@every_service
def test_the_page_shows_every_operation_and_all_its_links_lead_somewhere(game: Game) -> None:
    service = part_of(game)
    answer = asked(game, WireRequest("GET", service.api.base + PAGE))
    page = answer.body.decode()
    assert dict(answer.headers)["Content-Type"] == "text/html; charset=utf-8"
    for path, operations in json.loads(json.dumps(service.document()))["paths"].items():
        for method, operation in operations.items():
            assert f"<h2><code>{method.upper()} {path}</code></h2>" in page
            for one in operation.get("parameters", ()):
                assert f"<code>{one['name']}</code>" in page
    inside = {f"#{name}" for name in re.findall(r'id="([^"]+)"', page)}
    assert set(re.findall(r'href="([^"]+)"', page)) - inside == {"openapi.json"}
    assert asked(game, WireRequest("GET", f"{service.api.base}/openapi.json")).status == 200
