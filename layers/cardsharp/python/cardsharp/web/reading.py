"""The two ways in which a request carries its message, and how each is told in the document.

`Parameters` takes texts from path, query and body alike, as old clients send them. `Messages`
takes typed JSON, strictly: what is echoed comes back with the type with which it came.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, ClassVar, TypeVar, get_origin
from urllib.parse import parse_qsl, unquote

from pydantic import BaseModel, ValidationError

from cardsharp.errors import Malformed
from cardsharp.web.events import is_text
from cardsharp.web.request import MAX_BODY, Request, TooLarge
from cardsharp.web.route import bad_request

M = TypeVar("M", bound=BaseModel)

Json = dict[str, object]  # a JSON object

_BAD_BODY = "The body must be a JSON object of texts and numbers, or a form"
_FORM = "application/x-www-form-urlencoded"
_JSON = "application/json"
REFERENCE = "#/components/schemas/{model}"


@dataclass(frozen=True, slots=True)
class Parameters:
    """Every field is a text in the path, the query string, or the JSON object or form of a POST.

    What is empty counts as missing, unless `keeps_empty`. What is sent twice is joined, and so
    cannot be any valid value.
    """

    keeps_empty: bool = False
    refers: ClassVar[bool] = False  # the fields of a body are described where it is

    def read(self, request: Request, model: type[M], captured: Mapping[str, str]) -> M:
        """The message of a request; raises `Refused` if it cannot be read as one."""
        given = {name: ",".join(values) for name, values in request.query().items()}
        if request.method == "POST":
            for name, value in self._body(request):
                given[name] = f"{given[name]},{value}" if given.get(name) else value
        sent = {name: value for name, value in given.items() if value or self.keeps_empty}
        sent |= {name: unquote(value) for name, value in captured.items()}
        try:
            return model.model_validate(sent)
        except ValidationError as error:
            raise bad_request(_sentences(error)) from None

    def refusals(self, method: str) -> frozenset[int]:
        """The statuses with which it may refuse a request."""
        body = {HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE}
        return frozenset(body if method == "POST" else ())

    def describe(self, model: type[BaseModel], method: str, path: Iterable[str]) -> Json:
        """The `parameters` and `requestBody` of an operation; `path` names those in the path."""
        fields = {
            name: {key: value for key, value in schema.items() if key not in {"title", "default"}}
            for name, schema in _properties(model).items()
        }
        parameters = [_parameter(name, fields.pop(name), "path", required=True) for name in path]
        parameters += [_parameter(name, schema, "query") for name, schema in fields.items()]
        if method != "POST" or not fields:
            return {"parameters": parameters}
        content = {"schema": {"type": "object", "properties": fields}}
        body = {"required": False, "content": {_JSON: content, _FORM: content}}
        return {"parameters": parameters, "requestBody": body}

    def _body(self, request: Request) -> list[tuple[str, str]]:
        """The parameters in a body, a JSON object unless it says that it is a form."""
        media_type = (request.header("content-type") or "").partition(";")[0].strip().lower()
        try:
            text = request.body().decode()
            if media_type == _FORM:
                return parse_qsl(text)
            # Numbers stay the texts they are, for they are read as those of a query string.
            body = json.loads(
                text or "{}", parse_int=str, parse_float=str, parse_constant=_no_constant
            )
        except (ValueError, RecursionError):
            raise bad_request(_BAD_BODY) from None
        if not isinstance(body, dict):
            raise bad_request(_BAD_BODY)
        given = {name: value for name, value in body.items() if value is not None}
        if not all(map(is_text, given.values())):
            raise bad_request(_BAD_BODY)
        return list(given.items())


class Messages:
    """The query string of a GET, else a JSON body, strictly typed; nothing is in the path."""

    refers: ClassVar[bool] = True  # a body is described as its model, by name

    def read(self, request: Request, model: type[M], _captured: Mapping[str, str]) -> M:
        """The message of a request; raises `Refused` if it cannot be read as one."""
        try:
            if request.method == "GET":
                return model.model_validate(self._query(request, model))
            # Whatever the content type says, the body must be JSON.
            return model.model_validate_json(request.body(), strict=True)
        except ValidationError as error:
            raise bad_request(_sentences(error)) from None
        except Malformed as error:
            raise bad_request(str(error)) from None
        except TooLarge:
            raise bad_request(f"The body is longer than {MAX_BODY} bytes.") from None

    def refusals(self, _method: str) -> frozenset[int]:
        """The statuses with which it may refuse a request."""
        return frozenset({HTTPStatus.BAD_REQUEST})

    def describe(self, model: type[BaseModel], method: str, _path: Iterable[str]) -> Json:
        """The `parameters` or the `requestBody` of an operation."""
        if method != "GET":
            content = {_JSON: {"schema": reference(model)}}
            return {"requestBody": {"required": True, "content": content}}
        required = model.model_json_schema().get("required", [])
        return {
            "parameters": [
                _parameter(name, schema, "query", required=name in required)
                | ({"style": "form", "explode": True} if schema.get("type") == "array" else {})
                for name, schema in _properties(model).items()
            ]
        }

    def _query(self, request: Request, model: type[BaseModel]) -> Mapping[str, object]:
        """Query parameters by name; only lists keep more than the last value."""
        sent = request.query()
        if sum(len(name) + sum(map(len, values)) for name, values in sent.items()) > MAX_BODY:
            raise Malformed(f"The query string is longer than {MAX_BODY} bytes.")
        lists = {
            field.alias or name
            for name, field in model.model_fields.items()
            if get_origin(field.annotation) is tuple
        }
        return {
            name: ",".join(values).split(",") if name in lists else values[-1]
            for name, values in sent.items()
        }


Reading = Parameters | Messages  # several threads may use it at once


def _no_constant(name: str) -> None:
    """Refuse NaN and Infinity, which Python reads and JSON does not have."""
    raise ValueError(f"{name} is no JSON")


def reference(model: type[BaseModel]) -> Json:
    """What refers to the schema of a model."""
    return {"$ref": REFERENCE.format(model=model.__name__)}


def _properties(model: type[BaseModel]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = model.model_json_schema().get("properties", {})
    return found


def _parameter(
    name: str, schema: Mapping[str, Any], place: str, *, required: bool | None = None
) -> Json:
    described: Json = {"name": name, "in": place}
    if required is not None:
        described["required"] = required
    if "description" in schema:
        described["description"] = schema["description"]
    bare = {key: value for key, value in schema.items() if key != "description"}
    return {**described, "schema": bare}


def _sentences(error: ValidationError) -> str:
    """What is wrong with each field; never quotes what was sent."""
    found = error.errors(include_url=False)
    named = ((".".join(map(str, one["loc"])) or "The request", one["msg"]) for one in found)
    return " ".join(f"{where}: {fault}." for where, fault in named)
