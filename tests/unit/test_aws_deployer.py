"""Who deploys may do that and no more (deployer.yaml, evaluated as IAM does); AWS's own rules."""

import json
import re
import subprocess
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from support.iam_policies import (
    ACCOUNT,
    ALLOW_ALL,
    BOUNDARY_POLICY_ARN,
    REGION,
    deployer_policy,
    is_allowed,
)

from cardsharp_tools.build.sam_build import SAM
from cardsharp_tools.build.sam_transform import Template, transform_with_nested
from cardsharp_tools.build.target import REPOSITORY_ROOT
from cardsharp_tools.build.template_rules.expressions import (
    as_list,
    longest_form,
    resources_of_type,
    rule_table,
)
from cardsharp_tools.build.template_rules.permissions import check_policy_sizes, role_statements
from cardsharp_tools.build.template_rules.runner import MODEL_RULE, rule_functions, rule_violations
from cardsharp_tools.local_cloud.template_files import ROOT_TEMPLATES, TEMPLATE, load_template
from cardsharp_tools.operations.preflight import DEPLOYER_TEMPLATE

BY_LINT = "cfn-lint"
HANDLERS = Path(__file__).parents[1] / "samples" / "cloudformation_handlers.json"
HERE, THERE = REGION, "us-west-2"
ROLE = f"arn:aws:iam::{ACCOUNT}:role/cardsharp-dev-PollerRole-1"
FUNCTION = f"arn:aws:lambda:{HERE}:{ACCOUNT}:function:cardsharp-dev-Poller-1"

ARNS = {
    "budgets": f"arn:aws:budgets::{ACCOUNT}:budget/cardsharp-dev-spending",
    "cloudformation": f"arn:aws:cloudformation:{HERE}:{ACCOUNT}:stack/cardsharp-dev-Watching-1/2",
    "cloudwatch": f"arn:aws:cloudwatch:{HERE}:{ACCOUNT}:alarm:cardsharp-dev-NotListening-1",
    "dynamodb": f"arn:aws:dynamodb:{HERE}:{ACCOUNT}:table/cardsharp-dev-Matches-1",
    "iam": ROLE,
    "lambda": FUNCTION,
    "logs": f"arn:aws:logs:{HERE}:{ACCOUNT}:log-group:cardsharp-dev-PollerLogs-1",
    "s3": "arn:aws:s3:::aws-sam-cli-managed-default-samclisourcebucket-1/cardsharp/2",
    "scheduler": f"arn:aws:scheduler:{HERE}:{ACCOUNT}:schedule/default/cardsharp-dev-1",
    "sns": f"arn:aws:sns:{HERE}:{ACCOUNT}:cardsharp-dev-AlarmTopic-1",
    "sqs": f"arn:aws:sqs:{HERE}:{ACCOUNT}:cardsharp-dev-MatchQueue-1",
    "apigateway": f"arn:aws:apigateway:{HERE}::/apis/a1/stages",
}
OF_KIND = {
    "AWS::CloudWatch::Dashboard": f"arn:aws:cloudwatch::{ACCOUNT}:dashboard/cardsharp-dev",
    "AWS::Lambda::LayerVersion": f"arn:aws:lambda:{HERE}:{ACCOUNT}:layer:cardsharp-dev-own:1",
    "AWS::Lambda::EventSourceMapping": f"arn:aws:lambda:{HERE}:{ACCOUNT}:event-source-mapping:1",
    "AWS::Logs::QueryDefinition": "*",
}
"""Where a type's resources are not named as the others of its service are."""

