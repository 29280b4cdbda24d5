"""The two request parsers, and how each describes its parameters in the OpenAPI document.

`ParameterParser` reads texts from path, query and body alike, as old clients send them.
`QueryOrJsonParser` reads typed JSON strictly: an echoed value has the type with which it came.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, ClassVar, TypeVar, get_origin
from urllib.parse import parse_qs, parse_qsl, unquote

from pydantic import BaseModel, ValidationError
from starlette.requests import Request

from cardsharp.server.limited_body import read_limited_body
from cardsharp.server.routing import HttpError, bad_request

M = TypeVar("M", bound=BaseModel)

Json = dict[str, object]  # a JSON object

MAX_BODY = 8_192  # bytes of the largest request body that is read

_INVALID_BODY_MESSAGE = "The body must be a JSON object of texts and numbers, or a form"
_FORM_MEDIA_TYPE = "application/x-www-form-urlencoded"
_JSON_MEDIA_TYPE = "application/json"
SCHEMA_REF = "#/components/schemas/{model}"


class PayloadTooLarge(HttpError):
    """413: the body is beyond the limit."""

    def __init__(self) -> None:
        message = f"The body is larger than {MAX_BODY} bytes"
        super().__init__(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, message)


@dataclass(frozen=True, slots=True)
class ParameterParser:
    """Parser of texts in the path, the query string, or the JSON object or form of a POST.

    An empty value counts as missing, unless `keep_blank_values`. Values that are sent twice are
    joined by a comma, so that no valid value can result.
    """

    keep_blank_values: bool = False
    uses_schema_refs: ClassVar[bool] = False  # the fields of a body are described where it is

    async def parse(self, request: Request, model: type[M]) -> M:
        """Return the parameters of a request; raise `HttpError` if they are invalid."""
        fields = {name: ",".join(values) for name, values in _query_values(request).items()}
        if request.method.upper() == "POST":
            content_type = request.headers.get("content-type", "")
            for name, value in self._parse_body(content_type, await _read_body(request)):
                fields[name] = f"{fields[name]},{value}" if fields.get(name) else value
        raw_values = {
            name: value for name, value in fields.items() if value or self.keep_blank_values
        }
        raw_values |= {name: unquote(value) for name, value in request.path_params.items()}
        try:
            return model.model_validate(raw_values)
        except ValidationError as error:
            raise bad_request(_format_errors(error)) from None

    def error_statuses(self, method: str) -> frozenset[int]:
        """Return the statuses with which it may reject a request."""
        body = {HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE}
        return frozenset(body if method == "POST" else ())

    def describe(self, model: type[BaseModel], method: str, path: Iterable[str]) -> Json:
        """Return the `parameters` and `requestBody` of an operation.

        `path` has the names of the path parameters.
        """
        fields = {
            name: {key: value for key, value in schema.items() if key not in {"title", "default"}}
            for name, schema in _read_schema_properties(model).items()
        }
        parameters = [
            describe_parameter(name, fields.pop(name), "path", required=True) for name in path
        ]
        parameters += [describe_parameter(name, schema, "query") for name, schema in fields.items()]
        if method != "POST" or not fields:
            return {"parameters": parameters}
        content = {"schema": {"type": "object", "properties": fields}}
        body = {
            "required": False,
            "content": {_JSON_MEDIA_TYPE: content, _FORM_MEDIA_TYPE: content},
        }
        return {"parameters": parameters, "requestBody": body}

    def _parse_body(self, content_type: str, body: bytes) -> list[tuple[str, str]]:
        """Return the parameters in a body.

        The body is a JSON object unless its media type is that of a form.
        """
        media_type = content_type.partition(";")[0].strip().lower()
        try:
            body_text = body.decode()
            if media_type == _FORM_MEDIA_TYPE:
                return parse_qsl(body_text)
            # Numbers stay the texts they are, for they are read as those of a query string.
            parameters = json.loads(
                body_text or "{}", parse_int=str, parse_float=str, parse_constant=_reject_constant
            )
        except (ValueError, RecursionError):
            raise bad_request(_INVALID_BODY_MESSAGE) from None
        if not isinstance(parameters, dict):
            raise bad_request(_INVALID_BODY_MESSAGE)
        fields = {name: value for name, value in parameters.items() if value is not None}
        if not all(map(is_valid_text, fields.values())):
            raise bad_request(_INVALID_BODY_MESSAGE)
        return list(fields.items())


class QueryOrJsonParser:
    """Parser of a GET's query string, else of a strictly typed JSON body; no path parameters."""

    uses_schema_refs: ClassVar[bool] = True  # a body is described as its model, by name

    async def parse(self, request: Request, model: type[M]) -> M:
        """Return the parameters of a request; raise `HttpError` if they are invalid."""
        try:
            if request.method.upper() == "GET":
                return model.model_validate(self._parse_query(_query_values(request), model))
            # Whatever the content type says, the body must be JSON.
            return model.model_validate_json(await _read_body(request), strict=True)
        except ValidationError as error:
            raise bad_request(_format_errors(error)) from None
        except PayloadTooLarge:
            raise bad_request(f"The body is longer than {MAX_BODY} bytes.") from None

    def error_statuses(self, _method: str) -> frozenset[int]:
        """Return the statuses with which it may reject a request."""
        return frozenset({HTTPStatus.BAD_REQUEST})

    def describe(self, model: type[BaseModel], method: str, _path: Iterable[str]) -> Json:
        """Return the `parameters` or the `requestBody` of an operation."""
        if method != "GET":
            content = {_JSON_MEDIA_TYPE: {"schema": schema_reference(model)}}
            return {"requestBody": {"required": True, "content": content}}
        required = model.model_json_schema().get("required", [])
        return {
            "parameters": [
                describe_parameter(name, schema, "query", required=name in required)
                | ({"style": "form", "explode": True} if schema.get("type") == "array" else {})
                for name, schema in _read_schema_properties(model).items()
            ]
        }

    def _parse_query(
        self, query: Mapping[str, Sequence[str]], model: type[BaseModel]
    ) -> Mapping[str, object]:
        """Return the query parameters by name.

        Of a repeated parameter that is not a list, the last value counts.
        """
        if sum(len(name) + sum(map(len, values)) for name, values in query.items()) > MAX_BODY:
            raise bad_request(f"The query string is longer than {MAX_BODY} bytes.")
        lists = {
            field.alias or name
            for name, field in model.model_fields.items()
            if get_origin(field.annotation) is tuple
        }
        return {
            name: ",".join(values).split(",") if name in lists else values[-1]
            for name, values in query.items()
        }


