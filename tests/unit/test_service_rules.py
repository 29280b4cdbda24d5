"""AWS's own rules, held against every template; and each rule, held against a planted breach."""

import json
import subprocess
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from support.planting import alone, planted

from workbench.build.sam import SAM
from workbench.build.service_models import modelled
from workbench.build.service_rules import BY_LINT, BY_MODEL, BY_US, checks, findings, rules
from workbench.build.translate import Template, whole
from workbench.cloud.template import ROOTS, TEMPLATE

Mutation = Callable[[dict[str, Any]], object]
"""Breaks a rule in the resources of a template, by their logical names."""


@cache
def deployed() -> Template:
    return whole(TEMPLATE)


@pytest.mark.parametrize("path", ROOTS, ids=lambda path: path.name)
def test_aws_refuses_nothing_of_a_template_and_of_what_it_nests(path: Path) -> None:
    assert list(findings(path)) == []


def test_every_rule_has_a_name_of_its_own_a_source_and_a_planted_breach() -> None:
    assert len({rule.name for rule in rules()}) == len(rules())
    for rule in rules():
        assert rule.source.startswith("https://") or rule.name == "known-metric"
        assert rule.says
        assert rule.by in {BY_LINT, BY_MODEL, BY_US}
        assert rule.breaches if rule.by != BY_US else rule.name in BREACHES, rule.name
    assert BREACHES.keys() == {rule.name for rule in rules() if rule.by == BY_US}


def first(resources: dict[str, Any], kind: str, having: str = "") -> dict[str, Any]:
    """The properties of the first resource of a type that has such a property."""
    return next(
        one["Properties"]
        for one in resources.values()
        if one["Type"] == f"AWS::{kind}" and having in {"", *one["Properties"]}
    )


def resource(resources: dict[str, Any], end: str) -> dict[str, Any]:
    """The properties of the resource whose logical name ends so: wherever it is nested."""
    found: dict[str, Any] = next(o["Properties"] for n, o in resources.items() if n.endswith(end))
    return found


def statement(resources: dict[str, Any], role: str, action: str) -> dict[str, Any]:
    """The statement of a role that allows an action."""
    told = resource(resources, role)["Policies"][0]["PolicyDocument"]["Statement"]
    found: dict[str, Any] = next(one for one in told if action in json.dumps(one["Action"]))
    return found


def without(holder: dict[str, Any], key: str) -> None:
    del holder[key]


def logged_feed(resources: dict[str, Any]) -> None:
    """What those are told who watch a game is logged."""
    log = resource(resources, "blefStage")["AccessLogSettings"]
    resource(resources, "blefFeedStage")["AccessLogSettings"] = log


def further_policy(resources: dict[str, Any], queues: list[str], about: list[str]) -> None:
    """One more policy for some queues, with a statement about some."""
    statement = {"Effect": "Deny", "Principal": "*", "Action": "sqs:*"}
    resource = {"Resource": [{"Fn::GetAtt": f"{queue}.Arn"} for queue in about]} if about else {}
    told = {
        "Queues": [{"Ref": queue} for queue in queues],
        "PolicyDocument": {"Version": "2012-10-17", "Statement": [statement | resource]},
    }
    resources["Further"] = {"Type": "AWS::SQS::QueuePolicy", "Properties": told}


