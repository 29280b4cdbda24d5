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

from workbench.build.expressions import largest
from workbench.build.target import ROOT
from workbench.cloud.template import load_template
from workbench.operate.preflight import BOUNDARY, RIGHTS

Policy = Mapping[str, Any]
ACCOUNT, REGION = "123456789012", "ap-southeast-2"
EVERYTHING: Policy = {"Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}
BOUND = BOUNDARY.format(account=ACCOUNT, region=REGION)


def allowed(
    policies: Iterable[Policy],
    action: str,
    resource: str = "*",
    told: Mapping[str, Any] = MappingProxyType({}),
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
        region=told.get("aws:RequestedRegion") or of_resource or REGION,
        service_context={key.lower(): value for key, value in told.items()},
    )
    bounds = [[parse_policy_document(dict(boundary))]] if boundary is not None else []
    parsed = [parse_policy_document(dict(one)) for one in policies]
    return bool(evaluate(asked, parsed, *bounds).decision == "Allow")


@cache
def made(name: str) -> Policy:
    """A policy of deployer.yaml as CloudFormation fills it in: Deployer or Boundary."""
    template = load_template(ROOT / RIGHTS)
    told = template["Resources"][name]["Properties"]["PolicyDocument"]
    text = json.dumps(told).replace(json.dumps({"Ref": "Boundary"}), json.dumps(BOUND))
    return largest(json.loads(text), template)
