"""The HTTP services in the template: one block for every game, left out unless it is asked for."""

import json
import re
from itertools import product
from typing import Any

import pytest
from support.aws_template import allowed_actions, listed, of_kind, properties, statements, template

from workbench.build.translate import translate
from workbench.cloud.loops import written_out
from workbench.cloud.template import TEMPLATE, _Loader, services

GAMES = services()
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
    if condition in {f"Has{option}" for option in OPTIONS}:
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


def test_the_template_names_no_game_but_where_its_needs_differ() -> None:
    """So that a game is added without a change of it."""
    written = _Loader(TEMPLATE.read_text()).get_single_data()
    differing = written.pop("Mappings")["Needs"]
    assert differing.keys() <= set(GAMES)
    written["Parameters"]["Services"].pop("Description")  # it gives an example
    assert not [game for game in GAMES if game in json.dumps(written).lower()]


def test_a_game_that_the_template_has_no_line_of_is_deployed_as_the_others_are() -> None:
    raw = _Loader(TEMPLATE.read_text()).get_single_data()
    made = translate(written_out(raw, {"Services": ["nim"]}))["Resources"]
    kinds = {name: one["Type"] for name, one in made.items() if name.startswith("nim")}
    assert kinds == {
        name.replace("blef", "nim"): one["Type"]
        for name, one in template()["Resources"].items()
        if name.startswith("blef")
    }
    assert made["nimService"]["Properties"]["MemorySize"]["Fn::If"][2] == 256
    variables = made["nimService"]["Properties"]["Environment"]["Variables"]
    assert variables["CARDSHARP_GAME"] == "nim"


@pytest.mark.parametrize("game", GAMES)
def test_a_service_is_deployed_only_when_asked_for(game: str) -> None:
    assert template()["Parameters"]["Services"]["Default"] == "none"
    asked_for = {"Fn::Not": [{"Fn::Equals": [{"Fn::Join": [",", {"Ref": "Services"}]}, "none"]}]}
    assert template()["Conditions"]["HasServices"] == asked_for
    for name, resource in template()["Resources"].items():
        if name.startswith(game):
            conditions = {condition_of(name, game), game}
            assert resource["Condition"] in conditions, name
    for name in ("Url", "FeedUrl", "Name"):
        told = template()["Outputs"][f"{game}{name}"]
        assert told["Condition"] == condition_of(f"{game}{name}", game)


def condition_of(name: str, game: str) -> str:
    """Under which condition a resource of a game is there."""
    part = name.removeprefix(game)
    return next((f"Has{one}" for one in OPTIONS if part.startswith(one)), "HasServices")


@pytest.mark.parametrize("option", OPTIONS)
def test_what_more_a_service_can_do_is_left_out_unless_it_is_asked_for(option: str) -> None:
    assert template()["Parameters"][option]["Default"] == "no"
    wanted = {"Fn::Equals": [{"Ref": option}, "yes"]}
    assert template()["Conditions"][f"Has{option}"] == {
        "Fn::And": [{"Condition": "HasServices"}, wanted]
    }


@pytest.mark.parametrize("game", GAMES)
def test_the_bot_knows_no_game_and_no_game_the_bot(game: str) -> None:
    """So that a game is added and taken away as one block."""
    told = template()["Resources"]
    names = {name for name in told if name.startswith(game)}
    for name, resource in told.items():
        mentioned = references(without_options(resource))
        if name.startswith(game):
            known = names | SHARED | ({"Matches", "MatchQueue"} if "Agents" in name else set())
            assert mentioned & told.keys() <= known, name
        else:
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
    assert send["Resource"]["Fn::Sub"][1] == {"Api": {"Ref": "blefFeedApi"}}
    (seat,) = agents["PolicyDocument"]["Statement"]
    assert set(seat["Action"]) == {"dynamodb:GetItem", "dynamodb:UpdateItem", "sqs:SendMessage"}
    (nothing,) = properties("euchreAgentsPolicy")["PolicyDocument"]["Statement"]
    assert nothing["Action"] == ["logs:PutLogEvents"], "which neither resource knows"


