"""Checks that gate a deployment, the operator's output, and the costs of a load."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from itertools import islice
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from support.store_fixtures import FakeClock

from cardsharp.bot.timing import DEFAULT_TIMING
from cardsharp.errors import ConfigError
from cardsharp_tools.build import gates
from cardsharp_tools.build.sam_build import restrict_strategy_parameters
from cardsharp_tools.build.target import (
    REPOSITORY_ROOT,
    BuildTarget,
    native_target,
    requested_target,
)
from cardsharp_tools.cli import main
from cardsharp_tools.costs import model as cost_model
from cardsharp_tools.costs.model import (
    BotWorkload,
    bot_usage,
    load_measured,
    load_price_list,
    make_bill,
    service_usage,
)
from cardsharp_tools.local_cloud.emulator_process import log_filter_matcher
from cardsharp_tools.local_cloud.template_files import MONITORING_TEMPLATE, TEMPLATE, load_template
from cardsharp_tools.operations.function_logs import PROBLEM_FILTER, LogLine, follow_log_lines
from cardsharp_tools.operations.stack import Stack
from cardsharp_tools.operations.stack_control import store_service_password

WORKFLOWS = REPOSITORY_ROOT / ".github" / "workflows"


def test_s14_actions_are_pinned_and_the_workflow_stores_no_keys_and_deploys_by_hand_only() -> None:
    assert list(gates.check_workflows()) == []
    assert list(WORKFLOWS.glob("*.yml"))
    text = (WORKFLOWS / "deploy.yml").read_text()
    workflow = yaml.safe_load(text)
    assert "secrets." not in text
    assert "aws-secret-access-key" not in text
    assert workflow["permissions"] == {}
    deploy = workflow["jobs"]["deploy"]
    assert deploy["permissions"] == {"contents": "read", "id-token": "write"}
    assert list(workflow[True]) == ["workflow_dispatch"], "YAML reads the key `on` as true"
    assert deploy["needs"] == "test"
    assert workflow["jobs"]["test"]["uses"] == "./.github/workflows/test.yml"
    permissions = {name: job["permissions"] for name, job in workflow["jobs"].items()}
    assert permissions.pop("deploy")
    assert set(map(str, permissions.values())) == {"{'contents': 'read'}"}


@pytest.mark.parametrize(
    ("text", "expected_error"),
    [
        ("permissions: {}\n- uses: actions/checkout@v5\n", "actions/checkout@v5 is no commit"),
        ("permissions: {}\n- uses: actions/checkout@main\n", "is no commit"),
        ("permissions: {}\n- uses: ./elsewhere\n", "is no commit"),
        ("permissions:\n  contents: write\n", "begin with permissions: {}"),
    ],
)
def test_s14_an_unpinned_or_overprivileged_workflow_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, expected_error: str
) -> None:
    folder = tmp_path / ".github" / "workflows"
    folder.mkdir(parents=True)
    (folder / "loose.yml").write_text(text)
    monkeypatch.setattr(gates, "REPOSITORY_ROOT", tmp_path)
    assert expected_error in "\n".join(gates.check_workflows())


def test_s14_every_push_runs_the_documented_checks_and_audits_dependencies() -> None:
    workflow = yaml.safe_load((WORKFLOWS / "test.yml").read_text())
    assert {"push", "pull_request", "workflow_call"} == set(workflow[True])
    commands = {step.get("run", "") for job in workflow["jobs"].values() for step in job["steps"]}
    for target in ("test", "test-browser", "check-deploy", "coverage", "evidence-research"):
        assert any(re.match(rf"make {target}( |$)", command) for command in commands), target
    commands = [step.get("run", "") for step in workflow["jobs"]["gates"]["steps"]]
    assert ".venv/bin/uv audit --locked --no-default-groups" in commands


def test_a_built_template_takes_no_strategy_that_was_not_built(tmp_path: Path) -> None:
    """CloudFormation refuses an unknown strategy before anything is deployed."""
    template_path = tmp_path / "template.yaml"
    template_path.write_text(yaml.safe_dump(load_template(TEMPLATE)))
    restrict_strategy_parameters(template_path)
    parameter = yaml.safe_load(template_path.read_text())["Parameters"]["Strategy"]
    assert {"", "captain", "steady"} <= set(parameter["AllowedValues"])
    assert "captian" not in parameter["AllowedValues"]
    assert "AllowedPattern" not in parameter


CURRENT_TIME = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)


def test_following_a_log_yields_each_line_once_including_late_ones() -> None:
    clock = FakeClock()
    start_time = clock.now()
    later_time = start_time + timedelta(seconds=1)
    first_line, late_line = (
        LogLine(timestamp, "worker", f"{timestamp}", {}) for timestamp in (later_time, start_time)
    )
    responses: Iterator[list[LogLine]] = iter([[first_line], [first_line], [late_line, first_line]])
    start_times: list[datetime] = []

    def read_lines(since: datetime) -> list[LogLine]:
        start_times.append(since)
        return next(responses)

    assert list(islice(follow_log_lines(read_lines, start_time, clock), 2)) == [
        first_line,
        late_line,
    ]
    assert start_times == [start_time] * 3, "each look goes back a while"


def test_the_password_of_a_service_is_an_encrypted_parameter_of_its_stack() -> None:
    """A password is refused if it is empty or its service is not deployed."""
    stored_parameters: list[dict[str, str]] = []
    ssm = SimpleNamespace(put_parameter=lambda **params: stored_parameters.append(params))
    stack = Stack("s", CURRENT_TIME, False, {}, {"ArenaName": "f"}, {}, lambda _name: ssm)  # noqa: FBT003
    store_service_password(stack, "deadmansdraw", "organising")
    with pytest.raises(ConfigError, match="has no service blef"):
        store_service_password(stack, "blef", "organising")
    with pytest.raises(ConfigError, match="password is empty"):
        store_service_password(stack, "deadmansdraw", "")
    [parameter] = stored_parameters
    assert (parameter["Name"], parameter["Type"]) == ("/s/deadmansdraw", "SecureString")
    assert json.loads(parameter["Value"]) == {"username": "admin", "password": "organising"}


@pytest.mark.parametrize(
    ("pattern", "line", "is_match"),
    [
        ("", "anything", True),
        ("ERROR", "[ERROR 400] BAD REQUEST", True),
        ("ERROR", "[error 400] BAD REQUEST", False),
        ("ERROR ARGUMENTS", "[ERROR 419] MISSING ARGUMENTS", True),
        ("ERROR ARGUMENTS", "[ERROR 400] BAD REQUEST", False),
        ("?ERROR ?ARGUMENTS", "[ERROR 400] BAD REQUEST", True),
        ("?ERROR ?ARGUMENTS", "[WARNING 400] INVALID ARGUMENTS", True),
        ("?ERROR ?ARGUMENTS", "[INFO] ALL IS WELL", False),
        ('"INTERNAL SERVER ERROR"', "[ERROR 500] INTERNAL SERVER ERROR", True),
        ('"INTERNAL SERVER ERROR"', "SERVER ERROR, INTERNAL", False),
        ("ERROR -ARGUMENTS", "[ERROR 401] UNAUTHORIZED REQUEST", True),
        ("ERROR -ARGUMENTS", "[ERROR 419] MISSING ARGUMENTS", False),
        ("?ARGUMENTS ERROR", "[ERROR 400] BAD REQUEST", True),
        (PROBLEM_FILTER, '{"level":"INFO","message":"no error, no warning"}', False),
    ],
)
def test_a_log_filter_pattern_matches_as_aws_documents(
    pattern: str, line: str, *, is_match: bool
) -> None:
    assert log_filter_matcher(pattern)(line) is is_match


COST_PAGE = Path(__file__).parents[2] / "docs" / "cost.md"
PRICE_LINE = re.compile(r'"([^"]+)" = [\d.e-]+  # (\w+)')
DEFAULT_WORKLOAD = BotWorkload(matches_per_day=100)


def test_every_item_has_a_price_with_its_source_and_the_aims_are_met_in_every_region() -> None:
    """The default workload costs at most 1.50 USD; regions without prices are refused."""
    measured, price_list = load_measured(), load_price_list()
    units = bot_usage(DEFAULT_WORKLOAD, measured)
    items = units.keys() | service_usage("blef", 1, measured)
    assert price_list.date >= date(2026, 11, 1)
    assert list(price_list.regions) == ["eu-central-1", "eu-west-1", "us-east-1"]
    for region, prices in price_list.regions.items():
        assert prices.keys() == items
        bill = make_bill(units, region)
        assert sum(line.amount_due for line in bill) <= 1.5, "USD after the free tier"
        assert sum(line.full_price for line in bill) <= 10, "USD without it"
    with pytest.raises(ConfigError, match=r"no prices for mars-1. .* eu-central-1, eu-west-1, us-"):
        make_bill(units, "mars-1")
    text = cost_model.PRICE_LIST.read_text("utf-8")
    sources = PRICE_LINE.findall(text)
    assert len(sources) == 3 * len(items), "each price has a source"
    assert all(f"\n# {source}: " in text for _, source in sources)


def test_the_model_has_the_defaults_of_the_template() -> None:
    template = load_template(TEMPLATE)
    defaults = {
        "Architecture": "arm64",
        "KeepDays": f"{DEFAULT_WORKLOAD.retention_days:g}",
        "Watch": DEFAULT_WORKLOAD.monitoring,
    }
    assert {name: template["Parameters"][name]["Default"] for name in defaults} == defaults
    memory = {
        name: template["Resources"][name]["Properties"]["MemorySize"]
        for name in ("Poller", "Worker")
    }
    assert memory == {
        "Poller": cost_model.POLLER_MEGABYTES,
        "Worker": cost_model.WORKER_MEGABYTES,
    }
    variables = template["Globals"]["Function"]["Environment"]["Variables"]
    assert variables["CARDSHARP_POLLERS"] == "1"
    assert variables["CARDSHARP_WATCH_SECONDS"] == "1", "the leases are checked each second"
    assert DEFAULT_TIMING.renew_interval == timedelta(seconds=1)


@pytest.mark.parametrize(
    ("monitoring", "conditions"), [("alarms", [None]), ("all", [None, "IsFullyWatched"])]
)
def test_the_model_counts_the_metrics_that_the_alarms_of_the_template_watch(
    monitoring: str, conditions: list[str | None]
) -> None:
    alarms = [
        resource["Properties"]
        for resource in load_template(MONITORING_TEMPLATE)["Resources"].values()
        if resource["Type"] == "AWS::CloudWatch::Alarm" and resource.get("Condition") in conditions
    ]
    counts = [
        sum("MetricStat" in query for query in alarm.get("Metrics", [])) or 1 for alarm in alarms
    ]
    assert cost_model.ALARMS[monitoring] == sum(counts)


def test_measured_figures_that_cannot_be_used_are_refused(tmp_path: Path) -> None:
    (tmp_path / "measured.json").write_text('{"matches": -1}')
    with pytest.raises(ConfigError, match="measure them again with `make bench-games`"):
        load_measured(tmp_path / "measured.json")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--contest --service blef", "Give either --contest or --service"),
        ("--service whist", "no service of the game 'whist'. Give --service with one of blef, eu"),
        ("--history-days 0", "Unknown option: --history-days"),
        ("--measure", "Unknown option: --measure"),
    ],
)
def test_wrong_and_removed_options_of_cost_are_refused(
    options: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["cost", *options.split()]) != 0
    assert message in " ".join(capsys.readouterr().err.split())


COST_TABLE_ROWS = re.findall(
    r"\| `cardsharp (cost [^`]+)` \| ([\d.]+) \| ([\d.]+) \|", COST_PAGE.read_text()
)


@pytest.mark.parametrize(("command", "full_price", "amount_due"), COST_TABLE_ROWS)
def test_the_cost_page_has_the_current_figures(
    command: str, full_price: str, amount_due: str, capsys: pytest.CaptureFixture[str]
) -> None:
    region_options = [] if "--region" in command else ["--region", "eu-central-1"]
    assert main([*command.split(), *region_options, "--json"]) == 0
    bill = json.loads(capsys.readouterr().out)
    assert f"{bill['withoutFreeTier']:.2f}" == full_price
    assert f"{bill['afterFreeTier']:.2f}" == amount_due


def test_a_build_in_the_emulators_environment_is_for_this_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`make local-cloud KEEP_RUNNING=1` prints this environment."""
    monkeypatch.delenv("LAMBDA_PLATFORM", raising=False)
    assert requested_target() == BuildTarget()
    monkeypatch.setenv("LAMBDA_PLATFORM", "")
    assert requested_target() == native_target()
