"""What an account is asked before a deployment, of policies that IAM would evaluate."""

import json
from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from support.policies import ACCOUNT, BOUND, REGION, Policy, Request, allowed, made

from cardsharp.errors import ConfigError
from workbench.cloud.emulator import Emulator
from workbench.operate.preflight import (
    RIGHTS,
    Demand,
    default_demand,
    judge_quota,
    outdated,
    planned,
    preflight,
)
from workbench.show.checks import Finding

EVERYTHING: Policy = {"Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}


class Account:
    """An account of ten executions in which somebody has these policies."""

    def __init__(self, policies: Sequence[Policy], identity: str = "user/ann") -> None:
        self.policies = policies
        self.identity = identity
        self.meta = SimpleNamespace(region_name=REGION)

    def get_caller_identity(self) -> dict[str, str]:
        return {"Arn": f"arn:aws:iam::{ACCOUNT}:{self.identity}"}

    def get_account_settings(self) -> dict[str, Any]:
        return {"AccountLimit": {"ConcurrentExecutions": 10}}

    def simulate_principal_policy(self, **asked: Any) -> dict[str, Any]:  # noqa: ANN401
        assert asked["PolicySourceArn"].endswith(self.identity)
        told = {
            one["ContextKeyName"]: one["ContextKeyValues"][0] for one in asked["ContextEntries"]
        }
        (action,), (resource,) = asked["ActionNames"], asked["ResourceArns"]
        may = allowed(Request(action, resource, REGION, told), self.policies)
        return {"EvaluationResults": [{"EvalDecision": "allowed" if may else "implicitDeny"}]}


def found(account: Account, plan: Demand) -> dict[str, tuple[Finding, str]]:
    return {one.name: (one.finding, one.text) for one in preflight(lambda _: account, plan)}


def test_a_new_account_takes_the_template_as_it_is() -> None:
    ends = (EVERYTHING, "cardsharp-dev"), (made("Deployer"), f"with Boundary={BOUND}")
    for policy, end in ends:
        told = found(Account([policy]), default_demand())
        assert told.keys() == {"region", "credentials", "rights", "quota"}
        assert {finding for finding, _ in told.values()} == {Finding.OK}, told
        assert told["rights"][1].endswith(end)
        assert "10 concurrent executions" in told["quota"][1]


OLDER = ("none", "no", ""), ("blef,euchre", "no", "blef, euchre will"), ("none", "yes", "the pages")
"""Services and pages of stacks of version 0.2, and what is said of what an upgrade takes away."""


def test_a_real_account_in_the_emulator_answers_what_is_asked() -> None:
    with Emulator(("cloudformation", "iam", "lambda", "sns", "sts")) as running:
        told = {one.name: one for one in preflight(running.client, default_demand())}
        assert told["rights"].finding is Finding.SKIPPED, "the emulator knows its root user only"
        assert told["quota"].finding is Finding.OK
        formation = running.client("cloudformation")
        for number, (services, pages, taken) in enumerate(OLDER):
            given = {"Services": services, "DeployWeb": pages}
            declared = {key: {"Type": "String"} for key in given}
            topic = {"Topic": {"Type": "AWS::SNS::Topic"}}
            formation.create_stack(
                StackName=f"old-{number}",
                TemplateBody=json.dumps({"Parameters": declared, "Resources": topic}),
                Parameters=[{"ParameterKey": k, "ParameterValue": v} for k, v in given.items()],
            )
            found = [one.text for one in outdated(running.client, f"old-{number}")]
            assert len(found) == bool(taken)
            assert all(taken in one for one in found)
        assert list(outdated(running.client, "there-is-none")) == []


def test_what_it_does_not_take_is_told_with_what_to_change() -> None:
    told = found(Account([]), Demand(matches=10, reserve=False))
    assert told["quota"][0] is Finding.FAILED
    assert "deploy with MatchLimit=7" in told["quota"][1]
    assert told["rights"][0] is Finding.FAILED
    assert "may not cloudformation:CreateChangeSet, " in told["rights"][1]
    assert RIGHTS in told["rights"][1]


def test_the_rights_are_asked_for_the_stack_that_is_named() -> None:
    """Who may deploy one stack may not therefore deploy another."""
    text = json.dumps(made("Deployer")).replace("cardsharp-*", "cardsharp-dev*")
    one: Policy = json.loads(text)
    assert found(Account([one]), default_demand())["rights"][0] is Finding.OK
    other = found(Account([one]), replace(default_demand(), stack="cardsharp-prod"))["rights"]
    assert other[0] is Finding.FAILED
    assert "sqs:CreateQueue" in other[1]


def test_a_contest_of_twenty_teams_does_not_fit_a_new_account() -> None:
    """docs/arena.md: every client in a long poll is an execution, some 60 of 20 teams."""
    for plan in (planned((), teams=20), planned(("deadmansdraw",))):
        assert (plan.matches, plan.of_arena, plan.services) == (0, 62, ("deadmansdraw",))
        with pytest.raises(ConfigError, match="too few for 20 teams, which take 62") as told:
            judge_quota(10, plan)
        assert "(2 teams fit)" in str(told.value)
        assert "request-service-quota-increase --service-code lambda" in str(told.value)
        assert "at most 62 of them used by 20 teams" in judge_quota(1000, plan)
    both = planned(("blef",), matches=6, teams=20)
    assert (both.of_bot, both.services) == (9, ("blef", "deadmansdraw"))
    with pytest.raises(ConfigError, match="6 matches at once and 20 teams, which take 71"):
        judge_quota(70, both)
    assert planned(("blef",), web=True).of_arena == 0
    # Nothing can be reserved of ten, and there is room in a thousand.
    with pytest.raises(ConfigError, match=r"none can be reserved, .*; deploy with Reserve=no"):
        judge_quota(10, Demand(matches=6, reserve=True))
    assert "room for Reserve=yes" in judge_quota(1000, default_demand())
    assert "4 reserved" in judge_quota(1000, Demand(matches=6, reserve=True))
    assert "room" not in judge_quota(1000, Demand(matches=6, reserve=True))
