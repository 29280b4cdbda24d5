"""What AWS refuses, or never does, and no emulator tells: one table, held against every template.

The table is `service_rules.toml`: each rule with what it says, its source, and who looks: the
pinned cfn-lint (`cfn-lint`), the service's own model in botocore (`model`), or a function
(`here`) of the rule's name in the modules `workbench.build.refused...`. Rules look at translated
templates with all that they nest, so they hold however a stack is cut into files.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import botocore.session
from botocore.model import ListShape, Shape, StructureShape

from cardsharp.errors import ConfigError
from workbench.build import refused, refused_rights, refused_watching
from workbench.build.expressions import Part, call, told_of, values
from workbench.build.translate import Template, whole

_NUMBERS = {"double", "float", "integer", "long"}


@cache
def _request(kind: str) -> Shape:
    service, operation = told_of("requests")[kind]
    model = botocore.session.get_session().get_service_model(service)
    shape = model.operation_model(operation).input_shape
    if shape is None:
        raise ConfigError(f"{operation} asks for nothing.")
    return shape


def modelled(template: Template) -> Iterator[str]:
    """Values that the service's model does not allow: too long, too many, too large, unknown."""
    for name, told in template["Resources"].items():
        if told["Type"] in told_of("requests"):
            yield from _held(told.get("Properties", {}), _request(told["Type"]), name, template)


def _held(part: Part, shape: Shape, place: str, template: Template) -> Iterator[str]:
    """What in a part is not as its shape says."""
    if isinstance(shape, StructureShape) and isinstance(part, dict) and not call(part)[0]:
        members = {name.lower(): one for name, one in shape.members.items()}
        for key in part.keys() & {key for key in part if key.lower() in members}:
            yield from _held(part[key], members[key.lower()], f"{place}.{key}", template)
    elif isinstance(shape, ListShape) and isinstance(part, list):
        if not shape.metadata.get("min", 0) <= len(part) <= shape.metadata.get("max", len(part)):
            yield f"{place} has {len(part)} entries"
        for one in part:
            yield from _held(one, shape.member, place, template)
    else:
        for value in values(part, template):
            fault = _fault(value, shape, as_written=value == part)
            yield from [f"{place} {fault}"] if fault else []


def _fault(value: Part, shape: Shape, *, as_written: bool) -> str:
    """What is wrong with a plain value; patterns are for what the template itself says."""
    told = shape.metadata
    if shape.type_name in _NUMBERS and re.fullmatch(r"-?[\d.]+", str(value)):
        if not told.get("min", float(value)) <= float(value) <= told.get("max", float(value)):
            return f"is {value}, not {told.get('min')} to {told.get('max')}"
    elif shape.type_name == "string" and isinstance(value, str | int):
        return _text_fault(str(value), shape, as_written=as_written)
    return ""


def _text_fault(text: str, shape: Shape, *, as_written: bool) -> str:
    told = shape.metadata
    if "enum" in told and text not in told["enum"]:
        return f"is {text}, none of {', '.join(told['enum'])}"
    if not told.get("min", 0) <= len(text) <= told.get("max", len(text)):
        return f"has {len(text)} characters, not {told.get('min', 0)} to {told.get('max')}"
    if as_written and "pattern" in told and not _matches(told["pattern"], text):
        return f"is {text!r}, which is no {shape.name}"
    return ""


def _matches(pattern: str, text: str) -> bool:
    """Whether a text is as a service's pattern says; one that Python cannot read says nothing."""
    try:
        return re.fullmatch(pattern, text) is not None
    except re.error:
        return True


Check = Callable[[Template], Iterator[str]]  # yields a sentence for each breach

_MODULES = (refused, refused_rights, refused_watching)
BY_MODEL = "model"


def findings(path: Path) -> Iterator[str]:
    """Every breach of the rules that are looked at here, in a template and what it nests."""
    try:
        template = whole(path)
    except ConfigError as error:
        yield f"{path.name}: {error}"
        return
    for name, check in checks().items():
        yield from (f"{path.name}: {told} ({name})" for told in check(template))


def checks() -> dict[str, Check]:
    """What looks at a template, by the names of the rules; all of the models' are one."""
    found: dict[str, Check] = {BY_MODEL: modelled}
    for rule in told_of("rule"):
        if rule["by"] == "here":
            name = rule["name"].replace("-", "_")
            found[rule["name"]] = next(getattr(m, name) for m in _MODULES if hasattr(m, name))
    return found
