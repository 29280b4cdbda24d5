"""The OpenAPI document of the service, made from the table of endpoints and the models."""

import json
from functools import cache

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from cardsharp.blef import wire
from cardsharp.blef.endpoints import BASE, ENDPOINTS, VERSION, VERSION_HEADER, Endpoint, Parameter
from cardsharp.blef.refusals import (
    BAD_REQUEST,
    INTERNAL,
    NOT_FOUND,
    TOO_LARGE,
    UNAVAILABLE,
)

Json = dict[str, object]

PATH = f"{BASE}/openapi.json"
_REF = "#/components/schemas/{model}"
_STATUS_TEXTS = {
    200: "Done.",
    202: "Accepted and done.",
    400: "The request cannot be used as it is, or not now.",
    403: "Not allowed to whoever asks, or not any more.",
    404: "There is no such path.",
    409: "Somebody else has the nickname.",
    413: "The body is too large.",
    429: "There are too many games.",
    500: "The service failed; what was asked may or may not have been done.",
    503: "The service is busy or cannot reach its store; please try again.",
}
_INTRODUCTION = """\
Create, join and play games of Blef. Every change is there for GET, as old clients expect it, and
for POST, which takes the same parameters in the query string, as a JSON object or as a form;
prefer POST, for uuids in a body are in nobody's history or log. A parameter that is empty counts
as missing, and one that is sent twice is refused. Nothing may be cached. Uuids are taken in upper
and lower case."""


@cache
def document_text() -> str:
    """The document as it is served; made when it is first asked for."""
    return json.dumps(document(), separators=(",", ":"))


def document() -> Json:
    """The whole document."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "Blef", "version": VERSION, "description": _INTRODUCTION},
        "paths": {f"{BASE}{endpoint.path}": _path(endpoint) for endpoint in ENDPOINTS}
        | {PATH: {"get": _document_operation()}},
        "components": {"schemas": _schemas()},
    }


def _path(endpoint: Endpoint) -> Json:
    """The operations of a path."""
    return {method.lower(): _operation(endpoint, method) for method in endpoint.methods}


def _operation(endpoint: Endpoint, method: str) -> Json:
    operation: Json = {
        "operationId": endpoint.name if method == "GET" else f"{endpoint.name}-by-post",
        "summary": endpoint.summary,
        "parameters": [*_path_parameters(endpoint), *map(_query, endpoint.parameters)],
        "responses": _responses(endpoint, method),
    }
    if method == "POST" and endpoint.parameters:
        operation["requestBody"] = _request_body(endpoint)
    return operation


def _path_parameters(endpoint: Endpoint) -> list[Json]:
    if "{game_uuid}" not in endpoint.path:
        return []
    schema = {"type": "string", "format": "uuid"}
    return [{"name": "game_uuid", "in": "path", "required": True, "schema": schema}]


def _query(parameter: Parameter) -> Json:
    return {
        "name": parameter.name,
        "in": "query",
        "description": parameter.description,
        "schema": dict(parameter.schema),
    }


def _request_body(endpoint: Endpoint) -> Json:
    """What a POST may carry; every parameter may be in the query string instead."""
    schema = {
        "type": "object",
        "properties": {
            one.name: {**one.schema, "description": one.description} for one in endpoint.parameters
        },
    }
    types = ("application/json", "application/x-www-form-urlencoded")
    return {"required": False, "content": {one: {"schema": schema} for one in types}}


def _responses(endpoint: Endpoint, method: str) -> Json:
    """The answers by status."""
    refused = {*endpoint.refusals, UNAVAILABLE}
    if method == "POST":
        refused |= {BAD_REQUEST, TOO_LARGE}
    models: dict[int, tuple[type[BaseModel], ...]] = {
        **endpoint.answers,
        **{status: (endpoint.refusal_model(status),) for status in refused},
        INTERNAL: (wire.ErrorBody,),
    }
    if "{game_uuid}" in endpoint.path:
        models[NOT_FOUND] = (wire.ErrorBody,)
    answers = {str(status): _response(status, models[status]) for status in sorted(models)}
    if endpoint.name == "state":
        answers["200"]["headers"] = {
            VERSION_HEADER: {
                "description": "How often the game has changed.",
                "schema": {"type": "integer"},
            }
        }
    return dict(answers)


def _response(status: int, models: tuple[type[BaseModel], ...]) -> Json:
    refs = [{"$ref": _REF.format(model=model.__name__)} for model in models]
    schema: object = refs[0] if len(refs) == 1 else {"oneOf": refs}
    return {
        "description": _STATUS_TEXTS[status],
        "content": {"application/json": {"schema": schema}},
    }


def _document_operation() -> Json:
    schema = {"type": "object"}
    return {
        "operationId": "openapi",
        "summary": "This document",
        "parameters": [],
        "responses": {
            "200": {
                "description": _STATUS_TEXTS[200],
                "content": {"application/json": {"schema": schema}},
            }
        },
    }


def _schemas() -> Json:
    """The schemas of all models that are answered."""
    models = {model for endpoint in ENDPOINTS for two in endpoint.answers.values() for model in two}
    models |= {wire.ErrorBody, wire.ErrorsBody, wire.FullBody}
    ordered = sorted(models, key=lambda model: model.__name__)
    _, schemas = models_json_schema(
        [(model, "serialization") for model in ordered],
        ref_template=_REF,
    )
    found: Json = schemas["$defs"]
    return dict(sorted(found.items()))