BREACHES: dict[str, list[Mutation]] = {
    "template-counts": [lambda _: None],  # below, for it is no resource
    "given-names": [
        lambda r: resource(r, "Worker").update(FunctionName={"Fn::Sub": "x" * 65}),
    ],
    "function-memory": [lambda r: first(r, "Lambda::Function").update(MemorySize=10_241)],
    "new-account": [
        lambda r: resource(r, "Poller").update(ReservedConcurrentExecutions=1),
    ],
    "queue-policy-resource": [
        lambda r: further_policy(r, ["MatchQueue"], ["MatchQueue", "DeadLetters"]),
    ],
    "queue-policy-limits": [
        lambda r: without(first(r, "SQS::QueuePolicy")["PolicyDocument"], "Version"),
    ],
    "redrive": [
        lambda r: resource(r, "MatchQueue")["RedrivePolicy"].update(maxReceiveCount=1_001),
    ],
    "redriven-unseen": [
        lambda r: resource(r, "MatchDeadLetter").update(MetricName="NumberOfMessagesSent"),
    ],
    "event-source": [
        lambda r: resource(r, "MatchQueue").update(VisibilityTimeout=299),
    ],
    "policy-sizes": [
        lambda r: resource(r, "PollerRole")["Policies"][0]["PolicyDocument"].update(
            Statement=[{"Effect": "Deny", "Action": "s3:*", "Resource": "arn" * 40}] * 80
        ),
    ],
    "bounded": [lambda r: without(resource(r, "WorkerRole"), "PermissionsBoundary")],
    "idle-right": [
        lambda r: statement(r, "PollerRole", "dynamodb:GetItem").update(Action="logs:PutLogEvents"),
        lambda r: statement(r, "PollerRole", "sqs:SendMessage").update(
            Resource=[{"Fn::GetAtt": "MatchQueue.Arn"}, {"Fn::GetAtt": "Matches.Arn"}]
        ),
    ],
    "confused-deputy": [
        lambda r: without(
            resource(r, "ScheduleRole")["AssumeRolePolicyDocument"]["Statement"][0], "Condition"
        ),
        lambda r: without(
            first(r, "SNS::TopicPolicy")["PolicyDocument"]["Statement"][0], "Condition"
        ),
        lambda r: without(first(r, "Lambda::Permission"), "SourceArn"),
    ],
    "taken-on": [
        lambda r: resource(r, "Poller").update(Role={"Fn::GetAtt": "ScheduleRole.Arn"}),
        lambda r: resource(r, "PollerEveryMinute")["Target"].update(
            RoleArn={"Fn::GetAtt": "WorkerRole.Arn"}
        ),
    ],
    "right-to-receive": [
        lambda r: statement(r, "WorkerRole", "sqs:ReceiveMessage")["Action"].remove(
            "sqs:GetQueueAttributes"
        ),
    ],
    "right-to-send": [
        lambda r: statement(r, "PollerRole", "sqs:SendMessage").update(
            Resource={"Fn::GetAtt": "MatchQueue.Arn"}
        )
    ],
    "right-to-trace": [
        lambda r: statement(r, "PollerRole", "xray:").update(Action="xray:PutTraceSegments")
    ],
    "right-to-start": [
        lambda r: statement(r, "ScheduleRole", "lambda:").update(
            Resource={"Fn::GetAtt": "Worker.Arn"}
        ),
    ],
    "route-key": [
        lambda r: first(r, "ApiGatewayV2::Route").update(RouteKey="FETCH /all"),
        lambda r: first(r, "ApiGatewayV2::Route").update(RouteKey="$connect"),
    ],
    "route-settings": [
        lambda r: first(r, "ApiGatewayV2::Stage", "RouteSettings").update(
            RouteSettings={"GET /nowhere": {"ThrottlingRateLimit": 1}}
        ),
    ],
    "api-throttle": [
        lambda r: first(r, "ApiGatewayV2::Stage")["DefaultRouteSettings"].update(
            ThrottlingBurstLimit=5_001
        ),
    ],
    "answer-in-time": [
        lambda r: [
            one["Properties"].update(Timeout=31)
            for one in r.values()
            if one["Type"] == "AWS::Lambda::Function"
        ],
    ],
    "account-role": [logged_feed],
    "access-log-group": [
        lambda r: [
            one["Properties"].pop("LogGroupName", None)
            for one in r.values()
            if one["Type"] == "AWS::Logs::LogGroup"
        ]
    ],
    "access-log-format": [
        lambda r: first(r, "ApiGatewayV2::Stage")["AccessLogSettings"].update(
            Format="$context.status"
        )
    ],
    "alarm-window": [
        lambda r: first(r, "CloudWatch::Alarm", "Period").update(EvaluationPeriods=1_441),
    ],
    "known-metric": [
        lambda r: first(r, "CloudWatch::Alarm").update(Namespace="AWS/Nothing"),
    ],
    "own-metric": [
        lambda r: resource(r, "NotListening").update(MetricName="Polls"),
    ],
    "dashboard-limits": [
        lambda r: first(r, "CloudWatch::Dashboard").update(DashboardBody="no json"),
    ],
    "schedule-expression": [
        lambda r: first(r, "Scheduler::Schedule").update(ScheduleExpression="rate(1 minutes)"),
    ],
    "table-indexes": [
        lambda r: resource(r, "Matches").update(
            GlobalSecondaryIndexes=resource(r, "Matches")["GlobalSecondaryIndexes"] * 11
        ),
    ],
    "subscription": [lambda r: first(r, "SNS::Subscription").update(Protocol="pigeon")],
}


@pytest.mark.parametrize(
    ("name", "mutate"),
    [
        pytest.param(name, mutate, id=f"{name}-{n}")
        for name, mutations in BREACHES.items()
        for n, mutate in enumerate(mutations)
    ],
)
def test_a_planted_breach_of_a_rule_is_found(name: str, mutate: Mutation) -> None:
    template = deepcopy(deployed())
    mutate(template["Resources"])
    if name == "template-counts":
        template["Parameters"] = {f"P{n}": {"Type": "String"} for n in range(201)}
    before, after = (set(checks()[name](one)) for one in (deployed(), template))
    assert after - before


@pytest.mark.parametrize(
    "breach",
    [one for rule in rules() if rule.by == BY_MODEL for one in rule.breaches],
    ids=lambda one: f"{one.kind} {one.at}",
)
def test_what_a_services_own_model_must_catch_is_caught(breach: Any) -> None:  # noqa: ANN401
    assert len(list(modelled(planted(deployed(), breach)))) > len(list(modelled(deployed())))


@pytest.mark.slow
@pytest.mark.skipif(not SAM.exists(), reason="cfn-lint is there after `make gates`")
def test_what_cfn_lint_must_catch_is_caught(tmp_path: Path) -> None:
    """So that nothing is looked at here which the pinned one looks at, and a newer one may stop."""
    wanted = {}
    breaches = [one for rule in rules() if rule.by == BY_LINT for one in rule.breaches]
    for n, breach in enumerate(breaches):
        file = tmp_path / f"{n}.json"
        file.write_text(json.dumps(planted(alone(deployed(), breach.kind), breach)))
        wanted[str(file)] = breach
    command = [str(SAM.parent / "cfn-lint"), "--format", "json", "--template", *wanted]
    told = subprocess.run(command, capture_output=True, text=True, check=False).stdout  # noqa: S603
    found = {(one["Filename"], one["Rule"]["Id"]) for one in json.loads(told)}
    missed = {f"{b.kind} {b.at} {b.told}" for f, b in wanted.items() if (f, b.told) not in found}
    assert missed == set()
