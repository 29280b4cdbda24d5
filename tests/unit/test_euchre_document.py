"""The published document of the Euchre service, its sample events, and its entry point."""

import json
import os
from datetime import timedelta
from pathlib import Path
from unittest import mock

import pytest
import yaml
from support.euchre_api import Json, Service
from support.euchre_traffic import REFERENCE

from cardsharp.cloud.clock import SystemClock
from cardsharp.euchre.openapi import document
from euchre.app import api, handler
from workbench.cloud.context import Function
from workbench.euchre.document import FILE, text

ROOT = Path(__file__).parents[2]
EVENTS = sorted((ROOT / "events").glob("euchre_*.json"))
PUBLISHED = REFERENCE / "openapi.yaml"


def test_the_document_in_docs_is_what_the_code_says() -> None:
    assert FILE.read_text(encoding="utf-8") == text(), (
        "run `python -m workbench.euchre.document` and look at what has changed"
    )


def test_the_document_is_served() -> None:
    assert Service().ok("GET", "/openapi.json") == document()


@pytest.mark.skipif(not PUBLISHED.exists(), reason=f"{PUBLISHED.name} is not here")
def test_every_published_operation_is_there_under_its_name() -> None:
    published = yaml.safe_load(PUBLISHED.read_text(encoding="utf-8"))["paths"]
    ours = json.loads(json.dumps(document()))["paths"]
    for path, operations in published.items():
        for method, operation in operations.items():
            assert ours[path][method]["operationId"] == operation["operationId"]
            theirs = {one["name"] for one in operation.get("parameters", [])}
            assert {one["name"] for one in ours[path][method].get("parameters", [])} == theirs
    assert set(ours) - set(published) == {"/openapi.json"}


def test_every_reference_in_the_document_leads_somewhere() -> None:
    schemas = json.loads(json.dumps(document()))["components"]["schemas"]
    wanted = set(text().split('"$ref": "#/components/schemas/')[1:])
    assert {one.partition('"')[0] for one in wanted} <= set(schemas)


@pytest.fixture
def environment(tmp_path: Path) -> Json:
    return {"EUCHRE_STORE": f"sqlite:{tmp_path}/deep/deals.db", "EUCHRE_STRATEGY": "rules"}


def test_the_entry_point_answers_every_sample_event(environment: Json) -> None:
    context = Function("euchre", handler, timedelta(seconds=29)).context(SystemClock())
    api.cache_clear()
    with mock.patch.dict(os.environ, environment):
        for file in EVENTS:
            answer = handler(json.loads(file.read_text(encoding="utf-8")), context)
            assert answer["statusCode"] == 200, (file.name, answer)
    api.cache_clear()
    assert len(EVENTS) >= 6


def test_the_sample_events_hold_lists_of_one_and_of_six() -> None:
    samples = {file.stem: json.loads(file.read_text(encoding="utf-8")) for file in EVENTS}
    assert samples["euchre_5_get_play_one"]["queryStringParameters"]["playableCards"] == "18"
    six = samples["euchre_4_get_swap_six"]
    assert six["rawQueryString"].count("swappableCards=") == 6
    assert six["queryStringParameters"]["swappableCards"].count(",") == 5
