"""Tests of the checks of an account before a deployment, and of `cloud set` and `export`."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from support.iam_policies import (
    ACCOUNT,
    ALLOW_ALL,
    BOUNDARY_POLICY_ARN,
    REGION,
    Policy,
    deployer_policy,
    is_allowed,
)
from support.store_fixtures import FakeClock, acquire_lease, new_dynamodb_log, require_match

from cardsharp.bot.control.runtime_settings import RuntimeSettings
from cardsharp.core.clock import SystemClock
from cardsharp.errors import ConfigError, StoreError
from cardsharp.games.deadmansdraw.game import GAME
from cardsharp.store.dynamodb_match_log import DynamoMatchLog
from cardsharp.store.match_log import MatchLog
from cardsharp.store.match_log_factory import build_match_log
from cardsharp_tools.cli.commands.cloud.stack_options import SettingChanges
from cardsharp_tools.cli.health_checks import CheckStatus
from cardsharp_tools.local_cloud.emulator import Emulator
from cardsharp_tools.operations.export import export_missing_matches
from cardsharp_tools.operations.preflight import (
    DEPLOYER_TEMPLATE,
    ConcurrencyDemand,
    check_quota,
    check_update_keeps_services,
    default_demand,
    planned_demand,
    run_preflight_checks,
)
from cardsharp_tools.operations.stack import Stack
from cardsharp_tools.operations.stack_control import read_effective_settings, update_settings

if TYPE_CHECKING:
    from types_boto3_dynamodb.client import DynamoDBClient


class FakeAccount:
    """AWS account with a limit of ten executions and a user with the given policies."""

    meta = SimpleNamespace(region_name=REGION)

    def __init__(self, *policies: Policy) -> None:
        self.policies = policies

    def get_caller_identity(self) -> dict[str, str]:
        return {"Arn": f"arn:aws:iam::{ACCOUNT}:user/ann"}

    def get_account_settings(self) -> dict[str, Any]:
        return {"AccountLimit": {"ConcurrentExecutions": 10}}

    def simulate_principal_policy(self, **params: Any) -> dict[str, Any]:  # noqa: ANN401
        assert params["PolicySourceArn"].endswith("user/ann")
        entries = params["ContextEntries"]
        context = {entry["ContextKeyName"]: entry["ContextKeyValues"][0] for entry in entries}
        (action,), (resource,) = params["ActionNames"], params["ResourceArns"]
        is_permitted = is_allowed(self.policies, action, resource, context)
        return {
            "EvaluationResults": [{"EvalDecision": "allowed" if is_permitted else "implicitDeny"}]
        }


def preflight_results(
    account: FakeAccount, plan: ConcurrencyDemand
) -> dict[str, tuple[CheckStatus, str]]:
    return {
        check.name: (check.status, check.message)
        for check in run_preflight_checks(lambda _: account, plan)
    }


def test_a_new_account_takes_the_template_as_it_is() -> None:
    expected_ends = (
        (ALLOW_ALL, "cardsharp-dev"),
        (deployer_policy("Deployer"), f"with Boundary={BOUNDARY_POLICY_ARN}"),
    )
    for policy, end in expected_ends:
        results = preflight_results(FakeAccount(policy), default_demand())
        assert results.keys() == {"region", "credentials", "rights", "quota"}
        assert {finding for finding, _ in results.values()} == {CheckStatus.OK}, results
        assert results["rights"][1].endswith(end)
        assert "10 concurrent executions" in results["quota"][1]


OLD_STACKS = (
    ("none", "no", ""),
    ("blef,euchre", "no", "deletes blef, euchre with"),
    ("none", "yes", "the pages"),
)
"""Services and pages of stacks of version 0.2, and what is said of what an upgrade takes away."""


def test_a_real_account_in_the_emulator_answers_every_check() -> None:
    with Emulator(("cloudformation", "iam", "lambda", "sns", "sts")) as emulator:
        results = {
            check.name: check for check in run_preflight_checks(emulator.client, default_demand())
        }
        assert results["rights"].status is CheckStatus.SKIPPED, (
            "the emulator knows its root user only"
        )
        assert results["quota"].status is CheckStatus.OK
        formation = emulator.client("cloudformation")
        for number, (services, pages, expected_text) in enumerate(OLD_STACKS):
            parameters = {"Services": services, "DeployWeb": pages}
            declared = {key: {"Type": "String"} for key in parameters}
            topic = {"Topic": {"Type": "AWS::SNS::Topic"}}
            formation.create_stack(
                StackName=f"old-{number}",
                TemplateBody=json.dumps({"Parameters": declared, "Resources": topic}),
                Parameters=[
                    {"ParameterKey": parameter_name, "ParameterValue": parameter_value}
                    for parameter_name, parameter_value in parameters.items()
                ],
            )
            messages = [
                check.message
                for check in check_update_keeps_services(emulator.client, f"old-{number}")
            ]
            assert len(messages) == bool(expected_text)
            assert all(expected_text in message for message in messages)
        assert list(check_update_keeps_services(emulator.client, "there-is-none")) == []


def test_a_failed_check_says_how_to_fix_it() -> None:
    results = preflight_results(
        FakeAccount(), ConcurrencyDemand(matches=10, reserve_concurrency=False)
    )
    assert results["quota"][0] is CheckStatus.FAILED
    assert "deploy with MatchLimit=7" in results["quota"][1]
    assert results["rights"][0] is CheckStatus.FAILED
    assert "lacks permission for cloudformation:CreateChangeSet, " in results["rights"][1]
    assert DEPLOYER_TEMPLATE in results["rights"][1]


def test_permissions_are_checked_for_the_named_stack() -> None:
    """Permission to deploy one stack is no permission to deploy another."""
    text = json.dumps(deployer_policy("Deployer")).replace("cardsharp-*", "cardsharp-dev*")
    policy: Policy = json.loads(text)
    assert preflight_results(FakeAccount(policy), default_demand())["rights"][0] is CheckStatus.OK
    other_result = preflight_results(
        FakeAccount(policy), replace(default_demand(), stack="cardsharp-prod")
    )["rights"]
    assert other_result[0] is CheckStatus.FAILED
    assert "sqs:CreateQueue" in other_result[1]


def test_a_contest_of_twenty_teams_does_not_fit_a_new_account() -> None:
    """Every client in a long poll is an execution; 20 teams need at most 42 (docs/arena.md)."""
    for plan in (planned_demand((), teams=20), planned_demand(("deadmansdraw",))):
        assert (plan.matches, plan.arena_concurrency, plan.services) == (0, 42, ("deadmansdraw",))
        with pytest.raises(ConfigError, match="too few for 20 teams, which need 42") as error_info:
            check_quota(10, plan)
        assert "(4 teams fit)" in str(error_info.value)
        assert "request-service-quota-increase --service-code lambda" in str(error_info.value)
        with pytest.raises(ConfigError, match=r"A flood .* Deploy with Reserve=yes"):
            check_quota(1000, plan)
        reserving_plan = replace(plan, reserve_concurrency=True)
        assert "at most 42 of them used by 20 teams" in check_quota(1000, reserving_plan)
    combined_demand = planned_demand(("blef",), matches=6, teams=20)
    assert (combined_demand.bot_concurrency, combined_demand.services) == (
        9,
        ("blef", "deadmansdraw"),
    )
    with pytest.raises(ConfigError, match="6 matches at once and 20 teams, which need 51"):
        check_quota(50, combined_demand)
    assert planned_demand(("blef",), web=True).arena_concurrency == 0
    # Nothing can be reserved of ten, and there is room in a thousand.
    with pytest.raises(ConfigError, match=r"none can be reserved, .*; deploy with Reserve=no"):
        check_quota(10, ConcurrencyDemand(matches=6, reserve_concurrency=True))
    assert "room for Reserve=yes" in check_quota(1000, default_demand())
    assert "4 reserved" in check_quota(1000, ConcurrencyDemand(matches=6, reserve_concurrency=True))
    assert "room" not in check_quota(1000, ConcurrencyDemand(matches=6, reserve_concurrency=True))


# --- what is set and copied, at a stack's own tables --------------------------------------------


CURRENT_TIME = datetime.now(UTC)
PARAMETERS = {"Strategy": "", "MatchTags": "day one, b", "MatchLimit": "6"}


@pytest.fixture
def stack(moto: "DynamoDBClient") -> Iterator[Stack]:
    with new_dynamodb_log(moto) as bench:
        outputs = {"MatchTable": bench.log._table.name}
        yield Stack("test", CURRENT_TIME, False, PARAMETERS, outputs, {}, lambda _service: moto)  # noqa: FBT003


def test_a_setting_lasts_until_its_default_is_restored(stack: Stack) -> None:
    update_settings(stack, paused=True)
    update_settings(
        stack, **SettingChanges(strategy="draw-2", tag=("final",), concurrency=4).changes()
    )
    assert (
        str(read_effective_settings(stack))
        == "strategy draw-2 (set), tags final (set), 4 at once (set)"
    )
    update_settings(
        stack, **SettingChanges(all_tags=True, default=("strategy", "concurrency")).changes()
    )
    assert (
        str(read_effective_settings(stack))
        == f"strategy {GAME.default_strategy}, all tags (set), 6 at once"
    )
    assert stack.runtime_settings_store.read() == RuntimeSettings(paused=True, tags=())


def test_an_invalid_setting_is_rejected_and_changes_nothing(stack: Stack) -> None:
    update_settings(stack, strategy="draw-3")
    with pytest.raises(ConfigError, match="No strategy is called 'captian'"):
        update_settings(stack, tags=("final",), **SettingChanges(strategy="captian").changes())
    with pytest.raises(ConfigError, match="--concurrency cannot exceed MatchLimit, which is 6"):
        update_settings(stack, tags=("final",), **SettingChanges(concurrency=7).changes())
    assert stack.runtime_settings_store.read() == RuntimeSettings(strategy="draw-3")


def test_a_stack_says_when_it_listens(stack: Stack) -> None:
    assert read_effective_settings(stack).listening_times_text == "always"
    stack.parameters["ListeningWindows"] = "Sat 09:00-18:00"
    assert read_effective_settings(stack).listening_times_text == "Sat 09:00-18:00"
    update_settings(stack, awake_until=CURRENT_TIME + timedelta(hours=4))
    assert re.fullmatch(
        r"Sat 09:00-18:00, until 20[-0-9]+ [:0-9]+ UTC by hand",
        read_effective_settings(stack).listening_times_text,
    )
    update_settings(stack, awake_until=CURRENT_TIME - timedelta(hours=4))
    assert read_effective_settings(stack).listening_times_text == "Sat 09:00-18:00"


# --- a copy of what was played --------------------------------------------------------------------


def store_finished_match(log: MatchLog, name: str) -> None:
    lease = acquire_lease(log, name=name)
    log.write_intent(lease, 0, {"action": "Draw"})
    log.write_facts(lease, {0: {"drew": "Key2"}, 1: {"ended": True}})
    log.finish(lease, {"result": "won"})


def test_finished_matches_are_copied_once_with_all_that_they_have(
    moto: "DynamoDBClient", stack: Stack, tmp_path: Path
) -> None:
    log = DynamoMatchLog(
        stack.outputs["MatchTable"], FakeClock(), moto, retention=timedelta(days=90)
    )
    store_finished_match(log, "first")
    acquire_lease(log, name="running")
    file = tmp_path / "mine.db"
    assert export_missing_matches(log, file) == 1
    store_finished_match(log, "second")
    assert export_missing_matches(log, file) == 1, "only what is new"
    exported_log = build_match_log(f"sqlite:{file}", SystemClock())
    assert {match.match_id for match in exported_log.matches()} == {"first", "second"}
    copy, origin = require_match(exported_log, "first"), require_match(log, "first")
    assert (copy.header, copy.outcome) == (origin.header, origin.outcome)
    assert (copy.started_at, copy.finished_at) == (origin.started_at, origin.finished_at)
    assert exported_log.moves("first") == log.moves("first")


def test_an_unreadable_match_does_not_stop_the_export(
    moto: "DynamoDBClient", stack: Stack, tmp_path: Path
) -> None:
    """Matches are exported in the order of play, so the last match stays the last."""
    log, file = DynamoMatchLog(stack.outputs["MatchTable"], FakeClock(), moto), tmp_path / "mine.db"
    for name in ("deal-1", "bad", "deal-2", "odd", "deal-10"):
        store_finished_match(log, name)
    for sort, damaged_attribute in (("move#000001", "facts_json"), ("header", "match_status")):
        name = "bad" if sort != "header" else "odd"
        moto.update_item(
            TableName=stack.outputs["MatchTable"],
            Key={"pk": {"S": f"match#{name}"}, "sk": {"S": sort}},
            UpdateExpression=f"SET {damaged_attribute} = :x",
            ExpressionAttributeValues={":x": {"S": "x"}},
        )
    assert require_match(log, "odd").read_error, "it hides no other from whoever lists them"
    with pytest.raises(StoreError, match=r"Match bad cannot be read completely.*\n.*copied: 3"):
        export_missing_matches(log, file)
    exported_log = build_match_log(f"sqlite:{file}", SystemClock())
    assert [match.match_id for match in exported_log.matches()] == ["deal-10", "deal-2", "deal-1"]
    exported_log.close()
