"""Where the arena client sends a password, and where the password never shows."""

import logging

import pytest
import requests
from support import arena_bodies as bodies
from support.fault_server import FaultServer, answer

from cardsharp.access import Credentials
from cardsharp.deadmansdraw.client import ArenaClient
from cardsharp.errors import ConfigError, NotFound, Rejected

CANARY = "canary-7f3a"
CREDENTIALS = Credentials("636438380ee778617e6e5be8", CANARY)


def client(url: str) -> ArenaClient:
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
def test_an_address_that_is_none_or_unsafe_is_refused_with_advice(url: str) -> None:
    with pytest.raises(ConfigError, match=r"must look like https|use https|give them sep") as bad:
        client(url)
    assert CANARY not in str(bad.value)


@pytest.mark.parametrize(
    "url",
    ["https://arena.example.org/sub", "http://localhost:1", "http://[::1]:1", "http://127.9.9.9"],
)
def test_https_anywhere_and_http_at_home_are_addresses(url: str) -> None:
    client(url).close()


@pytest.mark.parametrize("match_id", ["", "..", "a/b", "a?b", "a%2Fb", "ä", "a b"])
def test_an_id_that_could_lead_elsewhere_is_never_asked_for(match_id: str) -> None:
    with FaultServer(answer(body=bodies.RUNNING)) as arena, client(arena.url) as asking:
        with pytest.raises(NotFound, match="letters and digits"):
            asking.view(match_id)
        assert arena.seen == []


@pytest.mark.parametrize(("user", "password"), [("", "p"), ("u", ""), ("u:v", CANARY)])
def test_credentials_that_cannot_be_sent_are_refused(user: str, password: str) -> None:
    with pytest.raises(ConfigError, match="user and") as caught:
        Credentials(user, password)
    assert CANARY not in str(caught.value)


def test_the_environment_sends_no_password_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy from the environment is not used."""
    with FaultServer(answer(body=bodies.WHO)) as arena, FaultServer(answer()) as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        monkeypatch.setenv("no_proxy", "")
        with client(arena.url) as asking:
            asking.whoami()
        assert proxy.seen == []


def test_the_password_is_in_no_repr_no_error_and_no_log(caplog: pytest.LogCaptureFixture) -> None:
    """Not even when the arena repeats it, as plain text or as the header it was sent in."""
    caplog.set_level(logging.DEBUG)
    echo = requests.auth._basic_auth_str(CREDENTIALS.user, CANARY)
    script = (
        answer(400, b'{"error":"you sent %s"}' % echo.encode()),
        answer(401, b'{"error":"bad password %s"}' % CANARY.encode()),
        answer(302, headers={"Location": f"/login?password={CANARY}"}),
    )
    with FaultServer(*script) as arena, client(arena.url) as asking:
        for _ in script:
            with pytest.raises(Rejected, match="withheld"):
                asking.whoami()
        assert CANARY not in repr(asking) + repr(CREDENTIALS) + repr(vars(asking))
        assert CANARY not in repr(asking._exchange) + caplog.text
        assert echo not in caplog.text
