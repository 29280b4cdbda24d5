"""A template with what it nests, as if all stood in one: for questions that know no stacks.

A nested resource begins with the name of its stack where that is a game's, written small: Table
in the stack blef is blefTable. All others have names of their own, and keep them. Parameters are
replaced by what they are given, and conditions that follow from that alone are decided.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

Part = Any  # a part of a template: any JSON

Load = Callable[[Path], dict[str, Part]]

NESTED: Final = {
    "AWS::Serverless::Application": "Location",
    "AWS::CloudFormation::Stack": "TemplateURL",
}
"""The types of nested stacks, before and after SAM's transform, and what names their templates."""


SUFFIX = "-ABCDEFGHIJKL"  # as long as what CloudFormation puts behind the names that it makes


def prefix_of(stack: str) -> str:
    """What the names of a nested stack's resources begin with, by its own logical name."""
    return stack if stack.islower() else ""


def flattened(path: Path, load: Load) -> dict[str, Part]:
    """The template in that file, its resources and conditions with those of all that it nests."""
    root = load(path)
    conditions = dict(root.get("Conditions", {}))
    resources = dict(_Nested(root, path, load, conditions).resources())
    return {**root, "Conditions": conditions, "Resources": resources}


def by_default(template: Mapping[str, Part]) -> dict[str, Part]:
    """What of a flattened template is deployed where every parameter has its default."""
    given = {name: one.get("Default", "") for name, one in template.get("Parameters", {}).items()}
    whole = _Nested(template, Path(), lambda _: {}, {}, given=given)
    return {**template, "Resources": dict(whole.resources())}


