"""Tests of how an arena is reached (TLS, private networks, spectators), its start and its end."""

import gzip
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest
from starlette.responses import PlainTextResponse
from support.arena_server import (
    ADMIN,
    ALICE,
    BOB,
    PASSWORDS,
    ArenaHttpClient,
    ManualClock,
    play_random_moves,
    write_players,
)
from support.arena_server import running_arena as at_home
from support.certificates import certificate_for
from support.cli import start_program
from support.lambda_events import invocation_context
from support.waiting import HANG_SECONDS

from cardsharp.client.config import RequestLimits, ServiceAddress
from cardsharp.core.clock import SystemClock
from cardsharp.core.credentials import Credentials
from cardsharp.errors import ConfigError, UntrustedCertificate
from cardsharp.games.deadmansdraw.actions import DRAW
from cardsharp.games.deadmansdraw.arena import referee
from cardsharp.games.deadmansdraw.arena.access.spectator_cache import (
    MAX_CACHED_RESPONSES,
    MAX_SPECTATOR_REQUESTS,
)
from cardsharp.games.deadmansdraw.arena.config import ArenaConfig
from cardsharp.games.deadmansdraw.arena.randomness import RandomnessMethod
from cardsharp.games.deadmansdraw.arena_bot.client import ArenaClient
from cardsharp.server.lambda_adapter import lambda_handler_for_asgi
from cardsharp.server.web_application import private_network_only
from cardsharp_tools.games.deadmansdraw.arena_environment import fetch_account_when_reachable
from cardsharp_tools.local_cloud.api_gateway_events import HttpRequest, parse_response, to_event
from cardsharp_tools.local_server import http_server
from cardsharp_tools.local_server.arena_server import ArenaServer

ALICE_CREDENTIALS = Credentials(ALICE, PASSWORDS[ALICE])
SINGLE_ATTEMPT = RequestLimits(max_attempts=1)


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    """A self-signed certificate for this machine, made as docs/arena.md describes."""
    return certificate_for(tmp_path)


def test_a_client_trusts_an_arena_by_its_certificate_only(
    tmp_path: Path, certificate: tuple[Path, Path]
) -> None:
    """A client sends no request to an arena whose certificate it does not trust."""
    with at_home(tmp_path, tls_files=certificate) as (arena, _):
        assert arena.url.startswith("https://")
        with ArenaClient(
            ServiceAddress(arena.url, certificate[0]), ALICE_CREDENTIALS, SINGLE_ATTEMPT
        ) as client:
            assert client.whoami().name == "Alice"
        messages: list[str] = []
        untrusting_client = ArenaClient(arena.url, ALICE_CREDENTIALS, SINGLE_ATTEMPT)
        with (
            untrusting_client as client,
            pytest.raises(UntrustedCertificate, match="name its CA file, with --ca-file FILE"),
        ):
            fetch_account_when_reachable(client, SystemClock(), messages.append)
        assert not messages, "the same certificate is not looked at again"


def test_a_public_address_needs_tls_or_an_explicit_option(tmp_path: Path) -> None:
    config = ArenaConfig(host="0.0.0.0", players_file=write_players(tmp_path))  # noqa: S104
    with pytest.raises(ConfigError, match=r"--tls CERT KEY.*--insecure"):
        ArenaServer(config)
    with at_home(tmp_path, host="0.0.0.0", allow_plain_http=True) as (arena, _):  # noqa: S104
        local_client = ArenaHttpClient(arena.url.replace("0.0.0.0", "127.0.0.1"))  # noqa: S104
        assert local_client.get("/api/whoami").status == 200
        local_client.close()


PRIVATE_ADDRESSES = ("127.0.0.1", "192.168.1.7", "fd00::7", "::ffff:10.0.0.1")
PUBLIC_ADDRESSES = ("8.8.8.8", "2001:4860:4860::8888", "::ffff:8.8.8.8")


@pytest.mark.parametrize("address", PRIVATE_ADDRESSES + PUBLIC_ADDRESSES)
def test_without_tls_only_private_addresses_are_answered(address: str) -> None:
    handler = lambda_handler_for_asgi(private_network_only(PlainTextResponse("here")))
    event = to_event(HttpRequest("GET", "/", source_ip=address), ManualClock().current_time)
    status = handler(event, invocation_context())["statusCode"]
    assert status == (403 if address in PUBLIC_ADDRESSES else 200)


