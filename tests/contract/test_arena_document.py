"""The arena's document says what the arena and the original answer, and what methods a path has."""

import json
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openapi_schema_validator import OAS30Validator
from openapi_spec_validator import OpenAPIV30SpecValidator, validate
from schemathesis import GenerationMode
from support.arena_server import ADMIN, ALICE, ArenaHttpClient, basic_auth, running_arena
from support.case_counts import case_count
from support.recordings import recording

from cardsharp.games.deadmansdraw.arena import app, pages

Json = dict[str, Any]

DOCUMENT: Json = json.loads(Path(pages.__file__).with_name("openapi.json").read_text("utf-8"))
METHODS = ("get", "head", "post", "put", "patch", "delete")
CREATED = re.compile(r"{match(\d+)}")


def fitting(path: str) -> list[Json]:
    """Return the document's path items for a path; a template without parameters comes first."""
    templates = sorted(DOCUMENT["paths"], key=lambda template: "{" in template)
    patterns = {name: re.sub(r"{\w+}", "[^/]+", name) + "/?" for name in templates}
    fits = [name for name in templates if re.fullmatch(patterns[name], path, re.IGNORECASE)]
    return [DOCUMENT["paths"][name] for name in fits]


def methods_of(operations: list[Json]) -> set[str]:
    return {method.upper() for path_item in operations for method in path_item if method in METHODS}


def test_it_is_a_document_of_openapi_3() -> None:
    validate(DOCUMENT, cls=OpenAPIV30SpecValidator)


def faults_of(method: str, path: str, answer: Json) -> Iterator[str]:
    """Yield a message for each part of a response that the document does not describe."""
    operations = fitting(path)
    operation = next((path_item[method] for path_item in operations if method in path_item), None)
    if operation is None:
        if operations and answer["status"] != 404:
            yield "no such method"
        return
    described = operation["responses"].get(str(answer["status"]))
    if described is None:
        yield f"no status {answer['status']}"
        return
    headers = {name.lower(): value for name, value in answer["headers"].items()}
    kind = headers.get("content-type", "").partition(";")[0]
    if method == "head" or not kind:
        return
    if kind not in described.get("content", {}):
        yield f"no {kind} with {answer['status']}"
    elif kind == "application/json" and answer["body"].startswith(("[", "{")):
        schema = {**described["content"][kind]["schema"], "components": DOCUMENT["components"]}
        text = CREATED.sub(lambda match: f"{int(match[1]):024x}", answer["body"])
        body = json.loads(text.replace("<T>", "2026-11-29T12:00:00.000Z"))
        yield from (error.message for error in OAS30Validator(schema).iter_errors(body))


def test_whatever_the_original_answered_is_in_it() -> None:
    """All recorded requests: status, kind and body; nulls that it echoes, too."""
    pairs = [pair for pair in recording("arena_pairs") if "answer" in pair]
    assert len(pairs) > 500
    faults, checked = [], 0
    for pair in pairs:
        path = re.sub(r"{[^}/]*}", "f" * 24, pair["path"].partition("?")[0])
        method = pair["method"].lower()
        if method == "options":
            allowed = set(pair["answer"]["headers"]["Allow"].split(","))
            assert allowed == methods_of(fitting(path)), path
            continue
        checked += bool(fitting(path))
        faults += [f"{pair['title']}: {fault}" for fault in faults_of(method, path, pair["answer"])]
    assert checked > 400
    assert not faults, faults[:5]


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ArenaHttpClient, str]]:
    """An arena with a match that has the nulls of its request, one that ended, and a short wait."""
    with running_arena(tmp_path_factory.mktemp("arena"), long_poll_timeout=0.05) as (_, client):
        nulls = dict.fromkeys(("tags", "playArea", "drawPile", "discardPile", "banks", "timeout"))
        match = client.post("/api/matches", ALICE, {**nulls, "randomSeed": None}).json()["id"]
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
    answer = client.get(f"{path}?showevents=1&showdebug=1")
    assert answer.json()["creationParams"]["playArea"] is None
    headers = {"content-type": answer.headers["content-type"][0]}
    response = {"status": answer.status, "headers": headers, "body": answer.text}
    assert [*faults_of("get", path, response)] == []


def test_a_path_advertises_and_answers_the_methods_that_the_document_has(
    arena: tuple[ArenaHttpClient, str],
) -> None:
    """A path that fits two templates has the methods of both, as in the original's router."""
    client, match = arena
    for template in DOCUMENT["paths"]:
        path = template.replace("{id}", match)
        answer = client.request("OPTIONS", path)
        assert answer.status == 200
        assert set(answer.text.split(",")) == methods_of(fitting(path)), path
        assert answer.headers["allow"] == [answer.text]
        for method in METHODS:
            status = client.request(method.upper(), path, ALICE).status
            missing = method.upper() not in methods_of(fitting(path))
            assert not missing or status == 404, (method, path)
            assert method != "head" or missing or status == client.get(path).status
    nowhere = client.request("OPTIONS", "/api/nowhere")
    assert (nowhere.status, nowhere.headers.get("allow")) == (404, None)


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
    modes = [operation.as_strategy(generation_mode=mode) for mode in GenerationMode]

    @settings(
        max_examples=case_count(5, full=300),
        deadline=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=st.one_of(*modes))
    def ask(case: Any) -> None:  # noqa: ANN401 - the same
        if isinstance(case.path_parameters, dict) and Random(repr(case.body)).random() < 0.7:
            case.path_parameters["id"] = match
        for name in ("wait", "waitactive", "repeat"):  # by the real clock
            if isinstance(case.query, dict):
                case.query.pop(name, None)
        headers = {"Authorization": basic_auth(user)}
        case.call_and_validate(base_url=client.url, headers=headers, checks=CHECKS)

    ask()


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


def _placeholder_dependencies() -> tuple[Any, Any]:
    """Return placeholders for the arena and its guard, where only the table of routes matters."""

    class Anything:
        def __getattr__(self, _name: str) -> Any:  # noqa: ANN401 - anything
            return lambda *_args, **_more: lambda _request: None

    return Anything(), Anything()
