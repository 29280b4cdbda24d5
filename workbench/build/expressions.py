"""What the expressions of a template refer to, and what they come to: for rules about templates."""

import json
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from workbench.build.translate import Template
from workbench.cloud.nested import SUFFIX

NOTHING = {"Ref": "AWS::NoValue"}
STACK = f"cardsharp-{'n' * 22}"  # the longest name that the rules reckon with
PLACE = re.compile(r"\$\{([^}!]+)\}")  # where Fn::Sub puts something
Part = Any  # a part of a template: any JSON

_PSEUDO = {
    "AWS::AccountId": "123456789012",
    "AWS::Partition": "aws",
    "AWS::Region": "ap-southeast-2",
    "AWS::StackName": STACK,
    "AWS::URLSuffix": "amazonaws.com",
}


@cache
def told_of(what: str) -> Any:  # noqa: ANN401 - any TOML
    """A table of `service_rules.toml`: the rules, names with their lengths, or requests."""
    return tomllib.loads(Path(__file__).with_name("service_rules.toml").read_text("utf-8"))[what]


def listed(part: Part) -> list[Part]:
    """One or several, as a list."""
    return part if isinstance(part, list) else [part]


def call(part: Part) -> tuple[str, Part]:
    """The function that a part calls and what it gives it; two empty texts where it is no call."""
    if isinstance(part, dict) and len(part) == 1:
        ((name, given),) = part.items()
        if name in {"Ref", "Condition"} or name.startswith("Fn::"):
            return name, given
    return "", ""


def joined(given: Part) -> str:
    """What Fn::GetAtt is given as `Name.Attribute`, however it is written."""
    return given if isinstance(given, str) else ".".join(map(str, given))


def substituted(given: Part) -> tuple[str, dict[str, Part]]:
    """What Fn::Sub is given: the text, and the parts that it names itself."""
    return (given, {}) if isinstance(given, str) else (given[0], given[1])


def target(part: Part) -> str | None:
    """The logical name of the resource that a part refers to, None if it is no reference."""
    function, given = call(part)
    if function == "Ref":
        return str(given)
    if function == "Fn::GetAtt":
        return joined(given).partition(".")[0]
    if function == "Fn::Sub":
        text, names = substituted(given)
        # A resource's own text, or something in it, such as a table's index.
        found = re.match(r"^(?:integrations/)?\$\{([^}!]+)\}", text)
        if found is not None:
            name = found[1].partition(".")[0]
            return target(names[name]) if name in names else name
    return None


def referred(part: Part, template: Template) -> Part:
    """The properties of the resource that a part refers to; of none where it refers to nothing."""
    return template["Resources"].get(target(part), {}).get("Properties", {})


def of_kind(template: Template, *kinds: str) -> Iterator[tuple[str, Part]]:
    """The resources of some types: logical name and properties."""
    for name, told in template["Resources"].items():
        if told["Type"] in kinds:
            yield name, told.get("Properties", {})


def values(part: Part, template: Template) -> Iterator[Part]:
    """Every value that an expression can come to in some deployment; nothing for NoValue.

    Of a number the least and the most; a free text is taken as its default. Names that
    CloudFormation makes are as long as it makes them.
    """
    match call(part):
        case "Ref", name:
            yield from _referred(name, template)
        case "Fn::If", [_, *ways]:
            for one in ways:
                yield from values(one, template)
        case "Fn::FindInMap", [table, _, column, *default]:
            rows = template.get("Mappings", {}).get(table, {}).values()
            yield from (row[column] for row in rows if column in row)
            yield from (one["DefaultValue"] for one in default)
        case ("Fn::GetAtt" | "Fn::Join" | "Fn::Sub") as function, given:
            yield _text(function, given, template)
        case _:
            yield part


def _referred(name: str, template: Template) -> Iterator[Part]:
    told = template.get("Parameters", {}).get(name)
    if name in _PSEUDO or told is None:
        yield from () if name == "AWS::NoValue" else [_PSEUDO.get(name) or _made(name)]
    elif "AllowedValues" in told:
        yield from told["AllowedValues"]
    else:
        # An empty text is what a condition asks about first.
        known = (told[key] for key in ("Default", "MinValue", "MaxValue") if key in told)
        yield from (one for one in known if one != "")


def _text(function: str, given: Part, template: Template) -> str:
    """What an expression comes to that makes a text, at its longest."""
    if function == "Fn::GetAtt":
        made = _made(joined(given))
        arn = f"arn:aws:service:{_PSEUDO['AWS::Region']}:123456789012:{made}"
        return arn if joined(given).endswith("Arn") else made
    if function == "Fn::Join":
        return str(given[0].join(_longest(one, template) for one in listed(given[1])))
    text, names = substituted(given)

    def filled(found: re.Match[str]) -> str:
        name = found[1]
        part = names.get(name, {"Fn::GetAtt": name} if "." in name else {"Ref": name})
        return _longest(part, template)

    return PLACE.sub(filled, text)


def _longest(part: Part, template: Template) -> str:
    return max((str(one) for one in values(part, template)), key=len, default="")


def _made(name: str) -> str:
    """As long as the name that CloudFormation makes for a resource."""
    return f"{STACK}-{name.partition('.')[0]}{SUFFIX}"


def largest(part: Part, template: Template) -> Part:
    """A part with each of its expressions at its longest: what a limit on sizes is held against."""
    if isinstance(part, list):
        return [largest(one, template) for one in part if one != NOTHING]
    if not isinstance(part, dict):
        return part
    if call(part)[0]:
        found = [one if one == part else largest(one, template) for one in values(part, template)]
        return max(found, key=lambda one: len(str(one)), default=None)
    return {key: largest(one, template) for key, one in part.items() if one != NOTHING}


def size(part: Part, template: Template) -> int:
    """How many characters of a document count, at its longest: white space does not."""
    return len(re.sub(r"\s", "", json.dumps(largest(part, template))))


def most(part: Part, template: Template) -> float:
    """The greatest number that an expression can come to; 0 where there is none."""
    return max(_numbers(part, template), default=0)


def least(part: Part, template: Template) -> float:
    """The smallest of these numbers; 0 where there is none."""
    return min(_numbers(part, template), default=0)


def _numbers(part: Part, template: Template) -> list[float]:
    found = values(part, template)
    return [float(one) for one in found if re.fullmatch(r"-?\d+(\.\d+)?", str(one))]
