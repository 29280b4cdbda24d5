"""The HTTP services: one template for every game, nested where it is asked for."""

import json
import re
from itertools import product
from typing import Any

import pytest
from support.aws_template import (
    allowed_actions,
    arena,
    listed,
    of_kind,
    properties,
    statements,
    template,
)

from workbench.cloud.template import STACKS, load_template, services

GAMES = services()
WITH_PAGES = (*GAMES, "viewer")
"""All that an HTTP API is in front of."""

NOTHING = {"Ref": "AWS::NoValue"}
SHARED = {"AlarmTopic"} | of_kind("AWS::Lambda::LayerVersion").keys()
"""What the games have in common with the bot."""


OPTIONS = ("Feed", "Agents")
"""What more a service can be deployed with."""


def without_options(part: Any) -> Any:  # noqa: ANN401 - any JSON
    """A part of the template as it is where nothing more is asked for."""
    if isinstance(part, list):
        return [without_options(one) for one in part]
    if not isinstance(part, dict):
        return part
    condition, *branches = part.get("Fn::If", ("",))
    if condition in {f"blefHas{option}" for option in OPTIONS}:
        return without_options(branches[1])
    return {name: without_options(one) for name, one in part.items()}


def references(part: object) -> set[str]:
    """The names of all resources that a part of the template refers to, and of its parameters."""
    if isinstance(part, list):
        return set().union(*map(references, part))
    if not isinstance(part, dict):
        return set()
    found = set().union(*map(references, part.values()))
    if "Ref" in part:
        found.add(part["Ref"])
    for text in (part.get("Fn::GetAtt", ""), *re.findall(r"\${([^}]+)}", str(part.get("Fn::Sub")))):
        found.add(str(text).partition(".")[0])
    return found


def test_the_template_of_a_service_names_no_game() -> None:
    """So that a game is added without a change of it: by the parameter Game."""
    told = load_template(STACKS / "service.yaml")
    told["Parameters"] = {
        name: told["Parameters"][name].get("Default") for name in told["Parameters"]
    }
    assert not [game for game in GAMES if game in json.dumps(told).lower()]
    parameter = template()["Parameters"]["Game"]
    assert parameter["Default"] == ""
    assert re.fullmatch(parameter["AllowedPattern"], "kuhn")


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


def test_only_a_game_with_a_feed_and_bots_has_what_belongs_to_them() -> None:
    optional = [
        name for name in template()["Resources"] for one in OPTIONS if name.endswith(f"{one}Policy")
    ]
    assert optional == ["blefFeedPolicy", "blefAgentsPolicy"]
    outputs = template()["Outputs"]
    assert [name for name in outputs if "Feed" in name] == ["blefFeedUrl"]
    assert outputs["blefFeedUrl"]["Condition"] == "HasFeed"


def condition_of(name: str, game: str) -> str:
    """Under which condition a resource of a game is there."""
    part = name.removeprefix(game)
    optional = next((f"{game}Has{one}" for one in OPTIONS if part.startswith(one)), "")
    return optional or f"Has{game.capitalize()}"


@pytest.mark.parametrize("option", OPTIONS)
def test_what_more_a_service_can_do_is_left_out_unless_it_is_asked_for(option: str) -> None:
    assert template()["Parameters"][option]["Default"] == "no"
    wanted = {"Fn::Equals": [{"Ref": option}, "yes"]}
    assert template()["Conditions"][f"blefHas{option}"] == wanted


@pytest.mark.parametrize("game", GAMES)
def test_the_bot_knows_no_game_and_no_game_the_bot(game: str) -> None:
    """So that a game is added and taken away as one block."""
    told = template()["Resources"]
    names = {name for name in told if name.startswith(game)}
    for name, resource in told.items():
        mentioned = references(without_options(resource))
        if name.startswith(game):
            known = names | SHARED | ({"Matches", "MatchQueue"} if "Agents" in name else set())
            known |= {"DirectorLogs"} if game == "deadmansdraw" else set()
            assert mentioned & told.keys() <= known, name
        elif game != "deadmansdraw":
            assert not mentioned & names, name


@pytest.mark.parametrize("game", GAMES)
def test_s13_a_game_may_use_its_own_table_and_nothing_of_the_bot(game: str) -> None:
    for statement in statements(f"{game}Role"):
        for action, resource in product(listed(statement["Action"]), listed(statement["Resource"])):
            service = action.partition(":")[0]
            assert service in {"dynamodb", "logs", "ssm", "xray"}
            if service == "dynamodb":
                assert f"{game}Table" in json.dumps(resource)
            if service == "ssm":
                assert resource["Fn::Sub"].endswith(f":parameter/${{AWS::StackName}}/{game}")


def test_s13_the_arena_alone_may_read_its_secret() -> None:
    """For the others it is said that they may not."""
    allowed = {game: allowed_actions(f"{game}Role", "ssm") for game in GAMES}
    assert {game for game in GAMES if allowed[game]} == {"deadmansdraw"}
    assert allowed["deadmansdraw"] == {"GetParameter"}


def test_s13_who_watches_and_bots_add_their_own_rights_and_no_others() -> None:
    feed, agents = properties("blefFeedPolicy"), properties("blefAgentsPolicy")
    assert feed["Roles"] == agents["Roles"] == [{"Ref": "blefRole"}]
    forget, send = feed["PolicyDocument"]["Statement"]
    assert (forget["Action"], forget["Resource"]) == (
        "dynamodb:DeleteItem",
        {"Fn::GetAtt": "blefTable.Arn"},
    )
    assert send["Action"] == "execute-api:ManageConnections"
    assert send["Resource"]["Fn::Sub"].endswith(":${blefFeedApi}/live/*")
    seat, call = agents["PolicyDocument"]["Statement"]
    assert set(seat["Action"]) == {"dynamodb:GetItem", "dynamodb:UpdateItem"}
    assert seat["Resource"]["Fn::Sub"].endswith(":table/${Matches}")
    assert call["Action"] == "sqs:SendMessage"
    assert call["Resource"]["Fn::Sub"].endswith(":${MatchQueue.QueueName}")


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


def test_s13_euchre_lists_nothing_and_may_not_query() -> None:
    assert allowed_actions("euchreRole", "dynamodb") == {"GetItem", "UpdateItem"}
    assert "Query" in allowed_actions("blefRole", "dynamodb")


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


def test_euchre_has_a_whole_processor_to_think_with() -> None:
    assert properties("euchreService")["MemorySize"] >= 1769


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
