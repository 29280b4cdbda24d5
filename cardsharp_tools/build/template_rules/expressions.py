"""Evaluation of template expressions for template rules: references and possible values."""

import json
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from cardsharp_tools.build.sam_transform import Template
from cardsharp_tools.local_cloud.nested_stacks import NAME_SUFFIX

ALIAS = "live"  # AutoPublishAlias of all functions
NO_VALUE = {"Ref": "AWS::NoValue"}
STACK_NAME_SAMPLE = f"cardsharp-{'n' * 22}"  # the longest name that the rules reckon with
SUBSTITUTION_PATTERN = re.compile(r"\$\{([^}!]+)\}")  # where Fn::Sub puts something
Expression = Any  # a part of a template: any JSON

_PSEUDO_PARAMETERS = {
    "AWS::AccountId": "123456789012",
    "AWS::Partition": "aws",
    "AWS::Region": "ap-southeast-2",
    "AWS::StackName": STACK_NAME_SAMPLE,
    "AWS::URLSuffix": "amazonaws.com",
}


@cache
def load_service_rule_table(name: str) -> Any:  # noqa: ANN401 - any TOML
    """Return a table of `service_rules.toml`: the rules, the limits of names, or the requests."""
    return tomllib.loads(Path(__file__).with_name("service_rules.toml").read_text("utf-8"))[name]


def as_list(expression: Expression) -> list[Expression]:
    """Return an expression as a list: a list unchanged, a single item as a list of one."""
    return expression if isinstance(expression, list) else [expression]


def intrinsic_call(expression: Expression) -> tuple[str, Expression]:
    """Return the name and argument of an intrinsic function call, or two empty texts."""
    if isinstance(expression, dict) and len(expression) == 1:
        ((name, argument),) = expression.items()
        if name in {"Ref", "Condition"} or name.startswith("Fn::"):
            return name, argument
    return "", ""


def get_att_text(argument: Expression) -> str:
    """Return the argument of Fn::GetAtt as `Name.Attribute`, whichever notation is used."""
    return argument if isinstance(argument, str) else ".".join(map(str, argument))


def parse_sub(argument: Expression) -> tuple[str, dict[str, Expression]]:
    """Return the arguments of Fn::Sub: the text and the variables that it defines itself."""
    return (argument, {}) if isinstance(argument, str) else (argument[0], argument[1])


def referenced_name(expression: Expression) -> str | None:
    """Return the logical name of the resource that an expression refers to, or None."""
    function, argument = intrinsic_call(expression)
    if function == "Ref":
        return str(argument)
    if function == "Fn::GetAtt":
        return get_att_text(argument).partition(".")[0]
    if function == "Fn::Sub":
        text, variables = parse_sub(argument)
        # A resource's own text, or something in it, such as a table's index.
        match = re.match(r"^(?:integrations/)?\$\{([^}!]+)\}", text)
        if match is not None:
            name = match[1].partition(".")[0]
            return referenced_name(variables[name]) if name in variables else name
    return None


def referenced_properties(expression: Expression, template: Template) -> Expression:
    """Return the properties of the referenced resource, empty if there is no reference.

    Of an alias they are those of its function.
    """
    name = function_of_alias(referenced_name(expression) or "")
    return template["Resources"].get(name, {}).get("Properties", {})


def resources_of_type(template: Template, *types: str) -> Iterator[tuple[str, Expression]]:
    """Return the logical names and properties of all resources of the given types."""
    for name, resource in template["Resources"].items():
        if resource["Type"] in types:
            yield name, resource.get("Properties", {})


def possible_values(expression: Expression, template: Template) -> Iterator[Expression]:
    """Yield every value that an expression can have in any deployment; nothing for NoValue.

    Of a number the least and the most; a free text is taken as its default. Names that
    CloudFormation makes are as long as it makes them.
    """
    match intrinsic_call(expression):
        case "Ref", name:
            yield from _iter_ref_values(name, template)
        case "Fn::If", [_, *ways]:
            for alternative in ways:
                yield from possible_values(alternative, template)
        case "Fn::FindInMap", [table, _, column, *default]:
            rows = template.get("Mappings", {}).get(table, {}).values()
            yield from (row[column] for row in rows if column in row)
            yield from (option["DefaultValue"] for option in default)
        case ("Fn::GetAtt" | "Fn::ImportValue" | "Fn::Join" | "Fn::Sub") as function, argument:
            yield _longest_text(function, argument, template)
        case _:
            yield expression


