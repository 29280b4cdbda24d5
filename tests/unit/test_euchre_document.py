"""The published document of the Euchre service, its entry point, and when a deal is over."""

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
from cardsharp.euchre.cards import DECK
from cardsharp.euchre.records import BidEvent, DealKey, Event, PlayEvent, Record
from cardsharp.euchre.replay import is_over
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


HEARTS = 2
PASSES = [BidEvent(ours=False, round=n // 4, pos=n % 4, suit=-1, alone=False) for n in range(8)]


def called(plays: int, players: int = 4) -> list[Event]:
    """A first call, alone where three play, and so many plays."""
    call = BidEvent(ours=True, round=0, pos=0, suit=HEARTS, alone=players == 3)
    cards = zip(range(plays), DECK, strict=False)
    told = [PlayEvent(n // players, n % players, n % players, card) for n, card in cards]
    return [call, *told]


@pytest.mark.parametrize(
    ("events", "over"),
    [
        ([], False),
        (PASSES[:7], False),
        (PASSES, True),
        (called(0), False),
        (called(19), False),
        (called(20), True),
        (called(14, players=3), False),
        (called(15, players=3), True),
    ],
)
def test_a_deal_is_over_when_all_was_told(events: list[Event], *, over: bool) -> None:
    assert is_over(Record(DealKey("t", 0, 0), DECK, tuple(events))) is over
