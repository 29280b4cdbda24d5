"""AWS's own rules, held against every template; and each rule, held against a planted breach."""

import json
import subprocess
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from workbench.build.sam import SAM
from workbench.build.service_rules import (
    BY_LINT,
    BY_MODEL,
    BY_US,
    Breach,
    Rule,
    checks,
    findings,
    rules,
)
from workbench.build.translate import Template, whole
from workbench.cloud.template import ROOTS, TEMPLATE


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


@cache
def before(check: str) -> frozenset[str]:
    """What a check finds where nothing is planted."""
    return frozenset(checks()[check](whole(TEMPLATE)))


@pytest.mark.parametrize("path", ROOTS, ids=lambda path: path.name)
def test_aws_refuses_nothing_of_a_template_and_of_what_it_nests(path: Path) -> None:
    assert list(findings(path)) == []


def test_every_rule_has_a_name_of_its_own_a_source_and_a_planted_breach() -> None:
    assert len({rule.name for rule in rules()}) == len(rules())
    for rule in rules():
        assert rule.source.startswith("https://") or rule.name == "known-metric"
        assert rule.says
        assert rule.by in {BY_LINT, BY_MODEL, BY_US}
        assert rule.breaches, rule.name


@pytest.mark.parametrize(
    ("rule", "breach"),
    [
        pytest.param(rule, breach, id=f"{rule.name}-{breach.of or breach.kind}-{breach.at}")
        for rule in rules()
        if rule.by != BY_LINT
        for breach in rule.breaches
    ],
)
def test_a_planted_breach_of_a_rule_is_found(rule: Rule, breach: Breach) -> None:
    check = BY_MODEL if rule.by == BY_MODEL else rule.name
    assert set(checks()[check](planted(whole(TEMPLATE), breach))) - before(check)


@pytest.mark.slow
@pytest.mark.skipif(not SAM.exists(), reason="cfn-lint is there after `make gates`")
def test_what_cfn_lint_must_catch_is_caught(tmp_path: Path) -> None:
    """So that nothing is looked at here which the pinned one looks at, and a newer one may stop."""
    wanted = {}
    breaches = [one for rule in rules() if rule.by == BY_LINT for one in rule.breaches]
    for n, breach in enumerate(breaches):
        file = tmp_path / f"{n}.json"
        file.write_text(json.dumps(planted(alone(whole(TEMPLATE), breach.kind), breach)))
        wanted[str(file)] = breach
    command = [str(SAM.parent / "cfn-lint"), "--format", "json", "--template", *wanted]
    told = subprocess.run(command, capture_output=True, text=True, check=False).stdout  # noqa: S603
    found = {(one["Filename"], one["Rule"]["Id"]) for one in json.loads(told)}
    missed = {f"{b.kind} {b.at} {b.told}" for f, b in wanted.items() if (f, b.told) not in found}
    assert missed == set()
