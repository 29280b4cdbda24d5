"""The OpenAPI document of an API, made from its table of routes and the models that these name."""

import re
from http import HTTPStatus

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from cardsharp.web.api import DOCUMENT, Api
from cardsharp.web.reading import REFERENCE, Json, reference
from cardsharp.web.route import Route, S


class GatewayAnswer(BaseModel):
    """What the gateway before the service answers by itself."""

    message: str


_BY_ITSELF = (429, 500, 503)  # with which a gateway may answer anything by itself

_STATUS_TEXTS = {
    200: "Done.",
    202: "Accepted and done.",
    400: "The request cannot be used as it is, or not now.",
    403: "Not allowed to whoever asks, or not any more.",
    404: "There is no such path.",
    409: "Somebody else has what is asked for.",
    413: "The body is too large.",
    429: "There are too many games or requests.",
    500: "The service failed; what was asked may or may not have been done.",
    503: "The service is busy or cannot reach its store; please try again.",
}


def document(api: Api[S]) -> Json:
    """The whole document."""
    paths: dict[str, Json] = {}
    for route in api.routes:
        operations = paths.setdefault(f"{api.base}{route.path}", {})
        for method in route.methods:
            operations[method.lower()] = _operation(api, route, method)
    content = {"application/json": {"schema": {"type": "object"}}}
    itself = {
        "tags": ["Document"],
        "operationId": "getDocument",
        "summary": "This document",
        "responses": {"200": {"description": "OpenAPI 3.1.", "content": content}},
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": api.title, "version": api.version, "description": api.introduction},
        "paths": {**paths, f"{api.base}{DOCUMENT}": {"get": itself}},
        "components": {"schemas": _schemas(api)},
    }


def names_in(path: str) -> list[str]:
    """The parameters that a path names in braces."""
    return re.findall(r"{(\w+)}", path)


def _operation(api: Api[S], route: Route[S], method: str) -> Json:
    more = "" if method == route.methods[0] else f"-by-{method.lower()}"
    return {
        "tags": [route.path.split("/")[1].capitalize()],
        "operationId": f"{route.name}{more}",  # the first method has the route's own name
        "summary": route.summary,
        "description": route.request.__doc__,
        **api.reading.describe(route.request, method, names_in(route.path)),
        "responses": _responses(api, route, method),
    }


def _responses(api: Api[S], route: Route[S], method: str) -> Json:
    """The answers by status."""
    refused = {*api.refusals, *route.refusals, *api.reading.refusals(method)}
    models: dict[int, tuple[type[BaseModel], ...]] = {
        **route.answers,
        **{status: (route.error_model(status),) for status in refused},
        HTTPStatus.INTERNAL_SERVER_ERROR: (api.error,),
    }
    if names_in(route.path):
        models[HTTPStatus.NOT_FOUND] = (api.error,)
    too_large = [HTTPStatus.REQUEST_ENTITY_TOO_LARGE] if method != "GET" else []
    for status in (*_BY_ITSELF, *too_large):
        models[status] = (*models.get(status, ()), GatewayAnswer)
    answers = {str(int(status)): _response(status, models[status]) for status in sorted(models)}
    if route.headers:
        answers["200"]["headers"] = dict(route.headers)
    return dict(answers)


def _response(status: int, models: tuple[type[BaseModel], ...]) -> Json:
    refs = [reference(model) for model in models]
    schema: object = refs[0] if len(refs) == 1 else {"oneOf": refs}
    told = models[0].__doc__ if status in range(200, 300) and len(models) == 1 else None
    content = {"application/json": {"schema": schema}}
    return {"description": told or _STATUS_TEXTS[status], "content": content}


def _schemas(api: Api[S]) -> Json:
    """The schemas of all bodies; what is sent otherwise is described where its parameters are."""
    modes: dict[type[BaseModel], JsonSchemaMode]
    modes = dict.fromkeys((api.error, GatewayAnswer), "serialization")
    for route in api.routes:
        for models in ((route.error,), route.errors.values(), *route.answers.values()):
            modes |= dict.fromkeys(models, "serialization")
    for route in api.routes if api.reading.refers else ():
        if {*route.methods} - {"GET"}:
            modes[route.request] = "validation"
    ordered = sorted(modes.items(), key=lambda item: item[0].__name__)
    _, schemas = models_json_schema(ordered, ref_template=REFERENCE)
    found: Json = schemas["$defs"]
    return dict(sorted(found.items()))
