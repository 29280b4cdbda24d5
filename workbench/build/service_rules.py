"""What AWS refuses, or never does, and no emulator tells: one table, held against every template.

The table is `service_rules.toml`: each rule with what it says, its source, and who looks: the
pinned cfn-lint (`cfn-lint`), the service's own model in botocore (`model`), or a function
(`here`) of the rule's name in the modules `workbench.build.refused...`. Rules look at translated
templates with all that they nest, so they hold however a stack is cut into files.
"""

import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from cardsharp.errors import ConfigError
from workbench.build import refused, refused_apis, refused_rights, refused_watching
from workbench.build.expressions import Part
from workbench.build.service_models import modelled
from workbench.build.translate import Template, whole

TABLE = Path(__file__).with_suffix(".toml")

Check = Callable[[Template], Iterator[str]]
"""Looks at a whole template; yields a sentence for each breach."""

_MODULES = (refused, refused_apis, refused_rights, refused_watching)

BY_LINT, BY_MODEL, BY_US = "cfn-lint", "model", "here"


@dataclass(frozen=True, slots=True)
class Breach:
    """What a rule must catch: a value put at a place of the first resource of a type, or of one.

    Without either the place is one of the template itself; without a value it is emptied.
    """

    at: str
    value: Part
    kind: str = ""
    of: str = ""
    """The logical name of the resource."""

    told: str = ""
    """cfn-lint's name for it."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One row of the table."""

    name: str
    says: str
    source: str
    by: str
    breaches: tuple[Breach, ...] = field(default=())


@cache
def rules() -> tuple[Rule, ...]:
    """The table, in its order."""
    told = tomllib.loads(TABLE.read_text())
    return tuple(
        Rule(**{**row, "breaches": tuple(_breach(one) for one in row.get("breaches", ()))})
        for row in told["rule"]
    )


def _breach(told: dict[str, Any]) -> Breach:
    """A breach; `length` makes a text of that many characters, `times` a list of copies."""
    value = told.pop("value", None)
    if "length" in told:
        value = "x" * told.pop("length")
    elif "times" in told:
        value = [value] * told.pop("times")
    elif "entries" in told:
        value = {f"Entry{n}": value for n in range(told.pop("entries"))}
    return Breach(value=value, **told)


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
    own = [rule.name for rule in rules() if rule.by == BY_US]
    return {BY_MODEL: modelled, **{name: _function(name) for name in own}}


def _function(rule: str) -> Check:
    name = rule.replace("-", "_")
    found: Check = next(getattr(one, name) for one in _MODULES if hasattr(one, name))
    return found
