"""HTTP interface of the Blef service: requests, headers, failures, logs and long polls.

Both versions of the API serve the same games with different field names.
"""

import json
from datetime import timedelta
from typing import Any

import pytest
from support.blef_service import BlefHandlerClient, capture_log, memory_client
from support.blef_v2_api import RECORDED_BOTS
from support.lambda_events import invocation_context
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
    requested_uuid = game.upper() if candidate_uuid == "GAME" else candidate_uuid
    response = client.post(
        f"/games/{game}/join", {"nickname": "ann", "player_uuid": requested_uuid}
    )
    assert (response.status, response.json["error"]) == (400, "Invalid player UUID")
    assert client.get(f"/games/{game}").json["players"] == []


def create_game(client: BlefHandlerClient, source: str) -> int:
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
        assert [create_game(client, caller) for _ in range(4)] == [200, 200, 200, 429]
        assert create_game(client, other_caller) == 200
    assert create_game(client, "2001:db8:0:1:ffff::2") == 429
    assert create_game(client, "::ffff:192.0.2.1") == 429
    for loopback_address in ("127.0.0.1", "::1", "::ffff:127.0.0.1"):
        assert {create_game(client, loopback_address) for _ in range(5)} == {200}
    response = client.send(HttpRequest("POST", "/v2/games/create", source_ip="192.0.2.1"))
    assert "try again tomorrow" in response.json["message"]


def test_large_bodies_are_refused_and_responses_are_not_cached_or_sniffed(
    client: BlefHandlerClient,
) -> None:
    response = client.post(f"/games/{client.create()}/join", {"nickname": "a" * 9000})
    assert (response.status, response.json["error"]) == (413, "The body is larger than 8192 bytes")
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
    response = client.send(HttpRequest("GET", f"/v2/games/{client.create()}", origin))
    assert response.headers["Access-Control-Allow-Origin"] == "*"
    assert response.headers["Access-Control-Expose-Headers"] == "Game-Version"
    assert "Access-Control-Allow-Credentials" not in response.headers
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
        response = client.get(f"/games/{secret}", player_uuid=secret)
    assert (response.status, response.json) == (status, {"error": body})
    line = json.loads(log.getvalue())
    assert line["error"] == type(error).__name__
    assert any(frame.startswith("fail:") for frame in line["frames"])
    assert "hearts" not in log.getvalue()
    assert "abcd" not in log.getvalue()


def test_an_answered_request_is_not_logged() -> None:
    """The path and the query of a request hold secrets, so neither is logged."""
    with capture_log() as log:
        memory_client().create_and_start().play_to_end()
    assert log.getvalue() == ""


def test_the_table_has_no_stream_and_its_index_no_hand() -> None:
    """A stream, or an index with all attributes, would have copies of the hands."""
    table = all_template_resources()["BlefTable"]["Properties"]
    assert "StreamSpecification" not in table
    index_json = json.dumps(table["GlobalSecondaryIndexes"])
    assert "game_json" not in index_json
    assert '"ALL"' not in index_json


