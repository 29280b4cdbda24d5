"""Who reaches an arena: by TLS, in a private network, or as a spectator; its start and its end."""

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
from support.lambda_events import context
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
from cardsharp.games.deadmansdraw.arena.app import private_network_only
from cardsharp.games.deadmansdraw.arena.config import ArenaConfig
from cardsharp.games.deadmansdraw.arena.randomness import Randomness
from cardsharp.games.deadmansdraw.arena_bot.client import ArenaClient
from cardsharp.server.asgi_service import asgi_handler
from cardsharp_tools.games.deadmansdraw.arena_options import wait_for_arena
from cardsharp_tools.local_cloud.api_gateway_events import HttpRequest, parse_response, to_event
from cardsharp_tools.local_server import http_server
from cardsharp_tools.local_server.arena_server import ArenaServer

AS_ALICE = Credentials(ALICE, PASSWORDS[ALICE])
ONCE = RequestLimits(max_attempts=1)


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    """A certificate of our own for this machine, made as docs/arena.md says."""
    return certificate_for(tmp_path)


def test_tls_is_believed_by_its_certificate(tmp_path: Path, certificate: tuple[Path, Path]) -> None:
    """Our client asks nothing of an arena that it has no reason to believe."""
    with at_home(tmp_path, tls_files=certificate) as (arena, _):
        assert arena.url.startswith("https://")
        with ArenaClient(ServiceAddress(arena.url, certificate[0]), AS_ALICE, ONCE) as client:
            assert client.whoami().name == "Alice"
        tries: list[str] = []
        asked = ArenaClient(arena.url, AS_ALICE, ONCE)
        with (
            asked as client,
            pytest.raises(UntrustedCertificate, match="name its CA file, with --ca FILE"),
        ):
            wait_for_arena(client, SystemClock(), tries.append)
        assert not tries, "the same certificate is not looked at again"


def test_other_machines_are_listened_to_by_tls_or_in_a_private_network(tmp_path: Path) -> None:
    config = ArenaConfig(host="0.0.0.0", players_file=write_players(tmp_path))  # noqa: S104
    with pytest.raises(ConfigError, match=r"--tls CERT KEY.*--insecure"):
        ArenaServer(config)
    with at_home(tmp_path, host="0.0.0.0", allow_plain_http=True) as (arena, _):  # noqa: S104
        here = ArenaHttpClient(arena.url.replace("0.0.0.0", "127.0.0.1"))  # noqa: S104
        assert here.get("/api/whoami").status == 200
        here.close()


PRIVATE = ("127.0.0.1", "192.168.1.7", "fd00::7", "::ffff:10.0.0.1")
FOREIGN = ("8.8.8.8", "2001:4860:4860::8888", "::ffff:8.8.8.8")


@pytest.mark.parametrize("address", PRIVATE + FOREIGN)
def test_without_tls_only_private_addresses_are_answered(address: str) -> None:
    answer = asgi_handler(private_network_only(PlainTextResponse("here")))
    asked = to_event(HttpRequest("GET", "/", source_ip=address), ManualClock().now)
    status = answer(asked, context())["statusCode"]
    assert status == (403 if address in FOREIGN else 200)


def test_a_long_answer_is_compressed_in_the_cloud_and_a_longer_one_refused() -> None:
    """Lambda answers 6 MB at most; whoever cannot read gzip is told to ask for less."""
    text, headers = "x" * 7_000_000, (("Accept-Encoding", "gzip"),)
    packed, plain = (
        parse_response(
            asgi_handler(PlainTextResponse(text))(to_event(asked, ManualClock().now), context())
        )
        for asked in (HttpRequest("GET", "/", headers), HttpRequest("GET", "/"))
    )
    assert gzip.decompress(packed.body).decode() == text
    assert (plain.status, b"is too large; ask for less" in plain.body) == (413, True)


# --- spectators; what they may see is in test_arena_access.py ------------------------------


def test_spectators_see_a_moment_later_and_ask_only_so_much(tmp_path: Path) -> None:
    """An answer serves all of them for two seconds; players see at once, and go on.

    Ours signs in by Digest, as `cardsharp doctor --digest` and `bot --digest` do, where it might
    be taken for a spectator; any password will do.
    """
    clock, path, odd = ManualClock(), "/api/matches?condensed=1", "cänary-☠"
    with at_home(tmp_path, clock=clock, is_public=True, admin_password=odd) as (arena, client):
        assert client.get(path, None).json() == []
        arena.create_match([ALICE, BOB])
        assert len(client.get(path, ALICE).json()) == 1
        assert client.get(path, None).json() == []
        assert client.get(path, None).headers["cache-control"] == ["no-cache"]
        clock.advance(timedelta(seconds=2))
        assert len(client.get(path, None).json()) == 1
        with ArenaClient(arena.url, AS_ALICE, ONCE, use_digest_auth=True) as ours:
            assert ours.whoami().name == "Alice"
            assert ours.act(arena.create_match([ALICE, ALICE]), DRAW)
        with ArenaClient(arena.url, Credentials(ADMIN, odd), ONCE, use_digest_auth=True) as ours:
            assert ours.whoami().role == ADMIN
        clock.advance(timedelta(seconds=60))
        assert MAX_SPECTATOR_REQUESTS > MAX_CACHED_RESPONSES
        statuses = {
            client.get(f"/api/whoami?{n}", None).status for n in range(MAX_SPECTATOR_REQUESTS)
        }
        assert statuses == {200}
        assert client.get("/api/whoami", None).status == 429
        assert client.get("/api/whoami", ALICE).status == 200
        clock.advance(timedelta(seconds=60))
        assert client.get("/api/whoami", None).json()["role"] == "spectator"


