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
FUNCTIONS = (
    BOT | {DIRECTOR: "DirectorRole"} | {f"{service}Service": f"{service}Role" for service in SERVED}
)
SCHEDULES = {"ScheduleRole": "Poller", "DirectorScheduleRole": DIRECTOR}
"""The roles of schedules, with the function that each may start."""

QUEUES = ("MatchQueue", "DeadLetters", "PollerDeadLetters")
LOG_DAYS: list[Any] = ["OwnLogDays", {"Ref": "LogDays"}, {"Fn::If": ["IsProd", 90, 7]}]
WITHOUT_RESOURCE = {"xray:PutTraceSegments", "xray:PutTelemetryRecords"}
"""Actions that AWS defines for `*` only."""


def test_r28_a_poller_has_the_time_to_listen_until_its_successors_do() -> None:
    """Of two that listen until the second one after them; ticks lie 1 to 119 s apart."""
    max_pollers = int(template()["Parameters"]["Pollers"]["AllowedValues"][-1])
    latest, read = (
        (max_pollers + 1) * TICK - 1 + START,
        ArenaBotSettings.model_fields["long_poll_timeout"].default,
    )
    assert properties("Poller")["Timeout"] - read.total_seconds() >= latest
    reserved = properties("Poller")["ReservedConcurrentExecutions"]["Fn::If"][1]
    assert reserved >= 2 * max_pollers, "as many may be in their last long poll"


def test_schedule_fires_each_minute_without_retries_and_stores_failed_ticks() -> None:
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
        retention_seconds = properties(letters)["MessageRetentionPeriod"]
        assert retention_seconds == 14 * DAY >= queue["MessageRetentionPeriod"]
    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert mapping["BatchSize"] == 1
    assert mapping["ScalingConfig"] == {"MaximumConcurrency": {"Ref": "MatchLimit"}}
    assert template()["Parameters"]["MatchLimit"]["MinValue"] == 2, "AWS's least"