def test_long_poll_returns_soon_when_a_game_changes_and_reads_seldom(
    client: BlefHandlerClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    started_game, clock, read, read_games = (
        client.create_and_start(),
        client.clock,
        client.store.read,
        list[str](),
    )
    version = client.get(f"/games/{started_game.game_id}").headers["Game-Version"]
    mover = started_game.state()["cp_nickname"]

    def read_and_play(game: str) -> object:
        read_games.append(game)
        if len(read_games) == 5:
            started_game.play(3, mover)
        return read(game)

    monkeypatch.setattr(client.store, "read", read_and_play)
    start_time = clock.now()
    response = client.get(f"/games/{started_game.game_id}", wait="true", since=version)
    assert response.json["history"] == [{"player": mover, "action_id": 3}]
    assert response.headers["Game-Version"] == str(int(version) + 1)
    assert timedelta(0) < clock.now() - start_time < timedelta(seconds=5)
    start_time, previous_read_count = clock.now(), len(read_games)
    assert started_game.state(wait="true") == response.json
    assert clock.now() - start_time == MAX_LONG_POLL
    assert len(read_games) - previous_read_count <= 30, (
        "the store is not asked more than about once a second"
    )


def test_a_finished_game_and_a_past_round_are_not_waited_for(client: BlefHandlerClient) -> None:
    started_game, clock = client.create_and_start(), client.clock
    assert started_game.play(87).status == 200
    assert started_game.play(88).status == 200
    start_time = clock.now()
    assert started_game.state(wait="true", round=1)["round_number"] == 1
    started_game.play_to_end()
    assert started_game.state(wait="true")["status"] == "Finished"
    assert clock.now() == start_time


def test_a_start_hides_a_game_but_not_in_version_2_3_and_states_are_newer() -> None:
    """Each state has a later time than the last, although the clock stands still.

    The iOS app ignores a state that is not newer than the state on its screen.
    """
    client = memory_client("", agents=RECORDED_BOTS)
    for prefix, expected_public in (("", "false"), ("/v2", "true")):
        game = client.create()
        ann, _ = client.join(game, "ann"), client.join(game, "bob")
        client.get(f"/games/{game}/make-public", admin_uuid=ann)
        assert [listed_game["game_uuid"] for listed_game in client.get("/games").json] == [game]
        client.get(f"{prefix}/games/{game}/start", admin_uuid=ann)
        assert client.get(f"/games/{game}").json["public"] == expected_public
        assert client.get("/games").json == [], "a started game cannot be joined"
    started_game = client.create_and_start()
    timestamps = [started_game.state()["last_modified"]]
    for action in (3, 88, 4):
        timestamps.append(started_game.play(action).json["last_modified"])
        timestamps.append(started_game.state()["last_modified"])
    bet_time, state_time, check_time, next_round_time, *later_times = timestamps[1:]
    assert bet_time == state_time, "the answer to a bet is the state that follows"
    assert (
        timestamps[0] < bet_time < check_time < next_round_time < later_times[0] == later_times[1]
    )


def test_bot_invitations_are_limited_per_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    """An invitation counts once, also after a write conflict; a refused one does not count."""
    monkeypatch.setattr("cardsharp.games.blef.service.service.MAX_INVITED_PER_DAY", 2)
    client = memory_client("", agents=RECORDED_BOTS)
    game = client.create()
    ann = client.join(game, "ann")
    conflicts, write = [True, True, False, False], client.store.write

    def write_with_conflicts(*args: Any) -> Any:  # noqa: ANN401 - as the store's own
        if conflicts and conflicts.pop(0):
            raise WriteConflict("somebody joined")
        return write(*args)

    monkeypatch.setattr(client.store, "write", write_with_conflicts)

    def invite(source: str, agent: str = "Dazhbog") -> int:
        target = f"/games/{game}/invite-aiagent?admin_uuid={ann}&agent_name={agent}"
        return client.send(HttpRequest("GET", target, source_ip=source)).status

    assert invite("192.0.2.1", "nobody") == 400
    assert [invite("192.0.2.1") for _ in range(3)] == [200, 200, 429]
    assert [invite(other) for other in ("192.0.2.2", "127.0.0.1")] == [200, 200]


def serve_with_settings(**settings: str) -> Any:  # noqa: ANN401 - by path, the status
    handler = SERVICE.build_handler({SERVICE.store_setting: f"sqlite:{MEMORY_PATH}", **settings})

    def status(path: str) -> int:
        event = to_event(HttpRequest("GET", path), START)
        return parse_response(handler(event, invocation_context())).status

    return status


def test_a_setting_names_the_prefix_under_which_it_is_served() -> None:
    default_status = serve_with_settings()
    assert [default_status(path) for path in ("/games", "/docs", "/v2/games", "/v2/docs")] == [
        200
    ] * 4
    assert (
        default_status("/nothing"),
        default_status("/v2/nothing"),
        default_status("/v22/games"),
    ) == (404, 404, 404)
    prefixed_status = serve_with_settings(**{V2022_SETTING: "/next/"})
    assert [prefixed_status(path) for path in ("/next/games", "/v2/games", "/games")] == [
        200,
        200,
        404,
    ]
    disabled_status = serve_with_settings(**{V2022_SETTING: "off"})
    assert [disabled_status(path) for path in ("/v2/games", "/games", "/docs")] == [200, 404, 404]
    for invalid_prefix in ("next", "/v2", "/a b"):
        with pytest.raises(ConfigError, match="BLEF_NEXT must be off or a prefix"):
            serve_with_settings(**{V2022_SETTING: invalid_prefix})
