"""Tests of a proxy between us and an arena: its requests, its errors, and its exceptions."""

import logging
import os
import ssl
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from support import recorded_arena_responses as bodies
from support.arena_server import ALICE, PASSWORDS, running_arena
from support.certificates import certificate_for
from support.cli import Cli, start_program
from support.fault_server import CLOSED_CONNECTION, Fault, FaultServer, full_response
from support.forward_proxy import ForwardProxy
from support.ports import unused_port

from cardsharp.bot.settings import WorkerSettings
from cardsharp.client.config import Proxy, RequestLimits, ServiceAddress
from cardsharp.core.credentials import Credentials
from cardsharp.core.redaction import redact
from cardsharp.errors import ArenaError, ConfigError, Unreachable, UntrustedCertificate
from cardsharp.games.deadmansdraw.actions import DRAW
from cardsharp.games.deadmansdraw.arena_bot.client import ArenaClient
from cardsharp_tools.local_cloud.emulator import Emulator
from cardsharp_tools.loopback import loopback_environment

REMOTE = "arena.example"
CANARY = "canary-ß☃-7f3a"
ENCODED_CANARY = "canary-%C3%9F%E2%98%83-7f3a"
ALICE_CREDENTIALS = Credentials(ALICE, PASSWORDS[ALICE])
SINGLE_ATTEMPT_LIMITS = RequestLimits(max_attempts=1, read_timeout=timedelta(seconds=5))
PROXY_VARIABLES = (
    "HTTP_PROXY",
    "http_proxy",
    "HTTPS_PROXY",
    "https_proxy",
    "ALL_PROXY",
    "all_proxy",
)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return certificate_for(tmp_path_factory.mktemp("tls"), REMOTE)


@pytest.fixture
def port(tmp_path: Path, certificate: tuple[Path, Path]) -> Iterator[int]:
    """Yield the port of an arena with TLS, which a proxy calls `REMOTE`."""
    with running_arena(tmp_path, tls_files=certificate) as (arena, _):
        yield urlsplit(arena.url).port or 0


def remote_client(
    proxy: str, ca: Path, limits: RequestLimits = SINGLE_ATTEMPT_LIMITS
) -> ArenaClient:
    address = ServiceAddress(f"https://{REMOTE}", ca, proxy=Proxy.parse(proxy))
    return ArenaClient(address, ALICE_CREDENTIALS, limits)


@pytest.mark.parametrize("uses_tls", [False, True])
def test_an_arena_is_reached_through_a_proxy_that_reads_nothing(
    port: int, certificate: tuple[Path, Path], *, uses_tls: bool
) -> None:
    tls = certificate if uses_tls else None
    with ForwardProxy({REMOTE: port}, login=f"us:{CANARY}", tls=tls) as proxy:
        with remote_client(proxy.url_with_login(f"us:{ENCODED_CANARY}"), certificate[0]) as client:
            assert client.whoami().name == "Alice"
            assert client.hello()
        ((line, headers),) = proxy.requests
        assert line.startswith(f"CONNECT {REMOTE}:443 "), "one connection for both"
        assert "Authorization" not in headers
        assert proxy.tunnel_bytes
        assert PASSWORDS[ALICE].encode() not in proxy.tunnel_bytes


