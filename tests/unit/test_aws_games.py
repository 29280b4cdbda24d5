"""The HTTP services and the viewer: one template for every game, there where it is asked for.

What the viewer's role may read is held against its requests in tests/integration/test_viewer.py.
"""

import json
import re

import pytest
from support.aws_template import arena, properties, template

from workbench.cloud.template import services

GAMES = services()
WITH_PAGES = (*GAMES, "viewer")
"""All that an HTTP API is in front of."""

NOTHING = {"Ref": "AWS::NoValue"}


OPTIONS = ("Feed", "Agents")
"""What more a service can be deployed with."""


def test_a_further_game_is_deployed_by_a_parameter_as_the_others_are() -> None:
    kinds = {name: one["Type"] for name, one in template()["Resources"].items()}
    euchres = {name: kind for name, kind in kinds.items() if name.startswith("euchre")}
    assert euchres
    assert {name.replace("euchre", "game"): kind for name, kind in euchres.items()} == {
        name: kind for name, kind in kinds.items() if name.startswith("game")
    }
    service = properties("gameService")
    assert service["MemorySize"] == 256
    assert service["Environment"]["Variables"]["CARDSHARP_GAME"] == {"Ref": "Game"}
    assert template()["Outputs"]["gameUrl"]["Condition"] == "HasGame"


@pytest.mark.parametrize("game", ["blef", "euchre"])
def test_a_service_is_deployed_only_when_asked_for(game: str) -> None:
    parameter = game.capitalize()
    assert template()["Parameters"][parameter]["Default"] == "no"
    wanted = template()["Conditions"][f"Has{parameter}"]
    assert wanted == {"Fn::Equals": [{"Ref": parameter}, "yes"]}
    for name, resource in template()["Resources"].items():
        if name.startswith(game):
            assert resource["Condition"] == condition_of(name, game), name
    for name in ("Url", "Name"):
        assert template()["Outputs"][f"{game}{name}"]["Condition"] == f"Has{parameter}"


def condition_of(name: str, game: str) -> str:
    """Under which condition a resource of a game is there."""
    part = name.removeprefix(game)
    optional = next((f"{game}Has{one}" for one in OPTIONS if part.startswith(one)), "")
    return optional or f"Has{game.capitalize()}"


@pytest.mark.parametrize("event", ["Connect", "Disconnect", "Default"])
def test_whoever_connects_says_something_or_goes_reaches_the_function(event: str) -> None:
    route, integration = properties(f"blefFeed{event}"), properties("blefFeedIntegration")
    assert route["RouteKey"] == f"${event.lower()}"
    assert route["Target"] == {"Fn::Sub": "integrations/${blefFeedIntegration}"}
    assert integration["IntegrationUri"]["Fn::Sub"].endswith("/${blefService.Arn}/invocations")
    assert properties("blefFeedApi")["ProtocolType"] == "WEBSOCKET"
    told = properties("blefService")["Environment"]["Variables"]["CARDSHARP_FEED"]["Fn::If"]
    stage = properties("blefFeedStage")["StageName"]
    assert told[1]["Fn::Sub"].endswith(f"/{stage}")
    assert (told[0], told[2]) == ("blefHasFeed", "")
    assert properties("blefFeedPermission")["SourceArn"]["Fn::Sub"].endswith(
        f":${{blefFeedApi}}/{stage}/*"
    )


@pytest.mark.parametrize("game", WITH_PAGES)
def test_every_request_of_any_path_reaches_the_function_and_only_from_its_api(game: str) -> None:
    route, integration = properties(f"{game}Route"), properties(f"{game}Integration")
    assert route["RouteKey"] == "$default"
    assert route["Target"] == {"Fn::Sub": f"integrations/${{{game}Integration}}"}
    assert integration["IntegrationUri"] == {"Fn::GetAtt": f"{game}Service.Arn"}
    assert integration["PayloadFormatVersion"] == "2.0"
    assert properties(f"{game}Stage")["StageName"] == "$default", "no prefix in the path"
    assert properties(f"{game}Stage")["AutoDeploy"] is True
    permission = properties(f"{game}Permission")
    assert permission["Principal"] == "apigateway.amazonaws.com"
    assert permission["SourceArn"]["Fn::Sub"].endswith(f":${{{game}Api}}/*/*")


@pytest.mark.parametrize("game", WITH_PAGES)
def test_a_game_ends_before_its_api_stops_waiting_and_has_its_limits(game: str) -> None:
    told, stage = properties(f"{game}Service"), properties(f"{game}Stage")
    assert told["Timeout"] * 1000 < properties(f"{game}Integration")["TimeoutInMillis"] <= 30_000
    assert 0 < stage["DefaultRouteSettings"]["ThrottlingRateLimit"] <= 100
    assert 0 < stage["DefaultRouteSettings"]["ThrottlingBurstLimit"] <= 200
    limited, needed, unlimited = told["ReservedConcurrentExecutions"]["Fn::If"]
    assert (limited, unlimited) == ("Reserved", NOTHING)
    if game == "deadmansdraw":
        needed = arena()["Parameters"][needed["Ref"]]["Default"]
    assert 0 < needed <= 60
    for root in (template(), arena()):
        assert root["Conditions"][limited] == {"Fn::Equals": [{"Ref": "Reserve"}, "yes"]}


@pytest.mark.parametrize("game", WITH_PAGES)
def test_what_is_logged_of_a_request_names_neither_path_nor_query_nor_client(game: str) -> None:
    settings = properties(f"{game}Stage")["AccessLogSettings"]
    variables = set(re.findall(r"\$context\.([\w.]+)", settings["Format"]))
    assert variables == {
        "requestTime",
        "requestId",
        "httpMethod",
        "status",
        "responseLatency",
        "responseLength",
        "integrationErrorMessage",
    }
    assert json.loads(settings["Format"]).keys() >= {"status", "ms"}
    assert settings["DestinationArn"] == {"Fn::GetAtt": f"{game}AccessLogs.Arn"}
    group = dict(properties(f"{game}AccessLogs"))
    name = group.pop("LogGroupName")["Fn::Sub"]
    assert name.startswith("/aws/vendedlogs/${AWS::StackName}-")
    assert name.endswith(f"-{game}-ABCDEFGHIJKL")
    assert group == properties(f"{game}Logs")


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
