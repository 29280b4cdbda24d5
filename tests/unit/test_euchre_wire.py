"""The HTTP edge of the Euchre service: encodings, echoes, refusals, document, entry point."""

import json
import os
from datetime import timedelta
from pathlib import Path
from unittest import mock

import pytest
from support.euchre_api import Json, Service, event
from support.recorded import recording

from cardsharp.cloud.clock import SystemClock
from cardsharp.euchre.assembly import SERVICE
from cardsharp.euchre.cards import DECK
from cardsharp.euchre.records import BidEvent, DealKey, Event, PlayEvent, Record
from cardsharp.euchre.replay import is_over
from cardsharp.web.request import MAX_BODY
from web.app import GAME, api, handler
from workbench.cloud.context import Function

ADDRESS = "token=a1&gameNum=0&dealNum=3"
PLAY = f"/play?{ADDRESS}&trickNum=0&trickSeq=1&pos=1"
BID: Json = {
    "token": "a1",
    "gameNum": 0,
    "dealNum": 3,
    "round": 1,
    "turnCard": 5,
    "pos": 0,
    "suit": -1,
    "alone": False,
}


@pytest.fixture(scope="module")
def service() -> Service:
    return Service()


@pytest.mark.parametrize(
    "cards",
    [
        "&playableCards=18&playableCards=4",
        "&playableCards=18,4",
        "&playableCards=18%2C4",
        "&playableCards=18&playableCards=4,-1&playableCards=-1",
    ],
)
def test_lists_in_query_strings_may_repeat_or_have_commas(service: Service, cards: str) -> None:
    answer = service.ok("GET", PLAY + cards)
    assert answer["card"] == 4, "the lowest, for the deal is not stored"


def test_a_notice_comes_back_without_unknown_fields_or_quotes(service: Service) -> None:
    made = event("POST", "/live//session", '{"token": "a1"}')
    made["requestContext"]["stage"] = "live"
    assert service.answer(made)["statusCode"] == 200
    answer = service.ok("POST", "/bid", {"extra": [1], **BID})
    assert answer == {**BID, "suit": None, "alone": None}
    _, answer = service.call("POST", "/bid", {**BID, "suit": "<script>"})
    assert "script" not in json.dumps(answer)


@pytest.mark.parametrize("content_type", [None, "text/plain", "multipart/form-data"])
def test_a_body_is_json_whatever_its_type_says(service: Service, content_type: str | None) -> None:
    made = event("POST", "/bid", json.dumps(BID))
    made["headers"] = {} if content_type is None else {"content-type": content_type}
    assert service.answer(made)["statusCode"] == 200


DEAL = {"token": "a1", "gameNum": 0, "dealNum": 0, "status": "new"}
UNREADABLE = ("", "{", "[]", "null", "7", '"x"', "[" * 5000, '{"token": NaN}', "\ud800")
OFFERS = ("", "-1", "x", "24")
UNPLAYABLE = ([*range(23), 0], list(range(23)), [*range(23), 24], "x")


@pytest.mark.parametrize(
    ("target", "body"),
    [
        *(("POST /session", body) for body in UNREADABLE),
        ("POST /session", '{"token": "\\ud800"}'),
        ("POST /session", '{"token": ' + "9" * 5000 + "}"),
        ("POST /session", json.dumps({"token": "a", "info": "x" * MAX_BODY})),
        *(("POST /deal", json.dumps({**DEAL, "cards": cards})) for cards in UNPLAYABLE),
        *((f"GET {PLAY}{cards}", None) for cards in ("", *map("&playableCards={}".format, OFFERS))),
        (f"GET /play?{ADDRESS}&trickNum=5&trickSeq=0&pos=0&playableCards=1", None),
        *((f"GET /bid{query}", None) for query in ("", "?token=%ff%fe", f"?{'x' * 9000}")),
    ],
)
def test_what_cannot_be_read_is_refused(service: Service, target: str, body: str | None) -> None:
    method, path = target.split(" ", 1)
    status, answer = service.call(method, path, body)
    assert (status, answer["error"]) == (400, "malformed")
    assert answer["message"]


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
