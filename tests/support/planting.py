"""Wrong values put into copies of translated templates, to see that a rule finds them."""

from copy import deepcopy
from typing import Any

from workbench.build.service_rules import Breach
from workbench.build.translate import Template


def planted(template: Template, breach: Breach) -> Template:
    """The template with what a rule must catch.

    Raises:
        StopIteration: it has no resource of the type.
    """
    copy = deepcopy(template)
    whole: Any = copy
    if breach.of:
        whole = copy["Resources"][breach.of]["Properties"]
    elif breach.kind:
        whole = next(one for one in copy["Resources"].values() if one["Type"] == breach.kind)
        whole = whole["Properties"]
    *before, last = breach.at.split(".")
    for key in before:
        whole = whole[int(key)] if isinstance(whole, list) else whole.setdefault(key, {})
    if breach.value is None:
        del whole[last]
    else:
        whole[int(last) if isinstance(whole, list) else last] = breach.value
    return copy


def alone(template: Template, kind: str) -> Template:
    """A template with its first resource of a type, without one with a topic: for cfn-lint."""
    kind = kind or "AWS::SNS::Topic"
    name = next(name for name, one in template["Resources"].items() if one["Type"] == kind)
    return {**template, "Resources": {name: template["Resources"][name]}, "Outputs": {}}
