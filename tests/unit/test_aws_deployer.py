"""Permissions of the deployer (deployer.yaml, evaluated as IAM does), and AWS's service rules."""

import json
import re
import subprocess
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from support.aws_template import template
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
    load_service_rule_table,
    longest_expansion,
    resources_of_type,
)
from cardsharp_tools.build.template_rules.permissions import (
    check_policy_sizes,
    role_policy_statements,
)
from cardsharp_tools.build.template_rules.runner import MODEL_RULE, rule_functions, rule_violations
from cardsharp_tools.local_cloud.template_files import ROOT_TEMPLATES, load_template
from cardsharp_tools.operations.preflight import DEPLOYER_TEMPLATE

CFN_LINT = "cfn-lint"
HANDLERS = Path(__file__).parents[1] / "samples" / "cloudformation_handlers.json"
DEPLOY_REGION, OTHER_REGION = REGION, "us-west-2"
REGION_ACCOUNT = f"{DEPLOY_REGION}:{ACCOUNT}"
ROLE = f"arn:aws:iam::{ACCOUNT}:role/cardsharp-dev-PollerRole-1"
FUNCTION = f"arn:aws:lambda:{REGION_ACCOUNT}:function:cardsharp-dev-Poller-1"

ARNS = {
    "budgets": f"arn:aws:budgets::{ACCOUNT}:budget/cardsharp-dev-spending",
    "cloudformation": f"arn:aws:cloudformation:{REGION_ACCOUNT}:stack/cardsharp-dev-Watching-1/2",
    "cloudwatch": f"arn:aws:cloudwatch:{REGION_ACCOUNT}:alarm:cardsharp-dev-NotListening-1",
    "dynamodb": f"arn:aws:dynamodb:{REGION_ACCOUNT}:table/cardsharp-dev-Matches-1",
    "iam": ROLE,
    "lambda": FUNCTION,
    "logs": f"arn:aws:logs:{REGION_ACCOUNT}:log-group:cardsharp-dev-PollerLogs-1",
    "s3": "arn:aws:s3:::aws-sam-cli-managed-default-samclisourcebucket-1/cardsharp/2",
    "scheduler": f"arn:aws:scheduler:{REGION_ACCOUNT}:schedule/default/cardsharp-dev-1",
    "sns": f"arn:aws:sns:{REGION_ACCOUNT}:cardsharp-dev-AlarmTopic-1",
    "sqs": f"arn:aws:sqs:{REGION_ACCOUNT}:cardsharp-dev-MatchQueue-1",
    "apigateway": f"arn:aws:apigateway:{DEPLOY_REGION}::/apis/a1/stages",
}
ARN_BY_TYPE = {
    "AWS::CloudWatch::Dashboard": f"arn:aws:cloudwatch::{ACCOUNT}:dashboard/cardsharp-dev",
    "AWS::Lambda::LayerVersion": f"arn:aws:lambda:{REGION_ACCOUNT}:layer:cardsharp-dev-own:1",
    "AWS::Lambda::EventSourceMapping": f"arn:aws:lambda:{REGION_ACCOUNT}:event-source-mapping:1",
    "AWS::Logs::QueryDefinition": "*",
}
"""Where a type's resources are not named as the others of its service are."""

