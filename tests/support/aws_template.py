"""Translated template, and queries on it that several tests use."""

from collections.abc import Iterator
from functools import cache
from typing import Any

from cardsharp_tools.build.sam_transform import Template, transform_with_nested
from cardsharp_tools.build.template_rules import expressions
from cardsharp_tools.build.template_rules.expressions import as_list
from cardsharp_tools.local_cloud.template_files import ARENA_TEMPLATE, ROOT_STACKS, TEMPLATE


@cache
def template() -> Template:
    """Return template.yaml as CloudFormation gets it, with the parts of all stacks."""
    stacks = [transform_with_nested(path, game) for path, game in ROOT_STACKS]
    merged = {
        key: {name: part for stack in stacks for name, part in stack[key].items()}
        for key in ("Parameters", "Conditions", "Resources")
    }
    bot = transform_with_nested(TEMPLATE)
    return {**bot, **merged, "Parameters": {**merged["Parameters"], **bot["Parameters"]}}


def arena_template() -> Template:
    """Return stacks/arena.yaml as CloudFormation gets it, with its nested stacks."""
    return transform_with_nested(ARENA_TEMPLATE)


def template_resources_of_type(kind: str) -> dict[str, dict[str, Any]]:
    """Return the properties of all resources of a type, by logical name."""
    return dict(expressions.resources_of_type(template(), kind))


def resource_properties(name: str) -> dict[str, Any]:
    return template()["Resources"][name]["Properties"]


def role_statements(role: str) -> Iterator[dict[str, Any]]:
    """Yield the statements of a role, including the policies of a service's table and secret."""
    service = role.removesuffix("Role")
    for name in ("TablePolicy", "SecretPolicy"):
        if f"{service}{name}" in template()["Resources"]:
            yield from resource_properties(f"{service}{name}")["PolicyDocument"]["Statement"]
    for policy in resource_properties(role)["Policies"]:
        yield from policy["PolicyDocument"]["Statement"]


def allowed_actions(name: str, service: str) -> set[str]:
    """Return the actions of a service that a role or policy allows, without the service's name."""
    policy = resource_properties(name).get("PolicyDocument")
    return {
        action.partition(":")[2]
        for statement in (policy["Statement"] if policy else role_statements(name))
        if statement["Effect"] == "Allow"
        for action in as_list(statement["Action"])
        if action.startswith(f"{service}:")
    }
