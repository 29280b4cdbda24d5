"""The HTTP edge of the Euchre service: encodings, echoes, and the few refusals."""

import base64
import json

import pytest
from support.euchre_api import Json, Service, event
from support.euchre_dealt import CARDS, Messages

from cardsharp.cloud.clock import SystemClock
from cardsharp.errors import ConfigError
from cardsharp.euchre.assembly import STORES, build_service
from cardsharp.web.request import MAX_BODY

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


def test_a_list_of_one_is_one_plain_value(service: Service) -> None:
    assert service.ok("GET", f"{PLAY}&playableCards=18")["card"] == 18


def test_an_event_without_a_raw_query_string_is_read_too(service: Service) -> None:
    """As a test event made by hand may be; API Gateway joins what repeats."""
    made = event("GET", "/play")
    del made["rawQueryString"]
    made["queryStringParameters"] = {
        **dict(pair.split("=") for pair in f"{ADDRESS}&trickNum=0&trickSeq=1&pos=1".split("&")),
        "playableCards": "18,4",
    }
    answer = service.answer(made)
    assert answer["statusCode"] == 200
    assert isinstance(answer["body"], str)
    assert json.loads(answer["body"])["card"] == 4


@pytest.mark.parametrize("path", ["//session", "/session"])
def test_a_base_url_with_a_trailing_slash_works(service: Service, path: str) -> None:
    assert service.ok("POST", path, {"token": "a1", "status": "new"})["status"] == "active"


def test_a_stage_before_the_path_works(service: Service) -> None:
    made = event("POST", "/live/session", '{"token": "a1"}')
    made["requestContext"]["stage"] = "live"
    assert service.answer(made)["statusCode"] == 200


@pytest.mark.parametrize("content_type", [None, "text/plain", "multipart/form-data"])
def test_a_body_is_json_whatever_its_content_type_says(
    service: Service, content_type: str | None
) -> None:
    made = event("POST", "/bid", json.dumps(BID))
    made["headers"] = {} if content_type is None else {"content-type": content_type}
    assert service.answer(made)["statusCode"] == 200


def test_a_body_may_come_as_base64(service: Service) -> None:
    made = event("POST", "/bid", base64.b64encode(json.dumps(BID).encode()).decode())
    made["isBase64Encoded"] = True
    assert service.answer(made)["statusCode"] == 200


def test_unknown_fields_are_ignored_and_the_order_is_free(service: Service) -> None:
    body = {"status": "new", "extra": [1], "token": "a1"}
    answer = service.ok("POST", "/session", body)
    assert "extra" not in answer


def test_a_whole_number_may_be_written_with_a_point(service: Service) -> None:
    """As JSON Schema has it; it comes back as an integer."""
    answer = service.ok("POST", "/bid", {**BID, "pos": 2.0})
    assert type(answer["pos"]) is int
    assert answer["pos"] == 2


def test_a_notice_is_answered_with_no_suggestion(service: Service) -> None:
    answer = service.ok("POST", "/bid", BID)
    assert answer == {**BID, "suit": None, "alone": None}


@pytest.mark.parametrize("token", ["ü", "玩", "x" * 400, " "])
@pytest.mark.parametrize("alone", [None, False])
def test_any_text_is_a_token_and_null_is_not_alone(
    service: Service, token: str, alone: bool | None
) -> None:
    assert service.ok("POST", "/bid", {**BID, "token": token, "alone": alone})["token"] == token


@pytest.mark.parametrize("info", [None, 7, ["12", 3], {"score": "12:3"}, "12:3"])
def test_what_is_said_for_people_may_be_anything(service: Service, info: object) -> None:
    body = {"token": "a1", "status": "complete", "info": info}
    assert service.ok("PATCH", "/session", body)["status"] == "complete"


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"gameNum": "0"}, "gameNum"),
        ({"gameNum": 0.5}, "gameNum"),
        ({"gameNum": True}, "gameNum"),
        ({"gameNum": None}, "gameNum"),
        ({"dealNum": -1}, "dealNum"),
        ({"dealNum": 10**30}, "dealNum"),
        ({"pos": 8}, "pos"),
        ({"suit": 5}, "suit"),
        ({"suit": None}, "suit"),
        ({"alone": "no"}, "alone"),
        ({"turnCard": 24}, "turnCard"),
        ({"token": ""}, "token"),
        ({"token": 7}, "token"),
        ({"token": "x" * 401}, "token"),
    ],
)
def test_what_cannot_be_played_on_is_refused_by_its_name(
    service: Service, change: Json, named: str
) -> None:
    status, answer = service.call("POST", "/bid", {**BID, **change})
    assert status == 400
    assert answer["error"] == "malformed"
    assert named in answer["message"]


