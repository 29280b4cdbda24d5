"""Tests that the arena client sends a password only to the arena, and never reveals it."""

import logging

import pytest
import requests
from support import recorded_arena_responses as bodies
from support.fault_server import FaultServer, full_response

from cardsharp.core.credentials import Credentials
from cardsharp.errors import ConfigError, NotFound, RequestRejected
from cardsharp.games.deadmansdraw.arena_bot.client import ArenaClient

CANARY = "canary-7f3a"
CREDENTIALS = Credentials("636438380ee778617e6e5be8", CANARY)


def make_client(url: str) -> ArenaClient:
    return ArenaClient(url, CREDENTIALS)


@pytest.mark.parametrize(
    "url",
    [
        "http://arena.example.org",
        "http://127.0.0.1.example.org",
        "http://10.0.0.1",
        "ftp://127.0.0.1",
        "arena.example.org",
        "https://",
        "https://[::1",
        "https://host:port",
        "https://host/?x=1",
        f"https://user:{CANARY}@arena.example.org",
        "",
    ],
)
def test_an_invalid_or_unsafe_address_is_refused_with_advice(url: str) -> None:
    with pytest.raises(
        ConfigError, match=r"must look like https|use https|give them sep"
    ) as caught:
        make_client(url)
    assert CANARY not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    ["https://arena.example.org/sub", "http://localhost:1", "http://[::1]:1", "http://127.9.9.9"],
)
def test_https_anywhere_and_http_on_this_machine_are_valid_addresses(url: str) -> None:
    make_client(url).close()


@pytest.mark.parametrize("match_id", ["", "..", "a/b", "a?b", "a%2Fb", "ä", "a b"])
def test_an_id_that_could_change_the_path_is_never_requested(match_id: str) -> None:
    with (
        FaultServer(full_response(body=bodies.RUNNING)) as arena,
        make_client(arena.url) as arena_client,
    ):
        with pytest.raises(NotFound, match="letters and digits"):
            arena_client.get_match(match_id)
        assert arena.requests == []


@pytest.mark.parametrize(("user", "password"), [("", "p"), ("u", ""), ("u:v", CANARY)])
def test_credentials_that_cannot_be_sent_are_refused(user: str, password: str) -> None:
    with pytest.raises(ConfigError, match="user and") as caught:
        Credentials(user, password)
    assert CANARY not in str(caught.value)


def test_the_environment_sends_no_password_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client ignores proxies that the environment names."""
    with (
        FaultServer(full_response(body=bodies.WHOAMI_RESPONSE)) as arena,
        FaultServer(full_response()) as proxy,
    ):
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        monkeypatch.setenv("no_proxy", "")
        with make_client(arena.url) as arena_client:
            arena_client.whoami()
        assert proxy.requests == []


def test_the_password_is_in_no_repr_no_error_and_no_log(caplog: pytest.LogCaptureFixture) -> None:
    """Nothing reveals it, even if the arena repeats it, plain or as the header that was sent."""
    caplog.set_level(logging.DEBUG)
    authorization = requests.auth._basic_auth_str(CREDENTIALS.user, CANARY)
    script = (
        full_response(400, b'{"error":"you sent %s"}' % authorization.encode()),
        full_response(401, b'{"error":"bad password %s"}' % CANARY.encode()),
        full_response(302, headers={"Location": f"/login?password={CANARY}"}),
    )
    with FaultServer(*script) as arena, make_client(arena.url) as arena_client:
        for _ in script:
            with pytest.raises(RequestRejected, match="withheld"):
                arena_client.whoami()
        assert CANARY not in repr(arena_client) + repr(CREDENTIALS) + repr(vars(arena_client))
        assert CANARY not in repr(arena_client._transport) + caplog.text
        assert authorization not in caplog.text
