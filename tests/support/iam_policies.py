"""What IAM makes of policies: by the evaluator of the emulator, asked directly.

It knows conditions and boundaries; the emulator's own SimulatePrincipalPolicy leaves out the
conditions' values that a request brings.
"""

import json
from collections.abc import Iterable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from ministack.core.iam_evaluator import EvalContext, evaluate, parse_policy_document  # type: ignore[import-untyped]

from cardsharp_tools.build.target import REPOSITORY_ROOT
from cardsharp_tools.build.template_rules.expressions import longest_form
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
    """Whether a user with these policies, and within this boundary, may do it.

    `told` are the condition keys that the service tells of the request. Its region is theirs, or
    the resource's.
    """
    of_resource = resource.split(":")[3] if resource.count(":") > 3 else ""
    asked = EvalContext(
        principal_arn=f"arn:aws:iam::{ACCOUNT}:user/somebody",
        principal_type="User",
        principal_account=ACCOUNT,
        action=action,
        resource_arn=resource,
        region=condition_keys.get("aws:RequestedRegion") or of_resource or REGION,
        service_context={key.lower(): value for key, value in condition_keys.items()},
    )
    bounds = [[parse_policy_document(dict(boundary))]] if boundary is not None else []
    parsed = [parse_policy_document(dict(one)) for one in policies]
    return bool(evaluate(asked, parsed, *bounds).decision == "Allow")


@cache
def deployer_policy(name: str) -> Policy:
    """A policy of deployer.yaml as CloudFormation fills it in: Deployer or Boundary."""
    template = load_template(REPOSITORY_ROOT / DEPLOYER_TEMPLATE)
    told = template["Resources"][name]["Properties"]["PolicyDocument"]
    text = json.dumps(told).replace(
        json.dumps({"Ref": "Boundary"}), json.dumps(BOUNDARY_POLICY_ARN)
    )
    return longest_form(json.loads(text), template)