UNUSED = re.compile(
    r"""iam:((Attach|Detach)RolePolicy  # no role has a policy of AWS's
    |DeleteRolePermissionsBoundary|CreateServiceLinkedRole  # of tables that tell Kinesis
    |(Delete|Get|Put)(Group|User)Policy)|logs:AssociateKmsKey  # of users and groups
    |s3:(getobjectmetadata|rest\.put\.object)  # of tables that are filled from a bucket
    |lambda:getcodesigningconfig  # of functions whose code is signed
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""What CloudFormation asks for options that no template of ours has."""


def may(action: str, resource: str = "*", **told: str) -> bool:
    keys = {key.replace("__", ":"): value for key, value in told.items()}
    return is_allowed([deployer_policy("Deployer")], action, resource, keys)


def bounded(action: str, resource: str = ROLE) -> bool:
    return may(action, resource, iam__PermissionsBoundary=BOUNDARY_POLICY_ARN)


def test_a_deployer_may_do_all_that_cloudformation_does_in_its_name() -> None:
    """By what AWS's own handlers of each type of the templates say that they need."""
    handlers = json.loads(HANDLERS.read_text())
    kinds = {
        one["Type"]
        for path in ROOT_TEMPLATES
        for one in transform_with_nested(path)["Resources"].values()
    }
    asked = {(kind, a) for kind in kinds for one in handlers[kind].values() for a in one}
    for kind, action in sorted(asked):
        if UNUSED.fullmatch(action):
            continue
        resource = OF_KIND.get(kind) if action.startswith(kind.split("::")[1].lower()) else None
        context = {
            "iam__PassedToService": "lambda.amazonaws.com",
            "iam__PermissionsBoundary": BOUNDARY_POLICY_ARN,
            "lambda__FunctionArn": FUNCTION,
        }
        assert may(action, resource or ARNS[action.partition(":")[0].lower()], **context), action


def test_a_deployer_sends_what_sam_does_and_makes_no_role_without_the_boundary() -> None:
    """As SAM sent requests for a stack that nests one, created and deployed again."""
    for asked in ("CreateChangeSet", "DescribeChangeSet", "DescribeStackEvents", "DescribeStacks",
                  "ExecuteChangeSet", "GetTemplateSummary"):  # fmt: skip
        assert may(f"cloudformation:{asked}", ARNS["cloudformation"])
    assert may("s3:GetObject", ARNS["s3"])
    assert may("s3:PutObject", ARNS["s3"])
    for action in ("iam:CreateRole", "iam:PutRolePolicy", "iam:PutRolePermissionsBoundary"):
        assert bounded(action)
        assert not may(action, ROLE)
        assert not may(action, ROLE, iam__PermissionsBoundary="arn:aws:iam::aws:policy/PowerUser")
    assert not bounded("iam:AttachRolePolicy")
    assert not bounded("iam:DeleteRolePermissionsBoundary")
    own = f"arn:aws:iam::{ACCOUNT}:role/deployer"
    for action in (
        "CreatePolicy",
        "CreatePolicyVersion",
        "DeletePolicy",
        "SetDefaultPolicyVersion",
    ):
        assert not bounded(f"iam:{action}", f"arn:aws:iam::{ACCOUNT}:policy/boundary-of-cardsharp")
    for action in ("PutRolePolicy", "AttachRolePolicy", "UpdateAssumeRolePolicy", "DeleteRole"):
        assert not bounded(f"iam:{action}", own)
    assert not bounded("iam:CreateUser", f"arn:aws:iam::{ACCOUNT}:user/cardsharp-me")
    assert not bounded("iam:PutUserPolicy", f"arn:aws:iam::{ACCOUNT}:user/me")
    template = load_template(REPOSITORY_ROOT / DEPLOYER_TEMPLATE)
    assert not list(check_policy_sizes(template))
    for name, told in resources_of_type(template, "AWS::IAM::ManagedPolicy"):
        called = str(longest_form(told["ManagedPolicyName"], template))
        assert not called.startswith("cardsharp-")
        assert name != "Boundary" or BOUNDARY_POLICY_ARN.endswith(f"/{called}")


def test_what_knows_no_names_is_of_the_region_and_a_role_is_passed_to_ours_alone() -> None:
    for service in ("lambda", "scheduler"):
        assert may("iam:PassRole", ROLE, iam__PassedToService=f"{service}.amazonaws.com")
    for service in ("ec2", "cloudformation", "ecs-tasks"):
        assert not may("iam:PassRole", ROLE, iam__PassedToService=f"{service}.amazonaws.com")
    admin = f"arn:aws:iam::{ACCOUNT}:role/admin"
    assert not may("iam:PassRole", admin, iam__PassedToService="lambda.amazonaws.com")
    assert not may("iam:PassRole", ROLE)
    apis = ARNS["apigateway"]
    assert may("apigateway:POST", apis)
    assert not may("apigateway:POST", apis.replace(HERE, THERE))
    assert not may("apigateway:PATCH", f"arn:aws:apigateway:{HERE}::/account")
    assert may("logs:PutResourcePolicy", "*")
    assert not may("logs:PutResourcePolicy", "*", aws__RequestedRegion=THERE)
    mapping = "lambda:CreateEventSourceMapping"
    assert not may(mapping, "*", lambda__FunctionArn=FUNCTION.replace("cardsharp", "payroll"))
    assert not may("s3:PutObject", "arn:aws:s3:::payroll/x")
    (artifacts,) = [
        one for one in deployer_policy("Deployer")["Statement"] if one["Action"] == "s3:*"
    ]
    # Of buckets the evaluator knows no owners.
    assert artifacts["Condition"] == {"StringEquals": {"aws:ResourceAccount": ACCOUNT}}


@pytest.mark.parametrize("service", sorted(ARNS.keys() - {"iam", "apigateway", "s3"}))
def test_a_deployer_touches_no_other_prefix_region_or_account(service: str) -> None:
    arn = ARNS[service]
    assert may(f"{service}:DescribeIt", arn)
    assert not may(f"{service}:DescribeIt", arn.replace("cardsharp-", "payroll-"))
    assert not may(f"{service}:DescribeIt", arn.replace(ACCOUNT, "210987654321"))
    if HERE in arn:
        assert not may(f"{service}:DescribeIt", arn.replace(HERE, THERE))


def test_the_boundary_leaves_of_an_administrators_role_what_the_stacks_need_and_no_more() -> None:
    """Who deploys writes the roles' own policies, and could write anything there."""

    def left(action: str, resource: str) -> bool:
        return is_allowed([ALLOW_ALL], action, resource, boundary=deployer_policy("Boundary"))

    assert left("dynamodb:PutItem", ARNS["dynamodb"])
    assert not left("dynamodb:PutItem", ARNS["dynamodb"].replace("cardsharp", "payroll"))
    assert not left("dynamodb:PutItem", ARNS["dynamodb"].replace(HERE, THERE))
    for action in ("iam:CreateUser", "sts:AssumeRole", "lambda:UpdateFunctionCode", "s3:GetObject"):
        assert not left(action, "*")
        assert not left(action, FUNCTION)


@pytest.mark.parametrize("path", ROOT_TEMPLATES, ids=lambda path: path.name)
def test_the_boundary_takes_nothing_from_the_roles_of_the_templates(path: Path) -> None:
    template = transform_with_nested(path)
    for role, _ in resources_of_type(template, "AWS::IAM::Role"):
        for statement in role_statements(template, role):
            if longest_form(statement["Effect"], template) == "Allow":
                told = longest_form({k: statement[k] for k in ("Action", "Resource")}, template)
                for action in as_list(told["Action"]):
                    assert any(_bounded(action, one) for one in as_list(told["Resource"])), action


def _bounded(action: str, resource: str) -> bool:
    """Whether the boundary allows an action on a resource, of which only the name is known."""
    service = action.partition(":")[0]
    named = resource.replace(":service:", f":{service}:")
    kinds = {"dynamodb": "table/", "lambda": "function:", "logs": "log-group:"}
    if named != resource:
        named = named.replace(":cardsharp", f":{kinds.get(service, '')}cardsharp", 1)
    return is_allowed([ALLOW_ALL], action, named, boundary=deployer_policy("Boundary"))


RULES: list[dict[str, Any]] = rule_table("rule")
BREACHES = [(rule, breach) for rule in RULES for breach in rule["breaches"]]


def planted(template: Template, breach: dict[str, Any]) -> Template:
    """The template with what a rule must catch, as service_rules.toml tells it."""
    copy = deepcopy(template)
    place: Any = copy
    if "of" in breach or "kind" in breach:
        name = breach.get("of") or first(copy, breach["kind"])
        place = copy["Resources"][name]["Properties"]
    *before, last = (int(key) if key.isdecimal() else key for key in breach["at"].split("."))
    for key in before:
        place = place.setdefault(key, {}) if isinstance(place, dict) else place[key]
    value = breach.get("value", "x" * breach.get("length", 0))
    if "times" in breach:
        value = [value] * breach["times"]
    if "entries" in breach:
        value = {f"Entry{n}": value for n in range(breach["entries"])}
    if breach.keys() & {"value", "length"}:
        place[last] = value
    else:
        del place[last]
    return copy


def first(template: Template, kind: str) -> str:
    """The name of the first resource of a type."""
    return next(name for name, one in template["Resources"].items() if one["Type"] == kind)


def alone(template: Template, kind: str = "AWS::SNS::Topic") -> Template:
    """A template with its first resource of a type, without one with a topic: for cfn-lint."""
    name = first(template, kind)
    return {**template, "Resources": {name: template["Resources"][name]}, "Outputs": {}}


@cache
def before(check: str) -> frozenset[str]:
    """What a check finds where nothing is planted."""
    return frozenset(rule_functions()[check](transform_with_nested(TEMPLATE)))


@pytest.mark.parametrize("path", ROOT_TEMPLATES, ids=lambda path: path.name)
def test_aws_refuses_nothing_of_a_template_and_of_what_it_nests(path: Path) -> None:
    assert list(rule_violations(path)) == []


def test_every_rule_has_a_name_of_its_own_a_source_and_a_planted_breach() -> None:
    assert len({rule["name"] for rule in RULES}) == len(RULES)
    for rule in RULES:
        assert rule["source"].startswith("https://") or rule["name"] == "check-service-metric"
        assert rule["says"]
        assert rule["by"] in {BY_LINT, MODEL_RULE, "here"}
        assert rule["breaches"], rule["name"]


@pytest.mark.parametrize(
    ("check", "breach"),
    [
        pytest.param(
            MODEL_RULE if rule["by"] == MODEL_RULE else rule["name"],
            breach,
            id=f"{rule['name']}-{breach.get('of') or breach.get('kind')}-{breach['at']}",
        )
        for rule, breach in BREACHES
        if rule["by"] != BY_LINT
    ],
)
def test_a_planted_breach_of_a_rule_is_found(check: str, breach: dict[str, Any]) -> None:
    assert set(rule_functions()[check](planted(transform_with_nested(TEMPLATE), breach))) - before(
        check
    )


@pytest.mark.slow
@pytest.mark.skipif(not SAM.exists(), reason="cfn-lint is there after `make check-deploy`")
def test_what_cfn_lint_must_catch_is_caught(tmp_path: Path) -> None:
    """So that nothing is looked at here which the pinned one looks at, and a newer one may stop."""
    wanted = {}
    breaches = [breach for rule, breach in BREACHES if rule["by"] == BY_LINT]
    for n, breach in enumerate(breaches):
        file, kinds = tmp_path / f"{n}.json", [breach["kind"]] if "kind" in breach else []
        file.write_text(json.dumps(planted(alone(transform_with_nested(TEMPLATE), *kinds), breach)))
        wanted[str(file)] = breach
    command = [str(SAM.parent / "cfn-lint"), "--format", "json", "--template", *wanted]
    told = subprocess.run(command, capture_output=True, text=True, check=False).stdout  # noqa: S603
    found = {(one["Filename"], one["Rule"]["Id"]) for one in json.loads(told)}
    missed = [one for file, one in wanted.items() if (file, one["told"]) not in found]
    assert missed == []
