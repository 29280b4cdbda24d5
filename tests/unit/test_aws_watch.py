"""Dashboard, alarms and saved queries: that they watch what the functions really say."""

import re
from pathlib import Path

import pytest
from support.alarms import Alarm, read_alarms
from support.aws_template import STACK, of_kind, properties, template

from cardsharp.cloud.metrics import ALARMED
from cardsharp.cloud.telemetry import NAMESPACE
from cardsharp.deadmansdraw.settings import Settings
from workbench.cloud.template import load_template, services, templates

RUNBOOK = Path(__file__).parents[2] / "docs" / "operations.md"
ALARMS, COMPOSITES = read_alarms(template(), STACK)
GAMES = services()
GAMES_AND_PAGES = (*GAMES, "game", "viewer")
DIRECTORS = ("TickFailed", "TicksLate", "DirectorFailed", "DirectorThrottled")
APART = (*GAMES_AND_PAGES, *DIRECTORS)
"""What is deployed only if asked for, and no part of the bot."""

NAMES = [*(alarm.name for alarm in ALARMS), *COMPOSITES]


@pytest.mark.parametrize("file", templates(), ids=lambda one: one.name)
def test_what_is_nested_is_given_what_it_has_and_all_that_it_needs(file: Path) -> None:
    for resource in load_template(file)["Resources"].values():
        if resource["Type"] == "AWS::Serverless::Application":
            told = resource["Properties"]
            taken = load_template(file.parent / told["Location"])["Parameters"]
            needed = {name for name, one in taken.items() if "Default" not in one}
            assert needed <= told["Parameters"].keys() <= taken.keys()


def alarm(name: str) -> Alarm:
    return next(one for one in ALARMS if one.name == name)


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


def test_a_decision_is_slow_at_half_its_limit() -> None:
    limit = Settings.model_fields["decision"].default
    assert alarm("SlowDecision").threshold == limit.total_seconds() * 1000 / 2
    for name in ("SlowDecision", "SlowPickUp"):
        assert alarm(name).series["m"].statistic == "p99"


def test_a_stack_without_all_has_the_metrics_of_its_alarms_and_ten_of_them_at_most() -> None:
    """Ten metrics and the metrics of ten alarms are free."""
    resources = template()["Resources"]
    ours = [one for one in ALARMS if not one.name.startswith(APART)]
    plain = [one for one in ours if "Condition" not in resources[one.name]]
    series = [series for one in plain for series in one.series.values()]
    assert len(series) <= 10
    assert {one.metric.name for one in series if one.metric.namespace == NAMESPACE} == ALARMED
    variables = properties("Worker")["Environment"]["Variables"]
    assert variables["METRICS"] == {"Fn::If": ["WatchAll", "all", "alarmed"]}
    assert template()["Parameters"]["Watch"]["Default"] == "alarms"


def test_every_alarm_tells_the_topic_when_it_goes_on_and_when_it_goes_off() -> None:
    for kind in ("AWS::CloudWatch::Alarm", "AWS::CloudWatch::CompositeAlarm"):
        for told in of_kind(kind).values():
            assert told["AlarmActions"] == told["OKActions"] == [{"Ref": "AlarmTopic"}]
            assert str(told["AlarmDescription"]).strip("{'}").endswith(".")


@pytest.mark.parametrize("name", NAMES)
def test_every_alarm_has_its_cause_and_cure_in_the_runbook(name: str) -> None:
    apart = {"viewer": "Viewer", **dict.fromkeys((*GAMES, "game"), "GAME")}
    heading = next((name.replace(one, apart[one]) for one in apart if one in name), name)
    section = re.search(
        rf"^### {heading}\n(.+?)(?=^##)", RUNBOOK.read_text(), re.MULTILINE | re.DOTALL
    )
    assert section is not None
    assert "Cause" in section[1]
    assert "Cure" in section[1]
