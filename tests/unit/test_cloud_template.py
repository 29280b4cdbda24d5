"""The template: what the queue, the functions and the settings must agree on."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from cardsharp.cloud.settings import PREFIX
from cardsharp.deadmansdraw.settings import Settings
from cardsharp.errors import ConfigError
from workbench.cloud.nested import flattened
from workbench.cloud.template import (
    TEMPLATE,
    _Loader,
    all_resources,
    load_resources,
    load_template,
    queue_attributes,
    redrive,
    templates,
)


@pytest.fixture(scope="module")
def template() -> dict[str, Any]:
    whole: dict[str, Any] = _Loader(TEMPLATE.read_text()).get_single_data()
    return whole


def queue(name: str) -> dict[str, Any]:
    return dict(all_resources()[name].properties)


@pytest.mark.parametrize("function", ["Poller", "Worker", "Practice"])
def test_every_variable_of_the_bot_is_a_setting_and_alike_for_its_functions(
    template: dict[str, Any], function: str
) -> None:
    names = template["Resources"][function]["Properties"]["Environment"]["Variables"]
    assert names == template["Resources"]["Worker"]["Properties"]["Environment"]["Variables"]
    environment = dict.fromkeys(names, "")
    environment |= {
        f"{PREFIX}ARENA_URL": "https://arena.example",
        f"{PREFIX}SECRET_ID": "cardsharp/arena",
        f"{PREFIX}STORE": "dynamodb:matches",
        f"{PREFIX}QUEUE": "https://sqs.eu-central-1.amazonaws.com/1/q",
    }
    assert set(environment) == set(names)
    assert Settings.load(environment).secret_id == "cardsharp/arena"


def test_a_queue_is_made_with_its_own_attributes_only() -> None:
    assert queue_attributes(queue("DeadLetters")) == {"MessageRetentionPeriod": "1209600"}
    assert redrive(queue("DeadLetters")) is None


@pytest.mark.parametrize("text", ["", "Resources: 3", "Resources: {A: {}}", "a: [", "- 1"])
def test_what_is_no_template_is_refused_by_name(tmp_path: Path, text: str) -> None:
    path = tmp_path / "broken.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=r"broken\.yaml is no CloudFormation template"):
        load_resources(path)


def test_the_short_forms_of_functions_read_as_the_long_ones() -> None:
    text = "{a: !Ref B, c: !GetAtt D.Arn, e: !Sub ['${x}', {x: 1}], f: !If {g: !Ref H}}"
    loader = _Loader(text)
    assert loader.get_single_data() == {
        "a": {"Ref": "B"},
        "c": {"Fn::GetAtt": "D.Arn"},
        "e": {"Fn::Sub": ["${x}", {"x": 1}]},
        "f": {"Fn::If": {"g": {"Ref": "H"}}},
    }
    assert yaml.safe_load("1") == 1, "the usual loader knows nothing of it"
    with pytest.raises(yaml.YAMLError):
        yaml.safe_load(text)


OUTER = """
Parameters: { Which: { Type: String } }
Conditions: { Wanted: !Equals [!Ref Which, "yes"] }
Resources:
  Topic: { Type: AWS::SNS::Topic }
  blef:
    Type: AWS::Serverless::Application
    Condition: Wanted
    Properties:
      Location: stacks/inner.yaml
      Parameters: { Told: !Ref Topic, Choice: !Ref Which, Fixed: "no" }
  Reader: { Type: AWS::X, Properties: { Url: !GetAtt blef.Outputs.Url } }
"""
INNER = """
Parameters:
  Told: { Type: String }
  Choice: { Type: String }
  Fixed: { Type: String }
  Many: { Type: CommaDelimitedList, Default: "a,b" }
Conditions:
  Wants: !Equals [!Ref Choice, "yes"]
  Never: !Equals [!Ref Fixed, "yes"]
Resources:
  Queue: { Type: AWS::SQS::Queue, Properties: { A: !Sub "x-${Told}-${Queue.Arn}", B: !Ref Many,
    C: !If [Wants, 1, 2], D: !If [Never, 1, 2] } }
  Gone: { Type: AWS::SQS::Queue, Condition: Never }
Outputs: { Url: { Value: !GetAtt Queue.QueueUrl } }
"""


def test_what_a_template_nests_reads_as_if_it_stood_there(tmp_path: Path) -> None:
    (tmp_path / "stacks").mkdir()
    (tmp_path / "stacks" / "inner.yaml").write_text(INNER)
    root = tmp_path / "template.yaml"
    root.write_text(OUTER)
    whole = flattened(root, load_template)["Resources"]
    assert whole.keys() == {"Topic", "blefQueue", "Reader"}
    assert whole["blefQueue"]["Condition"] == "Wanted"
    assert whole["blefQueue"]["Properties"] == {
        "A": {"Fn::Sub": "x-${Topic}-${blefQueue.Arn}"},
        "B": ["a", "b"],
        "C": {"Fn::If": ["Wanted", 1, 2]},
        "D": 2,
    }
    assert whole["Reader"]["Properties"] == {"Url": {"Fn::GetAtt": "blefQueue.QueueUrl"}}


def test_the_templates_stay_as_short_as_somebody_can_read_them() -> None:
    lines = {file.name: len(file.read_text().splitlines()) for file in templates()}
    assert lines["template.yaml"] <= 450
    assert sum(lines.values()) <= 1300
    assert not any("Fn::ForEach" in file.read_text() for file in templates())