def test_a_long_response_is_compressed_in_the_cloud_and_a_longer_one_refused() -> None:
    """Lambda responses have at most 6 MB; a client without gzip is told to request less."""
    text, headers = "x" * 7_000_000, (("Accept-Encoding", "gzip"),)
    compressed_response, uncompressed_response = (
        parse_response(
            lambda_handler_for_asgi(PlainTextResponse(text))(
                to_event(request, ManualClock().current_time), invocation_context()
            )
        )
        for request in (HttpRequest("GET", "/", headers), HttpRequest("GET", "/"))
    )
    assert gzip.decompress(compressed_response.body).decode() == text
    assert (
        uncompressed_response.status,
        b"is too large. Request less" in uncompressed_response.body,
    ) == (413, True)


# --- spectators; what they may see is in test_arena_access.py ------------------------------


def test_spectators_get_cached_responses_and_a_request_limit(tmp_path: Path) -> None:
    """A response to spectators is cached for two seconds; players get current responses.

    Our client signs in by Digest if it might be taken for a spectator, as `cardsharp doctor
    --digest` and `bot --digest` do. Any characters are allowed in the password.
    """
    clock, path, unusual_password = ManualClock(), "/api/matches?condensed=1", "cänary-☠"
    with at_home(tmp_path, clock=clock, is_public=True, admin_password=unusual_password) as (
        arena,
        client,
    ):
        assert client.get(path, None).json() == []
        arena.create_match_and_get_id([ALICE, BOB])
        assert len(client.get(path, ALICE).json()) == 1
        assert client.get(path, None).json() == []
        assert client.get(path, None).headers["cache-control"] == ["no-cache"]
        clock.advance(timedelta(seconds=2))
        assert len(client.get(path, None).json()) == 1
        with ArenaClient(
            arena.url, ALICE_CREDENTIALS, SINGLE_ATTEMPT, use_digest_auth=True
        ) as digest_client:
            assert digest_client.whoami().name == "Alice"
            assert digest_client.act(arena.create_match_and_get_id([ALICE, ALICE]), DRAW)
        with ArenaClient(
            arena.url, Credentials(ADMIN, unusual_password), SINGLE_ATTEMPT, use_digest_auth=True
        ) as digest_client:
            assert digest_client.whoami().role == ADMIN
        clock.advance(timedelta(seconds=60))
        assert MAX_SPECTATOR_REQUESTS > MAX_CACHED_RESPONSES
        statuses = {
            client.get(f"/api/whoami?{number}", None).status
            for number in range(MAX_SPECTATOR_REQUESTS)
        }
        assert statuses == {200}
        assert client.get("/api/whoami", None).status == 429
        assert client.get("/api/whoami", ALICE).status == 200
        clock.advance(timedelta(seconds=60))
        assert client.get("/api/whoami", None).json()["role"] == "spectator"


# --- start and end ---------------------------------------------------------------------------