def _iter_ref_values(name: str, template: Template) -> Iterator[Expression]:
    parameter = template.get("Parameters", {}).get(name)
    if name in _PSEUDO_PARAMETERS or parameter is None:
        yield from (
            () if name == "AWS::NoValue" else [_PSEUDO_PARAMETERS.get(name) or _physical_id(name)]
        )
    elif "AllowedValues" in parameter:
        yield from parameter["AllowedValues"]
    else:
        # An empty text is what a condition asks about first.
        candidates = (
            parameter[key] for key in ("Default", "MinValue", "MaxValue") if key in parameter
        )
        yield from (value for value in candidates if value != "")


def _physical_id(name: str) -> str:
    """Return the value of Ref for a resource: its name, or the ARN of a function's alias."""
    function = function_of_alias(name)
    if function == name:
        return _placeholder_name(name)
    arn = f"arn:aws:lambda:{_PSEUDO_PARAMETERS['AWS::Region']}:123456789012:function"
    return f"{arn}:{_placeholder_name(function)}:{ALIAS}"


def function_of_alias(name: str) -> str:
    """Return the function of an alias, by the logical names that SAM gives; else the name."""
    return name.removesuffix(f"Alias{ALIAS}")


def _longest_text(function: str, argument: Expression, template: Template) -> str:
    """Return the longest text that a text-building expression can evaluate to."""
    if function in {"Fn::GetAtt", "Fn::ImportValue"}:
        name = get_att_text(argument) if function == "Fn::GetAtt" else "Imported"
        physical_name = _placeholder_name(name)
        arn = f"arn:aws:service:{_PSEUDO_PARAMETERS['AWS::Region']}:123456789012:{physical_name}"
        return arn if str(argument).rstrip("'}").endswith("Arn") else physical_name
    if function == "Fn::Join":
        return str(
            argument[0].join(_longest_value(value, template) for value in as_list(argument[1]))
        )
    text, variables = parse_sub(argument)

    def filled(match: re.Match[str]) -> str:
        name = match[1]
        expression = variables.get(name, {"Fn::GetAtt": name} if "." in name else {"Ref": name})
        return _longest_value(expression, template)

    return SUBSTITUTION_PATTERN.sub(filled, text)


def _longest_value(expression: Expression, template: Template) -> str:
    return max((str(value) for value in possible_values(expression, template)), key=len, default="")


def _placeholder_name(name: str) -> str:
    """Return a placeholder as long as the name that CloudFormation generates."""
    return f"{STACK_NAME_SAMPLE}-{name.partition('.')[0]}{NAME_SUFFIX}"


def longest_expansion(expression: Expression, template: Template) -> Expression:
    """Return an expression with each part at its longest possible value, for size limits."""
    if isinstance(expression, list):
        return [longest_expansion(item, template) for item in expression if item != NO_VALUE]
    if not isinstance(expression, dict):
        return expression
    if intrinsic_call(expression)[0]:
        candidates = [
            value if value == expression else longest_expansion(value, template)
            for value in possible_values(expression, template)
        ]
        return max(candidates, key=lambda candidate: len(str(candidate)), default=None)
    return {
        key: longest_expansion(value, template)
        for key, value in expression.items()
        if value != NO_VALUE
    }


def max_document_length(expression: Expression, template: Template) -> int:
    """Return the maximum length of a document in characters, without white space."""
    return len(re.sub(r"\s", "", json.dumps(longest_expansion(expression, template))))


def max_value(expression: Expression, template: Template) -> float:
    """Return the greatest number that an expression can have; 0 if it has none."""
    return max(_possible_numbers(expression, template), default=0)


def min_value(expression: Expression, template: Template) -> float:
    """Return the smallest number that an expression can have; 0 if it has none."""
    return min(_possible_numbers(expression, template), default=0)


def _possible_numbers(expression: Expression, template: Template) -> list[float]:
    values = possible_values(expression, template)
    return [float(value) for value in values if re.fullmatch(r"-?\d+(\.\d+)?", str(value))]