RequestParser = ParameterParser | QueryOrJsonParser  # several threads may use it at once


def _query_values(request: Request) -> Mapping[str, Sequence[str]]:
    """Return the values in the query string by name, in order."""
    query: bytes = request.scope["query_string"]
    return parse_qs(query.decode("utf-8", "replace"), keep_blank_values=True)


async def _read_body(request: Request) -> bytes:
    """Return the body, which may be empty; raise `PayloadTooLarge` if it is over the limit."""
    body = await read_limited_body(request, MAX_BODY)
    if body is None:
        raise PayloadTooLarge
    return body


def is_valid_text(value: object) -> bool:
    """Return True if a value is a text that can be encoded: no lone surrogate, as JSON allows."""
    try:
        return isinstance(value, str) and value.encode() is not None
    except UnicodeEncodeError:
        return False


def _reject_constant(name: str) -> None:
    """Reject NaN and Infinity, which Python accepts but JSON does not have."""
    raise ValueError(f"{name} is not valid JSON")


def schema_reference(model: type[BaseModel]) -> Json:
    """Return the reference to a model's schema."""
    return {"$ref": SCHEMA_REF.format(model=model.__name__)}


def _read_schema_properties(model: type[BaseModel]) -> dict[str, dict[str, Any]]:
    properties: dict[str, dict[str, Any]] = model.model_json_schema().get("properties", {})
    return properties


def describe_parameter(
    name: str, schema: Mapping[str, Any], location: str, *, required: bool | None = None
) -> Json:
    """Return the OpenAPI description of a parameter; it takes over that of the schema."""
    described: Json = {"name": name, "in": location}
    if required is not None:
        described["required"] = required
    if "description" in schema:
        described["description"] = schema["description"]
    bare = {key: value for key, value in schema.items() if key != "description"}
    return {**described, "schema": bare}


def _format_errors(error: ValidationError) -> str:
    """Return a sentence for each invalid field; never quote the input."""
    errors = error.errors(include_url=False)
    located_faults = (
        (".".join(map(str, detail["loc"])) or "The request", detail["msg"]) for detail in errors
    )
    return " ".join(f"{location}: {fault}." for location, fault in located_faults)
