"""The template that AWS gets: what no emulator applies is asserted on its translation.

What the viewer's role may read is held against its requests in tests/integration/test_viewer.py.
"""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from support.alarms import Alarm, composite_alarm_rules, template_alarms
from support.aws_template import allowed_actions, arena, of_kind, properties, statements, template

from cardsharp.aws.telemetry import NAMESPACE
from cardsharp.core.metrics import ALARM_METRICS
from cardsharp.games.deadmansdraw.arena_bot.settings import ArenaBotSettings
from cardsharp_tools.build.emulator_deploy import CONFIG
from cardsharp_tools.build.target import REPOSITORY_ROOT
from cardsharp_tools.build.template_rules.expressions import NO_VALUE, as_list
from cardsharp_tools.local_cloud.template_files import (
    hosted_game_names,
    load_template,
    template_paths,
)

DAY = 86_400
TICK = 60
START = 6  # seconds, more than a poller takes from its tick to its first question
GAMES = hosted_game_names()
SERVED = (*GAMES, "game", "viewer")  # all that an HTTP API is in front of
BOT = {"Poller": "PollerRole", "Worker": "WorkerRole", "Practice": "PracticeRole"}
DIRECTOR = "Director"
FUNCTIONS = BOT | {DIRECTOR: "DirectorRole"} | {f"{one}Service": f"{one}Role" for one in SERVED}
SCHEDULES = {"ScheduleRole": "Poller", "DirectorScheduleRole": DIRECTOR}
"""The roles of schedules, with the function that each may start."""

QUEUES = ("MatchQueue", "DeadLetters", "PollerDeadLetters")
LOG_DAYS: list[Any] = ["OwnLogDays", {"Ref": "LogDays"}, {"Fn::If": ["IsProd", 90, 7]}]
WITHOUT_RESOURCE = {"xray:PutTraceSegments", "xray:PutTelemetryRecords"}
"""Actions that AWS defines for `*` only."""


def test_r28_a_poller_has_the_time_to_listen_until_its_successors_do() -> None:
    """Of two that listen until the second one after them; ticks lie 1 to 119 s apart."""
    most = int(template()["Parameters"]["Pollers"]["AllowedValues"][-1])
    latest, read = (
        (most + 1) * TICK - 1 + START,
        ArenaBotSettings.model_fields["long_poll_timeout"].default,
    )
    assert properties("Poller")["Timeout"] - read.total_seconds() >= latest
    reserved = properties("Poller")["ReservedConcurrentExecutions"]["Fn::If"][1]
    assert reserved >= 2 * most, "as many may be in their last long poll"


def test_the_schedule_fires_each_minute_and_never_again_and_keeps_ticks_that_fail() -> None:
    schedule = properties("PollerEveryMinute")
    assert schedule["ScheduleExpression"] == "rate(1 minute)"
    assert schedule["FlexibleTimeWindow"] == {"Mode": "OFF"}
    assert schedule["Target"]["RetryPolicy"]["MaximumRetryAttempts"] == 0
    assert "State" not in schedule or schedule["State"] == "ENABLED"
    letters = {"Fn::GetAtt": "PollerDeadLetters.Arn"}
    config = properties("PollerEventInvokeConfig")["DestinationConfig"]
    assert config["OnFailure"]["Destination"] == letters
    assert schedule["Target"]["DeadLetterConfig"] == {"Arn": letters}


def test_r12_a_message_is_out_of_sight_for_six_times_the_worker_and_tried_five_times() -> None:
    """Longer than messages are; the mapping answers for each, and starts a worker a match."""
    queue, mapping = properties("MatchQueue"), properties("WorkerMatch")
    window = mapping.get("MaximumBatchingWindowInSeconds", 0)
    assert queue["VisibilityTimeout"] >= 6 * properties("Worker")["Timeout"] + window
    assert queue["RedrivePolicy"]["maxReceiveCount"] >= 5
    assert queue["RedrivePolicy"]["deadLetterTargetArn"] == {"Fn::GetAtt": "DeadLetters.Arn"}
    for letters in ("DeadLetters", "PollerDeadLetters"):
        kept = properties(letters)["MessageRetentionPeriod"]
        assert kept == 14 * DAY >= queue["MessageRetentionPeriod"]
    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert mapping["BatchSize"] == 1
    assert mapping["ScalingConfig"] == {"MaximumConcurrency": {"Ref": "MatchLimit"}}
    assert template()["Parameters"]["MatchLimit"]["MinValue"] == 2, "AWS's least"


