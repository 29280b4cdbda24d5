"""Template that AWS gets: properties that no emulator applies, read from its translation.

The permissions of the viewer's role are compared with its requests in
tests/integration/test_match_pages.py.
"""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.alarms import Alarm, template_alarms
from support.aws_template import (
    allowed_actions,
    arena_template,
    resource_properties,
    role_statements,
    template,
    template_resources_of_type,
)

from cardsharp.aws.telemetry import NAMESPACE
from cardsharp.core.metrics import ALARM_METRICS
from cardsharp.games.deadmansdraw.arena_bot.settings import ArenaBotSettings
from cardsharp_tools.build.emulator_deploy import CONFIG
from cardsharp_tools.build.sam_transform import Template, transform_file, transform_with_nested
from cardsharp_tools.build.target import REPOSITORY_ROOT
from cardsharp_tools.build.template_rules.expressions import (
    NO_VALUE,
    as_list,
    resources_of_type,
)
from cardsharp_tools.build.template_rules.monitoring import metrics_in_use
from cardsharp_tools.local_cloud.template_files import (
    GAME_TEMPLATE,
    PAGES_TEMPLATE,
    ROOT_STACKS,
    TEMPLATE,
    load_template,
    template_paths,
)

DAY_SECONDS = 86_400
TICK_SECONDS = 60
START_SECONDS = 6  # seconds, more than a poller takes from its tick to its first question
HTTP_SERVICES = ("Blef", "Euchre", "Game", "Arena", "Viewer")  # all that an HTTP API is in front of
BOT_ROLES = {"Poller": "PollerRole", "Worker": "WorkerRole", "Practice": "PracticeRole"}
DIRECTOR = "Director"
FUNCTION_ROLES = (
    BOT_ROLES
    | {DIRECTOR: "DirectorRole"}
    | {f"{service}Service": f"{service}Role" for service in HTTP_SERVICES}
)
SCHEDULE_ROLES = {"ScheduleRole": "Poller", "DirectorScheduleRole": DIRECTOR}
"""The roles of schedules, with the function that each may start."""

QUEUES = ("MatchQueue", "DeadLetters", "PollerDeadLetters")
LOG_DAYS: list[Any] = ["IsProd", 90, 7]
ACTIONS_WITHOUT_RESOURCE = {"xray:PutTraceSegments", "xray:PutTelemetryRecords"}
"""Actions that AWS defines for `*` only."""


def test_r28_a_poller_has_the_time_to_poll_until_its_successors_do() -> None:
    """With two pollers, each polls until the second one after it; ticks are 1 to 119 s apart."""
    max_pollers = 2  # with CARDSHARP_POLLERS: "2"
    latest_successor_start, long_poll_timeout = (
        (max_pollers + 1) * TICK_SECONDS - 1 + START_SECONDS,
        ArenaBotSettings.model_fields["long_poll_timeout"].default,
    )
    assert (
        resource_properties("Poller")["Timeout"] - long_poll_timeout.total_seconds()
        >= latest_successor_start
    )
    reserved = resource_properties("Poller")["ReservedConcurrentExecutions"]["Fn::If"][1]
    assert reserved >= 2 * max_pollers, "as many may be in their last long poll"


@pytest.mark.parametrize(
    ("function", "queue"), [("Poller", "PollerDeadLetters"), (DIRECTOR, "DirectorDeadLetters")]
)
def test_a_schedule_fires_each_minute_and_never_again_and_keeps_starts_that_fail(
    function: str, queue: str
) -> None:
    schedule = resource_properties(f"{function}EveryMinute")
    assert schedule["ScheduleExpression"] == "rate(1 minute)"
    assert schedule["FlexibleTimeWindow"] == {"Mode": "OFF"}
    assert schedule["Target"]["RetryPolicy"]["MaximumRetryAttempts"] == 0
    assert "State" not in schedule or schedule["State"] == "ENABLED"
    queue_arn = {"Fn::GetAtt": f"{queue}.Arn"}
    config = resource_properties(f"{function}EventInvokeConfig")["DestinationConfig"]
    assert config["OnFailure"]["Destination"] == queue_arn
    assert schedule["Target"]["DeadLetterConfig"] == {"Arn": queue_arn}


