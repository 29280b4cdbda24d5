"""The arena as part of another program, and by itself."""

import os
import signal
import socket
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path

import pytest
from support.arena import ADMIN, ALICE, BOB, Client, running_arena

from cardsharp.deadmansdraw.arena.config import ArenaConfig
from cardsharp.errors import ConfigError, Malformed
from workbench.arena.server import ArenaServer, run


def test_it_starts_on_a_free_port_and_stops(tmp_path: Path) -> None:
    """Two at once are on different ports; after the stop nobody listens."""
    with running_arena(tmp_path) as (one, client), running_arena(tmp_path) as (two, _):
        assert one.url != two.url
        assert client.get("/api/hello", None).status == 200
    with pytest.raises(ConnectionRefusedError):
        Client(one.url).get("/api/hello", None)


def test_stopping_twice_and_before_the_start_is_harmless(tmp_path: Path) -> None:
    """Whoever cleans up need not know how far it came."""
    never_started = ArenaServer(ArenaConfig(data=tmp_path / "arena.db"))
    never_started.stop()
    arena = ArenaServer(ArenaConfig(data=tmp_path / "arena.db")).start()
    arena.stop()
    arena.stop()


@pytest.mark.timed
def test_it_stops_quickly_although_connections_are_open(tmp_path: Path) -> None:
    """Idle kept-alive connections are not waited for."""
    with running_arena(tmp_path) as (_, client):
        client.get("/api/hello", None)
        began = time.monotonic()
    assert time.monotonic() - began < 2


def test_a_port_in_use_is_refused_in_a_sentence(tmp_path: Path) -> None:
    """With what to do; the data file is let go of."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        config = ArenaConfig(port=port, data=tmp_path / "arena.db")
        with pytest.raises(ConfigError, match=rf"port {port}: .*--port"):
            ArenaServer(config)
        with pytest.raises(ConfigError, match=rf"port {port}: .*--port"):
            run(config)
    ArenaServer(ArenaConfig(data=tmp_path / "arena.db")).stop()


def test_a_host_that_is_not_ours_is_refused_in_a_sentence() -> None:
    """Names that do not resolve and addresses of others."""
    for host in ("192.0.2.1", "no-such-host.invalid"):
        with pytest.raises(ConfigError, match=host):
            ArenaServer(ArenaConfig(host=host))


def test_the_organiser_creates_and_looks_without_http(tmp_path: Path) -> None:
    """`create_match` and `look` are the admin's create request and debug view."""
    with running_arena(tmp_path) as (arena, client):
        match = arena.create_match(
            [ALICE, BOB],
            tags=["cup"],
            seed="norandom",
            timeout=timedelta(seconds=2.5),
            drawPile=[["Hook", 3]],
            discardPile=[],
        )
        seen = client.get(f"/api/matches/{match}?showevents=1&showdebug=1", ADMIN).json()
        assert arena.look(match) == seen
    assert seen["createdByPlayerId"] is None
    assert seen["creationParams"] == {
        "tags": ["cup"],
        "drawPile": [{"suit": "Hook", "value": 3}],
        "discardPile": [],
        "randomSeed": "norandom",
        "timeout": 2.5,
    }


def test_a_match_that_cannot_be_created_is_refused_in_the_callers_thread(tmp_path: Path) -> None:
    """With the sentence that a request would get."""
    with running_arena(tmp_path) as (arena, _), pytest.raises(Malformed, match="not valid"):
        arena.create_match([ALICE, "f" * 24])


def test_an_arena_that_does_not_run_says_so() -> None:
    """Before the start and after the stop."""
    arena = ArenaServer(ArenaConfig())
    with pytest.raises(ConfigError, match="not running"):
        arena.look("x")
    with arena:
        pass
    with pytest.raises(ConfigError, match="not running"):
        arena.create_match([ALICE, BOB])


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_alone_it_serves_until_a_signal(tmp_path: Path, how: signal.Signals) -> None:
    """`run` tells its address when it answers, and ends cleanly."""
    script = (
        "from cardsharp.deadmansdraw.arena.config import ArenaConfig\n"
        "from workbench.arena.server import run\n"
        "from pathlib import Path\n"
        f"run(ArenaConfig(data=Path({str(tmp_path / 'a.db')!r})), lambda u: print(u, flush=True))"
    )
    process = subprocess.Popen(  # noqa: S603 - our own interpreter and script
        [sys.executable, "-W", "error", "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
        env=os.environ,
    )
    assert process.stdout is not None
    client = Client(process.stdout.readline().strip())
    assert client.get("/api/hello", None).status == 200
    process.send_signal(how)
    _, complaints = process.communicate(timeout=20)
    client.close()
    assert complaints == ""
    assert process.returncode in {0, -how}