@pytest.mark.parametrize("queue", [*QUEUES, "Ticks", "TickLetters"])
def test_r12_queues_are_encrypted_and_speak_tls_only(queue: str) -> None:
    """Each by a policy of its own: SQS takes one resource a statement, the queue it is for."""
    assert properties(queue)["SqsManagedSseEnabled"] is True
    (policy,) = [
        one for one in of_kind("AWS::SQS::QueuePolicy").values() if {"Ref": queue} in one["Queues"]
    ]
    (denial,) = policy["PolicyDocument"]["Statement"]
    assert denial["Effect"] == "Deny"
    assert denial["Principal"] == "*"
    assert denial["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}


def test_a_worker_may_hand_its_match_on_as_often_as_it_takes() -> None:
    """AWS ends a loop of function and queue after about 16 rounds, 65 minutes of a match."""
    writers = [name for name, role in BOT.items() if "SendMessage" in allowed_actions(role, "sqs")]
    assert "Worker" in writers
    assert properties("WorkerMatch")["EventSourceArn"] == {"Fn::GetAtt": "MatchQueue.Arn"}
    assert properties("Worker")["RecursiveLoop"] == "Allow"
    loops = {name for name in FUNCTIONS if "RecursiveLoop" in properties(name)}
    assert loops == {"Worker", DIRECTOR}, "whose ticks send the next ones"


def test_a_tick_whose_function_died_is_soon_tried_again_and_only_then() -> None:
    """Lambda ends the function before the queue delivers its message to another."""
    ticks, function = properties("Ticks"), properties(DIRECTOR)
    assert function["Timeout"] < ticks["VisibilityTimeout"] <= 30
    assert ticks["RedrivePolicy"]["maxReceiveCount"] >= 5
    mapping = properties(f"{DIRECTOR}Tick")
    assert mapping["EventSourceArn"] == {"Fn::GetAtt": "Ticks.Arn"}
    assert (mapping["BatchSize"], mapping["ScalingConfig"]) == (1, {"MaximumConcurrency": 9})


def test_the_table_is_paid_by_use_recoverable_encrypted_and_protected_in_production() -> None:
    table = properties("Matches")
    assert table["BillingMode"] == {"Fn::If": ["Provisioned", "PROVISIONED", "PAY_PER_REQUEST"]}
    assert template()["Parameters"]["TableBilling"]["Default"] == "on-demand"
    assert table["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
    assert table["SSESpecification"] == {"SSEEnabled": True}
    assert table["TimeToLiveSpecification"] == {"AttributeName": "expires_at", "Enabled": True}
    assert table["DeletionProtectionEnabled"] == {"Fn::If": ["IsProd", True, False]}
    indexes = [one["Projection"]["ProjectionType"] for one in table["GlobalSecondaryIndexes"]]
    assert indexes == ["KEYS_ONLY"] * 2, "renewing a lease writes to none"
    resource = template()["Resources"]["Matches"]
    assert resource["UpdateReplacePolicy"] == "Retain"
    assert resource["DeletionPolicy"].startswith("Retain")


def test_credentials_are_no_parameter_and_no_variable() -> None:
    assert not any("NoEcho" in one for one in template()["Parameters"].values())
    for name in BOT:
        variables = properties(name)["Environment"]["Variables"]
        assert variables == properties("Worker")["Environment"]["Variables"]
        assert variables["CARDSHARP_SECRET_ID"] == {"Fn::Sub": "/${AWS::StackName}/arena"}
        assert not {"CARDSHARP_USER", "CARDSHARP_PASSWORD"} & variables.keys()
    assert not of_kind("AWS::SSM::Parameter"), "none that a template makes is encrypted"


def test_s13_each_function_has_a_role_of_its_own_and_no_policy_of_aws() -> None:
    roles = of_kind("AWS::IAM::Role")
    assert set(roles) == {*FUNCTIONS.values(), *SCHEDULES}
    assert not any("ManagedPolicyArns" in role for role in roles.values())
    for function, role in FUNCTIONS.items():
        assert properties(function)["Role"] == {"Fn::GetAtt": f"{role}.Arn"}


@pytest.mark.parametrize("role", [*FUNCTIONS.values(), *SCHEDULES])
def test_s13_no_role_may_do_everything_or_touch_everything(role: str) -> None:
    for statement in statements(role):
        actions = as_list(statement["Action"])
        assert not any("*" in action for action in actions)
        if set(actions) <= WITHOUT_RESOURCE:
            continue
        for resource in as_list(statement["Resource"]):
            assert "*" not in json.dumps(resource)
            assert isinstance(resource, dict), "a resource of this stack, by reference"


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_has_wheels_for_its_processor_and_limited_logs(function: str) -> None:
    """A build has both layers, and the parameter chooses function and layer together."""
    parameter = template()["Parameters"]["Architecture"]
    choice, ours = properties(function)["Layers"]
    assert properties(ours["Ref"])["CompatibleRuntimes"] == ["python3.13"]
    for architecture in parameter["AllowedValues"]:
        condition, arm, x86 = choice["Fn::If"]
        asked = template()["Conditions"][condition]
        assert asked == {"Fn::Equals": [{"Ref": "Architecture"}, "arm64"]}
        layer = template()["Resources"][(arm if architecture == "arm64" else x86)["Ref"]]
        assert layer["Properties"]["CompatibleArchitectures"] == [architecture]
        assert layer["Properties"]["CompatibleRuntimes"] == ["python3.13"]
        has = {"Fn::Equals": [{"Ref": "Architecture"}, architecture]}
        assert template()["Conditions"][layer["Condition"]] == has
        assert architecture in properties(ours["Ref"])["CompatibleArchitectures"]
    assert properties(function)["Architectures"] == [{"Ref": "Architecture"}]
    told = properties(function)
    assert told["Runtime"] == "python3.13"
    assert template()["Parameters"]["Architecture"]["Default"] == "arm64"
    traced = {"Fn::If": ["WatchAll", "Active", "PassThrough"]}  # each trace is paid for
    assert told["TracingConfig"] == {"Mode": traced if function in BOT else "Active"}
    group = told["LoggingConfig"]["LogGroup"]["Ref"]
    assert group == f"{function.removesuffix('Service')}Logs"
    kept = properties(group)["RetentionInDays"]["Fn::If"]
    assert kept in (LOG_DAYS, LOG_DAYS[2]["Fn::If"])
    assert {"Fn::GetAtt": f"{group}.Arn"} in [
        resource
        for statement in statements(FUNCTIONS[function])
        for resource in as_list(statement["Resource"])
    ]


def test_what_a_stage_has_is_the_same_however_it_is_deployed() -> None:
    """An override of any parameter drops the whole list of samconfig.toml."""
    for environment, parameters in tomllib.loads(CONFIG.read_text()).items():
        if environment != "version":
            told = parameters["deploy"]["parameters"]["parameter_overrides"]
            assert told == f"Stage={'prod' if environment == 'prod' else 'dev'}"
    assert properties("PollerLogs")["RetentionInDays"]["Fn::If"] == LOG_DAYS
    assert template()["Parameters"]["LogDays"]["Default"] == ""


@pytest.mark.parametrize(
    ("url", "taken"),
    [
        ("https://arena.example", True),
        ("https://arena.example:8443/api", True),
        ("http://127.0.0.1:8080", True),
        ("http://arena.example", False),
        ("https://me:secret@arena.example", False),
        ("https://arena.example/?a=b", False),
        ("http://127.0.0.1.evil.example", False),
        ("ftp://arena.example", False),
        ("", False),
    ],
)
def test_an_arena_is_https_and_carries_no_password(url: str, taken: bool) -> None:
    pattern: dict[str, Any] = template()["Parameters"]["ArenaUrl"]
    assert bool(re.fullmatch(pattern["AllowedPattern"], url)) is taken


def test_the_templates_stay_as_short_as_somebody_can_read_them() -> None:
    lines = {file.name: len(file.read_text().splitlines()) for file in template_paths()}
    assert lines["template.yaml"] <= 450
    assert sum(lines.values()) <= 1300
    assert not any("Fn::ForEach" in file.read_text() for file in template_paths())


# --- HTTP services and the viewer: one template for every game, there where it is asked for -------


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


OPTIONS = ("Feed", "Agents")  # what more a service can be deployed with


@pytest.mark.parametrize("game", ["blef", "euchre"])
def test_a_service_is_deployed_only_when_asked_for(game: str) -> None:
    parameter = game.capitalize()
    assert template()["Parameters"][parameter]["Default"] == "no"
    wanted = template()["Conditions"][f"Has{parameter}"]
    assert wanted == {"Fn::Equals": [{"Ref": parameter}, "yes"]}
    for name, resource in template()["Resources"].items():
        if name.startswith(game):
            optional = next((one for one in OPTIONS if name.startswith(f"{game}{one}")), "")
            has = f"{game}Has{optional}" if optional else f"Has{parameter}"
            assert resource["Condition"] == has, name
    for name in ("Url", "Name"):
        assert template()["Outputs"][f"{game}{name}"]["Condition"] == f"Has{parameter}"


@pytest.mark.parametrize("game", [*GAMES, "viewer"])
def test_a_service_is_called_by_its_api_within_limits_and_logs_no_secret(game: str) -> None:
    """That requests reach it is played in tests/e2e/test_aws_cloud.py."""
    assert properties(f"{game}Integration")["PayloadFormatVersion"] == "2.0"
    assert properties(f"{game}Stage")["StageName"] == "$default", "no prefix in the path"
    permission = properties(f"{game}Permission")
    assert permission["Principal"] == "apigateway.amazonaws.com"
    assert permission["SourceArn"]["Fn::Sub"].endswith(f":${{{game}Api}}/*/*")
    told, stage = properties(f"{game}Service"), properties(f"{game}Stage")
    assert 0 < stage["DefaultRouteSettings"]["ThrottlingRateLimit"] <= 100
    assert 0 < stage["DefaultRouteSettings"]["ThrottlingBurstLimit"] <= 200
    limited, needed, unlimited = told["ReservedConcurrentExecutions"]["Fn::If"]
    assert (limited, unlimited) == ("Reserved", NO_VALUE)
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


def test_the_viewer_is_there_when_asked_for_and_private_unless_said_otherwise() -> None:
    parameters, conditions = template()["Parameters"], template()["Conditions"]
    assert parameters["DeployWeb"]["Default"] == parameters["WebPublic"]["Default"] == "no"
    assert conditions["HasWeb"] == {"Fn::Equals": [{"Ref": "DeployWeb"}, "yes"]}
    assert conditions["PublicWeb"] == {"Fn::Equals": [{"Ref": "WebPublic"}, "yes"]}
    block = {k: one for k, one in template()["Resources"].items() if k.startswith("viewer")}
    assert "viewerTable" not in block, "it has none of its own"
    assert len(block) >= 10
    assert {one["Condition"] for one in block.values()} == {"HasWeb", "viewerHasSecret"}
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


@pytest.mark.parametrize("file", template_paths(), ids=lambda one: one.name)
def test_what_is_nested_is_given_what_it_has_and_all_that_it_needs(file: Path) -> None:
    for resource in load_template(file)["Resources"].values():
        if resource["Type"] == "AWS::Serverless::Application":
            told = resource["Properties"]
            taken = load_template(file.parent / told["Location"])["Parameters"]
            needed = {name for name, one in taken.items() if "Default" not in one}
            assert needed <= told["Parameters"].keys() <= taken.keys()


def alarm(name: str) -> Alarm:
    return next(one for one in template_alarms() if one.name == name)


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
        *((f"{game}Failing", 0, 1) for game in SERVED),
    ],
)
def test_an_alarm_has_the_promised_limit(name: str, threshold: float, minutes: float) -> None:
    found = alarm(name)
    assert found.threshold == threshold
    assert found.period.total_seconds() * found.periods == minutes * 60