def test_a_proxy_that_wants_another_login_says_so_without_the_password(
    certificate: tuple[Path, Path], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with ForwardProxy(login="us:another") as proxy:
        client = remote_client(proxy.url_with_login(f"us:{ENCODED_CANARY}"), certificate[0])
        with client, pytest.raises(Unreachable, match="refuses the user and password") as caught:
            client.act("1" * 24, DRAW)
        assert not caught.value.outcome_unknown, "nothing can have been sent"
    output = f"{caught.value} {client!r} {proxy.requests and caplog.text}"
    assert CANARY not in output
    assert ENCODED_CANARY not in output
    assert str(proxy.port) in str(caught.value)


def test_a_connection_that_the_proxy_blocks_is_reported(certificate: tuple[Path, Path]) -> None:
    with ForwardProxy() as proxy, remote_client(proxy.url, certificate[0]) as client:
        with pytest.raises(Unreachable, match=r"makes no connection .* 403") as caught:
            client.act("1" * 24, DRAW)
        assert not caught.value.outcome_unknown


def test_a_missing_proxy_is_named(certificate: tuple[Path, Path]) -> None:
    url = f"http://127.0.0.1:{unused_port()}"
    with (
        remote_client(url, certificate[0]) as client,
        pytest.raises(Unreachable, match=f"no connection to the proxy {url}") as caught,
    ):
        client.act("1" * 24, DRAW)
    assert not caught.value.outcome_unknown


def test_the_certificate_of_a_proxy_is_checked(tmp_path: Path) -> None:
    certificate, second_certificate = (certificate_for(tmp_path) for _ in range(2))
    del second_certificate  # the second is written over the first, which the proxy has read by then
    with ForwardProxy(tls=certificate) as proxy:
        address = ServiceAddress(f"https://{REMOTE}", proxy=Proxy.parse(proxy.url))
        client = ArenaClient(address, ALICE_CREDENTIALS, SINGLE_ATTEMPT_LIMITS)
        with client, pytest.raises(UntrustedCertificate, match="certificate of the proxy"):
            client.whoami()
    assert proxy.requests == []


def test_an_address_that_promises_tls_at_a_plain_proxy_is_named(
    certificate: tuple[Path, Path],
) -> None:
    with ForwardProxy() as proxy:
        client = remote_client(proxy.url.replace("http", "https"), certificate[0])
        with client, pytest.raises(Unreachable, match="does not speak TLS"):
            client.whoami()


def test_a_write_that_was_sent_through_a_proxy_stays_in_doubt(
    certificate: tuple[Path, Path],
) -> None:
    """A connection that breaks after the request leaves the outcome of an action unknown."""
    with tls_fault_server(certificate, CLOSED_CONNECTION) as arena:
        with (
            ForwardProxy({REMOTE: arena.server_port}) as proxy,
            remote_client(proxy.url, certificate[0]) as client,
            pytest.raises(Unreachable, match=f"through the proxy {proxy.url}") as caught,
        ):
            client.act("1" * 24, DRAW)
        assert [request.method for request in arena.requests] == ["POST"]
    assert caught.value.outcome_unknown


def test_a_proxy_that_answers_for_ever_is_cut_off(certificate: tuple[Path, Path]) -> None:
    """Endless headers end at the total timeout, although each line comes in time."""
    short_limits = RequestLimits(
        max_attempts=1, read_timeout=timedelta(seconds=0.5), total_timeout=timedelta(seconds=0.5)
    )
    with (
        ForwardProxy({REMOTE: 1}, sends_endless_headers=True) as proxy,
        remote_client(proxy.url, certificate[0], short_limits) as client,
        pytest.raises(ArenaError),
    ):
        client.whoami()


def test_an_arena_on_this_machine_needs_no_proxy() -> None:
    with FaultServer(full_response(body=bodies.WHOAMI_RESPONSE)) as arena, ForwardProxy() as proxy:
        address = ServiceAddress(arena.url, proxy=Proxy.parse(proxy.url))
        with ArenaClient(address, ALICE_CREDENTIALS, SINGLE_ATTEMPT_LIMITS) as client:
            client.whoami()
        assert proxy.requests == []


def test_a_proxy_never_gets_the_password_of_an_arena_without_tls() -> None:
    """A proxy could read a password that is sent without TLS, even in a private network."""
    proxy = Proxy.parse("http://proxy.lan:3128")
    address = ServiceAddress("http://arena.lan", allow_plain_http=True, proxy=proxy)
    with pytest.raises(ConfigError, match="would read the password"):
        ArenaClient(address, ALICE_CREDENTIALS, SINGLE_ATTEMPT_LIMITS)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        (f"http://us:{CANARY}@proxy.example:3128", "unencrypted"),
        (f"us:{CANARY}@proxy.example:3128", "unencrypted"),
        (f"socks5://us:{CANARY}@proxy.example", "socks5"),
        (f"https://us:{CANARY}@proxy.example:port", "must look like"),
        (f"https://us:{CANARY}@/", "must look like"),
    ],
)
def test_a_proxy_that_cannot_be_used_is_refused_without_its_password(
    url: str, message: str
) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        Proxy.parse(url)
    assert CANARY not in str(caught.value)
    with pytest.raises(ConfigError, match="CARDSHARP_PROXY cannot be used") as caught:
        WorkerSettings.load({"CARDSHARP_PROXY": url})
    assert CANARY not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "display_text"),
    [
        ("proxy.example:3128", "http://proxy.example:3128"),
        (f"https://us:{ENCODED_CANARY}@proxy.example", "https://proxy.example"),
        (f"http://us:{ENCODED_CANARY}@127.0.0.1:3128", "http://127.0.0.1:3128"),
    ],
)
def test_a_proxy_is_displayed_without_its_password(url: str, display_text: str) -> None:
    proxy = Proxy.parse(url)
    assert str(proxy) == display_text
    assert "7f3a" not in repr(WorkerSettings.load({"CARDSHARP_PROXY": url}))
    if "@" in url:
        assert redact(f"{CANARY} {ENCODED_CANARY}") == "[redacted] [redacted]"