@pytest.mark.parametrize("queue", [*QUEUES, "Ticks", "TickLetters"])
def test_r12_queues_are_encrypted_and_speak_tls_only(queue: str) -> None:
    """Each by a policy of its own: SQS takes one resource a statement, the queue it is for."""
    assert properties(queue)["SqsManagedSseEnabled"] is True
    (policy,) = [
        queue_policy
        for queue_policy in of_kind("AWS::SQS::QueuePolicy").values()
        if {"Ref": queue} in queue_policy["Queues"]
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


def test_tick_of_a_crashed_function_is_retried_soon_but_not_earlier() -> None:
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
    indexes = [index["Projection"]["ProjectionType"] for index in table["GlobalSecondaryIndexes"]]
    assert indexes == ["KEYS_ONLY"] * 2, "renewing a lease writes to none"
    resource = template()["Resources"]["Matches"]
    assert resource["UpdateReplacePolicy"] == "Retain"
    assert resource["DeletionPolicy"].startswith("Retain")


def test_credentials_are_no_parameter_and_no_variable() -> None:
    assert not any("NoEcho" in parameter for parameter in template()["Parameters"].values())
    for name in BOT:
        variables = properties(name)["Environment"]["Variables"]
        assert variables == properties("Worker")["Environment"]["Variables"]
        assert variables["CARDSHARP_SECRET_ID"] == {"Fn::Sub": "/${AWS::StackName}/arena"}
        assert not {"CARDSHARP_USER", "CARDSHARP_PASSWORD"} & variables.keys()
    assert not of_kind("AWS::SSM::Parameter"), "none that a template makes is encrypted"


def test_s13_each_function_has_a_dedicated_role_without_managed_policies() -> None:
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
    choice, cardsharp_layer = properties(function)["Layers"]
    assert properties(cardsharp_layer["Ref"])["CompatibleRuntimes"] == ["python3.13"]
    for architecture in parameter["AllowedValues"]:
        condition, arm, x86 = choice["Fn::If"]
        architecture_condition = template()["Conditions"][condition]
        assert architecture_condition == {"Fn::Equals": [{"Ref": "Architecture"}, "arm64"]}
        layer = template()["Resources"][(arm if architecture == "arm64" else x86)["Ref"]]
        assert layer["Properties"]["CompatibleArchitectures"] == [architecture]
        assert layer["Properties"]["CompatibleRuntimes"] == ["python3.13"]
        has = {"Fn::Equals": [{"Ref": "Architecture"}, architecture]}
        assert template()["Conditions"][layer["Condition"]] == has
        assert architecture in properties(cardsharp_layer["Ref"])["CompatibleArchitectures"]
    assert properties(function)["Architectures"] == [{"Ref": "Architecture"}]
    function_properties = properties(function)
    assert function_properties["Runtime"] == "python3.13"
    assert template()["Parameters"]["Architecture"]["Default"] == "arm64"
    traced = {"Fn::If": ["WatchAll", "Active", "PassThrough"]}  # each trace is paid for
    assert function_properties["TracingConfig"] == {"Mode": traced if function in BOT else "Active"}
    group = function_properties["LoggingConfig"]["LogGroup"]["Ref"]
    assert group == f"{function.removesuffix('Service')}Logs"
    retention = properties(group)["RetentionInDays"]["Fn::If"]
    assert retention in (LOG_DAYS, LOG_DAYS[2]["Fn::If"])
    assert {"Fn::GetAtt": f"{group}.Arn"} in [
        resource
        for statement in statements(FUNCTIONS[function])
        for resource in as_list(statement["Resource"])
    ]


def test_stage_parameters_are_equal_for_every_deployment_method() -> None:
    """An override of any parameter drops the whole list of samconfig.toml."""
    for environment, parameters in tomllib.loads(CONFIG.read_text()).items():
        if environment != "version":
            overrides = parameters["deploy"]["parameters"]["parameter_overrides"]
            assert overrides == f"Stage={'prod' if environment == 'prod' else 'dev'}"
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


def test_templates_stay_short_enough_to_read() -> None:
    lines = {file.name: len(file.read_text().splitlines()) for file in template_paths()}
    assert lines["template.yaml"] <= 450
    assert sum(lines.values()) <= 1300
    assert not any("Fn::ForEach" in file.read_text() for file in template_paths())


# --- HTTP services and the viewer: one template for every game, there where it is asked for -------


def test_additional_game_is_deployed_by_a_parameter_like_the_built_in_games() -> None:
    kinds = {name: resource["Type"] for name, resource in template()["Resources"].items()}
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
def test_service_is_deployed_only_on_request(game: str) -> None:
    parameter = game.capitalize()
    assert template()["Parameters"][parameter]["Default"] == "no"
    deploy_condition = template()["Conditions"][f"Has{parameter}"]
    assert deploy_condition == {"Fn::Equals": [{"Ref": parameter}, "yes"]}
    for name, resource in template()["Resources"].items():
        if name.startswith(game):
            optional = next(
                (suffix for suffix in OPTIONS if name.startswith(f"{game}{suffix}")), ""
            )
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
    service, stage = properties(f"{game}Service"), properties(f"{game}Stage")
    assert 0 < stage["DefaultRouteSettings"]["ThrottlingRateLimit"] <= 100
    assert 0 < stage["DefaultRouteSettings"]["ThrottlingBurstLimit"] <= 200
    limited, needed, unlimited = service["ReservedConcurrentExecutions"]["Fn::If"]
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


def test_viewer_is_deployed_on_request_and_private_by_default() -> None:
    parameters, conditions = template()["Parameters"], template()["Conditions"]
    assert parameters["DeployWeb"]["Default"] == parameters["WebPublic"]["Default"] == "no"
    assert conditions["HasWeb"] == {"Fn::Equals": [{"Ref": "DeployWeb"}, "yes"]}
    assert conditions["PublicWeb"] == {"Fn::Equals": [{"Ref": "WebPublic"}, "yes"]}
    block = {
        k: resource for k, resource in template()["Resources"].items() if k.startswith("viewer")
    }
    assert "viewerTable" not in block, "it has none of its own"
    assert len(block) >= 10
    assert {resource["Condition"] for resource in block.values()} == {"HasWeb", "viewerHasSecret"}
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


@pytest.mark.parametrize("file", template_paths(), ids=lambda path: path.name)
def test_nested_template_gets_only_its_parameters_and_all_required_parameters(file: Path) -> None:
    for resource in load_template(file)["Resources"].values():
        if resource["Type"] == "AWS::Serverless::Application":
            nested_properties = resource["Properties"]
            taken = load_template(file.parent / nested_properties["Location"])["Parameters"]
            needed = {name for name, definition in taken.items() if "Default" not in definition}
            assert needed <= nested_properties["Parameters"].keys() <= taken.keys()


def alarm(name: str) -> Alarm:
    return next(
        template_alarm for template_alarm in template_alarms() if template_alarm.name == name
    )


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
    template_alarm = alarm(name)
    assert template_alarm.threshold == threshold
    assert template_alarm.period.total_seconds() * template_alarm.periods == minutes * 60


def test_a_decision_is_slow_at_half_its_limit_and_every_alarm_tells_the_topic() -> None:
    limit = ArenaBotSettings.model_fields["decision_timeout"].default
    assert alarm("SlowDecision").threshold == limit.total_seconds() * 1000 / 2
    for name in ("SlowDecision", "SlowPickUp"):
        assert alarm(name).series["m"].statistic == "p99"
    for kind in ("AWS::CloudWatch::Alarm", "AWS::CloudWatch::CompositeAlarm"):
        for alarm_properties in of_kind(kind).values():
            assert (
                alarm_properties["AlarmActions"]
                == alarm_properties["OKActions"]
                == [{"Ref": "AlarmTopic"}]
            )
            assert str(alarm_properties["AlarmDescription"]).strip("{'}").endswith(".")


def test_default_stack_emits_only_the_metrics_of_its_alarms_and_no_more_than_ten() -> None:
    """Ten metrics and the metrics of ten alarms are free."""
    resources = template()["Resources"]
    # What is deployed only if asked for is no part of the bot.
    apart = (*SERVED, "TickFailed", "TicksLate", "DirectorFailed", "DirectorThrottled")
    bot_alarms = [
        template_alarm
        for template_alarm in template_alarms()
        if not template_alarm.name.startswith(apart)
    ]
    plain = [bot_alarm for bot_alarm in bot_alarms if "Condition" not in resources[bot_alarm.name]]
    series = [series for plain_alarm in plain for series in plain_alarm.series.values()]
    assert len(series) <= 10
    assert {
        metric_series.metric.name
        for metric_series in series
        if metric_series.metric.namespace == NAMESPACE
    } == ALARM_METRICS
    variables = properties("Worker")["Environment"]["Variables"]
    assert variables["METRICS"] == {"Fn::If": ["WatchAll", "all", "alarmed"]}
    assert template()["Parameters"]["Watch"]["Default"] == "alarms"


def test_every_alarm_has_its_cause_and_cure_in_the_runbook() -> None:
    apart = {**dict.fromkeys(SERVED, "GAME"), "viewer": "Viewer"}
    text = (REPOSITORY_ROOT / "docs" / "operations.md").read_text()
    for name in (
        *(template_alarm.name for template_alarm in template_alarms()),
        *composite_alarm_rules(),
    ):
        heading = next(
            (name.replace(prefix, apart[prefix]) for prefix in apart if prefix in name), name
        )
        section = re.search(rf"^### {heading}\n(.+?)(?=^##)", text, re.MULTILINE | re.DOTALL)
        assert section is not None, name
        assert "Cause" in section[1], name
        assert "Cure" in section[1], name
