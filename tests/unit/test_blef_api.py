"""The HTTP edge: methods, bodies, headers, CORS, failures, what is logged; and long polls.

Today's generation of the API has the same games in other words.
"""

import json
from datetime import timedelta
from typing import Any

import pytest
from support.blef_service import BlefHandlerClient, capture_log, memory_client
from support.blef_v2_api import AGENTS
from support.lambda_events import context
from support.store_fixtures import START

from cardsharp.errors import ConfigError, StoreError, WriteConflict
from cardsharp.games.blef.service.bootstrap import SERVICE, V2022_SETTING
from cardsharp.play.catalog import all_games
from cardsharp.server.routing import MAX_LONG_POLL
from cardsharp.store.sqlite_file import MEMORY_PATH
from cardsharp_tools.cli.generate_docs import openapi_documents_by_file
from cardsharp_tools.local_cloud.api_gateway_events import HttpRequest, parse_response, to_event
from cardsharp_tools.local_cloud.template_files import all_template_resources


@pytest.fixture
def client() -> BlefHandlerClient:
    return memory_client()


def test_the_document_in_docs_is_that_of_the_code() -> None:
    """Run `python -m cardsharp_tools.cli.generate_docs` when an API has changed."""
    for game in all_games():
        if game.http_service is not None and not game.http_service.args:
            for file, text in openapi_documents_by_file(game).items():
                assert file.read_text() == text


@pytest.mark.parametrize(
    "candidate_uuid",
    [
        "00000000-0000-0000-0000-000000000000",
        "ffffffff-ffff-ffff-ffff-ffffffffffff",
        "c232ab00-9414-11ec-b3c8-9f6bdeced846",  # version 1: of a clock and a machine
        "00000000-0000-4000-c000-000000000000",  # of no variant that version 4 has
        "GAME",
    ],
)
def test_joining_rejects_a_public_or_guessable_player_uuid(
    client: BlefHandlerClient, candidate_uuid: str
) -> None:
    game = client.create()
    wished = game.upper() if candidate_uuid == "GAME" else candidate_uuid
    reply = client.post(f"/games/{game}/join", {"nickname": "ann", "player_uuid": wished})
    assert (reply.status, reply.json["error"]) == (400, "Invalid player UUID")
    assert client.get(f"/games/{game}").json["players"] == []


def created(client: BlefHandlerClient, source: str) -> int:
    return client.send(HttpRequest("GET", "/v2/games/create", source_ip=source)).status