def test_r12_a_message_is_invisible_for_six_times_the_worker_and_tried_five_times() -> None:
    """The dead-letter queues retain longer; a worker gets a single message and reports it."""
    queue, mapping = resource_properties("MatchQueue"), resource_properties("WorkerMatch")
    batching_window = mapping.get("MaximumBatchingWindowInSeconds", 0)
    assert (
        queue["VisibilityTimeout"] >= 6 * resource_properties("Worker")["Timeout"] + batching_window
    )
    assert queue["RedrivePolicy"]["maxReceiveCount"] >= 5
    assert queue["RedrivePolicy"]["deadLetterTargetArn"] == {"Fn::GetAtt": "DeadLetters.Arn"}
    for dead_letter_queue in ("DeadLetters", "PollerDeadLetters"):
        retention_seconds = resource_properties(dead_letter_queue)["MessageRetentionPeriod"]
        assert retention_seconds == 14 * DAY_SECONDS >= queue["MessageRetentionPeriod"]
    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert mapping["BatchSize"] == 1
    assert mapping["ScalingConfig"] == {"MaximumConcurrency": {"Ref": "MatchLimit"}}
    assert template()["Parameters"]["MatchLimit"]["MinValue"] == 2, "AWS's least"


@pytest.mark.parametrize("queue", [*QUEUES, "Ticks", "TickLetters", "DirectorDeadLetters"])
def test_r12_queues_are_encrypted_and_speak_tls_only(queue: str) -> None:
    """Each queue has its own policy, because SQS takes one resource a statement."""
    assert resource_properties(queue)["SqsManagedSseEnabled"] is True
    (policy,) = [
        queue_policy
        for queue_policy in template_resources_of_type("AWS::SQS::QueuePolicy").values()
        if {"Ref": queue} in queue_policy["Queues"]
    ]
    (denial,) = policy["PolicyDocument"]["Statement"]
    assert denial["Effect"] == "Deny"
    assert denial["Principal"] == "*"
    assert denial["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}


def test_a_worker_may_hand_its_match_on_as_often_as_it_takes() -> None:
    """AWS ends a loop of function and queue after about 16 rounds, 65 minutes of a match."""
    writers = [
        name for name, role in BOT_ROLES.items() if "SendMessage" in allowed_actions(role, "sqs")
    ]
    assert "Worker" in writers
    assert resource_properties("WorkerMatch")["EventSourceArn"] == {"Fn::GetAtt": "MatchQueue.Arn"}
    assert resource_properties("Worker")["RecursiveLoop"] == "Allow"
    loops = {name for name in FUNCTION_ROLES if "RecursiveLoop" in resource_properties(name)}
    assert loops == {"Worker", DIRECTOR}, "whose ticks send the next ones"


def test_tick_of_a_crashed_function_is_retried_soon_but_not_earlier() -> None:
    """Lambda ends the function before the queue redelivers its message."""
    ticks, function = resource_properties("Ticks"), resource_properties(DIRECTOR)
    assert function["Timeout"] < ticks["VisibilityTimeout"] <= 30
    assert ticks["RedrivePolicy"]["maxReceiveCount"] >= 5
    mapping = resource_properties(f"{DIRECTOR}Tick")
    assert mapping["EventSourceArn"] == {"Fn::GetAtt": "Ticks.Arn"}
    assert (mapping["BatchSize"], mapping["ScalingConfig"]) == (1, {"MaximumConcurrency": 9})


def test_the_table_is_paid_by_use_recoverable_encrypted_and_protected_by_a_command_only() -> None:
    table = resource_properties("Matches")
    assert table["BillingMode"] == "PAY_PER_REQUEST"
    assert table["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
    assert table["SSESpecification"] == {"SSEEnabled": True}
    assert table["TimeToLiveSpecification"] == {"AttributeName": "expires_at", "Enabled": True}
    assert "DeletionProtectionEnabled" not in table, "a failed creation could not be removed"
    indexes = [index["Projection"]["ProjectionType"] for index in table["GlobalSecondaryIndexes"]]
    assert indexes == ["KEYS_ONLY"] * 2, "renewing a lease writes to none"
    resource = template()["Resources"]["Matches"]
    assert resource["UpdateReplacePolicy"] == "Retain"
    assert resource["DeletionPolicy"].startswith("Retain")


def test_credentials_are_no_parameter_and_no_variable() -> None:
    assert not any("NoEcho" in parameter for parameter in template()["Parameters"].values())
    for name in BOT_ROLES:
        variables = resource_properties(name)["Environment"]["Variables"]
        assert variables == resource_properties("Worker")["Environment"]["Variables"]
        assert variables["CARDSHARP_SECRET_ID"] == {"Fn::Sub": "/${AWS::StackName}/arena"}
        assert not {"CARDSHARP_USER", "CARDSHARP_PASSWORD"} & variables.keys()
    assert not template_resources_of_type("AWS::SSM::Parameter"), (
        "none that a template makes is encrypted"
    )


def test_s13_each_function_has_a_dedicated_role_without_managed_policies() -> None:
    roles = template_resources_of_type("AWS::IAM::Role")
    assert set(roles) == {*FUNCTION_ROLES.values(), *SCHEDULE_ROLES}
    assert not any("ManagedPolicyArns" in role for role in roles.values())
    for function, role in FUNCTION_ROLES.items():
        assert resource_properties(function)["Role"] == {"Fn::GetAtt": f"{role}.Arn"}


@pytest.mark.parametrize("role", [*FUNCTION_ROLES.values(), *SCHEDULE_ROLES])
def test_s13_no_role_may_do_everything_or_touch_everything(role: str) -> None:
    for statement in role_statements(role):
        actions = as_list(statement["Action"])
        assert not any("*" in action for action in actions)
        if set(actions) <= ACTIONS_WITHOUT_RESOURCE:
            continue
        for resource in as_list(statement["Resource"]):
            assert "*" not in json.dumps(resource)
            assert isinstance(resource, dict), "a resource of this stack, by reference"


@pytest.mark.parametrize("function", FUNCTION_ROLES)
def test_a_function_has_wheels_for_its_processor_and_limited_logs(function: str) -> None:
    """A build has both layers, and the parameter chooses function and layer together."""
    parameter = template()["Parameters"]["Architecture"]
    choice, cardsharp_layer = resource_properties(function)["Layers"]
    assert resource_properties(cardsharp_layer["Ref"])["CompatibleRuntimes"] == ["python3.13"]
    for architecture in parameter["AllowedValues"]:
        condition, arm, x86 = choice["Fn::If"]
        architecture_condition = template()["Conditions"][condition]
        assert architecture_condition == {"Fn::Equals": [{"Ref": "Architecture"}, "arm64"]}
        layer = template()["Resources"][(arm if architecture == "arm64" else x86)["Ref"]]
        assert layer["Properties"]["CompatibleArchitectures"] == [architecture]
        assert layer["Properties"]["CompatibleRuntimes"] == ["python3.13"]
        expected_condition = {"Fn::Equals": [{"Ref": "Architecture"}, architecture]}
        assert template()["Conditions"][layer["Condition"]] == expected_condition
        assert (
            architecture in resource_properties(cardsharp_layer["Ref"])["CompatibleArchitectures"]
        )
    assert resource_properties(function)["Architectures"] == [{"Ref": "Architecture"}]
    function_properties = resource_properties(function)
    assert function_properties["Runtime"] == "python3.13"
    assert template()["Parameters"]["Architecture"]["Default"] == "arm64"
    tracing_mode = {"Fn::If": ["IsFullyWatched", "Active", "PassThrough"]}  # each trace is paid for
    assert function_properties["TracingConfig"] == {
        "Mode": tracing_mode if function in BOT_ROLES else "Active"
    }
    group = function_properties["LoggingConfig"]["LogGroup"]["Ref"]
    assert group == f"{function.removesuffix('Service')}Logs"
    assert resource_properties(group)["RetentionInDays"]["Fn::If"] == LOG_DAYS
    assert {"Fn::GetAtt": f"{group}.Arn"} in [
        resource
        for statement in role_statements(FUNCTION_ROLES[function])
        for resource in as_list(statement["Resource"])
    ]


def test_stage_parameters_are_equal_for_every_deployment_method() -> None:
    """An override of any parameter drops the whole list of samconfig.toml."""
    for environment, parameters in tomllib.loads(CONFIG.read_text()).items():
        if environment != "version":
            overrides = parameters["deploy"]["parameters"]["parameter_overrides"]
            assert overrides == f"Stage={'prod' if environment == 'prod' else 'dev'}"


@pytest.mark.parametrize(
    ("url", "is_accepted"),
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
def test_an_arena_is_https_and_carries_no_password(url: str, is_accepted: bool) -> None:
    pattern: dict[str, Any] = template()["Parameters"]["ArenaUrl"]
    assert bool(re.fullmatch(pattern["AllowedPattern"], url)) is is_accepted


def test_templates_stay_short_enough_to_read() -> None:
    lines = {file.name: len(file.read_text().splitlines()) for file in template_paths()}
    assert lines["template.yaml"] <= 560
    assert max(lines.values()) == lines["template.yaml"]
    assert len(load_template(TEMPLATE)["Parameters"]) <= 15
    assert not any("Fn::ForEach" in file.read_text() for file in template_paths())


@pytest.mark.parametrize("file", template_paths(), ids=lambda path: path.name)
def test_a_template_has_no_anchors_and_its_names_are_in_pascal_case(file: Path) -> None:
    tokens = list(yaml.scan(file.read_text()))
    assert not [t for t in tokens if isinstance(t, yaml.AnchorToken | yaml.AliasToken)]
    assert not [t for t in tokens if isinstance(t, yaml.ScalarToken) and t.value == "<<"]
    loaded_template = load_template(file)
    for section in ("Parameters", "Conditions", "Resources", "Outputs"):
        for name in loaded_template.get(section, {}):
            assert re.fullmatch(r"([A-Z][a-z0-9]*)+", name), name
    assert all(re.match(r"(Is|Has)[A-Z]", name) for name in loaded_template.get("Conditions", {}))


# --- HTTP services and the viewer: one template for every game, there where it is asked for -------


def test_a_stack_of_a_game_has_the_needs_of_that_game() -> None:
    """All games share a template; only Euchre needs more memory than the others."""
    names = {
        game: {name.removeprefix(game) for name in template()["Resources"] if name.startswith(game)}
        for game in ("Blef", "Euchre", "Game")
    }
    assert names["Blef"] == names["Euchre"] == names["Game"] != set()
    for game, memory in {"Blef": 256, "Euchre": 1769, "Game": 256}.items():
        service = resource_properties(f"{game}Service")
        assert service["MemorySize"] == memory
        assert service["Environment"]["Variables"]["CARDSHARP_GAME"] == game.lower()


@pytest.mark.parametrize(("option", "resource"), [("Feed", "FeedApi"), ("Bot", "AgentsPolicy")])
def test_a_feed_and_invited_bots_are_deployed_only_when_asked_for(
    option: str, resource: str
) -> None:
    condition = template()["Resources"][f"Blef{resource}"]["Condition"]
    expected_conditions = {
        "Feed": {"Fn::Equals": [{"Ref": "Feed"}, "yes"]},
        "Bot": {"Fn::Not": [{"Fn::Equals": [{"Ref": "BotStack"}, ""]}]},
    }
    assert template()["Conditions"][condition] == expected_conditions[option]
    parameters = load_template(GAME_TEMPLATE)["Parameters"]
    assert (parameters["Feed"]["Default"], parameters["BotStack"]["Default"]) == ("no", "")


def test_what_a_service_uses_of_a_bot_is_exported_by_the_stack_of_the_bot() -> None:
    exported_names = {
        item["Export"]["Name"]["Fn::Sub"].removeprefix("${AWS::StackName}-")
        for item in load_template(TEMPLATE)["Outputs"].values()
        if "Export" in item
    }
    imported_names = set(
        re.findall(r'ImportValue": \{"Fn::Sub": "\$\{BotStack\}-(\w+)"', json.dumps(template()))
    )
    assert imported_names == exported_names


@pytest.mark.parametrize("game", HTTP_SERVICES)
def test_a_service_is_called_by_its_api_within_limits_and_logs_no_secret(game: str) -> None:
    """Requests themselves are sent to the service in tests/e2e/test_aws_cloud.py."""
    assert resource_properties(f"{game}Integration")["PayloadFormatVersion"] == "2.0"
    assert resource_properties(f"{game}Stage")["StageName"] == "$default", "no prefix in the path"
    permission = resource_properties(f"{game}Permission")
    assert permission["Principal"] == "apigateway.amazonaws.com"
    assert permission["SourceArn"]["Fn::Sub"].endswith(f":${{{game}Api}}/*/*")
    service, stage = resource_properties(f"{game}Service"), resource_properties(f"{game}Stage")
    assert 0 < stage["DefaultRouteSettings"]["ThrottlingRateLimit"] <= 100
    assert 0 < stage["DefaultRouteSettings"]["ThrottlingBurstLimit"] <= 200
    reserve_condition, reserved_count, default_value = service["ReservedConcurrentExecutions"][
        "Fn::If"
    ]
    assert default_value == NO_VALUE
    if game == "Arena":
        reserved_count = arena_template()["Parameters"][reserved_count["Ref"]]["Default"]
    assert 0 < reserved_count <= 60
    assert template()["Conditions"][reserve_condition] == {
        "Fn::Equals": [{"Ref": "Reserve"}, "yes"]
    }
    settings = resource_properties(f"{game}Stage")["AccessLogSettings"]
    variables = set(re.findall(r"\$context\.([\w.]+)", settings["Format"]))
    assert variables == {
        "requestTime", "requestId", "httpMethod", "status", "responseLatency", "responseLength",
        "integrationErrorMessage",
    }  # fmt: skip
    assert json.loads(settings["Format"]).keys() >= {"status", "ms"}
    assert settings["DestinationArn"] == {"Fn::GetAtt": f"{game}AccessLogs.Arn"}
    group = dict(resource_properties(f"{game}AccessLogs"))
    name = group.pop("LogGroupName")["Fn::Sub"]
    assert name.startswith("/aws/vendedlogs/${AWS::StackName}-")
    assert name.endswith("Stack-ABCDEFGHIJKL")
    assert group == resource_properties(f"{game}Logs")


def test_the_pages_are_private_unless_said_otherwise() -> None:
    parameters = load_template(PAGES_TEMPLATE)["Parameters"]
    assert parameters["Public"]["Default"] == "no"
    assert template()["Conditions"]["IsPublic"] == {"Fn::Equals": [{"Ref": "Public"}, "yes"]}
    assert "ViewerTable" not in template()["Resources"], "it has none of its own"
    variables = resource_properties("ViewerService")["Environment"]["Variables"]
    parameter = {"Fn::If": ["IsPublic", "", {"Fn::Sub": "/${AWS::StackName}/viewer"}]}
    assert variables["CARDSHARP_SERVICE_SECRET"] == parameter
    assert variables["CARDSHARP_PUBLIC"] == {"Ref": "Public"}
    condition = template()["Resources"]["ViewerSecretPolicy"]["Condition"]
    assert template()["Conditions"][condition] == {"Fn::Not": [{"Fn::Equals": [parameter, ""]}]}


def test_passwords_are_tried_once_a_second_by_all_the_world_together() -> None:
    """The access gate takes a password at the address of any page, by POST only."""
    stage, login = resource_properties("ViewerStage"), resource_properties("ViewerLoginRoute")
    assert login["Target"] == {"Fn::Sub": "integrations/${ViewerIntegration}"}
    key = login["RouteKey"]
    assert key == "POST /{proxy+}"
    limits = stage["RouteSettings"][key]
    assert (limits["ThrottlingRateLimit"], limits["ThrottlingBurstLimit"]) == (1, 5)


@pytest.mark.parametrize("file", template_paths(), ids=lambda path: path.name)
def test_nested_template_gets_only_its_parameters_and_all_required_parameters(file: Path) -> None:
    for resource in load_template(file)["Resources"].values():
        if resource["Type"] == "AWS::Serverless::Application":
            nested_properties = resource["Properties"]
            nested_parameters = load_template(file.parent / nested_properties["Location"])[
                "Parameters"
            ]
            required_names = {
                name
                for name, definition in nested_parameters.items()
                if "Default" not in definition
            }
            assert (
                required_names <= nested_properties["Parameters"].keys() <= nested_parameters.keys()
            )


def find_alarm(name: str) -> Alarm:
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
        ("ErrorLogged", 0, 1),
        ("DirectorDeadLetter", 0, 1),
        ("DirectorErrorLogged", 0, 1),
        *((f"{game}Failing", 0, 1) for game in HTTP_SERVICES),
        *((f"{game}ErrorLogged", 0, 1) for game in HTTP_SERVICES),
    ],
)
def test_an_alarm_has_the_promised_limit(name: str, threshold: float, minutes: float) -> None:
    template_alarm = find_alarm(name)
    assert template_alarm.threshold == threshold
    assert template_alarm.period.total_seconds() * template_alarm.period_count == minutes * 60


def test_a_decision_is_slow_at_half_its_limit_and_every_alarm_tells_the_topic() -> None:
    limit = ArenaBotSettings.model_fields["decision_timeout"].default
    assert find_alarm("SlowDecision").threshold == limit.total_seconds() * 1000 / 2
    for name in ("SlowDecision", "SlowPickUp"):
        assert find_alarm(name).series["m"].statistic == "p99"
    for kind in ("AWS::CloudWatch::Alarm", "AWS::CloudWatch::CompositeAlarm"):
        for alarm_properties in template_resources_of_type(kind).values():
            assert (
                alarm_properties["AlarmActions"]
                == alarm_properties["OKActions"]
                == [{"Ref": "AlarmTopic"}]
            )


def test_a_bot_with_default_monitoring_has_ten_metrics_or_fewer_for_its_alarms() -> None:
    """Ten metrics and the metrics of ten alarms are free."""
    resources = transform_with_nested(TEMPLATE)["Resources"]
    bot_alarms = [item for item in template_alarms() if item.name in resources]
    default_alarms = [item for item in bot_alarms if "Condition" not in resources[item.name]]
    series = [series for item in default_alarms for series in item.series.values()]
    assert len(series) <= 10
    assert {
        item.metric.name for item in series if item.metric.namespace == NAMESPACE
    } == ALARM_METRICS
    for function in FUNCTION_ROLES:
        metrics_setting = resource_properties(function)["Environment"]["Variables"]["METRICS"]
        assert metrics_setting == ({"Ref": "Watch"} if function in BOT_ROLES else "alarms")
    assert template()["Parameters"]["Watch"]["Default"] == "alarms"


@pytest.mark.parametrize(("path", "game"), ROOT_STACKS)
def test_every_metric_filter_has_an_alarm(path: Path, game: str) -> None:
    """A metric that no alarm watches would be a fault that stays unnoticed.

    A rule of cardsharp_tools.build.gates checks that every metric of an alarm is emitted.
    """
    stack = transform_with_nested(path, game)
    alarm_metrics = {
        (json.dumps(metric["Namespace"]), metric["MetricName"])
        for name, metric in metrics_in_use(stack)
        if stack["Resources"][name]["Type"] == "AWS::CloudWatch::Alarm"
    }
    filter_metrics = {
        (json.dumps(item["MetricNamespace"]), item["MetricName"])
        for _, definition in resources_of_type(stack, "AWS::Logs::MetricFilter")
        for item in definition["MetricTransformations"]
    }
    assert filter_metrics <= alarm_metrics
    logs = {
        definition["LoggingConfig"]["LogGroup"]["Ref"]
        for _, definition in resources_of_type(stack, "AWS::Lambda::Function")
    }
    filters = resources_of_type(stack, "AWS::Logs::MetricFilter")
    assert {definition["LogGroupName"]["Ref"] for _, definition in filters} == logs != set()


def runbook_heading(alarm: str) -> str:
    """Return the runbook heading of an alarm: services of games share theirs."""
    prefix = next((item for item in HTTP_SERVICES if alarm.startswith(item)), None)
    return alarm if prefix is None else alarm.replace(prefix, "Service")


def test_every_alarm_links_to_its_cause_and_cure_in_the_runbook() -> None:
    text = (REPOSITORY_ROOT / "docs" / "operations.md").read_text()
    for kind in ("AWS::CloudWatch::Alarm", "AWS::CloudWatch::CompositeAlarm"):
        for name, definition in template_resources_of_type(kind).items():
            link = f" See ${{RunbookUrl}}#{runbook_heading(name).lower()}"
            assert definition["AlarmDescription"]["Fn::Sub"].endswith(link), name
            section = re.search(
                rf"^### {runbook_heading(name)}\n(.+?)(?=^##)", text, re.MULTILINE | re.DOTALL
            )
            assert section is not None, name
            assert "Cause" in section[1], name
            assert "Cure" in section[1], name


# --- Versions: code, layers and settings switch together ------------------------------------------


@pytest.mark.parametrize("function", FUNCTION_ROLES)
def test_nothing_invokes_a_function_but_by_its_alias(function: str) -> None:
    alias = {"Ref": f"{function}Aliaslive"}
    assert resource_properties(f"{function}Aliaslive")["Name"] == "live"
    direct_references = json.dumps({"Ref": function}), json.dumps({"Fn::GetAtt": f"{function}.Arn"})
    for name, resource in template()["Resources"].items():
        kind, text = resource["Type"], json.dumps(resource)
        if kind in {"AWS::Scheduler::Schedule", "AWS::IAM::Role", "AWS::ApiGatewayV2::Integration"}:
            assert not any(item in text for item in direct_references), name
        if kind in {"AWS::Lambda::EventSourceMapping", "AWS::Lambda::Permission"}:
            assert direct_references[0] not in text, name
    callers = [
        name
        for name, item in template()["Resources"].items()
        if json.dumps(alias) in json.dumps(item)
    ]
    assert callers or function == "Practice", "which operators invoke"
    if function == "Practice":
        assert template()["Outputs"]["PracticeName"]["Value"] == {"Fn::Sub": "${Practice}:live"}


def used_parameters(template_part: object, stack: Template) -> set[str]:
    """Return the parameters that a part of a template uses, also by its conditions."""
    text = json.dumps(template_part)
    parameters = {name for name in stack["Parameters"] if f'{{"Ref": "{name}"}}' in text}
    parameters |= {name for name in stack["Parameters"] if f"${{{name}}}" in text}
    for condition in re.findall(r'"Fn::If": \["(\w+)"', text):
        parameters |= used_parameters(stack["Conditions"][condition], stack)
    return parameters


VERSIONED_PROPERTIES = (
    "Architectures",
    "Environment",
    "Handler",
    "MemorySize",
    "Timeout",
    "TracingConfig",
)


@pytest.mark.parametrize("path", template_paths(), ids=lambda path: path.name)
def test_a_changed_parameter_publishes_a_version_as_changed_code_does(path: Path) -> None:
    """The description of a version has the values of its parameters, so that it changes.

    SAM compares texts of a template, in which a parameter is only its name. A description has
    at most 256 characters.
    """
    stack = transform_file(path)
    for name, definition in resources_of_type(stack, "AWS::Lambda::Function"):
        (version,) = (
            item
            for logical_id, item in stack["Resources"].items()
            if re.fullmatch(rf"{name}Version[0-9a-f]{{10}}", logical_id)
        )
        assert version["UpdateReplacePolicy"] == version["DeletionPolicy"] == "Retain"
        described_parameters = used_parameters(version["Properties"]["Description"], stack)
        function_parameters = used_parameters(
            {key: definition[key] for key in VERSIONED_PROPERTIES if key in definition}, stack
        )
        # The same for all deployments of a stack, or changed by a build alone.
        assert function_parameters - described_parameters <= {"Root", "Build", "OwnTable"}, name
        if path == TEMPLATE:
            max_length = sum(
                max_value_length(stack["Parameters"][item]) for item in described_parameters
            )
            assert max_length + len(described_parameters) - 1 <= 256


def max_value_length(parameter: dict[str, Any]) -> int:
    values = parameter.get("AllowedValues", [])
    return max(map(len, values)) if values else int(parameter.get("MaxLength", 4))  # KeepDays
