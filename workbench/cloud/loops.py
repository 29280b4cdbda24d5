"""A template's `Fn::ForEach` blocks written out, as AWS::LanguageExtensions does it.

Only what template.yaml uses: loops over lists and list parameters in Conditions, Resources and
Outputs, `${Name}` in their keys and in Fn::Sub, Ref to the loop's variable, references by a name
that Fn::Sub makes, and Fn::FindInMap with a default. SAM expands the same in `sam build` and
`sam validate`, AWS at a deploy.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

TRANSFORM = "AWS::LanguageExtensions"
_LOOP = "Fn::ForEach::"
_SECTIONS = ("Conditions", "Resources", "Outputs")

Part = Any
"""A part of a template: any JSON."""


def written_out(
    template: Mapping[str, Part], lists: Mapping[str, Sequence[str]]
) -> dict[str, Part]:
    """The template without loops; `lists` are the values of its list parameters."""
    loops = _Loops(template.get("Mappings", {}), lists)
    whole = {
        name: loops.section(part) if name in _SECTIONS else part for name, part in template.items()
    }
    transforms = template.get("Transform", [])
    if isinstance(transforms, list):
        whole["Transform"] = [one for one in transforms if one != TRANSFORM]
    return possible(whole)


def possible(template: dict[str, Part]) -> dict[str, Part]:
    """The template without what never is: what has a condition that compares two other texts."""
    never = {name for name, told in template.get("Conditions", {}).items() if _is_never(told)}
    return {
        section: {
            name: one
            for name, one in part.items()
            if name not in never and not (isinstance(one, dict) and one.get("Condition") in never)
        }
        if section in _SECTIONS
        else part
        for section, part in template.items()
    }


def _is_never(condition: Part) -> bool:
    match condition:
        case {"Fn::Equals": [str(one), str(other)]}:
            return one != other
        case {"Fn::And": list(all_of)}:
            return any(_is_never(one) for one in all_of)
    return False


class _Loops:
    """Writes out the loops of one template."""

    def __init__(self, mappings: Mapping[str, Part], lists: Mapping[str, Sequence[str]]) -> None:
        self._mappings = mappings
        self._lists = lists

    def section(self, section: Mapping[str, Part]) -> dict[str, Part]:
        """A section's entries, those of loops once for each value."""
        return dict(entry for name, part in section.items() for entry in self._entries(name, part))

    def _entries(self, name: str, part: Part) -> Iterator[tuple[str, Part]]:
        if not name.startswith(_LOOP):
            yield name, part
            return
        variable, values, block = part
        for value in self._lists[values["Ref"]] if isinstance(values, dict) else values:
            for key, entry in block.items():
                yield key.replace(f"${{{variable}}}", value), self._filled(entry, variable, value)

    def _filled(self, part: Part, variable: str, value: str) -> Part:
        """The part for one value of the loop's variable."""
        if isinstance(part, list):
            return [self._filled(one, variable, value) for one in part]
        if not isinstance(part, dict):
            return part
        if part == {"Ref": variable}:
            return value
        told = {key: self._filled(one, variable, value) for key, one in part.items()}
        if len(told) != 1:
            return told
        ((function, given),) = told.items()
        return self._call(function, given, f"${{{variable}}}", value)

    def _call(self, function: str, given: Part, place: str, value: str) -> Part:
        """What a function comes to, or the call itself where only AWS knows."""
        match function, given:
            case "Fn::Sub", str():
                text = given.replace(place, value)
                return {"Fn::Sub": text} if "${" in text else text
            case "Fn::Sub", [str() as text, names]:
                return {"Fn::Sub": [text.replace(place, value), names]}
            case "Fn::GetAtt", [str() as name, str() as attribute]:
                return {"Fn::GetAtt": f"{name}.{attribute}"}
            case "Fn::FindInMap", [str() as table, str() as row, str() as column, default]:
                return self._mappings[table].get(row, {}).get(column, default["DefaultValue"])
        return {function: given}