def test_an_arena_stops_at_once_with_open_connections(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The arena does not wait for idle connections, and then refuses new ones."""
    monkeypatch.setattr(http_server, "RESPONSE_SHUTDOWN_GRACE", timedelta(hours=1))
    with at_home(tmp_path) as (arena, client):
        client.get("/api/hello", None)
        start_seconds = time.monotonic()
    assert time.monotonic() - start_seconds < HANG_SECONDS
    with pytest.raises(ConnectionRefusedError):
        ArenaHttpClient(arena.url).get("/api/hello", None)


def test_a_host_of_another_machine_is_refused_by_name() -> None:
    for host in ("192.0.2.1", "no-such-host.invalid"):
        with pytest.raises(ConfigError, match=host):
            ArenaServer(ArenaConfig(host=host))


# --- matches survive the process, however it ends --------------------------------------------


@contextmanager
def start_arena_process(folder: Path, randomness: RandomnessMethod) -> Iterator[ArenaHttpClient]:
    """Yield a client of an arena in a separate process, which is killed without warning."""
    files = ("--players", str(write_players(folder)), "--data", str(folder / "arena.db"))
    variables = {"ARENA_ADMIN_PASSWORD": PASSWORDS[ADMIN], "XDG_DATA_HOME": str(folder)}
    options = ("--port", "0", "--json", "--random", randomness)
    with start_program("arena", *options, *files, environment=variables) as process:
        client = ArenaHttpClient(json.loads(process.stdout.readline())["url"])
        yield client
        client.close()


def read_match_responses(client: ArenaHttpClient, match: str) -> list[bytes]:
    """Return every response that shows a match, as bytes."""
    match_path = f"/{match}?showevents=1"
    queries = [(f"{match_path}&showdebug=1", ADMIN), (match_path, ALICE), ("", ADMIN)]
    queries += [("?active=1", user) for user in (ALICE, BOB)]
    return [client.get(f"/api/matches{query}", user).raw for query, user in queries]


@pytest.mark.parametrize(
    "randomness",
    [RandomnessMethod.FAIR, pytest.param(RandomnessMethod.ORIGINAL, marks=pytest.mark.slow)],
)
def test_a_match_continues_identically_across_restarts(
    tmp_path: Path, randomness: RandomnessMethod
) -> None:
    """No response changes after `kill -9`, and the match has the same events to its end."""
    match_request = {
        "playerids": [ALICE, BOB],
        "randomSeed": "goes on",
        "tags": ["a", "b"],
        "timeout": 600,
    }
    rng = Random(4)
    with start_arena_process(tmp_path, randomness) as client:
        match = client.post("/api/matches", ADMIN, match_request).json()["id"]
        play_random_moves(client, match, rng, 28)
        responses = read_match_responses(client, match)
    with start_arena_process(tmp_path, randomness) as client:
        assert read_match_responses(client, match) == responses
        restarted_view = play_random_moves(client, match, rng)
    with at_home(tmp_path, randomness=randomness) as (_, client):
        match = client.post("/api/matches", ADMIN, match_request).json()["id"]
        uninterrupted_view = play_random_moves(client, match, Random(4))
    assert uninterrupted_view["activePlayerIndex"] is None
    restarted_events, uninterrupted_events = (
        [move["events"] for move in match_view["moves"]]
        for match_view in (restarted_view, uninterrupted_view)
    )
    assert restarted_events == uninterrupted_events


def test_a_data_file_serves_one_arena_and_matches_keep_their_randomness(tmp_path: Path) -> None:
    data, match_ids = tmp_path / "arena.db", []
    for randomness in (RandomnessMethod.ORIGINAL, RandomnessMethod.FAIR):
        with at_home(tmp_path, data_file=data, randomness=randomness) as (arena, _):
            match_ids.append(arena.create_match_and_get_id([ALICE, BOB]))
            with pytest.raises(ConfigError, match="another arena"):
                ArenaServer(ArenaConfig(data_file=data))
            randomness_modes = [
                arena._arena.referee.get_match(match).randomness for match in match_ids
            ]
    assert randomness_modes == [RandomnessMethod.ORIGINAL, RandomnessMethod.FAIR]


def test_an_action_that_cannot_be_stored_has_no_effect(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a full disk the response is a 503 and the match is unchanged; later it goes on.

    Only the log has the reason.
    """
    with at_home(tmp_path, data_file=tmp_path / "arena.db") as (arena, client):
        path = f"/api/matches/{arena.create_match_and_get_id([ALICE, BOB])}"
        original_view = client.get(f"{path}?showevents=1").raw
        storage = arena._arena._storage
        storage._file._db.execute("PRAGMA max_page_count = 1")  # not a page more than there are
        monkeypatch.setattr(referee, "MAX_COMMENT_LENGTH", 60_000)
        long_comment = {"comment": "x" * 60_000}
        error_response = client.request("DELETE", f"{path}/terminate", ADMIN, long_comment)
        assert (error_response.status, "full" in error_response.text) == (503, False)
        assert "full" in caplog.text
        assert client.get(f"{path}?showevents=1").raw == original_view
        storage._file._db.execute("PRAGMA max_page_count = 100000")
        assert client.request("DELETE", f"{path}/terminate", ADMIN, long_comment).status == 200
