"""OpenAPI document of the arena, compared with its own and with recorded responses."""

import json
import re
from collections.abc import Iterator
from itertools import chain
from random import Random
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openapi_schema_validator import OAS31Validator
from openapi_spec_validator import OpenAPIV31SpecValidator, validate
from schemathesis import GenerationMode
from support.arena_server import ADMIN, ALICE, ArenaHttpClient, basic_auth, running_arena
from support.case_counts import case_count
from support.recordings import recording

from cardsharp.games.deadmansdraw.arena import api_operations, app
from cardsharp.games.deadmansdraw.arena.api_routes import API_ROUTES
from cardsharp.games.deadmansdraw.arena.openapi import arena_openapi_document

Json = dict[str, Any]

DOCUMENT: Json = json.loads(json.dumps(arena_openapi_document()))
METHODS = ("get", "head", "post", "put", "patch", "delete")
MATCH_PLACEHOLDER = re.compile(r"{match(\d+)}")


def matching_path_items(path: str) -> list[Json]:
    """Return the document's path items for a path; a template without parameters comes first."""
    templates = sorted(DOCUMENT["paths"], key=lambda template: "{" in template)
    patterns = {name: re.sub(r"{\w+}", "[^/]+", name) + "/?" for name in templates}
    matching_templates = [
        name for name in templates if re.fullmatch(patterns[name], path, re.IGNORECASE)
    ]
    return [DOCUMENT["paths"][name] for name in matching_templates]


def methods_of(operations: list[Json]) -> set[str]:
    return {method.upper() for path_item in operations for method in path_item if method in METHODS}


def test_the_document_is_valid_openapi() -> None:
    validate(DOCUMENT, cls=OpenAPIV31SpecValidator)


def test_every_security_requirement_and_reference_of_the_document_resolves() -> None:
    components = DOCUMENT["components"]
    required_schemes = {scheme for requirement in DOCUMENT["security"] for scheme in requirement}
    assert required_schemes == set(components["securitySchemes"])
    references = re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(DOCUMENT))
    assert set(references) == set(components["schemas"])


def response_faults(method: str, path: str, response: Json) -> Iterator[str]:
    """Yield a message for each part of a response that the document does not describe."""
    operations = matching_path_items(path)
    operation = next((path_item[method] for path_item in operations if method in path_item), None)
    if operation is None:
        if operations and response["status"] != 404:
            yield "no such method"
        return
    documented_response = operation["responses"].get(str(response["status"]))
    if documented_response is None:
        yield f"no status {response['status']}"
        return
    headers = {name.lower(): value for name, value in response["headers"].items()}
    content_type = headers.get("content-type", "").partition(";")[0]
    if method == "head" or not content_type:
        return
    if content_type not in documented_response.get("content", {}):
        yield f"no {content_type} with {response['status']}"
    elif content_type == "application/json" and response["body"].startswith(("[", "{")):
        schema = {
            **documented_response["content"][content_type]["schema"],
            "components": DOCUMENT["components"],
        }
        text = MATCH_PLACEHOLDER.sub(lambda match: f"{int(match[1]):024x}", response["body"])
        body = json.loads(text.replace("<T>", "2026-11-29T12:00:00.000Z"))
        yield from (error.message for error in OAS31Validator(schema).iter_errors(body))


def test_the_document_describes_every_recorded_response() -> None:
    """Status, type and body of all recorded responses are documented, also echoed nulls."""
    pairs = [pair for pair in recording("arena_pairs") if "answer" in pair]
    assert len(pairs) > 500
    faults, checked_count = [], 0
    for pair in pairs:
        path = re.sub(r"{[^}/]*}", "f" * 24, pair["path"].partition("?")[0])
        method = pair["method"].lower()
        if method == "options":
            allowed_methods = set(pair["answer"]["headers"]["Allow"].split(","))
            assert allowed_methods == methods_of(matching_path_items(path)), path
            continue
        checked_count += bool(matching_path_items(path))
        faults += [
            f"{pair['title']}: {fault}" for fault in response_faults(method, path, pair["answer"])
        ]
    assert checked_count > 400
    assert not faults, faults[:5]


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ArenaHttpClient, str]]:
    """Yield a client of an arena with a running match created with nulls, and its id.

    The arena also has a finished match, and its long polls are short.
    """
    with running_arena(tmp_path_factory.mktemp("arena"), long_poll_timeout=0.05) as (_, client):
        null_fields = dict.fromkeys(
            ("tags", "playArea", "drawPile", "discardPile", "banks", "timeout")
        )
        match = client.post("/api/matches", ALICE, {**null_fields, "randomSeed": None}).json()["id"]
        finished_match = client.post("/api/matches", ALICE, {"randomSeed": {"a": None}}).json()[
            "id"
        ]
        client.request(
            "DELETE", f"/api/matches/{finished_match}/terminate", ALICE, {"comment": "over"}
        )
        yield client, match


