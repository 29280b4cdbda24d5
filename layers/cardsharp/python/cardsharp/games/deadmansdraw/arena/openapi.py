"""OpenAPI document of the REST API, generated from its routes and operations."""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import TypeAdapter

from cardsharp.games.deadmansdraw.arena.access.body_reader import MAX_REQUEST_BODY_BYTES
from cardsharp.games.deadmansdraw.arena.api_operations import OPERATIONS
from cardsharp.games.deadmansdraw.arena.api_routes import API_ROUTES, ApiRoute
from cardsharp.server.openapi import path_parameters, rename_schemas
from cardsharp.server.request_parsing import (
    SCHEMA_REF,
    Json,
    describe_parameter,
    schema_reference,
)
from cardsharp.server.routing import ErrorBody

Schemas = Mapping[tuple[str, object], Json]
"""Schemas by the name of a route, and by the status of a response, `query` or `body`."""

_TAGS = ("Diagnostic", "Matches", "Players")
_AUTHENTICATION_SCHEMES = ("basic", "digest")
_INFO: Json = {
    "title": "Cardsharp arena",
    "version": "1.0.0",
    "license": {"name": "MIT"},
    "description": "The competition's REST API for Dead Man's Draw, on this machine. Basic and "
    "Digest credentials are accepted; the dummy player for practice is 000000000000000000000000 "
    'with the password dummypass. Errors are {"error": "..."}; an unknown path is a 404 in HTML.',
}
_COMMON_ERRORS = {
    400: "The request cannot be read.",
    429: "Too many wrong passwords, or new matches; Retry-After says when to ask again.",
    500: "The arena failed.",
    503: "The arena cannot read or write its matches now; try again.",
}
_AUTHENTICATION_ERRORS = {
    400: "The credentials or the request cannot be read.",
    401: "Unauthorized, as plain text: no or wrong credentials (with the two WWW-Authenticate "
    "headers).",
}
_BODY_ERRORS = {
    413: f"The body is larger than {MAX_REQUEST_BODY_BYTES // 1024} KiB.",
    415: "The content encoding of the body is not supported.",
}
_PLAIN_TEXT: Json = {"text/plain": {"schema": {"type": "string"}}}


def arena_openapi_document() -> Json:
    """Return the OpenAPI document of the arena; it takes about 0.1 s."""
    schemas, definitions = _build_schemas()
    paths: dict[str, Json] = {}
    for route in API_ROUTES:
        operations = paths.setdefault(route.path, {})
        operation = _describe_operation(route, schemas)
        operations[route.method.lower()] = operation
        if route.method == "GET":
            operations["head"] = _describe_head(operation)
    schemes = {name: {"type": "http", "scheme": name} for name in _AUTHENTICATION_SCHEMES}
    document: Json = {
        "openapi": "3.1.0",
        "info": _INFO,
        "servers": [{"url": "/"}],
        "tags": [{"name": name} for name in _TAGS],
        "security": [{name: []} for name in _AUTHENTICATION_SCHEMES],
        "paths": paths,
        "components": {"securitySchemes": schemes, "schemas": definitions},
    }
    return rename_schemas(document, {name: _published_name(name) for name in definitions})


def _published_name(class_name: str) -> str:
    return class_name.removesuffix("Json").removesuffix("Body")


def _build_schemas() -> tuple[Schemas, Json]:
    """Return the schemas of all types, and the definitions to which they refer."""
    types = [*_types_by_key(), (("", "error"), ErrorBody)]
    by_key, shared = TypeAdapter.json_schemas(
        [(key, "validation", TypeAdapter(type_)) for key, type_ in types],
        ref_template=SCHEMA_REF,
    )
    schemas = {key: schema for (key, _mode), schema in by_key.items()}
    definitions: dict[str, Any] = shared["$defs"]
    for name, operation in OPERATIONS.items():  # parameters are described where they are used
        if operation.query_type is not None:
            schemas[name, "query"] = definitions.pop(operation.query_type.__name__)
    return schemas, definitions


def _types_by_key() -> Iterator[tuple[tuple[str, object], Any]]:
    for name, operation in OPERATIONS.items():
        for status, body in operation.bodies.items():
            yield (name, status), body.type
        if operation.query_type is not None:
            yield (name, "query"), operation.query_type
        if operation.body_type is not None:
            yield (name, "body"), operation.body_type


def _describe_operation(route: ApiRoute, schemas: Schemas) -> Json:
    operation = OPERATIONS[route.name]
    described: Json = {
        "operationId": route.name,
        "tags": [_tag_of(route)],
        "summary": operation.summary,
        "description": operation.description,
    }
    if parameters := list(_describe_parameters(route, schemas)):
        described["parameters"] = parameters
    if operation.body_type is not None:
        content = {"application/json": {"schema": schemas[route.name, "body"]}}
        described["requestBody"] = {"required": False, "content": content}
    described["responses"] = _describe_responses(route, schemas)
    return {**described, "security": []} if route.is_anonymous else described


def _describe_head(operation: Json) -> Json:
    """Return the HEAD of a GET: the same statuses without bodies."""
    responses: Any = operation["responses"]
    bare = {
        status: {"description": response["description"]} for status, response in responses.items()
    }
    return {
        **operation,
        "operationId": f"{operation['operationId']}Head",
        "summary": "The headers of GET",
        "description": "As GET, without the body.",
        "responses": bare,
    }


def _tag_of(route: ApiRoute) -> str:
    area = route.path.split("/")[2].capitalize()
    return area if area in _TAGS else _TAGS[0]


def _describe_parameters(route: ApiRoute, schemas: Schemas) -> Iterator[Json]:
    for name in path_parameters(route.path):
        schema = {"type": "string", "description": "The id, 24 hexadecimal digits."}
        yield describe_parameter(name, schema, "path", required=True)
    query: Any = schemas.get((route.name, "query"), {"properties": {}})
    for name, schema in query["properties"].items():
        bare = {key: value for key, value in schema.items() if key != "title"}
        yield describe_parameter(name, bare, "query", required=False)


def _describe_responses(route: ApiRoute, schemas: Schemas) -> Json:
    """Return the responses by status."""
    errors = {
        **_COMMON_ERRORS,
        **({} if route.is_anonymous else _AUTHENTICATION_ERRORS),
        **({} if route.method == "GET" else _BODY_ERRORS),
        **OPERATIONS[route.name].errors,
    }
    responses: dict[int, Json] = {
        status: {"description": description, "content": _error_content(route, status)}
        for status, description in errors.items()
    }
    for status, body in OPERATIONS[route.name].bodies.items():
        content = {"application/json": {"schema": schemas[route.name, status]}}
        responses[status] = {"description": body.description, "content": content}
    if route.method == "GET":
        responses[304] = {"description": "The client has this answer already (If-None-Match)."}
    return {str(status): responses[status] for status in sorted(responses)}


def _error_content(route: ApiRoute, status: int) -> Json:
    """Return the bodies of an error: the guard that checks credentials answers in plain text."""
    json_content: Json = {"application/json": {"schema": schema_reference(ErrorBody)}}
    if route.is_anonymous or status not in _AUTHENTICATION_ERRORS:
        return json_content
    is_guard_only = status not in {*_COMMON_ERRORS, *OPERATIONS[route.name].errors}
    return _PLAIN_TEXT if is_guard_only else {**json_content, **_PLAIN_TEXT}
