"""The template: what the queue, the functions and the settings must agree on."""

from typing import Any

import pytest

from cardsharp.cloud.settings import PREFIX
from cardsharp.deadmansdraw.settings import Settings
from workbench.cloud.template import (
    TEMPLATE,
    _Loader,
    templates,
)


@pytest.fixture(scope="module")
def template() -> dict[str, Any]:
    whole: dict[str, Any] = _Loader(TEMPLATE.read_text()).get_single_data()
    return whole


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


def test_the_templates_stay_as_short_as_somebody_can_read_them() -> None:
    lines = {file.name: len(file.read_text().splitlines()) for file in templates()}
    assert lines["template.yaml"] <= 450
    assert sum(lines.values()) <= 1300
    assert not any("Fn::ForEach" in file.read_text() for file in templates())
