"""A template with what it nests, as if all stood in one: for questions that know no stacks.

A nested stack whose logical name ends with "Stack" gives its resources a prefix: Table in
ArenaStack is ArenaTable. All others have names of their own, and keep them. Parameters are
replaced by what they are given, and conditions that follow from that alone are decided.

The stack of a game is the same template for every game. Flattened for Blef, its resources are
called BlefTable and so on.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

Expression = Any  # a part of a template: any JSON

TemplateLoader = Callable[[Path], dict[str, Expression]]

NESTED_STACK_TYPES: Final = {
    "AWS::Serverless::Application": "Location",
    "AWS::CloudFormation::Stack": "TemplateURL",
}
"""The types of nested stacks, before and after SAM's transform, and what names their templates."""


NAME_SUFFIX = "-ABCDEFGHIJKL"  # as long as what CloudFormation puts behind the names that it makes


def resource_name_prefix(stack: str) -> str:
    """Return the prefix of the names of a nested stack's resources, by its logical name."""
    prefix = stack.removesuffix("Stack")
    return "" if prefix == stack else prefix


GAME_PARAMETER: Final = "Game"  # of the template that is a stack for every game


def flatten_template(path: Path, load: TemplateLoader, game: str = "") -> dict[str, Expression]:
    """Return the template of a file, merged with all its nested templates."""
    root = load(path)
    conditions = dict(root.get("Conditions", {}))
    parameters = {GAME_PARAMETER: game} if game else None
    nested = _NestedTemplate(root, path, load, conditions, parameters=parameters, game=game)
    resources = dict(nested.resources())
    return {**root, "Conditions": conditions, "Resources": resources}


def apply_default_parameters(template: Mapping[str, Expression]) -> dict[str, Expression]:
    """Return a flattened template as it is deployed with all parameters at their defaults."""
    defaults = {
        name: parameter.get("Default", "")
        for name, parameter in template.get("Parameters", {}).items()
    }
    nested = _NestedTemplate(template, Path(), lambda _: {}, {}, parameters=defaults)
    return {**template, "Resources": dict(nested.resources())}


