"""What an account is asked before a deployment, in the emulator with a new account's limits."""

import json
from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

import pytest

from cardsharp.errors import ConfigError
from workbench.build.target import ROOT
from workbench.cloud.emulator import Emulator
from workbench.operate.preflight import (
    ASKED,
    RIGHTS,
    Demand,
    default_demand,
    judge_quota,
    preflight,
)
from workbench.show.checks import Finding

POLICY = ROOT / RIGHTS


@pytest.fixture(scope="module")
def account() -> Iterator[Emulator]:
    with Emulator(("iam", "lambda", "sts")) as running:
        yield running


def found(account: Emulator, caller: str, plan: Demand) -> dict[str, tuple[Finding, str]]:
    """What preflight finds for somebody; the emulator itself knows its root user only."""

    class Sts:
        def get_caller_identity(self) -> dict[str, str]:
            return {"Arn": caller}

    def client(service: str) -> Any:  # noqa: ANN401 - a boto3 client
        return Sts() if service == "sts" else account.client(service)

    return {one.name: (one.finding, one.text) for one in preflight(client, plan)}


def user(account: Emulator, name: str, policy: str | None) -> str:
    iam = account.client("iam")
    arn: str = iam.create_user(UserName=name)["User"]["Arn"]
    if policy is not None:
        iam.put_user_policy(UserName=name, PolicyName="p", PolicyDocument=policy)
    return arn


def test_a_new_account_takes_the_template_as_it_is(account: Emulator) -> None:
    told = found(account, user(account, "ann", POLICY.read_text()), default_demand())
    assert {name: finding for name, (finding, _) in told.items()} == dict.fromkeys(
        ("region", "credentials", "rights", "quota"), Finding.OK
    ), told
    assert "10 concurrent executions" in told["quota"][1]


def test_what_it_does_not_take_is_told_with_what_to_change(account: Emulator) -> None:
    arn = user(account, "bob", None)
    told = found(account, arn, Demand(matches=10, reserve=False))
    assert told["quota"][0] is Finding.FAILED
    assert "deploy with MatchLimit=7" in told["quota"][1]
    assert told["rights"][0] is Finding.FAILED
    assert "may not cloudformation:CreateChangeSet, " in told["rights"][1]
    assert RIGHTS in told["rights"][1]


def test_nothing_can_be_reserved_of_ten_and_there_is_room_in_a_thousand() -> None:
    with pytest.raises(ConfigError, match=r"none can be reserved, .*; deploy with Reserve=no"):
        judge_quota(10, Demand(matches=6, reserve=True))
    assert "room for Reserve=yes" in judge_quota(1000, default_demand())
    assert "4 reserved" in judge_quota(1000, Demand(matches=6, reserve=True))
    assert "room" not in judge_quota(1000, Demand(matches=6, reserve=True))


def test_what_services_and_pages_reserve_is_counted() -> None:
    """Blef 50, the arena 60 and its director 2, the pages 5, the pollers 4."""
    plan = Demand(matches=6, reserve=True, services=("blef", "deadmansdraw"), web=True)
    assert plan.reserved == 50 + 60 + 2 + 5 + 4
    assert "121 reserved" in judge_quota(221, plan)
    with pytest.raises(ConfigError, match="120 can be reserved, and Reserve=yes takes 121"):
        judge_quota(220, plan)
    told = judge_quota(10, replace(plan, reserve=False))
    assert "without Reserve=yes who asks the services can take them" in told
    with pytest.raises(ConfigError, match="no service chess"):
        judge_quota(1000, Demand(matches=6, reserve=True, services=("chess",)))


def test_root_and_strangers_are_not_simulated(account: Emulator) -> None:
    told = found(account, "arn:aws:iam::000000000000:root", default_demand())
    assert told["rights"][0] is Finding.SKIPPED


@pytest.mark.parametrize(("action", "resource"), ASKED)
def test_the_policy_allows_what_is_asked_about(action: str, resource: str | None) -> None:
    named = (resource or "*").format(region="r", account="1")
    assert any(
        any(fnmatchcase(action, one) for one in listed(statement["Action"]))
        and any(fnmatchcase(named, one) for one in listed(statement["Resource"]))
        for statement in json.loads(POLICY.read_text())["Statement"]
    )


def listed(value: Any) -> list[str]:  # noqa: ANN401 - JSON
    return value if isinstance(value, list) else [value]
