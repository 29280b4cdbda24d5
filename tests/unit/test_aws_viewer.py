"""The viewer in the template: left out unless it is asked for, and within its limits.

What its role may read is held against its requests in tests/integration/test_viewer.py.
"""

import re

import pytest
from support.aws_template import properties, template

BLOCK = {name: one for name, one in template()["Resources"].items() if name.startswith("Viewer")}


def test_it_is_deployed_only_when_asked_for_and_private_unless_said_otherwise() -> None:
    parameters, conditions = template()["Parameters"], template()["Conditions"]
    assert parameters["DeployWeb"]["Default"] == parameters["WebPublic"]["Default"] == "no"
    assert conditions["HasWeb"] == {"Fn::Equals": [{"Ref": "DeployWeb"}, "yes"]}
    assert conditions["PublicWeb"] == {"Fn::Equals": [{"Ref": "WebPublic"}, "yes"]}
    assert len(BLOCK) >= 10
    assert {one["Condition"] for one in BLOCK.values()} == {"HasWeb"}
    for name in ("viewerUrl", "viewerName"):
        assert template()["Outputs"][name]["Condition"] == "HasWeb"


def test_nothing_else_knows_it() -> None:
    """So that it is taken away as one block."""
    others = {name: one for name, one in template()["Resources"].items() if name not in BLOCK}
    assert "Viewer" not in str(others)


def test_public_pages_have_no_password_and_no_right_to_one() -> None:
    variables = properties("Viewer")["Environment"]["Variables"]
    parameter = {"Fn::Sub": "/${AWS::StackName}/viewer"}
    assert variables["CARDSHARP_SECRET_ID"] == {"Fn::If": ["PublicWeb", "", parameter]}
    assert variables["CARDSHARP_PUBLIC"] == {"Ref": "WebPublic"}
    statements = properties("ViewerRole")["Policies"][0]["PolicyDocument"]["Statement"]
    (right,) = [one for one in statements if one["Action"] == "ssm:GetParameter"]
    assert right["Effect"] == {"Fn::If": ["PublicWeb", "Deny", "Allow"]}


@pytest.mark.parametrize("route", ["ViewerRoute", "ViewerLogin"])
def test_every_request_reaches_the_function_and_only_from_its_api(route: str) -> None:
    assert properties(route)["Target"] == {"Fn::Sub": "integrations/${ViewerIntegration}"}
    integration = properties("ViewerIntegration")
    assert integration["IntegrationUri"] == {"Fn::GetAtt": "Viewer.Arn"}
    assert integration["PayloadFormatVersion"] == "2.0"
    permission = properties("ViewerPermission")
    assert permission["Principal"] == "apigateway.amazonaws.com"
    assert permission["SourceArn"]["Fn::Sub"].endswith(":${ViewerApi}/*/*")


def test_passwords_are_tried_once_a_second_by_all_the_world_together() -> None:
    """The door takes a password at the address of any page, by POST alone."""
    stage, key = properties("ViewerStage"), properties("ViewerLogin")["RouteKey"]
    assert properties("ViewerRoute")["RouteKey"] == "$default"
    assert key == "POST /{proxy+}"
    limits = stage["RouteSettings"][key]
    assert (limits["ThrottlingRateLimit"], limits["ThrottlingBurstLimit"]) == (1, 5)
    assert BLOCK["ViewerStage"]["DependsOn"] == "ViewerLogin", "a limit of a route that is there"


def test_it_ends_before_its_api_stops_waiting_and_has_its_limits() -> None:
    function, stage = properties("Viewer"), properties("ViewerStage")
    assert function["Timeout"] * 1000 < properties("ViewerIntegration")["TimeoutInMillis"] <= 30_000
    assert stage["DefaultRouteSettings"]["ThrottlingRateLimit"] <= 50
    assert stage["DefaultRouteSettings"]["ThrottlingBurstLimit"] <= 100
    reserved = {"Fn::If": ["Reserved", 5, {"Ref": "AWS::NoValue"}]}
    assert function["ReservedConcurrentExecutions"] == reserved


def test_what_is_logged_of_a_request_names_neither_path_nor_query() -> None:
    """A link carries its pass."""
    told = properties("ViewerStage")["AccessLogSettings"]["Format"]
    named = set(re.findall(r"\$context\.([\w.]+)", told))
    assert named == set(re.findall(r"\$context\.([\w.]+)", _of_a_game()))
    assert not {"path", "routeKey", "identity.sourceIp"} & named


def _of_a_game() -> str:
    told: str = properties("blefStage")["AccessLogSettings"]["Format"]
    return told
