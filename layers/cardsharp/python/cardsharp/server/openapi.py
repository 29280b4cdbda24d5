"""OpenAPI document of an API, generated from its routes and their models."""

import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from cardsharp.server.api import OPENAPI_PATH, Api
from cardsharp.server.request_parsing import SCHEMA_REF, Json, schema_reference
from cardsharp.server.routing import Route, S


class GatewayErrorBody(BaseModel):
    """An error response of the gateway in front of the service."""

    message: str


_GATEWAY_STATUSES = (429, 500, 503)  # statuses that the gateway itself may return for any request

_STATUS_DESCRIPTIONS = {
    200: "Done.",
    202: "Accepted and done.",
    400: "The request is invalid, or not possible in the current state.",
    403: "This client may not do this, or not any more.",
    404: "There is nothing at this path.",
    409: "Another request has changed the same thing. Read it again and retry.",
    413: "The body is too large.",
    429: "There are too many games or requests. Retry later.",
    500: "The service failed. The request may or may not have had its effect.",
    503: "The service is busy or cannot reach its store. Retry later.",
}


def openapi_document(api: Api[S]) -> Json:
    """Return the OpenAPI document of an API."""
    paths: dict[str, Json] = {}
    for route in api.routes:
        operations = paths.setdefault(f"{api.base_path}{route.path}", {})
        for method in route.methods:
            operations[method.lower()] = _describe_operation(api, route, method)
    content = {"application/json": {"schema": {"type": "object"}}}
    itself = {
        "tags": ["Document"],
        "operationId": "getDocument",
        "summary": "This document",
        "responses": {"200": {"description": "OpenAPI 3.1.", "content": content}},
    }
    document: Json = {
        "openapi": "3.1.0",
        "info": {"title": api.title, "version": api.version, "description": api.description},
        "paths": {**paths, f"{api.base_path}{OPENAPI_PATH}": {"get": itself}},
        "components": {"schemas": _build_body_schemas(api)},
    }
    return rename_schemas(document, {"GatewayErrorBody": "GatewayAnswer", **api.schema_names})


def rename_schemas(document: Json, names: Mapping[str, str]) -> Json:
    """Return the document with its schemas renamed to the public `names`."""
    references = {
        SCHEMA_REF.format(model=model): SCHEMA_REF.format(model=name)
        for model, name in names.items()
    }

    def with_names(node: Any) -> Any:  # noqa: ANN401 - JSON
        if isinstance(node, list):
            return [with_names(item) for item in node]
        if not isinstance(node, dict):
            return node
        return {
            key: references.get(value, value) if key == "$ref" else with_names(value)
            for key, value in node.items()
        }

    published: dict[str, Any] = with_names(document)
    schemas = published["components"]["schemas"]
    for model, schema in schemas.items():
        if schema.get("title") == model:
            schema["title"] = names.get(model, model)
    by_name = {names.get(model, model): schema for model, schema in schemas.items()}
    components = {**published["components"], "schemas": dict(sorted(by_name.items()))}
    return {**published, "components": components}


def path_parameters(path: str) -> list[str]:
    """The parameters that a path names in braces."""
    return re.findall(r"{(\w+)}", path)


def _describe_operation(api: Api[S], route: Route[S], method: str) -> Json:
    more = "" if method == route.methods[0] else f"-by-{method.lower()}"
    return {
        "tags": [route.path.split("/")[1].capitalize()],
        "operationId": f"{route.name}{more}",  # the first method has the route's own name
        "summary": route.summary,
        "description": route.params_model.__doc__,
        **api.request_parser.describe(route.params_model, method, path_parameters(route.path)),
        "responses": _describe_responses(api, route, method),
    }


def _describe_responses(api: Api[S], route: Route[S], method: str) -> Json:
    """Return the responses by status."""
    error_statuses = {
        *api.default_error_statuses,
        *route.error_statuses,
        *api.request_parser.error_statuses(method),
    }
    models: dict[int, tuple[type[BaseModel], ...]] = {
        **route.response_models,
        **{status: (route.error_model(status),) for status in error_statuses},
        HTTPStatus.INTERNAL_SERVER_ERROR: (api.error_model,),
    }
    if path_parameters(route.path):
        models[HTTPStatus.NOT_FOUND] = (api.error_model,)
    too_large = [HTTPStatus.REQUEST_ENTITY_TOO_LARGE] if method != "GET" else []
    for status in (*_GATEWAY_STATUSES, *too_large):
        models[status] = (*models.get(status, ()), GatewayErrorBody)
    responses = {
        str(int(status)): _describe_response(status, models[status]) for status in sorted(models)
    }
    if route.response_headers:
        responses["200"]["headers"] = dict(route.response_headers)
    return dict(responses)


def _describe_response(status: int, models: tuple[type[BaseModel], ...]) -> Json:
    refs = [schema_reference(model) for model in models]
    schema: object = refs[0] if len(refs) == 1 else {"oneOf": refs}
    description = models[0].__doc__ if status in range(200, 300) and len(models) == 1 else None
    content = {"application/json": {"schema": schema}}
    return {"description": description or _STATUS_DESCRIPTIONS[status], "content": content}


def _build_body_schemas(api: Api[S]) -> Json:
    """Return the schemas of all bodies; parameters are described at their operations."""
    modes: dict[type[BaseModel], JsonSchemaMode]
    modes = dict.fromkeys((api.error_model, GatewayErrorBody), "serialization")
    for route in api.routes:
        for models in (
            (route.default_error_model,),
            route.error_models.values(),
            *route.response_models.values(),
        ):
            modes |= dict.fromkeys(models, "serialization")
    for route in api.routes if api.request_parser.uses_schema_refs else ():
        if {*route.methods} - {"GET"}:
            modes[route.params_model] = "validation"
    ordered = sorted(modes.items(), key=lambda item: item[0].__name__)
    _, schemas = models_json_schema(ordered, ref_template=SCHEMA_REF)
    definitions: Json = schemas["$defs"]
    return dict(sorted(definitions.items()))
