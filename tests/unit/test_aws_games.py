"""The HTTP services and the viewer: one template for every game, there where it is asked for.

What the viewer's role may read is held against its requests in tests/integration/test_viewer.py.
"""

import json
import re
from pathlib import Path

import pytest
from support.alarms import Alarm, alarms, composites
from support.aws_template import arena, of_kind, properties, template

from cardsharp.cloud.metrics import ALARMED
from cardsharp.cloud.telemetry import NAMESPACE
from cardsharp.deadmansdraw.settings import Settings
from workbench.cloud.template import load_template, services, templates

GAMES = services()
WITH_PAGES = (*GAMES, "viewer")  # all that an HTTP API is in front of
NOTHING = {"Ref": "AWS::NoValue"}
OPTIONS = ("Feed", "Agents")  # what more a service can be deployed with
RUNBOOK = Path(__file__).parents[2] / "docs" / "operations.md"
GAMES_AND_PAGES = (*GAMES, "game", "viewer")
DIRECTORS = ("TickFailed", "TicksLate", "DirectorFailed", "DirectorThrottled")
APART = (*GAMES_AND_PAGES, *DIRECTORS)  # what is deployed only if asked for, and no part of the bot


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
    part = name.removeprefix(game)
    optional = next((f"{game}Has{one}" for one in OPTIONS if part.startswith(one)), "")
    return optional or f"Has{game.capitalize()}"


@pytest.mark.parametrize("game", WITH_PAGES)
def test_a_service_is_called_by_its_api_within_limits_and_logs_no_secret(game: str) -> None:
    """That requests reach it is played in tests/e2e/test_aws_cloud.py."""
    assert properties(f"{game}Integration")["PayloadFormatVersion"] == "2.0"
    assert properties(f"{game}Stage")["StageName"] == "$default", "no prefix in the path"
    permission = properties(f"{game}Permission")
    assert permission["Principal"] == "apigateway.amazonaws.com"
    assert permission["SourceArn"]["Fn::Sub"].endswith(f":${{{game}Api}}/*/*")
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
    settings = properties(f"{game}Stage")["AccessLogSettings"]
    variables = set(re.findall(r"\$context\.([\w.]+)", settings["Format"]))
    assert variables == {
        "requestTime", "requestId", "httpMethod", "status", "responseLatency", "responseLength",
        "integrationErrorMessage",
    }  # fmt: skip
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


def test_the_viewer_is_there_when_asked_for_and_private_unless_said_otherwise() -> None:
    parameters, conditions = template()["Parameters"], template()["Conditions"]
    assert parameters["DeployWeb"]["Default"] == parameters["WebPublic"]["Default"] == "no"
    assert conditions["HasWeb"] == {"Fn::Equals": [{"Ref": "DeployWeb"}, "yes"]}
    assert conditions["PublicWeb"] == {"Fn::Equals": [{"Ref": "WebPublic"}, "yes"]}
    assert "viewerTable" not in BLOCK, "it has none of its own"
    assert len(BLOCK) >= 10
    assert {one["Condition"] for one in BLOCK.values()} == {"HasWeb", "viewerHasSecret"}
    for name in ("viewerUrl", "viewerName"):
        assert template()["Outputs"][name]["Condition"] == "HasWeb"
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


@pytest.mark.parametrize("file", templates(), ids=lambda one: one.name)
def test_what_is_nested_is_given_what_it_has_and_all_that_it_needs(file: Path) -> None:
    for resource in load_template(file)["Resources"].values():
        if resource["Type"] == "AWS::Serverless::Application":
            told = resource["Properties"]
            taken = load_template(file.parent / told["Location"])["Parameters"]
            needed = {name for name, one in taken.items() if "Default" not in one}
            assert needed <= told["Parameters"].keys() <= taken.keys()


def alarm(name: str) -> Alarm:
    return next(one for one in alarms() if one.name == name)


@pytest.mark.parametrize(
    ("name", "threshold", "minutes"),
    [
        ("NotListening", 1, 3),
        ("NotActing", 0, 10),
        ("MatchDeadLetter", 0, 1),
        ("NotTakenUp", 0, 2),
        ("NobodyComes", 1, 2),
        ("SlowPickUp", 5000, 5),
        ("TurnTimedOut", 0, 1),
        ("TickFailed", 0, 1),
        ("TicksLate", 60, 1),
        *((f"{game}Failing", 0, 1) for game in GAMES_AND_PAGES),
    ],
)
def test_an_alarm_has_the_promised_limit(name: str, threshold: float, minutes: float) -> None:
    found = alarm(name)
    assert found.threshold == threshold
    assert found.period.total_seconds() * found.periods == minutes * 60


def test_a_decision_is_slow_at_half_its_limit_and_every_alarm_tells_the_topic() -> None:
    limit = Settings.model_fields["decision"].default
    assert alarm("SlowDecision").threshold == limit.total_seconds() * 1000 / 2
    for name in ("SlowDecision", "SlowPickUp"):
        assert alarm(name).series["m"].statistic == "p99"
    for kind in ("AWS::CloudWatch::Alarm", "AWS::CloudWatch::CompositeAlarm"):
        for told in of_kind(kind).values():
            assert told["AlarmActions"] == told["OKActions"] == [{"Ref": "AlarmTopic"}]
            assert str(told["AlarmDescription"]).strip("{'}").endswith(".")


def test_a_stack_without_all_has_the_metrics_of_its_alarms_and_ten_of_them_at_most() -> None:
    """Ten metrics and the metrics of ten alarms are free."""
    resources = template()["Resources"]
    ours = [one for one in alarms() if not one.name.startswith(APART)]
    plain = [one for one in ours if "Condition" not in resources[one.name]]
    series = [series for one in plain for series in one.series.values()]
    assert len(series) <= 10
    assert {one.metric.name for one in series if one.metric.namespace == NAMESPACE} == ALARMED
    variables = properties("Worker")["Environment"]["Variables"]
    assert variables["METRICS"] == {"Fn::If": ["WatchAll", "all", "alarmed"]}
    assert template()["Parameters"]["Watch"]["Default"] == "alarms"


def test_every_alarm_has_its_cause_and_cure_in_the_runbook() -> None:
    apart = {"viewer": "Viewer", **dict.fromkeys((*GAMES, "game"), "GAME")}
    text = RUNBOOK.read_text()
    for name in (*(one.name for one in alarms()), *composites()):
        heading = next((name.replace(one, apart[one]) for one in apart if one in name), name)
        section = re.search(rf"^### {heading}\n(.+?)(?=^##)", text, re.MULTILINE | re.DOTALL)
        assert section is not None, name
        assert "Cause" in section[1], name
        assert "Cure" in section[1], name
