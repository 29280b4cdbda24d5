"""The translated template, and questions that several tests ask of it."""

from collections.abc import Iterator
from functools import cache
from typing import Any

from workbench.build import expressions
from workbench.build.expressions import listed
from workbench.build.translate import Template, whole
from workbench.cloud.template import ARENA, TEMPLATE


@cache
def template() -> Template:
    """template.yaml as CloudFormation gets it, with what it nests; and the arena's resources."""
    bot = whole(TEMPLATE)
    return {**bot, "Resources": {**arena()["Resources"], **bot["Resources"]}}


def arena() -> Template:
    """stacks/arena.yaml as CloudFormation gets it, with what it nests."""
    return whole(ARENA)


def of_kind(kind: str) -> dict[str, dict[str, Any]]:
    """The properties of all resources of a type, by logical name."""
    return dict(expressions.of_kind(template(), kind))


def properties(name: str) -> dict[str, Any]:
    return template()["Resources"][name]["Properties"]


def statements(role: str) -> Iterator[dict[str, Any]]:
    """What a role may do, also by the policies of a service's table and password."""
    service = role.removesuffix("Role")
    for name in ("TablePolicy", "SecretPolicy"):
        if f"{service}{name}" in template()["Resources"]:
            yield from properties(f"{service}{name}")["PolicyDocument"]["Statement"]
    for policy in properties(role)["Policies"]:
        yield from policy["PolicyDocument"]["Statement"]


def allowed_actions(name: str, service: str) -> set[str]:
    """What a role or a policy allows in a service, without the service's name."""
    policy = properties(name).get("PolicyDocument")
    return {
        action.partition(":")[2]
        for statement in (policy["Statement"] if policy else statements(name))
        if statement["Effect"] == "Allow"
        for action in listed(statement["Action"])
        if action.startswith(f"{service}:")
    }
