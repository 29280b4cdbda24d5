"""The OpenAPI document of the service, made from the table of operations and the models."""

import json
from functools import cache

from pydantic.json_schema import JsonSchemaMode, models_json_schema

from cardsharp.euchre import wire
from cardsharp.euchre.operations import OPERATIONS, Operation

Json = dict[str, object]

PATH = "/openapi.json"
VERSION = "0.5"
"""Of the API that the tournament framework publishes; this service adds nothing to it."""

_INTRODUCTION = """\
Plays hands of Euchre for a tournament's coordinator, which deals, enforces the rules and keeps \
the score. POST and PATCH tell what happens, GET asks for a decision; the same question is given \
the same answer again. Cards are numbered 4 x rank + suit: ranks 0 to 5 are 9, 10, J, Q, K, A, \
suits 0 to 3 clubs, diamonds, hearts, spades. What is only echoed may have any value of its type, \
and unknown fields are ignored."""

_REF = "#/components/schemas/{model}"


@cache
def document_text() -> str:
    """The document as it is served; made when it is first asked for."""
    return json.dumps(document(), separators=(",", ":"))


def document() -> Json:
    """The whole document."""
    paths: dict[str, Json] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Euchre Endpoint", "version": VERSION, "description": _INTRODUCTION},
        "paths": {**paths, PATH: {"get": _itself()}},
        "components": {"schemas": _schemas()},
    }


def _operation(operation: Operation) -> Json:
    described: Json = {
        "tags": [operation.path[1:].capitalize()],
        "operationId": operation.name,
        "summary": operation.summary,
        "description": operation.request.__doc__,
        "responses": {
            "200": _response(operation.answer.__doc__, operation.answer),
            "400": _response("The request cannot be read.", wire.Refusal),
            "500": _response("The service failed.", wire.Refusal),
        },
    }
    if operation.method == "GET":
        return {**described, "parameters": _parameters(operation.request)}
    content = {"application/json": {"schema": _ref(operation.request)}}
    return {**described, "requestBody": {"required": True, "content": content}}


def _parameters(request: type[wire.Message]) -> list[Json]:
    """The fields of a question as query parameters."""
    schema = request.model_json_schema()
    return [
        {
            "name": name,
            "in": "query",
            "required": name in schema["required"],
            "description": field.get("description", ""),
            "schema": {key: value for key, value in field.items() if key != "description"},
            **({"style": "form", "explode": True} if field["type"] == "array" else {}),
        }
        for name, field in schema["properties"].items()
    ]


def _response(description: str | None, model: type[wire.Message]) -> Json:
    content = {"application/json": {"schema": _ref(model)}}
    return {"description": description, "content": content}


def _ref(model: type[wire.Message]) -> Json:
    return {"$ref": _REF.format(model=model.__name__)}


def _itself() -> Json:
    content = {"application/json": {"schema": {"type": "object"}}}
    return {
        "tags": ["Document"],
        "operationId": "getDocument",
        "summary": "This document",
        "responses": {"200": {"description": "OpenAPI 3.1.", "content": content}},
    }


def _schemas() -> Json:
    """The schemas of bodies and answers; a query string's are where its parameters are."""
    bodies = {one.request for one in OPERATIONS if one.method != "GET"}
    answers: set[type[wire.Message]] = {one.answer for one in OPERATIONS} | {wire.Refusal}
    modes: dict[type[wire.Message], JsonSchemaMode] = dict.fromkeys(answers, "serialization")
    modes |= dict.fromkeys(bodies, "validation")
    ordered = sorted(modes.items(), key=lambda item: item[0].__name__)
    _, schemas = models_json_schema(ordered, ref_template=_REF)
    found: Json = schemas["$defs"]
    return dict(sorted(found.items()))