UNUSED_ACTIONS = re.compile(
    r"""iam:((Attach|Detach)RolePolicy  # no role has a policy of AWS's
    |DeleteRolePermissionsBoundary|CreateServiceLinkedRole  # of tables that tell Kinesis
    |(Delete|Get|Put)(Group|User)Policy)|logs:AssociateKmsKey  # of users and groups
    |s3:(getobjectmetadata|rest\.put\.object)  # of tables that are filled from a bucket
    |lambda:getcodesigningconfig  # of functions whose code is signed
    |codedeploy:\w+  # of aliases that move gradually
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""What CloudFormation asks for options that no template of ours has."""


def deployer_may(action: str, resource: str = "*", **condition_keys: str) -> bool:
    keys = {key.replace("__", ":"): value for key, value in condition_keys.items()}
    return is_allowed([deployer_policy("Deployer")], action, resource, keys)


def may_with_boundary(action: str, resource: str = ROLE) -> bool:
    return deployer_may(action, resource, iam__PermissionsBoundary=BOUNDARY_POLICY_ARN)


def test_a_deployer_may_do_all_that_cloudformation_does_in_its_name() -> None:
    """The permissions are those that AWS lists for the handlers of each resource type."""
    handlers = json.loads(HANDLERS.read_text())
    type_names = {
        definition["Type"]
        for path in ROOT_TEMPLATES
        for definition in transform_with_nested(path)["Resources"].values()
    }
    required_actions = {
        (type_name, action)
        for type_name in type_names
        for permissions in handlers[type_name].values()
        for action in permissions
    }
    for type_name, action in sorted(required_actions):
        if UNUSED_ACTIONS.fullmatch(action):
            continue
        resource = (
            ARN_BY_TYPE.get(type_name)
            if action.startswith(type_name.split("::")[1].lower())
            else None
        )
        context = {
            "iam__PassedToService": "lambda.amazonaws.com",
            "iam__PermissionsBoundary": BOUNDARY_POLICY_ARN,
            "lambda__FunctionArn": FUNCTION,
        }
        assert deployer_may(
            action, resource or ARNS[action.partition(":")[0].lower()], **context
        ), action


def test_a_deployer_may_do_the_operations_of_sam_and_create_roles_only_with_the_boundary() -> None:
    """The operations are those that SAM sent for a nested stack, created and deployed again."""
    for operation in (
        "CreateChangeSet",
        "DescribeChangeSet",
        "DescribeStackEvents",
        "DescribeStacks",
        "ExecuteChangeSet",
        "GetTemplateSummary",
    ):
        assert deployer_may(f"cloudformation:{operation}", ARNS["cloudformation"])
    assert deployer_may("s3:GetObject", ARNS["s3"])
    assert deployer_may("s3:PutObject", ARNS["s3"])
    for action in ("iam:CreateRole", "iam:PutRolePolicy", "iam:PutRolePermissionsBoundary"):
        assert may_with_boundary(action)
        assert not deployer_may(action, ROLE)
        assert not deployer_may(
            action, ROLE, iam__PermissionsBoundary="arn:aws:iam::aws:policy/PowerUser"
        )
    assert not may_with_boundary("iam:AttachRolePolicy")
    assert not may_with_boundary("iam:DeleteRolePermissionsBoundary")
    deployer_role = f"arn:aws:iam::{ACCOUNT}:role/deployer"
    for action in (
        "CreatePolicy",
        "CreatePolicyVersion",
        "DeletePolicy",
        "SetDefaultPolicyVersion",
    ):
        assert not may_with_boundary(
            f"iam:{action}", f"arn:aws:iam::{ACCOUNT}:policy/boundary-of-cardsharp"
        )
    for action in ("PutRolePolicy", "AttachRolePolicy", "UpdateAssumeRolePolicy", "DeleteRole"):
        assert not may_with_boundary(f"iam:{action}", deployer_role)
    assert not may_with_boundary("iam:CreateUser", f"arn:aws:iam::{ACCOUNT}:user/cardsharp-me")
    assert not may_with_boundary("iam:PutUserPolicy", f"arn:aws:iam::{ACCOUNT}:user/me")
    deployer = load_template(REPOSITORY_ROOT / DEPLOYER_TEMPLATE)
    assert not list(check_policy_sizes(deployer))
    for name, policy in resources_of_type(deployer, "AWS::IAM::ManagedPolicy"):
        policy_name = str(longest_expansion(policy["ManagedPolicyName"], deployer))
        assert not policy_name.startswith("cardsharp-")
        assert name != "Boundary" or BOUNDARY_POLICY_ARN.endswith(f"/{policy_name}")


def test_unnamed_resources_are_limited_by_region_and_roles_pass_to_our_services_only() -> None:
    for service in ("lambda", "scheduler"):
        assert deployer_may("iam:PassRole", ROLE, iam__PassedToService=f"{service}.amazonaws.com")
    for service in ("ec2", "cloudformation", "ecs-tasks"):
        assert not deployer_may(
            "iam:PassRole", ROLE, iam__PassedToService=f"{service}.amazonaws.com"
        )
    admin = f"arn:aws:iam::{ACCOUNT}:role/admin"
    assert not deployer_may("iam:PassRole", admin, iam__PassedToService="lambda.amazonaws.com")
    assert not deployer_may("iam:PassRole", ROLE)
    apis = ARNS["apigateway"]
    assert deployer_may("apigateway:POST", apis)
    assert not deployer_may("apigateway:POST", apis.replace(DEPLOY_REGION, OTHER_REGION))
    assert not deployer_may("apigateway:PATCH", f"arn:aws:apigateway:{DEPLOY_REGION}::/account")
    assert deployer_may("logs:PutResourcePolicy", "*")
    assert not deployer_may("logs:PutResourcePolicy", "*", aws__RequestedRegion=OTHER_REGION)
    mapping = "lambda:CreateEventSourceMapping"
    assert not deployer_may(
        mapping, "*", lambda__FunctionArn=FUNCTION.replace("cardsharp", "payroll")
    )
    assert not deployer_may("s3:PutObject", "arn:aws:s3:::payroll/x")
    (artifacts,) = [
        statement
        for statement in deployer_policy("Deployer")["Statement"]
        if statement["Action"] == "s3:*"
    ]
    # Of buckets the evaluator knows no owners.
    assert artifacts["Condition"] == {"StringEquals": {"aws:ResourceAccount": ACCOUNT}}


@pytest.mark.parametrize("service", sorted(ARNS.keys() - {"iam", "apigateway", "s3"}))
def test_a_deployer_touches_no_other_prefix_region_or_account(service: str) -> None:
    arn = ARNS[service]
    assert deployer_may(f"{service}:DescribeIt", arn)
    assert not deployer_may(f"{service}:DescribeIt", arn.replace("cardsharp-", "payroll-"))
    assert not deployer_may(f"{service}:DescribeIt", arn.replace(ACCOUNT, "210987654321"))
    if DEPLOY_REGION in arn:
        assert not deployer_may(f"{service}:DescribeIt", arn.replace(DEPLOY_REGION, OTHER_REGION))


def test_the_boundary_limits_an_administrators_role_to_the_needs_of_the_stacks() -> None:
    """The deployer writes the roles' policies, which could otherwise grant any permission."""

    def is_within_boundary(action: str, resource: str) -> bool:
        return is_allowed([ALLOW_ALL], action, resource, boundary=deployer_policy("Boundary"))

    assert is_within_boundary("dynamodb:PutItem", ARNS["dynamodb"])
    assert not is_within_boundary(
        "dynamodb:PutItem", ARNS["dynamodb"].replace("cardsharp", "payroll")
    )
    assert not is_within_boundary(
        "dynamodb:PutItem", ARNS["dynamodb"].replace(DEPLOY_REGION, OTHER_REGION)
    )
    for action in ("iam:CreateUser", "sts:AssumeRole", "lambda:UpdateFunctionCode", "s3:GetObject"):
        assert not is_within_boundary(action, "*")
        assert not is_within_boundary(action, FUNCTION)


@pytest.mark.parametrize("path", ROOT_TEMPLATES, ids=lambda path: path.name)
def test_the_boundary_takes_nothing_from_the_roles_of_the_templates(path: Path) -> None:
    stack = transform_with_nested(path)
    for role, _ in resources_of_type(stack, "AWS::IAM::Role"):
        for statement in role_policy_statements(stack, role):
            if longest_expansion(statement["Effect"], stack) == "Allow":
                resolved = longest_expansion(
                    {k: statement[k] for k in ("Action", "Resource")}, stack
                )
                for action in as_list(resolved["Action"]):
                    assert any(
                        boundary_allows(action, resource)
                        for resource in as_list(resolved["Resource"])
                    ), action


def boundary_allows(action: str, resource: str) -> bool:
    """Return True if the boundary allows an action on a resource with this ARN."""
    service = action.partition(":")[0]
    typed_arn = resource.replace(":service:", f":{service}:")
    resource_prefixes = {"dynamodb": "table/", "lambda": "function:", "logs": "log-group:"}
    if typed_arn != resource:
        typed_arn = typed_arn.replace(
            ":cardsharp", f":{resource_prefixes.get(service, '')}cardsharp", 1
        )
    return is_allowed([ALLOW_ALL], action, typed_arn, boundary=deployer_policy("Boundary"))


RULES: list[dict[str, Any]] = load_service_rule_table("rule")
BREACHES = [(rule, breach) for rule in RULES for breach in rule["breaches"]]


def plant_breach(full_template: Template, breach: dict[str, Any]) -> Template:
    """Return the template with a breach that a rule must catch, as in service_rules.toml."""
    copy = deepcopy(full_template)
    target: Any = copy
    if "of" in breach or "kind" in breach:
        name = breach.get("of") or first_resource_of_type(copy, breach["kind"])
        target = copy["Resources"][name]["Properties"]
    *parents, last = (int(key) if key.isdecimal() else key for key in breach["at"].split("."))
    for key in parents:
        target = target.setdefault(key, {}) if isinstance(target, dict) else target[key]
    value = breach.get("value", "x" * breach.get("length", 0))
    if "times" in breach:
        value = [value] * breach["times"]
    if "entries" in breach:
        value = {f"Entry{n}": value for n in range(breach["entries"])}
    if breach.keys() & {"value", "length"}:
        target[last] = value
    else:
        del target[last]
    return copy


def first_resource_of_type(full_template: Template, type_name: str) -> str:
    """Return the name of the first resource of a type."""
    return next(
        name
        for name, resource in full_template["Resources"].items()
        if resource["Type"] == type_name
    )


def template_with_single_resource(
    full_template: Template, type_name: str = "AWS::SNS::Topic"
) -> Template:
    """Return the template with only its first resource of a type, as input for cfn-lint."""
    name = first_resource_of_type(full_template, type_name)
    return {**full_template, "Resources": {name: full_template["Resources"][name]}, "Outputs": {}}


@cache
def baseline_findings(check: str) -> frozenset[str]:
    """Return the findings of a check on the template without a breach."""
    return frozenset(rule_functions()[check](template()))


@pytest.mark.parametrize("path", ROOT_TEMPLATES, ids=lambda path: path.name)
def test_no_template_violates_a_service_rule(path: Path) -> None:
    assert list(rule_violations(path)) == []


def test_every_rule_has_a_unique_name_a_source_and_a_planted_breach() -> None:
    assert len({rule["name"] for rule in RULES}) == len(RULES)
    for rule in RULES:
        assert rule["source"].startswith("https://") or rule["name"] == "check-aws-metrics-exist"
        assert rule["says"]
        assert rule["by"] in {CFN_LINT, MODEL_RULE, "here"}
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
        if rule["by"] != CFN_LINT
    ],
)
def test_a_planted_breach_of_a_rule_is_detected(check: str, breach: dict[str, Any]) -> None:
    assert set(rule_functions()[check](plant_breach(template(), breach))) - baseline_findings(check)


@pytest.mark.slow
@pytest.mark.skipif(not SAM.exists(), reason="cfn-lint is there after `make check-deploy`")
def test_cfn_lint_catches_every_breach_that_is_delegated_to_it(tmp_path: Path) -> None:
    """Rules that the pinned cfn-lint covers are not checked here; a newer one may drop them."""
    breach_by_file = {}
    breaches = [breach for rule, breach in BREACHES if rule["by"] == CFN_LINT]
    for n, breach in enumerate(breaches):
        file, type_names = tmp_path / f"{n}.json", [breach["kind"]] if "kind" in breach else []
        file.write_text(
            json.dumps(plant_breach(template_with_single_resource(template(), *type_names), breach))
        )
        breach_by_file[str(file)] = breach
    command = [str(SAM.parent / "cfn-lint"), "--format", "json", "--template", *breach_by_file]
    output = subprocess.run(command, capture_output=True, text=True, check=False).stdout  # noqa: S603
    findings = {(finding["Filename"], finding["Rule"]["Id"]) for finding in json.loads(output)}
    undetected_breaches = [
        planted_breach
        for file, planted_breach in breach_by_file.items()
        if (file, planted_breach["told"]) not in findings
    ]
    assert undetected_breaches == []
