"""The other games in the template: each a block of its own, left out unless it is asked for."""

import json
import re
from itertools import product

import pytest
from support.aws_template import listed, of_kind, properties, statements, template

GAMES = {"Blef": "BlefRole", "Euchre": "EuchreRole"}
TABLES = {"Blef": "BlefGames", "Euchre": "EuchreDeals"}
SHARED = {"AlarmTopic"} | of_kind("AWS::Lambda::LayerVersion").keys()
"""What the games have in common with the bot."""


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


@pytest.mark.parametrize("game", GAMES)
def test_a_game_is_deployed_only_when_asked_for(game: str) -> None:
    assert template()["Parameters"][f"Deploy{game}"]["Default"] == "no"
    for name, resource in template()["Resources"].items():
        assert (resource.get("Condition") == f"Has{game}") is name.startswith(game), name


@pytest.mark.parametrize("game", GAMES)
def test_the_bot_knows_no_game_and_no_game_the_bot(game: str) -> None:
    """So that a game is added and taken away as one block."""
    told = template()["Resources"]
    names = {name for name in told if name.startswith(game)}
    for name, resource in told.items():
        mentioned = references(resource)
        if name.startswith(game):
            assert mentioned & told.keys() <= names | SHARED, name
        else:
            assert not mentioned & names, name


@pytest.mark.parametrize("game", GAMES)
def test_s13_a_game_may_use_its_own_table_and_nothing_of_the_bot(game: str) -> None:
    for statement in statements(GAMES[game]):
        for action, resource in product(listed(statement["Action"]), listed(statement["Resource"])):
            service = action.partition(":")[0]
            assert service in {"dynamodb", "logs", "xray"}
            if service == "dynamodb":
                assert TABLES[game] in json.dumps(resource)


def test_s13_of_blefs_indexes_only_the_one_of_changes_is_asked() -> None:
    asked = [
        statement
        for statement in statements("BlefRole")
        if statement["Resource"] == {"Fn::Sub": "${BlefGames.Arn}/index/by-change"}
    ]
    assert [statement["Action"] for statement in asked] == ["dynamodb:Query"]


@pytest.mark.parametrize("game", GAMES)
def test_every_request_of_any_path_reaches_the_function_and_only_from_its_api(game: str) -> None:
    route, integration = properties(f"{game}Route"), properties(f"{game}Integration")
    assert route["RouteKey"] == "$default"
    assert route["Target"] == {"Fn::Sub": f"integrations/${{{game}Integration}}"}
    assert integration["IntegrationUri"] == {"Fn::GetAtt": f"{game}.Arn"}
    assert integration["PayloadFormatVersion"] == "2.0"
    assert properties(f"{game}Stage")["StageName"] == "$default", "no prefix in the path"
    assert properties(f"{game}Stage")["AutoDeploy"] is True
    permission = properties(f"{game}Permission")
    assert permission["Principal"] == "apigateway.amazonaws.com"
    assert f":${{{game}Api}}/" in permission["SourceArn"]["Fn::Sub"]


@pytest.mark.parametrize("game", GAMES)
def test_a_game_ends_before_its_api_stops_waiting_and_has_its_limits(game: str) -> None:
    told, stage = properties(game), properties(f"{game}Stage")
    assert told["Timeout"] * 1000 < properties(f"{game}Integration")["TimeoutInMillis"] <= 30_000
    assert 0 < stage["DefaultRouteSettings"]["ThrottlingRateLimit"] <= 50
    assert 0 < stage["DefaultRouteSettings"]["ThrottlingBurstLimit"] <= 100
    reserved, limit, otherwise = told["ReservedConcurrentExecutions"]["Fn::If"]
    assert (limit, otherwise) == ({"Ref": f"{game}Concurrency"}, {"Ref": "AWS::NoValue"})
    unlimited = {"Fn::Not": [{"Fn::Equals": [{"Ref": f"{game}Concurrency"}, "0"]}]}
    assert template()["Conditions"][reserved] == unlimited


def test_euchre_has_a_whole_processor_to_think_with() -> None:
    assert min(template()["Parameters"]["EuchreMemory"]["AllowedValues"]) >= 1769


@pytest.mark.parametrize("game", GAMES)
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
    assert properties(f"{game}AccessLogs")["RetentionInDays"] == {"Ref": "LogDays"}
