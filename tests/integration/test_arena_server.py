"""The arena as part of another program, and by itself."""

import time
from pathlib import Path

import pytest
from support.arena import Client, running_arena

from cardsharp.deadmansdraw.arena.config import ArenaConfig
from cardsharp.errors import ConfigError
from workbench.arena.server import ArenaServer


def test_it_starts_on_a_free_port_and_stops(tmp_path: Path) -> None:
    """Two at once are on different ports; after the stop nobody listens."""
    with running_arena(tmp_path) as (one, client), running_arena(tmp_path) as (two, _):
        assert one.url != two.url
        assert client.get("/api/hello", None).status == 200
    with pytest.raises(ConnectionRefusedError):
        Client(one.url).get("/api/hello", None)


@pytest.mark.timed
def test_it_stops_quickly_although_connections_are_open(tmp_path: Path) -> None:
    """Idle kept-alive connections are not waited for."""
    with running_arena(tmp_path) as (_, client):
        client.get("/api/hello", None)
        began = time.monotonic()
    assert time.monotonic() - began < 2


def test_a_host_that_is_not_ours_is_refused_in_a_sentence() -> None:
    """Names that do not resolve and addresses of others."""
    for host in ("192.0.2.1", "no-such-host.invalid"):
        with pytest.raises(ConfigError, match=host):
            ArenaServer(ArenaConfig(host=host))
