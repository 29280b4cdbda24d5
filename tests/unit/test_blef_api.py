"""The HTTP edge: methods, bodies, headers, CORS, failures, and what is logged."""

import base64
import json
import sqlite3
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support.blef import Client, logged, memory_client
from support.bot_events import context
from support.cloud_clock import FakeClock
from support.cloud_threads import at_once

from cardsharp.blef import routes_next
from cardsharp.blef.assembly import STORES
from cardsharp.blef.dynamodb import DynamoGames
from cardsharp.blef.routes import API
from cardsharp.blef.service import Blef
from cardsharp.blef.sqlite import SqliteGames
from cardsharp.blef.store import Saved
from cardsharp.cloud.sqlite_file import MEMORY
from cardsharp.errors import ConfigError, StoreError
from cardsharp.games import games
from cardsharp.web.api import Api
from web import app
from workbench.cloud.http_events import WireRequest, http_event, read_answer
from workbench.cloud.template import all_resources
from workbench.stage.document import files_of

EVENTS = Path(__file__).parents[2] / "events"
FORM = (("Content-Type", "application/x-www-form-urlencoded"),)
BAD_BODY = "The body must be a JSON object of texts and numbers, or a form"


@pytest.fixture
def client() -> Client:
    return memory_client()


def test_the_document_in_docs_is_that_of_the_code() -> None:
    """Run `python -m workbench.stage.document` when an API has changed."""
    for one in games():
        if one.service is not None:
            for file, text in files_of(one).items():
                assert file.read_text() == text


@pytest.mark.parametrize("api", [API, routes_next.API], ids=["2.3", "next"])
def test_every_change_is_there_for_post_and_nothing_else_is(client: Client, api: Api[Blef]) -> None:
    game, client.base = client.create(), api.base
    for route in api.routes:
        path = route.path.replace("{game_uuid}", game)
        status = client.ask("POST", path).status
        assert (status != 405) is ("POST" in route.methods), path


def test_a_game_can_be_played_with_post_alone(client: Client) -> None:
    game = client.ask("POST", "/games/create").json["game_uuid"]
    ann = client.post(f"/games/{game}/join", {"nickname": "ann"}).json["player_uuid"]
    joined = WireRequest("POST", f"/v2/games/{game}/join", FORM, b"nickname=bob")
    bob = client.send(joined).json["player_uuid"]
    shown = client.post(f"/games/{game}/make-public", {"admin_uuid": ann.upper()})
    assert shown.json == {"message": "Game made public"}
    assert client.post(f"/games/{game}/start", {"admin_uuid": ann}).status == 202
    uuids = {"ann": ann, "bob": bob}
    first = client.get(f"/games/{game}").json["cp_nickname"]
    played = client.post(f"/games/{game}/play", {"player_uuid": uuids[first], "action_id": 7})
    assert (played.status, played.text) == (200, "{}")
    assert client.get(f"/games/{game}").json["history"] == [{"player": first, "action_id": 7}]


@pytest.mark.parametrize(
    "body",
    [
        *(b"[]", b"1", b"{", b"\xff", b'{"nickname": ["a"]}', b'{"nickname": true}', b"[" * 5000),
        *(b'{"nickname": NaN}', b'{"nickname": -Infinity}', b'{"nickname": "a\\ud800"}'),
    ],
)
def test_a_body_that_cannot_be_read_is_refused(client: Client, body: bytes) -> None:
    game = client.create()
    for prefix in ("/v2", ""):
        reply = client.send(WireRequest("POST", f"{prefix}/games/{game}/join", (), body))
        assert (reply.status, reply.json) == (400, {"error": BAD_BODY})


@pytest.mark.parametrize(
    "known",
    [
        "00000000-0000-0000-0000-000000000000",
        "ffffffff-ffff-ffff-ffff-ffffffffffff",
        "c232ab00-9414-11ec-b3c8-9f6bdeced846",  # version 1: of a clock and a machine
        "00000000-0000-4000-c000-000000000000",  # of no variant that version 4 has
        "GAME",
    ],
)
def test_what_others_know_is_no_secret_to_join_by(client: Client, known: str) -> None:
    game = client.create()
    wished = game.upper() if known == "GAME" else known
    reply = client.post(f"/games/{game}/join", {"nickname": "ann", "player_uuid": wished})
    assert (reply.status, reply.json["error"]) == (400, "Invalid player UUID")
    assert client.get(f"/games/{game}").json["players"] == []


