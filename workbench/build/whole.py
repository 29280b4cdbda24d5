"""A stack with all that it nests, as one template, however it is cut in files.

A nested template's resources bear the name of the nested stack before their own; its parameters are
replaced by what they are given, and its outputs by what they tell.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cardsharp.errors import ConfigError
from workbench.build.expressions import PLACE, SUFFIX, Part, call, joined, listed, substituted
from workbench.build.translate import Template, translated
from workbench.cloud.template import TEMPLATE

NESTED = "AWS::CloudFormation::Stack"


def roots() -> list[Path]:
    """The templates that are deployed themselves: those that no other one nests."""
    here = TEMPLATE.parent
    found = [*here.glob("[!.]*.yaml"), *here.glob("stacks/*.yaml")]
    nested = {inner for path in found for inner in _nested(path, translated(path))}
    return sorted(set(found) - nested)


def whole(path: Path) -> Template:
    """The translation of a template with that of everything it nests.

    Raises:
        ConfigError: a nested template is not given exactly what it asks for.
    """
    template = translated(path)
    for inner, names in _nested(path, template).items():
        for name in names:
            _merge(template, name, whole(inner))
    return template


def _nested(path: Path, template: Template) -> Mapping[Path, list[str]]:
    """The files of what a template nests, with the logical names of the stacks."""
    found: dict[Path, list[str]] = {}
    for name, told in template["Resources"].items():
        if told["Type"] == NESTED:
            inner = (path.parent / told["Properties"]["TemplateURL"]).resolve()
            found.setdefault(inner, []).append(name)
    return found


def _merge(outer: Template, name: str, inner: Template) -> None:
    """Put a nested template into the one that nests it, in the place of its stack."""
    stack = outer["Resources"].pop(name)
    filled = _Filled(name, _arguments(name, stack, inner))
    for section in ("Conditions", "Mappings"):
        for key, told in inner.get(section, {}).items():
            outer.setdefault(section, {})[f"{name}{key}"] = filled.of(told)
    for key, told in inner["Resources"].items():
        resource = filled.resource(told)
        _ask_also(outer, resource, stack.get("Condition"), f"{name}{key}")
        outer["Resources"][f"{name}{key}"] = resource
    outputs = {key: filled.of(told["Value"]) for key, told in inner.get("Outputs", {}).items()}
    for section in ("Resources", "Outputs"):
        outer[section] = _answered(outer.get(section, {}), name, outputs)


def _arguments(name: str, stack: Part, inner: Template) -> dict[str, Part]:
    """What the parameters of a nested template come to."""
    given, asked = stack["Properties"].get("Parameters", {}), inner.get("Parameters", {})
    missing = {one for one, told in asked.items() if "Default" not in told} - given.keys()
    wrong = sorted(missing | (given.keys() - asked.keys()))
    if wrong:
        told = ", ".join(wrong)
        raise ConfigError(f"The nested stack {name} and its template do not agree about {told}.")
    return {one: given.get(one, told.get("Default")) for one, told in asked.items()}


def _ask_also(outer: Template, resource: Part, condition: str | None, name: str) -> None:
    """Have a resource also depend on the condition of the stack that it is in."""
    own = resource.get("Condition")
    if condition is not None and own is not None:
        both = {"Fn::And": [{"Condition": condition}, {"Condition": own}]}
        outer["Conditions"][f"{name}Asked"] = both
        resource["Condition"] = f"{name}Asked"
    elif condition is not None:
        resource["Condition"] = condition


def _answered(part: Part, name: str, outputs: Mapping[str, Part]) -> Part:
    """A part in which what a nested stack's outputs were asked for stands itself."""
    if isinstance(part, list):
        return [_answered(one, name, outputs) for one in part]
    if not isinstance(part, dict):
        return part
    function, given = call(part)
    if function == "Fn::GetAtt" and joined(given).startswith(f"{name}.Outputs."):
        return outputs[joined(given).removeprefix(f"{name}.Outputs.")]
    return {key: _answered(one, name, outputs) for key, one in part.items()}


@dataclass(frozen=True, slots=True)
class _Filled:
    """Rewrites the parts of a nested template for the one that nests it."""

    stack: str
    arguments: Mapping[str, Part]

    def resource(self, part: Part) -> Part:
        """A resource; also its own condition and what it waits for."""
        told = {key: self.of(one) for key, one in part.items()}
        if "Condition" in part:
            told["Condition"] = f"{self.stack}{part['Condition']}"
        if "DependsOn" in part:
            told["DependsOn"] = [f"{self.stack}{one}" for one in listed(part["DependsOn"])]
        return told

    def of(self, part: Part) -> Part:
        """The part with names of the outer template, and without the inner one's parameters."""
        if isinstance(part, list):
            return [self.of(one) for one in part]
        return self._called(part) if isinstance(part, dict) else part

    def _called(self, part: Part) -> Part:
        function, given = call(part)
        match function:
            case "Ref":
                return self._named(given)
            case "Fn::Sub":
                return self._sub(given)
            case "Fn::GetAtt":
                return {function: f"{self.stack}{joined(given)}"}
            case "Condition" if isinstance(given, str):
                return {function: f"{self.stack}{given}"}
            case "Fn::If" | "Fn::FindInMap":
                return {function: [f"{self.stack}{given[0]}", *map(self.of, given[1:])]}
        return {key: self.of(one) for key, one in part.items()}

    def _named(self, name: str) -> Part:
        if name == "AWS::StackName":
            return {"Fn::Sub": f"${{AWS::StackName}}-{self.stack}{SUFFIX}"}
        if name in self.arguments:
            return self.arguments[name]
        return {"Ref": name if name.startswith("AWS::") else f"{self.stack}{name}"}

    def _sub(self, given: Part) -> Part:
        text, own = substituted(given)
        names = {name: self.of(one) for name, one in own.items()}

        def place(found: re.Match[str]) -> str:
            name, dot, rest = found[1].partition(".")
            if found[1] in names:
                return found[0]
            if name in self.arguments:
                names[name] = self.arguments[name]
                return found[0]
            if name == "AWS::StackName":
                return f"{found[0]}-{self.stack}{SUFFIX}"
            return found[0] if name.startswith("AWS::") else f"${{{self.stack}{name}{dot}{rest}}}"

        text = PLACE.sub(place, text)
        return {"Fn::Sub": [text, names] if names else text}