# --- start and end ---------------------------------------------------------------------------


def test_it_stops_at_once_although_connections_are_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Idle kept-alive connections are not waited for; afterwards nobody listens."""
    monkeypatch.setattr(http_server, "SHUTDOWN_GRACE", timedelta(hours=1))
    with at_home(tmp_path) as (arena, client):
        client.get("/api/hello", None)
        began = time.monotonic()
    assert time.monotonic() - began < HANG_SECONDS
    with pytest.raises(ConnectionRefusedError):
        ArenaHttpClient(arena.url).get("/api/hello", None)


def test_a_host_that_is_not_ours_is_refused_in_a_sentence() -> None:
    for host in ("192.0.2.1", "no-such-host.invalid"):
        with pytest.raises(ConfigError, match=host):
            ArenaServer(ArenaConfig(host=host))


# --- matches survive the process, however it ends --------------------------------------------


@contextmanager
def running(folder: Path, randomness: Randomness) -> Iterator[ArenaHttpClient]:
    """A client of an arena in a process of its own, which is killed without warning."""
    files = ("--players", str(write_players(folder)), "--data", str(folder / "arena.db"))
    told = {"ARENA_ADMIN_PASSWORD": PASSWORDS[ADMIN], "XDG_DATA_HOME": str(folder)}
    options = ("--port", "0", "--json", "--random", randomness)
    with start_program("arena", *options, *files, environment=told) as process:
        client = ArenaHttpClient(json.loads(process.stdout.readline())["url"])
        yield client
        client.close()


def looks(client: ArenaHttpClient, match: str) -> list[bytes]:
    """Everything that can be seen of a match, byte for byte."""
    one = f"/{match}?showevents=1"
    asked = [(f"{one}&showdebug=1", ADMIN), (one, ALICE), ("", ADMIN)]
    asked += [("?active=1", user) for user in (ALICE, BOB)]
    return [client.get(f"/api/matches{query}", user).raw for query, user in asked]


@pytest.mark.parametrize(
    "randomness", [Randomness.FAIR, pytest.param(Randomness.ORIGINAL, marks=pytest.mark.slow)]
)
def test_a_match_goes_on_after_restarts_the_same(tmp_path: Path, randomness: Randomness) -> None:
    """Nothing that was answered is lost to `kill -9`, byte for byte; the same events to the end."""
    wish = {"playerids": [ALICE, BOB], "randomSeed": "goes on", "tags": ["a", "b"], "timeout": 600}
    rng = Random(4)
    with running(tmp_path, randomness) as client:
        match = client.post("/api/matches", ADMIN, wish).json()["id"]
        play_random_moves(client, match, rng, 28)
        before = looks(client, match)
    with running(tmp_path, randomness) as client:
        assert looks(client, match) == before
        restarted = play_random_moves(client, match, rng)
    with at_home(tmp_path, randomness=randomness) as (_, client):
        match = client.post("/api/matches", ADMIN, wish).json()["id"]
        whole = play_random_moves(client, match, Random(4))
    assert whole["activePlayerIndex"] is None
    one, other = ([move["events"] for move in told["moves"]] for told in (restarted, whole))
    assert one == other


def test_a_data_file_serves_one_arena_and_a_match_keeps_its_chance(tmp_path: Path) -> None:
    data, made = tmp_path / "arena.db", []
    for chance in (Randomness.ORIGINAL, Randomness.FAIR):
        with at_home(tmp_path, data_file=data, randomness=chance) as (arena, _):
            made.append(arena.create_match([ALICE, BOB]))
            with pytest.raises(ConfigError, match="another arena"):
                ArenaServer(ArenaConfig(data_file=data))
            found = [arena._arena.referee.get_match(match).randomness for match in made]
    assert found == [Randomness.ORIGINAL, Randomness.FAIR]


def test_what_cannot_be_stored_does_not_happen(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a full disk the answer is a 503 and the match stays as it was; later it goes on.

    Why it was is for the log alone.
    """
    with at_home(tmp_path, data_file=tmp_path / "arena.db") as (arena, client):
        path = f"/api/matches/{arena.create_match([ALICE, BOB])}"
        before = client.get(f"{path}?showevents=1").raw
        storage = arena._arena._storage
        storage._file._db.execute("PRAGMA max_page_count = 1")  # not a page more than there are
        monkeypatch.setattr(referee, "MAX_COMMENT_LENGTH", 60_000)
        long_comment = {"comment": "x" * 60_000}
        refused = client.request("DELETE", f"{path}/terminate", ADMIN, long_comment)
        assert (refused.status, "full" in refused.text) == (503, False)
        assert "full" in caplog.text
        assert client.get(f"{path}?showevents=1").raw == before
        storage._file._db.execute("PRAGMA max_page_count = 100000")
        assert client.request("DELETE", f"{path}/terminate", ADMIN, long_comment).status == 200