def test_doctor_names_the_proxy(
    port: int, certificate: tuple[Path, Path], cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CARDSHARP_PASSWORD", PASSWORDS[ALICE])
    arena = ("--url", f"https://{REMOTE}", "--user", ALICE, "--ca-file", str(certificate[0]))
    with ForwardProxy({REMOTE: port}, login=f"us:{CANARY}") as proxy:
        result = cli(
            "doctor", *arena, "--proxy", proxy.url_with_login(f"us:{ENCODED_CANARY}"), "--json"
        )
        checks = {check_result["check"]: check_result for check_result in result.json()}
        assert result.code == 0, result
        assert checks["proxy"]["text"] == f"{proxy.url} leads to the arena"
        assert checks["credentials"]["text"] == "Alice, player"
        monkeypatch.setenv("CARDSHARP_PROXY", proxy.url)
        refused = cli("doctor", *arena)
        assert refused.code == 1
        assert "refuses the user and password" in " ".join(refused.out.split())
    monkeypatch.delenv("CARDSHARP_PROXY")
    monkeypatch.setenv("https_proxy", proxy.url)
    result_without_proxy = cli("doctor", *arena)
    assert "https_proxy is ignored" in " ".join(result_without_proxy.out.split())
    for cli_result in (result, refused, result_without_proxy):
        assert "7f3a" not in cli_result.out + cli_result.err


PLAYER = ("--user", ALICE, "--url", f"https://{REMOTE}")


@pytest.mark.parametrize(
    "command",
    [
        ("practice", *PLAYER),
        ("arena", "match", "one", "two", "--url", f"https://{REMOTE}"),
        ("blef", "bot", "--url", f"https://{REMOTE}"),
        (
            "blef",
            "bot",
            "--url",
            f"https://{REMOTE}",
            "--game",
            "0" * 8 + "-0000" * 3 + "-" + "0" * 12,
        ),
        ("blef", "versus", "--url", f"https://{REMOTE}"),
        ("euchre", "check-leaks", "--url", f"https://{REMOTE}"),
        ("stats", f"https://{REMOTE}"),
        ("analyse", f"https://{REMOTE}/matches/{'1' * 24}"),
        ("lab", "duel", f"https://{REMOTE}", "rules", "--game", "euchre", "-n", "1"),
    ],
    ids=" ".join,
)
def test_every_command_that_speaks_to_a_remote_service_takes_the_proxy(
    command: tuple[str, ...], cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CARDSHARP_PASSWORD", "geheim")
    monkeypatch.setenv("ARENA_ADMIN_PASSWORD", "geheim")
    with ForwardProxy() as proxy:
        monkeypatch.setenv("CARDSHARP_PROXY", proxy.url)
        result = cli(*command)
        assert result.code == 3, result
        assert f"the proxy {proxy.url} makes no connection" in result.err
        request_line = proxy.requests[0][0]
        assert request_line.startswith(f"CONNECT {REMOTE}:443 ")
        if command[0] in {"stats", "analyse", "lab"}:
            return  # of these the variable is the only way
        proxy.requests.clear()
        monkeypatch.delenv("CARDSHARP_PROXY")
        assert cli(*command, "--proxy", proxy.url).code == 3
        assert proxy.requests[0][0] == request_line
        assert "CARDSHARP_PROXY" not in os.environ


def test_a_service_without_secrets_is_reached_by_http_through_a_proxy(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FaultServer(full_response(body=b"[]")) as arena:
        with ForwardProxy({REMOTE: arena.server_port}) as proxy:
            monkeypatch.setenv("CARDSHARP_PROXY", proxy.url)
            cli("stats", f"http://{REMOTE}")
            line, headers = proxy.requests[0]
        assert line.startswith(f"GET http://{REMOTE}/api/matches?")
        assert "Authorization" not in headers
        assert [request.path.partition("?")[0] for request in arena.requests] == ["/api/matches"]


def tls_fault_server(certificate: tuple[Path, Path], *script: Fault) -> FaultServer:
    """Return a fault server behind TLS."""
    server = FaultServer(*script)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    return server


# --- this machine -----------------------------------------------------------------------------


@pytest.fixture
def untouched_proxy(monkeypatch: pytest.MonkeyPatch) -> Iterator[ForwardProxy]:
    """Yield a proxy that all variables of the environment name, and that gets no request."""
    with ForwardProxy() as proxy:
        for name in PROXY_VARIABLES:
            monkeypatch.setenv(name, proxy.url)
        for name in ("no_proxy", "NO_PROXY"):
            monkeypatch.delenv(name, raising=False)
        yield proxy
        assert proxy.requests == []


def test_the_emulator_is_reached_directly(untouched_proxy: ForwardProxy) -> None:
    assert untouched_proxy.requests == []
    with Emulator() as emulator:
        assert emulator.create_resources().tables


@pytest.mark.parametrize("cloud", ["embedded", pytest.param("emulator", marks=pytest.mark.slow)])
def test_a_match_on_this_machine_uses_no_proxy(
    cloud: str, untouched_proxy: ForwardProxy, tmp_path: Path
) -> None:
    environment = {"XDG_DATA_HOME": str(tmp_path), "CARDSHARP_PROXY": untouched_proxy.url}
    arguments = ("play", "--cloud", cloud, "--opponent", "random", "--seed", "3", "--json")
    with start_program(*arguments, environment=environment) as process:
        _, stderr = process.communicate()
    assert process.returncode == 0, stderr


def test_libraries_are_configured_to_reach_this_machine_directly() -> None:
    assert loopback_environment({"NO_PROXY": "a.example, 127.0.0.1"}) == dict.fromkeys(
        ("no_proxy", "NO_PROXY"), "a.example,127.0.0.1,localhost,::1"
    )
    assert loopback_environment({"no_proxy": "*"}) == {}