@pytest.mark.parametrize(
    "body",
    [
        *("", "{", "[]", "null", "7", '"x"', "[" * 5000, '{"token": NaN}', "\ud800"),
        '{"token": "\\ud800"}',
        '{"token": ' + "9" * 5000 + "}",
    ],
)
def test_a_body_that_is_no_message_is_refused(service: Service, body: str) -> None:
    status, answer = service.call("POST", "/session", body)
    assert status == 400
    assert answer["message"]


def test_what_was_sent_is_not_quoted_in_a_refusal(service: Service) -> None:
    _, answer = service.call("POST", "/bid", {**BID, "suit": "<script>"})
    assert "script" not in json.dumps(answer)


@pytest.mark.parametrize("cards", [[*range(23), 0], list(range(23)), [*range(23), 24], "x"])
def test_a_deal_needs_all_24_cards(service: Service, cards: object) -> None:
    body = {"token": "a1", "gameNum": 0, "dealNum": 0, "cards": cards, "status": "new"}
    assert service.call("POST", "/deal", body)[0] == 400


@pytest.mark.parametrize(
    "query",
    [
        PLAY,
        f"{PLAY}&playableCards=",
        f"{PLAY}&playableCards=-1",
        f"{PLAY}&playableCards=x",
        f"{PLAY}&playableCards=24",
        f"/play?{ADDRESS}&trickNum=5&trickSeq=0&pos=0&playableCards=1",
        "/bid",
        "/bid?token=%ff%fe",
        f"/bid?{'x' * 9000}",
    ],
)
def test_a_question_that_cannot_be_read_is_refused(service: Service, query: str) -> None:
    status, answer = service.call("GET", query)
    assert status == 400
    assert answer["error"] == "malformed"


def test_a_body_beyond_the_limit_is_refused(service: Service) -> None:
    body = json.dumps({"token": "a", "info": "x" * MAX_BODY})
    assert service.call("POST", "/session", body)[0] == 400


@pytest.mark.parametrize(("path", "allowed"), [("/deal", "PATCH, POST"), ("/openapi.json", "GET")])
def test_an_unknown_path_or_method_is_refused(service: Service, path: str, allowed: str) -> None:
    assert service.call("GET", "/nothing")[0] == 404
    answer = service.answer(event("DELETE", path))
    assert answer["statusCode"] == 405
    assert isinstance(answer["headers"], dict)
    assert answer["headers"]["Allow"] == allowed


def test_a_failure_of_ours_is_an_answer_too(caplog: pytest.LogCaptureFixture) -> None:
    class Hollow:
        def begin(self, *_: object) -> None:
            raise AssertionError("a defect")

        read = append = begin

    service = Service("rules", Hollow())
    status, answer = service.call(
        "POST", "/deal", {"token": "a", "gameNum": 0, "dealNum": 0, "cards": CARDS}
    )
    assert status == 500
    assert answer["error"] == "failed"
    assert "defect" not in json.dumps(answer)
    logged = next(record for record in caplog.records if record.message == "a request failed")
    assert logged.error == "AssertionError"  # type: ignore[attr-defined]
    assert "defect" not in caplog.text, "it might quote a hand"


@pytest.mark.parametrize("store", ["", "sqlite:", "dynamodb:", "redis:x"])
def test_a_store_that_there_is_not_is_refused_at_the_start(store: str) -> None:
    with pytest.raises(ConfigError, match=r"EUCHRE_STORE must be sqlite:FILE or dynamodb:TABLE"):
        STORES.open(store, SystemClock())
    with pytest.raises(ConfigError, match="No strategy is called 'best'"):
        build_service({"EUCHRE_STORE": "sqlite::memory:", "EUCHRE_STRATEGY": "best"})


def test_answers_are_never_cached(service: Service) -> None:
    headers = service.answer(event("GET", f"{PLAY}&playableCards=18"))["headers"]
    assert isinstance(headers, dict)
    assert headers["Cache-Control"] == "no-store"


def test_two_tokens_do_not_touch_each_other() -> None:
    service = Service()
    first, second = Messages(service, "a"), Messages(service, "b")
    first.begin()
    second.begin(list(reversed(CARDS[:20])) + CARDS[20:])
    first.tell_bid(1, 0, 3)
    assert first.ask_play(0, 0, 0, [0, 4])["card"] in {0, 4}
    assert second.ask_bid(1, 0)["suit"] in {-1, 3}
    assert service.diary.faults == []
