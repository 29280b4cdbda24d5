"""The viewer in the template: left out unless it is asked for; see test_aws_games.py too.

What its role may read is held against its requests in tests/integration/test_viewer.py.
"""

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


def test_public_pages_have_no_password_and_no_right_to_one() -> None:
    variables = properties("viewerService")["Environment"]["Variables"]
    parameter = {"Fn::If": ["PublicWeb", "", {"Fn::Sub": "/${AWS::StackName}/viewer"}]}
    assert variables["CARDSHARP_SERVICE_SECRET"] == parameter
    assert variables["CARDSHARP_PUBLIC"] == {"Ref": "WebPublic"}
    condition = template()["Resources"]["viewerSecretPolicy"]["Condition"]
    assert template()["Conditions"][condition] == {"Fn::Not": [{"Fn::Equals": [parameter, ""]}]}


def test_passwords_are_tried_once_a_second_by_all_the_world_together() -> None:
    """The door takes a password at the address of any page, by POST alone."""
    stage, login = properties("viewerStage"), properties("viewerLoginRoute")
    assert login["Target"] == {"Fn::Sub": "integrations/${viewerIntegration}"}
    key = login["RouteKey"]
    assert key == "POST /{proxy+}"
    limits = stage["RouteSettings"][key]
    assert (limits["ThrottlingRateLimit"], limits["ThrottlingBurstLimit"]) == (1, 5)
    route = {"Ref": "viewerLoginRoute"}
    assert BLOCK["viewerStage"]["Metadata"] == {"After": route}, "a limit of a route that is there"