def created(client: Client, source: str) -> int:
    return client.send(WireRequest("GET", "/v2/games/create", source=source)).status


def test_one_caller_cannot_fill_the_house(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever an IPv6 customer calls itself; whoever sits at this machine may create more."""
    monkeypatch.setattr("cardsharp.blef.service.MAX_CREATED", 3)
    for mine, other in (
        ("192.0.2.1", "192.0.2.2"),
        ("2001:db8:0:1::1", "2001:db8:0:2::1"),
        ("::ffff:192.0.2.3", "::ffff:192.0.2.4"),
    ):
        assert [created(client, mine) for _ in range(4)] == [200, 200, 200, 429]
        assert created(client, other) == 200
    assert created(client, "2001:db8:0:1:ffff::2") == 429
    assert created(client, "::ffff:192.0.2.1") == 429
    for here in ("127.0.0.1", "::1", "::ffff:127.0.0.1"):
        assert {created(client, here) for _ in range(5)} == {200}
    reply = client.send(WireRequest("POST", "/v2/games/create", source="192.0.2.1"))
    assert "try again tomorrow" in reply.json["message"]


def test_a_body_that_is_no_base64_is_refused(client: Client) -> None:
    event = http_event(WireRequest("POST", "/v2/games/create", (), b"{}"), client.clock.now())
    event["body"] = "*"
    answer = client.api(event, SimpleNamespace(get_remaining_time_in_millis=lambda: 1))
    assert answer["statusCode"] == 400


def test_a_large_body_is_refused(client: Client) -> None:
    reply = client.post(f"/games/{client.create()}/join", {"nickname": "a" * 9000})
    assert (reply.status, reply.json["error"]) == (413, "The body is larger than 8192 bytes")


def test_a_parameter_in_query_and_body_is_one_that_is_sent_twice(client: Client) -> None:
    body = json.dumps({"nickname": "bob"}).encode()
    asked = WireRequest("POST", f"/v2/games/{client.create()}/join?nickname=ann", (), body)
    assert client.send(asked).status == 400


def test_nothing_is_cached_sniffed_or_told_to_others(client: Client) -> None:
    for path in ("/version", "/games", f"/games/{client.create()}", "/nowhere", "/openapi.json"):
        headers = client.get(path).headers
        assert headers["Cache-Control"] == "no-store"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["X-Content-Type-Options"] == "nosniff"


def test_a_browser_may_ask_from_anywhere(client: Client) -> None:
    origin = (("Origin", "https://blef.example"),)
    asked = client.send(WireRequest("OPTIONS", "/v2/games/create", origin))
    assert (asked.status, asked.text) == (204, "")
    assert asked.headers["Access-Control-Allow-Origin"] == "*"
    assert asked.headers["Access-Control-Allow-Methods"] == "GET,OPTIONS,POST"
    reply = client.send(WireRequest("GET", f"/v2/games/{client.create()}", origin))
    assert reply.headers["Access-Control-Allow-Origin"] == "*"
    assert reply.headers["Access-Control-Expose-Headers"] == "Game-Version"
    assert "Access-Control-Allow-Credentials" not in reply.headers
    # Whoever does not come from a browser sees none of it.
    assert not any(name.startswith("Access-") for name in client.get("/version").headers)


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "HEAD", "TRACE"])
def test_another_method_is_told_which_there_are(client: Client, method: str) -> None:
    reply = client.ask(method, "/games/create")
    assert reply.status == 405
    assert reply.headers["Allow"] == "GET, POST, OPTIONS"
    assert client.ask(method, "/games").headers["Allow"] == "GET, OPTIONS"


def test_absent_and_null_parameters_are_missing(client: Client) -> None:
    event = http_event(WireRequest("GET", f"/v2/games/{client.create()}/join"), client.clock.now())
    for given in (None, {}, {"nickname": ""}):
        event["queryStringParameters"] = given
        answer = client.api(event, SimpleNamespace(get_remaining_time_in_millis=lambda: 1))
        assert json.loads(answer["body"]) == {"error": "Nickname missing - please supply it"}


class Failing(SqliteGames):
    """A store that fails, quoting what it should not."""

    def __init__(self, clock: FakeClock, error: Exception) -> None:
        super().__init__(MEMORY, clock)
        self.error = error

    def read(self, game_uuid: str) -> Saved | None:  # noqa: ARG002 - as the store asks for it
        raise self.error


@pytest.mark.parametrize(
    ("error", "status", "body"),
    [
        (StoreError("hand: K of hearts"), 503, "503 - Service Unavailable, please try again"),
        (ValueError("hand: K of hearts"), 500, "500 - Internal server error"),
    ],
)
def test_a_failure_tells_nobody_why_but_the_log_where(
    error: Exception, status: int, body: str
) -> None:
    client = Client(Failing(FakeClock(), error))
    secret = "5b7a1c1e-0000-4000-8000-00000000abcd"
    with logged() as log:
        reply = client.get(f"/games/{secret}", player_uuid=secret)
    assert (reply.status, reply.json) == (status, {"error": body})
    line = json.loads(log.getvalue())
    assert line["error"] == type(error).__name__
    assert any(frame.startswith("read:") for frame in line["frames"])
    assert "hearts" not in log.getvalue()
    assert "abcd" not in log.getvalue()


def test_an_answered_request_is_not_logged() -> None:
    """What a request asks is in its path and query, and both hold secrets."""
    with logged() as log:
        memory_client().started().play_out()
    assert log.getvalue() == ""


def test_requests_at_once_in_one_process_do_not_see_each_other(client: Client) -> None:
    """As in a long poll at home; Powertools by itself answers with another's event."""
    tables = [client.started() for _ in range(8)]

    def look(me: int) -> set[str]:
        table = tables[me]
        seen = [table.state("p0") for _ in range(20)]
        texts = {json.dumps(state) for state in seen}
        assert all(state["hands"][0]["nickname"] == "p0" for state in seen)
        return texts

    assert [len(texts) for texts in at_once(8, look)] == [1] * 8


@pytest.mark.parametrize("file", sorted(EVENTS.glob("blef_*.json")), ids=lambda file: file.stem)
def test_a_sample_event_is_answered(client: Client, file: Path) -> None:
    event: dict[str, Any] = json.loads(file.read_text())
    answer = read_answer(
        client.api(event, SimpleNamespace(get_remaining_time_in_millis=lambda: 9_000))
    )
    assert answer.status in {200, 400}, answer


def test_the_function_answers_with_the_store_of_its_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    app.api.cache_clear()
    monkeypatch.setenv(app.GAME, "blef")
    monkeypatch.setenv("BLEF_STORE", f"sqlite:{tmp_path}/deep/games.db")
    event = json.loads((EVENTS / "blef_1_create.json").read_text())
    given = context(9)
    answer = app.handler(event, given)  # type: ignore[arg-type]
    game = json.loads(answer["body"])["game_uuid"]
    with sqlite3.connect(tmp_path / "deep" / "games.db") as raw:
        assert raw.execute("SELECT uuid FROM games").fetchall() == [(game,)]
    raw.close()
    app.api.cache_clear()
    monkeypatch.setenv("BLEF_STORE", "redis:x")
    with pytest.raises(ConfigError, match="BLEF_STORE must be"):
        app.handler(event, given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("store", "kind"),
    [("sqlite::memory:", SqliteGames), ("dynamodb:games", DynamoGames)],
)
def test_a_setting_names_the_store(store: str, kind: type[object]) -> None:
    assert isinstance(STORES.open(store, FakeClock()), kind)


def test_the_table_has_no_stream_and_its_index_no_hand() -> None:
    """A record of a stream, like a copy of the whole item in an index, would carry hands."""
    table = all_resources()["blefTable"].properties
    assert "StreamSpecification" not in table
    shown = json.dumps(table["GlobalSecondaryIndexes"])
    assert "game_json" not in shown
    assert '"ALL"' not in shown


def test_a_text_body_is_passed_on_as_text_and_a_form_as_base64() -> None:
    at = FakeClock().now()
    as_json = http_event(
        WireRequest("POST", "/", (("Content-Type", "application/json"),), b"{}"), at
    )
    assert (as_json["body"], as_json["isBase64Encoded"]) == ("{}", False)
    as_form = http_event(WireRequest("POST", "/", FORM, b"a=b"), at)
    assert as_form["body"] == base64.b64encode(b"a=b").decode()
    assert as_form["isBase64Encoded"] is True