@dataclass(frozen=True)
class _Nested:
    """One template, and what it is given by the one that nests it."""

    template: Mapping[str, Part]
    path: Path
    load: Load
    conditions: dict[str, Part]  # of all templates; those that are found are added
    prefix: str = ""
    given: Mapping[str, Part] | None = None  # its parameters' values; none for the root

    asked: str | None = None  # the condition of the nested stack itself
    stack: str = "${AWS::StackName}"  # how its stack is called

    def resources(self) -> Iterator[tuple[str, Part]]:
        for name, resource in self.template["Resources"].items():
            condition = self._condition(resource.get("Condition"))
            if condition is False:
                continue
            if resource["Type"] in NESTED:
                yield from self._inner(name).resources()
                continue
            told = {key: self.filled(part) for key, part in resource.items() if key != "Condition"}
            if "DependsOn" in told:
                told["DependsOn"] = f"{self.prefix}{told['DependsOn']}"
            yield f"{self.prefix}{name}", told | ({"Condition": condition} if condition else {})

    def _inner(self, name: str) -> "_Nested":
        resource = self.template["Resources"][name]
        told = resource["Properties"]
        path = self.path.parent / told[NESTED[resource["Type"]]]
        template = self.load(path)
        given = {key: one.get("Default") for key, one in template.get("Parameters", {}).items()}
        given |= {key: self.filled(one) for key, one in told.get("Parameters", {}).items()}
        lists = {k for k, one in template["Parameters"].items() if "List" in one["Type"]}
        given |= {key: given[key].split(",") for key in lists}
        asked = self._condition(resource.get("Condition"))
        inner = prefix_of(name)
        stack = f"{self.stack}-{name}{SUFFIX}"
        own = (template, path, self.load, self.conditions)
        return _Nested(*own, inner, given, asked or None, stack)

    def _condition(self, name: str | None) -> str | Literal[False] | None:
        """The name that a condition has in the whole; False where it is never true."""
        if name is None or self.given is None:
            return name or self.asked
        told = self.filled(self.template["Conditions"][name])
        decided = _decided(told)
        if decided is not None:
            return self.asked if decided else False
        known = [one for one, other in self.conditions.items() if other == told]
        whole = known[0] if known else f"{self.prefix}{name}"
        self.conditions.setdefault(whole, told)
        return whole

    def filled(self, part: Part) -> Part:
        """A part of this template as it reads in the whole."""
        if isinstance(part, list):
            return [one for one in map(self.filled, part) if not self._is_gone(one)]
        if not isinstance(part, dict):
            return part
        if len(part) == 1:
            ((function, told),) = part.items()
            found = self._call(function, told)
            if found is not None:
                return found
        filled = {key: self.filled(one) for key, one in part.items()}
        return {key: one for key, one in filled.items() if not self._is_gone(one)}

    def _is_gone(self, part: Part) -> bool:
        """Whether nothing stands there, as a nested template's parameters decided."""
        return self.given is not None and part == {"Ref": "AWS::NoValue"}

    def _call(self, function: str, told: Part) -> Part | None:
        """What a function comes to here; None where nothing of it changes but its arguments."""
        match function, told:
            case "Condition", str() if self.given is not None:
                return self.filled(self.template["Conditions"][told])
            case "Ref", str():
                return self._named(told, {"Ref": f"{self.prefix}{told}"})
            case "Fn::GetAtt", str() | [str(), str()]:
                name, attribute = told.split(".", 1) if isinstance(told, str) else told
                return self._attribute(name, attribute)
            case "Fn::Sub", str() if self.given is not None or ".Outputs." in told:
                return self._text(told)
            case "Fn::If", [str() as name, yes, no] if self.given is not None:
                return self._either(name, yes, no)
        return None

    def _either(self, name: str, yes: Part, no: Part) -> Part:
        known = self._condition(name)
        decided = _decided(self.filled(self.template["Conditions"][name]))
        if decided is not None:
            return self.filled(yes if decided else no)
        return {"Fn::If": [known, self.filled(yes), self.filled(no)]}

    def _named(self, name: str, otherwise: Part) -> Part:
        if self.given is not None and name in self.given:
            return self.given[name]
        if name == "AWS::StackName" and self.given is not None:
            return {"Fn::Sub": self.stack}
        return otherwise if name in self.template["Resources"] else {"Ref": name}

    def _attribute(self, name: str, attribute: str) -> Part:
        resource = self.template["Resources"].get(name, {})
        if resource.get("Type") in NESTED:
            inner = self._inner(name)
            name = attribute.removeprefix("Outputs.")
            return inner.filled(inner.template["Outputs"][name]["Value"])
        return {"Fn::GetAtt": f"{self.prefix}{name}.{attribute}"}

    def _text(self, text: str) -> Part:
        """An Fn::Sub with its parameters written out, as far as they are texts or names."""
        names: dict[str, Part] = {}

        def written(found: re.Match[str]) -> str:
            name, _, attribute = found[1].partition(".")
            value = (
                self._attribute(name, attribute)
                if attribute
                else self._named(name, {"Ref": f"{self.prefix}{name}"})
            )
            match value:
                case str() | int():
                    return str(value)
                case {"Ref": str(other)} | {"Fn::GetAtt": str(other)} if "Outputs" not in other:
                    return f"${{{other}}}"
                case {"Fn::Sub": str(other)}:
                    return other
            names[name] = value
            return found[0]

        whole = re.sub(r"\$\{([^!}]+)\}", written, text)
        if names:
            return {"Fn::Sub": [whole, names]}
        return {"Fn::Sub": whole} if "${" in whole else whole


def _decided(condition: Part) -> bool | None:
    """Whether a condition holds, where that follows from texts alone."""
    match condition:
        case {"Fn::Equals": [str() | int() as one, str() | int() as other]}:
            return str(one) == str(other)
        case {"Fn::Not": [told]}:
            inner = _decided(told)
            return None if inner is None else not inner
        case {"Fn::And": [*parts]} if None not in (found := list(map(_decided, parts))):
            return all(found)
        case {"Fn::Or": [*parts]} if None not in (found := list(map(_decided, parts))):
            return any(found)
    return None