def test_game_creation_is_limited_per_caller(
    client: BlefHandlerClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All addresses of an IPv6 customer share a limit; callers on this machine have none."""
    monkeypatch.setattr("cardsharp.games.blef.service.service.MAX_CREATED_PER_DAY", 3)
    for caller, other_caller in (
        ("192.0.2.1", "192.0.2.2"),
        ("2001:db8:0:1::1", "2001:db8:0:2::1"),
        ("::ffff:192.0.2.3", "::ffff:192.0.2.4"),
    ):
        assert [created(client, caller) for _ in range(4)] == [200, 200, 200, 429]
        assert created(client, other_caller) == 200
    assert created(client, "2001:db8:0:1:ffff::2") == 429
    assert created(client, "::ffff:192.0.2.1") == 429
    for loopback_address in ("127.0.0.1", "::1", "::ffff:127.0.0.1"):
        assert {created(client, loopback_address) for _ in range(5)} == {200}
    reply = client.send(HttpRequest("POST", "/v2/games/create", source_ip="192.0.2.1"))
    assert "try again tomorrow" in reply.json["message"]


def test_large_bodies_are_refused_and_responses_are_not_cached_or_sniffed(
    client: BlefHandlerClient,
) -> None:
    reply = client.post(f"/games/{client.create()}/join", {"nickname": "a" * 9000})
    assert (reply.status, reply.json["error"]) == (413, "The body is larger than 8192 bytes")
    for path in ("/version", "/games", f"/games/{client.create()}", "/nowhere", "/openapi.json"):
        headers = client.get(path).headers
        assert headers["Cache-Control"] == "no-store"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["X-Content-Type-Options"] == "nosniff"


def test_a_browser_may_ask_from_anywhere(client: BlefHandlerClient) -> None:
    origin = (("Origin", "https://blef.example"),)
    preflight = client.send(HttpRequest("OPTIONS", "/v2/games/create", origin))
    assert (preflight.status, preflight.text) == (204, "")
    assert preflight.headers["Access-Control-Allow-Origin"] == "*"
    assert preflight.headers["Access-Control-Allow-Methods"] == "GET,POST"
    reply = client.send(HttpRequest("GET", f"/v2/games/{client.create()}", origin))
    assert reply.headers["Access-Control-Allow-Origin"] == "*"
    assert reply.headers["Access-Control-Expose-Headers"] == "Game-Version"
    assert "Access-Control-Allow-Credentials" not in reply.headers
    # Whoever does not come from a browser sees none of it.
    headers = client.get("/version").headers
    assert not any(name.lower().startswith("access-") for name in headers)


@pytest.mark.parametrize(
    ("error", "status", "body"),
    [
        (StoreError("hand: K of hearts"), 503, "503 - Service Unavailable, please try again"),
        (ValueError("hand: K of hearts"), 500, "500 - Internal server error"),
    ],
)
def test_a_failure_is_located_in_the_log_but_not_in_the_response(
    client: BlefHandlerClient,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    status: int,
    body: str,
) -> None:
    def fail(_game: str) -> None:
        raise error

    monkeypatch.setattr(client.store, "read", fail)
    secret = "5b7a1c1e-0000-4000-8000-00000000abcd"
    with capture_log() as log:
        reply = client.get(f"/games/{secret}", player_uuid=secret)
    assert (reply.status, reply.json) == (status, {"error": body})
    line = json.loads(log.getvalue())
    assert line["error"] == type(error).__name__
    assert any(frame.startswith("fail:") for frame in line["frames"])
    assert "hearts" not in log.getvalue()
    assert "abcd" not in log.getvalue()


def test_an_answered_request_is_not_logged() -> None:
    """The path and the query of a request hold secrets, so neither is logged."""
    with capture_log() as log:
        memory_client().create_and_start().play_out()
    assert log.getvalue() == ""


def test_the_table_has_no_stream_and_its_index_no_hand() -> None:
    """A record of a stream, like a copy of the whole item in an index, would carry hands."""
    table = all_template_resources()["BlefTable"]["Properties"]
    assert "StreamSpecification" not in table
    index_json = json.dumps(table["GlobalSecondaryIndexes"])
    assert "game_json" not in index_json
    assert '"ALL"' not in index_json


def test_long_poll_returns_soon_when_a_game_changes_and_reads_seldom(
    client: BlefHandlerClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, clock, read, looks = (
        client.create_and_start(),
        client.clock,
        client.store.read,
        list[str](),
    )
    version = client.get(f"/games/{table.game}").headers["Game-Version"]
    mover = table.state()["cp_nickname"]

    def watched(game: str) -> object:
        looks.append(game)
        if len(looks) == 5:
            table.play(3, mover)
        return read(game)

    monkeypatch.setattr(client.store, "read", watched)
    began = clock.now()
    reply = client.get(f"/games/{table.game}", wait="true", since=version)
    assert reply.json["history"] == [{"player": mover, "action_id": 3}]
    assert reply.headers["Game-Version"] == str(int(version) + 1)
    assert timedelta(0) < clock.now() - began < timedelta(seconds=5)
    began, previous_look_count = clock.now(), len(looks)
    assert table.state(wait="true") == reply.json
    assert clock.now() - began == MAX_LONG_POLL
    assert len(looks) - previous_look_count <= 30, (
        "the store is not asked more than about once a second"
    )


def test_a_finished_game_and_a_past_round_are_not_waited_for(client: BlefHandlerClient) -> None:
    table, clock = client.create_and_start(), client.clock
    assert table.play(87).status == 200
    assert table.play(88).status == 200
    began = clock.now()
    assert table.state(wait="true", round=1)["round_number"] == 1
    table.play_out()
    assert table.state(wait="true")["status"] == "Finished"
    assert clock.now() == began


def test_a_start_hides_a_game_but_not_in_version_2_3_and_states_are_newer() -> None:
    """The clock stands still: iOS leaves out what is not newer than what it shows."""
    today = memory_client("", agents=AGENTS)
    for prefix, expected_public in (("", "false"), ("/v2", "true")):
        game = today.create()
        ann, _ = today.join(game, "ann"), today.join(game, "bob")
        today.get(f"/games/{game}/make-public", admin_uuid=ann)
        assert [listed_game["game_uuid"] for listed_game in today.get("/games").json] == [game]
        today.get(f"{prefix}/games/{game}/start", admin_uuid=ann)
        assert today.get(f"/games/{game}").json["public"] == expected_public
        assert today.get("/games").json == [], "a started game cannot be joined"
    table = today.create_and_start()
    moments = [table.state()["last_modified"]]
    for action in (3, 88, 4):
        moments.append(table.play(action).json["last_modified"])
        moments.append(table.state()["last_modified"])
    bet, live, check, next_round, *rest = moments[1:]
    assert bet == live, "the answer to a bet is the state that follows"
    assert moments[0] < bet < check < next_round < rest[0] == rest[1]


def test_bot_invitations_are_limited_per_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each counts once, however often others come in between; a refused one not at all."""
    monkeypatch.setattr("cardsharp.games.blef.service.service.MAX_INVITED_PER_DAY", 2)
    today = memory_client("", agents=AGENTS)
    game = today.create()
    ann = today.join(game, "ann")
    interrupted, write = [True, True, False, False], today.store.write

    def contended(*args: Any) -> Any:  # noqa: ANN401 - as the store's own
        if interrupted and interrupted.pop(0):
            raise WriteConflict("somebody joined")
        return write(*args)

    monkeypatch.setattr(today.store, "write", contended)

    def invite(source: str, agent: str = "Dazhbog") -> int:
        target = f"/games/{game}/invite-aiagent?admin_uuid={ann}&agent_name={agent}"
        return today.send(HttpRequest("GET", target, source_ip=source)).status

    assert invite("192.0.2.1", "nobody") == 400
    assert [invite("192.0.2.1") for _ in range(3)] == [200, 200, 429]
    assert [invite(other) for other in ("192.0.2.2", "127.0.0.1")] == [200, 200]


def served(**settings: str) -> Any:  # noqa: ANN401 - by path, the status
    handler = SERVICE.build_handler({SERVICE.store_setting: f"sqlite:{MEMORY_PATH}", **settings})

    def status(path: str) -> int:
        event = to_event(HttpRequest("GET", path), START)
        return parse_response(handler(event, context())).status

    return status


def test_a_setting_names_the_prefix_under_which_it_is_served() -> None:
    bare = served()
    assert [bare(path) for path in ("/games", "/docs", "/v2/games", "/v2/docs")] == [200] * 4
    assert (bare("/nothing"), bare("/v2/nothing"), bare("/v22/games")) == (404, 404, 404)
    under = served(**{V2022_SETTING: "/next/"})
    assert [under(path) for path in ("/next/games", "/v2/games", "/games")] == [200, 200, 404]
    off = served(**{V2022_SETTING: "off"})
    assert [off(path) for path in ("/v2/games", "/games", "/docs")] == [200, 404, 404]
    for wrong in ("next", "/v2", "/a b"):
        with pytest.raises(ConfigError, match="BLEF_NEXT must be off or a prefix"):
            served(**{V2022_SETTING: wrong})
