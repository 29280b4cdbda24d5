"""One table of rules for what AWS rejects or ignores, unnoticed by any emulator.

The table is `service_rules.toml`. Each rule has its statement, its source, and its checker: the
pinned cfn-lint (`cfn-lint`), the service's model in botocore (`model`), or a function (`here`)
of the rule's name in a module of this package, such as `service_limits`. Rules are applied to
transformed templates with all nested templates, so they hold however a stack is split.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import botocore.session
from botocore.model import ListShape, Shape, StructureShape

from cardsharp.errors import ConfigError
from cardsharp_tools.build.sam_transform import Template, transform_with_nested
from cardsharp_tools.build.template_rules import monitoring, permissions, service_limits
from cardsharp_tools.build.template_rules.expressions import (
    Expression,
    intrinsic_call,
    load_service_rule_table,
    possible_values,
)

_NUMBER_TYPES = {"double", "float", "integer", "long"}


@cache
def _load_request_shape(resource_type: str) -> Shape:
    service, operation = load_service_rule_table("requests")[resource_type]
    model = botocore.session.get_session().get_service_model(service)
    shape = model.operation_model(operation).input_shape
    if shape is None:
        raise ConfigError(f"{operation} asks for nothing.")
    return shape


def check_service_models(template: Template) -> Iterator[str]:
    """Yield each value that the service's model rejects: too long, too large or unknown."""
    for name, resource in template["Resources"].items():
        if resource["Type"] in load_service_rule_table("requests"):
            yield from _shape_violations(
                resource.get("Properties", {}),
                _load_request_shape(resource["Type"]),
                name,
                template,
            )


def _shape_violations(
    expression: Expression, shape: Shape, property_path: str, template: Template
) -> Iterator[str]:
    """Yield every violation of a shape's constraints in a part of a template."""
    if (
        isinstance(shape, StructureShape)
        and isinstance(expression, dict)
        and not intrinsic_call(expression)[0]
    ):
        members = {name.lower(): member for name, member in shape.members.items()}
        for key in expression.keys() & {key for key in expression if key.lower() in members}:
            yield from _shape_violations(
                expression[key], members[key.lower()], f"{property_path}.{key}", template
            )
    elif isinstance(shape, ListShape) and isinstance(expression, list):
        if (
            not shape.metadata.get("min", 0)
            <= len(expression)
            <= shape.metadata.get("max", len(expression))
        ):
            yield f"{property_path} has {len(expression)} entries"
        for item in expression:
            yield from _shape_violations(item, shape.member, property_path, template)
    else:
        for value in possible_values(expression, template):
            fault = _describe_violation(value, shape, is_literal=value == expression)
            yield from [f"{property_path} {fault}"] if fault else []


def _describe_violation(value: Expression, shape: Shape, *, is_literal: bool) -> str:
    """Return the constraint that a plain value violates, or an empty text.

    Patterns are checked only for values that the template itself states.
    """
    constraints = shape.metadata
    if shape.type_name in _NUMBER_TYPES and re.fullmatch(r"-?[\d.]+", str(value)):
        if (
            not constraints.get("min", float(value))
            <= float(value)
            <= constraints.get("max", float(value))
        ):
            return f"is {value}, not {constraints.get('min')} to {constraints.get('max')}"
    elif shape.type_name == "string" and isinstance(value, str | int):
        return _describe_text_violation(str(value), shape, is_literal=is_literal)
    return ""


def _describe_text_violation(text: str, shape: Shape, *, is_literal: bool) -> str:
    constraints = shape.metadata
    if "enum" in constraints and text not in constraints["enum"]:
        return f"is {text}, none of {', '.join(constraints['enum'])}"
    if not constraints.get("min", 0) <= len(text) <= constraints.get("max", len(text)):
        return (
            f"has {len(text)} characters, not {constraints.get('min', 0)} to "
            f"{constraints.get('max')}"
        )
    if (
        is_literal
        and "pattern" in constraints
        and not _matches_pattern(constraints["pattern"], text)
    ):
        return f"is {text!r}, which is no {shape.name}"
    return ""


def _matches_pattern(pattern: str, text: str) -> bool:
    """Return True if a text matches a service's pattern, or if Python cannot compile it."""
    try:
        return re.fullmatch(pattern, text) is not None
    except re.error:
        return True


Check = Callable[[Template], Iterator[str]]  # yields a sentence for each breach

_RULE_MODULES = (service_limits, permissions, monitoring)
MODEL_RULE = "model"


def rule_violations(path: Path) -> Iterator[str]:
    """Yield every violation of these rules in a template and its nested templates."""
    try:
        template = transform_with_nested(path)
    except ConfigError as error:
        yield f"{path.name}: {error}"
        return
    for name, check in rule_functions().items():
        yield from (f"{path.name}: {violation} ({name})" for violation in check(template))


def rule_functions() -> dict[str, Check]:
    """Return the check functions by rule name; all rules of service models share one function."""
    checks: dict[str, Check] = {MODEL_RULE: check_service_models}
    for rule in load_service_rule_table("rule"):
        if rule["by"] == "here":
            name = rule["name"].replace("-", "_")
            checks[rule["name"]] = next(getattr(m, name) for m in _RULE_MODULES if hasattr(m, name))
    return checks