@pytest.mark.parametrize("event", ["Connect", "Disconnect", "Default"])
def test_whoever_connects_says_something_or_goes_reaches_the_function(event: str) -> None:
    route, integration = properties(f"blefFeed{event}"), properties("blefFeedIntegration")
    assert route["RouteKey"] == f"${event.lower()}"
    assert route["Target"]["Fn::Sub"][1] == {"To": {"Ref": "blefFeedIntegration"}}
    assert integration["IntegrationUri"]["Fn::Sub"][0].endswith("/${To}/invocations")
    assert properties("blefFeedApi")["ProtocolType"] == "WEBSOCKET"
    told = properties("blefService")["Environment"]["Variables"]["CARDSHARP_FEED"]["Fn::If"]
    stage = properties("blefFeedStage")["StageName"]
    assert told[1]["Fn::Sub"][0].endswith(f"/{stage}")
    assert (told[0], told[2]) == ("HasFeed", "")
    source, names = properties("blefFeedPermission")["SourceArn"]["Fn::Sub"]
    assert source.endswith(f":${{Api}}/{stage}/*")
    assert names == {"Api": {"Ref": "blefFeedApi"}}


def test_s13_euchre_lists_nothing_and_may_not_query() -> None:
    assert allowed_actions("euchreRole", "dynamodb") == {"GetItem", "PutItem", "UpdateItem"}
    assert "Query" in allowed_actions("blefRole", "dynamodb")


@pytest.mark.parametrize("game", GAMES)
def test_every_request_of_any_path_reaches_the_function_and_only_from_its_api(game: str) -> None:
    route, integration = properties(f"{game}Route"), properties(f"{game}Integration")
    assert route["RouteKey"] == "$default"
    to = {"To": {"Ref": f"{game}Integration"}}
    assert route["Target"] == {"Fn::Sub": ["integrations/${To}", to]}
    assert integration["IntegrationUri"] == {"Fn::GetAtt": f"{game}Service.Arn"}
    assert integration["PayloadFormatVersion"] == "2.0"
    assert properties(f"{game}Stage")["StageName"] == "$default", "no prefix in the path"
    assert properties(f"{game}Stage")["AutoDeploy"] is True
    permission = properties(f"{game}Permission")
    assert permission["Principal"] == "apigateway.amazonaws.com"
    source, names = permission["SourceArn"]["Fn::Sub"]
    assert source.endswith(":${Api}/*/*")
    assert names == {"Api": {"Ref": f"{game}Api"}}


@pytest.mark.parametrize("game", GAMES)
def test_a_game_ends_before_its_api_stops_waiting_and_has_its_limits(game: str) -> None:
    told, stage = properties(f"{game}Service"), properties(f"{game}Stage")
    assert told["Timeout"] * 1000 < properties(f"{game}Integration")["TimeoutInMillis"] <= 30_000
    assert 0 < stage["DefaultRouteSettings"]["ThrottlingRateLimit"] <= 100
    assert 0 < stage["DefaultRouteSettings"]["ThrottlingBurstLimit"] <= 200
    limited, (own, given, needed), unlimited = _branches(told["ReservedConcurrentExecutions"])
    assert (limited, own, unlimited) == ("Reserved", "OwnServiceLimit", NOTHING)
    assert given == {"Ref": "ServiceConcurrency"}
    assert 0 < needed <= 60
    conditions = template()["Conditions"]
    assert conditions[limited] == {"Fn::Equals": [{"Ref": "Reserve"}, "yes"]}
    assert conditions[own] == {"Fn::Not": [{"Fn::Equals": [given, ""]}]}


def _branches(told: dict[str, Any]) -> list[Any]:
    """The condition of an Fn::If and its two branches, each opened where it is one itself."""
    return [
        _branches(one) if isinstance(one, dict) and "Fn::If" in one else one
        for one in told["Fn::If"]
    ]


def test_euchre_has_a_whole_processor_to_think_with() -> None:
    assert properties("euchreService")["MemorySize"]["Fn::If"][2] >= 1769


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
    assert properties(f"{game}AccessLogs") == {
        "LogGroupName": {"Fn::Sub": f"/aws/vendedlogs/${{AWS::StackName}}/{game}"},
        **properties("PollerLogs"),
    }
