"""The published document of the Euchre service, its sample events, and its entry point."""

import json
import os
from datetime import timedelta
from pathlib import Path
from unittest import mock

import pytest
from support.euchre_api import Json
from support.recorded import recording

from cardsharp.cloud.clock import SystemClock
from cardsharp.euchre.assembly import SERVICE
from web.app import GAME, api, handler
from workbench.cloud.context import Function

ROOT = Path(__file__).parents[2]
EVENTS = sorted((ROOT / "events").glob("euchre_*.json"))


def test_every_published_operation_is_there_under_its_name() -> None:
    published = recording("euchre_operations")
    ours = json.loads(json.dumps(SERVICE.document()))["paths"]
    for one in published:
        operation = ours[one["path"]][one["method"]]
        assert operation["operationId"] == one["operationId"]
        assert [given["name"] for given in operation.get("parameters", [])] == one["parameters"]
    assert set(ours) - {one["path"] for one in published} == {"/openapi.json"}
    assert len(published) == 16


@pytest.fixture
def environment(tmp_path: Path) -> Json:
    return {
        GAME: "euchre",
        "EUCHRE_STORE": f"sqlite:{tmp_path}/deep/deals.db",
        "EUCHRE_STRATEGY": "rules",
    }


def test_the_entry_point_answers_every_sample_event(environment: Json) -> None:
    context = Function("euchre", handler, timedelta(seconds=29)).context(SystemClock())
    api.cache_clear()
    with mock.patch.dict(os.environ, environment):
        for file in EVENTS:
            answer = handler(json.loads(file.read_text(encoding="utf-8")), context)
            assert answer["statusCode"] == 200, (file.name, answer)
    api.cache_clear()
    assert len(EVENTS) >= 6