def test_nulls_are_echoed_and_in_the_document(arena: tuple[ArenaHttpClient, str]) -> None:
    client, match = arena
    path = f"/api/matches/{match}"
    match_response = client.get(f"{path}?showevents=1&showdebug=1")
    assert match_response.json()["creationParams"]["playArea"] is None
    headers = {"content-type": match_response.headers["content-type"][0]}
    response = {"status": match_response.status, "headers": headers, "body": match_response.text}
    assert [*response_faults("get", path, response)] == []


def test_a_path_advertises_and_answers_the_methods_that_the_document_has(
    arena: tuple[ArenaHttpClient, str],
) -> None:
    """A path that fits two templates has the methods of both, as in the original's router."""
    client, match = arena
    for template in DOCUMENT["paths"]:
        path = template.replace("{id}", match)
        response = client.request("OPTIONS", path)
        assert response.status == 200
        assert set(response.text.split(",")) == methods_of(matching_path_items(path)), path
        assert response.headers["allow"] == [response.text]
        for method in METHODS:
            status = client.request(method.upper(), path, ALICE).status
            is_missing = method.upper() not in methods_of(matching_path_items(path))
            assert not is_missing or status == 404, (method, path)
            assert method != "head" or is_missing or status == client.get(path).status
    unknown_path_response = client.request("OPTIONS", "/api/nowhere")
    assert (unknown_path_response.status, unknown_path_response.headers.get("allow")) == (404, None)


CHECKS = [
    getattr(schemathesis.checks, name)
    for name in (
        "not_a_server_error",
        "status_code_conformance",
        "content_type_conformance",
        "response_schema_conformance",
    )
]

OPERATIONS = [
    pytest.param(result.ok(), id=result.ok().label)
    for result in schemathesis.openapi.from_dict({**DOCUMENT}).get_all_operations()
]


@pytest.mark.parametrize("user", [ALICE, ADMIN])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_generated_requests_get_documented_responses(
    operation: Any,  # noqa: ANN401 - schemathesis's own
    user: str,
    arena: tuple[ArenaHttpClient, str],
) -> None:
    client, match = arena
    request_strategies = [operation.as_strategy(generation_mode=mode) for mode in GenerationMode]

    @settings(
        max_examples=case_count(3, full=300),
        deadline=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=st.one_of(*request_strategies))
    def send_generated_request(case: Any) -> None:  # noqa: ANN401 - the same
        if isinstance(case.path_parameters, dict) and Random(repr(case.body)).random() < 0.7:
            case.path_parameters["id"] = match
        for name in ("wait", "waitactive", "repeat"):  # by the real clock
            if isinstance(case.query, dict):
                case.query.pop(name, None)
        headers = {"Authorization": basic_auth(user)}
        case.call_and_validate(base_url=client.url, headers=headers, checks=CHECKS)

    send_generated_request()


def test_every_route_of_the_api_is_in_the_document(arena: tuple[ArenaHttpClient, str]) -> None:
    del arena
    routes = app.api_routes(*_placeholder_dependencies())
    served_routes = {(route.path, method) for route in routes for method in route.methods or ()}
    documented_routes = {
        (path, method.upper())
        for path, operations in DOCUMENT["paths"].items()
        for method in chain(operations)
    }
    assert served_routes == documented_routes
    assert api_operations.OPERATIONS.keys() == {route.name for route in API_ROUTES}


def _placeholder_dependencies() -> tuple[Any, Any]:
    """Return placeholders for the arena and its guard, where only the table of routes matters."""

    class Anything:
        def __getattr__(self, _name: str) -> Any:  # noqa: ANN401 - anything
            return lambda *_args, **_more: lambda _request: None

    return Anything(), Anything()
