"""The translated template, and questions that several tests ask of it."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from workbench.build.translate import Template, translated
from workbench.cloud.template import WATCHING

STACK = "cardsharp-test"


@cache
def template() -> Template:
    """template.yaml as CloudFormation gets it, with what it nests as if it stood there."""
    top, nested = translated(), translated(WATCHING)
    arguments = top["Resources"]["Watching"]["Properties"]["Parameters"]
    return {**top, "Resources": {**top["Resources"], **filled(nested["Resources"], arguments)}}


def filled(part: Any, arguments: Mapping[str, Any]) -> Any:  # noqa: ANN401 - any JSON
    """A part of a nested template with its parameters replaced by what they are given."""
    if isinstance(part, list):
        return [filled(one, arguments) for one in part]
    if not isinstance(part, dict):
        return part
    if part.keys() == {"Ref"} and part["Ref"] in arguments:
        return arguments[part["Ref"]]
    if part.keys() == {"Fn::Sub"} and isinstance(part["Fn::Sub"], str):
        text = part["Fn::Sub"]
        for name, one in arguments.items():
            text = text.replace(f"${{{name}}}", f"${{{next(iter(one.values()))}}}")
        return {"Fn::Sub": text}
    return {key: filled(one, arguments) for key, one in part.items()}


def of_kind(kind: str) -> dict[str, dict[str, Any]]:
    """The properties of all resources of a type, by logical name."""
    return {
        name: resource["Properties"]
        for name, resource in template()["Resources"].items()
        if resource["Type"] == kind
    }


def properties(name: str) -> dict[str, Any]:
    found: dict[str, Any] = template()["Resources"][name]["Properties"]
    return found


def statements(role: str) -> Iterator[dict[str, Any]]:
    for policy in properties(role)["Policies"]:
        yield from policy["PolicyDocument"]["Statement"]


def listed(value: object) -> list[Any]:
    """One or several, as a list."""
    return value if isinstance(value, list) else [value]


def allowed_actions(role: str, service: str) -> set[str]:
    """What a role may do in a service, without the service's name."""
    return {
        action.partition(":")[2]
        for statement in statements(role)
        if statement["Effect"] == "Allow"
        for action in listed(statement["Action"])
        if action.startswith(f"{service}:")
    }
