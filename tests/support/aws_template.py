"""The translated template, and queries on it that several tests use."""

from collections.abc import Iterator
from functools import cache
from typing import Any

from cardsharp_tools.build.sam_transform import Template, transform_with_nested
from cardsharp_tools.build.template_rules import expressions
from cardsharp_tools.build.template_rules.expressions import as_list
from cardsharp_tools.local_cloud.template_files import ARENA_TEMPLATE, ROOT_STACKS, TEMPLATE


@cache
def template() -> Template:
    """template.yaml as CloudFormation gets it; with the resources and conditions of all stacks."""
    stacks = [transform_with_nested(path, game) for path, game in ROOT_STACKS]
    merged = {
        key: {name: part for stack in stacks for name, part in stack[key].items()}
        for key in ("Parameters", "Conditions", "Resources")
    }
    bot = transform_with_nested(TEMPLATE)
    return {**bot, **merged, "Parameters": {**merged["Parameters"], **bot["Parameters"]}}


def arena() -> Template:
    """stacks/arena.yaml as CloudFormation gets it, with what it nests."""
    return transform_with_nested(ARENA_TEMPLATE)


def of_kind(kind: str) -> dict[str, dict[str, Any]]:
    """The properties of all resources of a type, by logical name."""
    return dict(expressions.resources_of_type(template(), kind))


def properties(name: str) -> dict[str, Any]:
    return template()["Resources"][name]["Properties"]


def statements(role: str) -> Iterator[dict[str, Any]]:
    """Yield the statements of a role, including the policies of a service's table and secret."""
    service = role.removesuffix("Role")
    for name in ("TablePolicy", "SecretPolicy"):
        if f"{service}{name}" in template()["Resources"]:
            yield from properties(f"{service}{name}")["PolicyDocument"]["Statement"]
    for policy in properties(role)["Policies"]:
        yield from policy["PolicyDocument"]["Statement"]


def allowed_actions(name: str, service: str) -> set[str]:
    """Return the actions of a service that a role or policy allows, without the service's name."""
    policy = properties(name).get("PolicyDocument")
    return {
        action.partition(":")[2]
        for statement in (policy["Statement"] if policy else statements(name))
        if statement["Effect"] == "Allow"
        for action in as_list(statement["Action"])
        if action.startswith(f"{service}:")
    }