def test_a_decision_is_slow_at_half_its_limit_and_every_alarm_tells_the_topic() -> None:
    limit = ArenaBotSettings.model_fields["decision_timeout"].default
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
    # What is deployed only if asked for is no part of the bot.
    apart = (*SERVED, "TickFailed", "TicksLate", "DirectorFailed", "DirectorThrottled")
    ours = [one for one in template_alarms() if not one.name.startswith(apart)]
    plain = [one for one in ours if "Condition" not in resources[one.name]]
    series = [series for one in plain for series in one.series.values()]
    assert len(series) <= 10
    assert {one.metric.name for one in series if one.metric.namespace == NAMESPACE} == ALARM_METRICS
    variables = properties("Worker")["Environment"]["Variables"]
    assert variables["METRICS"] == {"Fn::If": ["WatchAll", "all", "alarmed"]}
    assert template()["Parameters"]["Watch"]["Default"] == "alarms"


def test_every_alarm_has_its_cause_and_cure_in_the_runbook() -> None:
    apart = {**dict.fromkeys(SERVED, "GAME"), "viewer": "Viewer"}
    text = (REPOSITORY_ROOT / "docs" / "operations.md").read_text()
    for name in (*(one.name for one in template_alarms()), *composite_alarm_rules()):
        heading = next((name.replace(one, apart[one]) for one in apart if one in name), name)
        section = re.search(rf"^### {heading}\n(.+?)(?=^##)", text, re.MULTILINE | re.DOTALL)
        assert section is not None, name
        assert "Cause" in section[1], name
        assert "Cure" in section[1], name