@dataclass(frozen=True)
class _NestedTemplate:
    """Template with the values that it gets from the template that nests it."""

    template: Mapping[str, Expression]
    path: Path
    load: TemplateLoader
    conditions: dict[str, Expression]  # of all templates; those that are found are added
    prefix: str = ""
    parameters: Mapping[str, Expression] | None = None  # its parameters' values; none for the root

    stack_condition: str | None = None  # the condition of the nested stack itself
    stack: str = "${AWS::StackName}"  # how its stack is called
    game: str = ""  # the game for which the root is deployed, after which its resources are named

    def resources(self) -> Iterator[tuple[str, Expression]]:
        """Yield name and definition of each resource, also of nested templates.

        Expressions are resolved as far as possible. A resource whose condition is known to be
        false is left out.
        """
        for name, resource in self.template["Resources"].items():
            condition = self._resolve_condition_name(resource.get("Condition"))
            if condition is False:
                continue
            if resource["Type"] in NESTED_STACK_TYPES:
                yield from self._load_nested_template(name).resources()
                continue
            fields = {
                key: self.resolve_expression(value)
                for key, value in resource.items()
                if key != "Condition"
            }
            if "DependsOn" in fields:
                fields["DependsOn"] = f"{self.prefix}{fields['DependsOn']}"
            yield f"{self.prefix}{name}", fields | ({"Condition": condition} if condition else {})

    def _load_nested_template(self, name: str) -> "_NestedTemplate":
        resource = self.template["Resources"][name]
        properties = resource["Properties"]
        path = self.path.parent / properties[NESTED_STACK_TYPES[resource["Type"]]]
        template = self.load(path)
        parameters = {
            key: parameter.get("Default")
            for key, parameter in template.get("Parameters", {}).items()
        }
        parameters |= {
            key: self.resolve_expression(value)
            for key, value in properties.get("Parameters", {}).items()
        }
        lists = {
            k for k, parameter in template["Parameters"].items() if "List" in parameter["Type"]
        }
        parameters |= {key: str(parameters[key]).split(",") for key in lists}
        condition = self._resolve_condition_name(resource.get("Condition"))
        prefix = resource_name_prefix(name)
        inner = self.game.capitalize() if prefix == GAME_PARAMETER and self.game else prefix
        stack = f"{self.stack}-{name}{NAME_SUFFIX}"
        template_arguments = (template, path, self.load, self.conditions)
        return _NestedTemplate(*template_arguments, inner, parameters, condition or None, stack)

    def _resolve_condition_name(self, name: str | None) -> str | Literal[False] | None:
        """Return the condition's name in the merged template; False if it is never true."""
        if name is None or self.parameters is None:
            return name or self.stack_condition
        condition = self.resolve_expression(self.template["Conditions"][name])
        decided = _evaluate_condition(condition)
        if decided is not None:
            return self.stack_condition if decided else False
        equal_conditions = [
            condition_name
            for condition_name, other_condition in self.conditions.items()
            if other_condition == condition
        ]
        full_name = equal_conditions[0] if equal_conditions else f"{self.prefix}{name}"
        self.conditions.setdefault(full_name, condition)
        return full_name

    def resolve_expression(self, expression: Expression) -> Expression:
        """Return an expression with parameters, conditions and nested outputs resolved."""
        if isinstance(expression, list):
            return [
                item
                for item in map(self.resolve_expression, expression)
                if not self._is_removed(item)
            ]
        if not isinstance(expression, dict):
            return expression
        if len(expression) == 1:
            ((function, argument),) = expression.items()
            result = self._resolve_function(function, argument)
            if result is not None:
                return result
        filled = {key: self.resolve_expression(value) for key, value in expression.items()}
        return {key: value for key, value in filled.items() if not self._is_removed(value)}

    def _is_removed(self, expression: Expression) -> bool:
        """Return True if the parameters of a nested template have removed this part."""
        return self.parameters is not None and expression == {"Ref": "AWS::NoValue"}

    def _resolve_function(self, function: str, argument: Expression) -> Expression | None:
        """Return the value of an intrinsic function, or None if only its arguments change."""
        match function, argument:
            case "Condition", str() if self.parameters is not None:
                return self.resolve_expression(self.template["Conditions"][argument])
            case "Ref", str():
                return self._resolve_reference(argument, {"Ref": f"{self.prefix}{argument}"})
            case "Fn::GetAtt", str() | [str(), str()]:
                name, attribute = argument.split(".", 1) if isinstance(argument, str) else argument
                return self._resolve_attribute(name, attribute)
            case "Fn::Sub", str() if self.parameters is not None or ".Outputs." in argument:
                return self._resolve_substitution(argument)
            case "Fn::If", [str() as name, yes, no] if self.parameters is not None:
                return self._resolve_if(name, yes, no)
        return None

    def _resolve_if(self, name: str, yes: Expression, no: Expression) -> Expression:
        condition = self._resolve_condition_name(name)
        decided = _evaluate_condition(self.resolve_expression(self.template["Conditions"][name]))
        if decided is not None:
            return self.resolve_expression(yes if decided else no)
        return {"Fn::If": [condition, self.resolve_expression(yes), self.resolve_expression(no)]}

    def _resolve_reference(self, name: str, resource_reference: Expression) -> Expression:
        if self.parameters is not None and name in self.parameters:
            return self.parameters[name]
        if name == "AWS::StackName" and self.parameters is not None:
            return {"Fn::Sub": self.stack}
        return resource_reference if name in self.template["Resources"] else {"Ref": name}

    def _resolve_attribute(self, name: str, attribute: str) -> Expression:
        resource = self.template["Resources"].get(name, {})
        if resource.get("Type") in NESTED_STACK_TYPES:
            inner = self._load_nested_template(name)
            name = attribute.removeprefix("Outputs.")
            return inner.resolve_expression(inner.template["Outputs"][name]["Value"])
        return {"Fn::GetAtt": f"{self.prefix}{name}.{attribute}"}

    def _resolve_substitution(self, text: str) -> Expression:
        """Return an `Fn::Sub` in which parameters that are texts or names are written out."""
        variables: dict[str, Expression] = {}

        def written(reference: re.Match[str]) -> str:
            """Return the text for a `${...}`; any other value becomes a variable of the `Sub`."""
            name, _, attribute = reference[1].partition(".")
            value = (
                self._resolve_attribute(name, attribute)
                if attribute
                else self._resolve_reference(name, {"Ref": f"{self.prefix}{name}"})
            )
            match value:
                case str() | int():
                    return str(value)
                case {"Ref": str(other)} | {"Fn::GetAtt": str(other)} if "Outputs" not in other:
                    return f"${{{other}}}"
                case {"Fn::Sub": str(other)}:
                    return other
            variables[name] = value
            return reference[0]

        full_text = re.sub(r"\$\{([^!}]+)\}", written, text)
        if variables:
            return {"Fn::Sub": [full_text, variables]}
        return {"Fn::Sub": full_text} if "${" in full_text else full_text


def _evaluate_condition(condition: Expression) -> bool | None:
    """Return the value of a condition that compares only constants, else None."""
    match condition:
        case {"Fn::Equals": [str() | int() as first, str() | int() as second]}:
            return str(first) == str(second)
        case {"Fn::Not": [negated]}:
            inner = _evaluate_condition(negated)
            return None if inner is None else not inner
        case {"Fn::And": [*parts]} if None not in (
            results := list(map(_evaluate_condition, parts))
        ):
            return all(results)
        case {"Fn::Or": [*parts]} if None not in (results := list(map(_evaluate_condition, parts))):
            return any(results)
    return None
