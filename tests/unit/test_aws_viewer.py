"""The viewer in the template: left out unless it is asked for, and within its limits.

What its role may read is held against its requests in tests/integration/test_viewer.py.
"""

import re

import pytest
from support.aws_template import properties, template

BLOCK = {
    name: one for name, one in template()["Resources"].items() if name.lower().startswith("viewer")
}


def test_it_is_deployed_only_when_asked_for_and_private_unless_said_otherwise() -> None:
    parameters, conditions = template()["Parameters"], template()["Conditions"]
    assert parameters["DeployWeb"]["Default"] == parameters["WebPublic"]["Default"] == "no"
    assert conditions["HasWeb"] == {"Fn::Equals": [{"Ref": "DeployWeb"}, "yes"]}
    assert conditions["PublicWeb"] == {"Fn::Equals": [{"Ref": "WebPublic"}, "yes"]}
    assert "viewerTable" not in BLOCK, "it has none of its own"
    assert len(BLOCK) >= 10
    assert {one["Condition"] for one in BLOCK.values()} == {"HasWeb", "viewerHasSecret"}
    for name in ("viewerUrl", "viewerName"):
        assert template()["Outputs"][name]["Condition"] == "HasWeb"


def test_nothing_else_knows_it() -> None:
    """So that it is taken away as one block."""
    others = {name: one for name, one in template()["Resources"].items() if name not in BLOCK}
    assert "viewer" not in str(others).lower()


def test_public_pages_have_no_password_and_no_right_to_one() -> None:
    variables = properties("viewerService")["Environment"]["Variables"]
    parameter = {"Fn::If": ["PublicWeb", "", {"Fn::Sub": "/${AWS::StackName}/viewer"}]}
    assert variables["CARDSHARP_SERVICE_SECRET"] == parameter
    assert variables["CARDSHARP_PUBLIC"] == {"Ref": "WebPublic"}
    condition = template()["Resources"]["viewerSecretPolicy"]["Condition"]
    assert template()["Conditions"][condition] == {"Fn::Not": [{"Fn::Equals": [parameter, ""]}]}


@pytest.mark.parametrize("route", ["viewerRoute", "viewerLoginRoute"])
def test_every_request_reaches_the_function_and_only_from_its_api(route: str) -> None:
    assert properties(route)["Target"] == {"Fn::Sub": "integrations/${viewerIntegration}"}
    integration = properties("viewerIntegration")
    assert integration["IntegrationUri"] == {"Fn::GetAtt": "viewerService.Arn"}
    assert integration["PayloadFormatVersion"] == "2.0"
    permission = properties("viewerPermission")
    assert permission["Principal"] == "apigateway.amazonaws.com"
    assert permission["SourceArn"]["Fn::Sub"].endswith(":${viewerApi}/*/*")


def test_passwords_are_tried_once_a_second_by_all_the_world_together() -> None:
    """The door takes a password at the address of any page, by POST alone."""
    stage, key = properties("viewerStage"), properties("viewerLoginRoute")["RouteKey"]
    assert properties("viewerRoute")["RouteKey"] == "$default"
    assert key == "POST /{proxy+}"
    limits = stage["RouteSettings"][key]
    assert (limits["ThrottlingRateLimit"], limits["ThrottlingBurstLimit"]) == (1, 5)
    route = {"Ref": "viewerLoginRoute"}
    assert BLOCK["viewerStage"]["Metadata"] == {"After": route}, "a limit of a route that is there"


def test_it_ends_before_its_api_stops_waiting_and_has_its_limits() -> None:
    function, stage = properties("viewerService"), properties("viewerStage")
    assert function["Timeout"] * 1000 < properties("viewerIntegration")["TimeoutInMillis"] <= 30_000
    assert stage["DefaultRouteSettings"]["ThrottlingRateLimit"] <= 50
    assert stage["DefaultRouteSettings"]["ThrottlingBurstLimit"] <= 100
    reserved = {"Fn::If": ["Reserved", 5, {"Ref": "AWS::NoValue"}]}
    assert function["ReservedConcurrentExecutions"] == reserved


def test_what_is_logged_of_a_request_names_neither_path_nor_query() -> None:
    """A link carries its pass."""
    told = properties("viewerStage")["AccessLogSettings"]["Format"]
    named = set(re.findall(r"\$context\.([\w.]+)", told))
    assert named == set(re.findall(r"\$context\.([\w.]+)", _of_a_game()))
    assert not {"path", "routeKey", "identity.sourceIp"} & named


def _of_a_game() -> str:
    told: str = properties("blefStage")["AccessLogSettings"]["Format"]
    return told
