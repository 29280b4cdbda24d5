"""Evaluation of IAM policies by the evaluator of the emulator, called directly.

It supports conditions and boundaries. The emulator's SimulatePrincipalPolicy ignores the
condition values of a request.
"""

import json
from collections.abc import Iterable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from ministack.core.iam_evaluator import EvalContext, evaluate, parse_policy_document  # type: ignore[import-untyped]

from cardsharp_tools.build.target import REPOSITORY_ROOT
from cardsharp_tools.build.template_rules.expressions import longest_expansion
from cardsharp_tools.local_cloud.template_files import load_template
from cardsharp_tools.operations.preflight import BOUNDARY_ARN, DEPLOYER_TEMPLATE

Policy = Mapping[str, Any]
ACCOUNT, REGION = "123456789012", "ap-southeast-2"
ALLOW_ALL: Policy = {"Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}
BOUNDARY_POLICY_ARN = BOUNDARY_ARN.format(account=ACCOUNT, region=REGION)


def is_allowed(
    policies: Iterable[Policy],
    action: str,
    resource: str = "*",
    condition_keys: Mapping[str, Any] = MappingProxyType({}),
    boundary: Policy | None = None,
) -> bool:
    """Return True if a user with these policies, and within this boundary, may do the action.

    `condition_keys` are those that the service sets for the request. The region is taken from
    them, else from the resource.
    """
    resource_region = resource.split(":")[3] if resource.count(":") > 3 else ""
    context = EvalContext(
        principal_arn=f"arn:aws:iam::{ACCOUNT}:user/somebody",
        principal_type="User",
        principal_account=ACCOUNT,
        action=action,
        resource_arn=resource,
        region=condition_keys.get("aws:RequestedRegion") or resource_region or REGION,
        service_context={key.lower(): value for key, value in condition_keys.items()},
    )
    boundaries = [[parse_policy_document(dict(boundary))]] if boundary is not None else []
    parsed = [parse_policy_document(dict(policy)) for policy in policies]
    return bool(evaluate(context, parsed, *boundaries).decision == "Allow")


@cache
def deployer_policy(name: str) -> Policy:
    """Return a policy of deployer.yaml, Deployer or Boundary, as CloudFormation resolves it."""
    template = load_template(REPOSITORY_ROOT / DEPLOYER_TEMPLATE)
    document = template["Resources"][name]["Properties"]["PolicyDocument"]
    text = json.dumps(document).replace(
        json.dumps({"Ref": "Boundary"}), json.dumps(BOUNDARY_POLICY_ARN)
    )
    return longest_expansion(json.loads(text), template)
